#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph::ensemble {

/// Where the outcome of each case stands in the journal; 0: nowhere yet. A file without a name, eight bytes per case,
/// that vanishes with the program: memory does not grow with the number of cases.
class CaseIndex {
 public:
  /// In the folder of `beside`.
  static Result<CaseIndex> create(const std::string& beside, std::uint64_t cases);

  CaseIndex(CaseIndex&& other) noexcept;
  CaseIndex& operator=(CaseIndex&&) = delete;
  ~CaseIndex();

  std::uint64_t cases() const { return cases_; }
  bool set(std::uint64_t number, std::uint64_t offset);
  std::uint64_t get(std::uint64_t number);
  /// The first case from `number` on that is not there; cases() if all are.
  std::uint64_t next_missing(std::uint64_t number);

 private:
  CaseIndex(int descriptor, std::uint64_t cases) : descriptor_(descriptor), cases_(cases) {}
  void load(std::uint64_t number);

  int descriptor_ = -1;
  std::uint64_t cases_ = 0, first_ = 0;
  std::vector<std::uint64_t> window_;  // the entries from first_ on, as last read
};

}  // namespace kinegraph::ensemble
