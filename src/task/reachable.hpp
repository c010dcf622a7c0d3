#pragma once

#include <optional>
#include <string>

#include "kinegraph/task/branch_follower.hpp"

namespace kinegraph::task {

/// How far one leading number can be moved from a position, the other leading ones held, without leaving the branch: a
/// full turn or twenty typical lengths either way at most.
struct Reachable {
  double from = 0, to = 0;  ///< changes of that number, in its own unit
  double at = 0;            ///< where it is
};
Reachable reachable(BranchFollower& follower, const Eigen::VectorXd& q, int column, double at);

/// "1.23 m", "70.5 deg".
std::string with_unit(double value, bool angle);
/// "from where it is (30 deg) it can be moved to all from −12.5 deg to 192.5 deg"
std::string range_text(const Reachable& range, bool angle);

/// A failure where `way`, from one sample of a move to the next, is more than a follower goes at once.
std::optional<Failure> too_far(const BranchFollower& follower, const Eigen::VectorXd& way, int column,
                               const std::string& name);

}  // namespace kinegraph::task
