#include <algorithm>
#include <limits>

#include "kinegraph/build/plan_parts.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::build {

void add_clearances(PlanProblem& problem) {
  const PlanSetting& setting = *problem.setting;
  for (const PlanPair& pair : setting.pairs) {
    const auto factor = std::make_shared<screw::Clearance>(pair.name, setting.tree, pair.a, pair.b, setting.margin);
    for (int k = std::max(1, pair.from); k < std::min(pair.to, setting.knots()); ++k) {
      std::vector<Key> keys;
      PlanKeys{k, false}.add_position(setting.state, keys);
      problem.graph.add(factor, keys, Role::inequality);
    }
  }
}

std::pair<double, int> least_distance(const PlanSetting& setting, const Eigen::VectorXd& q, int knot) {
  screw::Poses poses(setting.tree->bodies().size());
  screw::body_poses(*setting.tree, q.data(), poses);
  const auto place = [&](int body) { return body < 0 ? screw::Transform<double>() : poses[body]; };
  std::pair<double, int> least{std::numeric_limits<double>::infinity(), -1};
  for (std::size_t i = 0; i < setting.pairs.size(); ++i) {
    const PlanPair& pair = setting.pairs[i];
    if (knot < pair.from || knot >= pair.to) continue;
    const double d = screw::separation(pair.a.solid, place(pair.a.body), pair.b.solid, place(pair.b.body)).distance;
    if (d < least.first) least = {d, static_cast<int>(i)};
  }
  return least;
}

}  // namespace kinegraph::build
