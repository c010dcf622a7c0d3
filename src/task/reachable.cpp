#include "kinegraph/task/reachable.hpp"

#include <fmt/format.h>

#include <cmath>

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

}  // namespace kinegraph::task
