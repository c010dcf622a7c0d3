#include "kinegraph/task/reachable.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kinegraph/base/names.hpp"

namespace kinegraph::task {

Reachable reachable(BranchFollower& follower, const Eigen::VectorXd& q, int column, double at) {
  ClosedPositions& positions = follower.positions();
  const double unit = positions.scale(column), most = positions.angle(column) ? 2 * M_PI : 20;
  const auto reach = [&](double way) {
    Eigen::VectorXd to = q, change = Eigen::VectorXd::Zero(positions.changes());
    change[column] = way;
    return follower.follow(to, change) * way * unit;
  };
  return {reach(-most), reach(most), at};
}

std::string with_unit(double value, bool angle) {
  return angle ? fmt::format("{:.6g} deg", value * 180 / M_PI) : fmt::format("{:.6g} m", value);
}

std::string range_text(const Reachable& range, bool angle) {
  return fmt::format("the loops hold it; from {}, where the machine is drawn, it can be moved from {} to {}",
                     with_unit(range.at, angle), with_unit(range.at + range.from, angle),
                     with_unit(range.at + range.to, angle));
}

std::optional<Failure> too_far(const BranchFollower& follower, const Eigen::VectorXd& way, int column,
                               const std::string& name) {
  const ClosedPositions& positions = follower.positions();
  if (std::abs(way[column]) <= BranchFollower::kFarthest) return {};
  const double unit = positions.scale(column);
  const bool angle = positions.angle(column);
  return Failure::bad_input(fmt::format(
      "move: {} goes {} from one sample to the next, {} at most; say more samples, {}=FROM:TO:N", quote(name),
      with_unit(std::abs(way[column]) * unit, angle), with_unit(BranchFollower::kFarthest * unit, angle), name));
}

}  // namespace kinegraph::task
