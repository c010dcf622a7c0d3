#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinegraph/ensemble/permutation.hpp"
#include "kinegraph/ensemble/sobol.hpp"
#include "kinegraph/ensemble/study.hpp"

namespace kinegraph::ensemble {

/// One case of a study.
struct Case {
  std::uint64_t number = 0;
  std::uint64_t repetition = 0;
  std::uint64_t seed = 0;           ///< for --seed of the verb
  std::vector<std::string> values;  ///< in the order of `vary`; numbers with every digit, SI units
};

/// The cases of a study, numbered 0 … cases() − 1. A case is a function of its number (mixed radix: the last grid or
/// list varies fastest, within it the draws, within these the repetitions); nothing is stored per case.
class Design {
 public:
  explicit Design(const Study& study);  ///< `study` must stay

  std::uint64_t cases() const { return cases_; }
  Case at(std::uint64_t number) const;

 private:
  double draw(std::uint64_t sample, std::size_t dimension) const;  // of (0, 1)

  const Study& study_;
  std::uint64_t cases_ = 1;
  std::optional<Sobol> sobol_;
  std::vector<Permutation> permutations_;  // of a Latin hypercube, per distribution
};

}  // namespace kinegraph::ensemble
