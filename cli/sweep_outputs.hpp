#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sweep_cases.hpp"

namespace kinegraph::cli {

/// Whether the outputs of a study exist, as far as its cases were seen.
class OutputCheck {
 public:
  explicit OutputCheck(const ensemble::Study& study) : study_(study), seen_(study.outputs.size()) {}

  /// What a case has that answered.
  void see(const Embedding& found);
  /// What other cases have, until nothing is left to be found: the last one, and a case of every word of the options
  /// that are varied (thirty at most) with the other values of case `base`. Gives the outcomes of those that are cases
  /// of the study; fails where it is interrupted.
  Result<std::vector<ensemble::Outcome>> see_others(SweepCases& cases, std::uint64_t base,
                                                    const std::function<bool()>& stopped);

  /// Faults and warnings, and all outputs that were seen. `whole`: nothing was left out of the cases. Else what was may
  /// have made an output that is not there, and only those are told that are near to one that is.
  void tell(bool whole, Probe& probe) const;

 private:
  struct Seen {
    bool found = false;
    std::string why;  // if not: what the path meets instead
  };
  bool complete() const;

  const ensemble::Study& study_;
  std::vector<Seen> seen_;  // of each output
  std::vector<std::string> paths_;
};

}  // namespace kinegraph::cli
