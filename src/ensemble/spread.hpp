#pragma once

#include <array>
#include <string>
#include <vector>

#include "kinegraph/ensemble/journal.hpp"

namespace kinegraph::ensemble {

inline constexpr std::array<double, 7> kPercentiles = {2.5, 5, 25, 50, 75, 95, 97.5};

/// How an output spreads over the cases that have it.
struct Spread {
  std::uint64_t count = 0;
  double mean = 0, sd = 0, min = 0, max = 0;
  std::array<double, kPercentiles.size()> percentiles{};  ///< linear between neighbours in order
};

/// Mean and deviation of numbers in their order (Welford): the same bits for the same order.
class Moments {
 public:
  void add(double x);
  Spread spread() const;  ///< without percentiles

 private:
  Spread so_far_;
  double squares_ = 0;
};

/// The exact percentiles of every output, added to `spreads`, in memory that does not grow with the number of cases:
/// the order statistics are found digit by digit (11 bits each) in six passes over the journal.
[[nodiscard]] Result<std::monostate> find_percentiles(Journal& journal, std::vector<Spread>& spreads,
                                                      const Progress& progress);

}  // namespace kinegraph::ensemble
