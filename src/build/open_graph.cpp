#include "kinegraph/build/open_graph.hpp"

#include <fmt/format.h>

#include "kinegraph/build/kinematics.hpp"
#include "kinegraph/factor/natural/position_constraint.hpp"

namespace kinegraph::build {
namespace {

void name_coordinates(const natural::System& system, OpenGraph& out) {
  for (int i = 0; i < system.coordinates(); ++i) out.coordinates.push_back(system.coordinate_name(i));
}

}  // namespace

OpenGraph open_pose(std::shared_ptr<const natural::System> system, const Eigen::VectorXd& q) {
  constexpr Key position{Kind::position}, time{Kind::time};
  OpenGraph out;
  name_coordinates(*system, out);
  out.values.insert(position, q);
  out.values.insert(time, 0.0);
  out.graph.known().insert(time);
  out.graph.add(std::make_shared<natural::PositionConstraint>(std::move(system)), {position, time}, Role::equality);
  out.variables = {{"q", position}, {"t", time}};
  return out;
}

OpenGraph open_pose(std::shared_ptr<const screw::Tree> tree, const Eigen::VectorXd& q) {
  KinematicsGraph built(tree, q);
  OpenGraph out{std::move(built.graph), std::move(built.values), {}, {}};
  for (int i = 0; i < out.values.count(); ++i) {
    const Key& key = out.values.key(i);
    out.variables.emplace_back(key.kind == Kind::pose ? tree->bodies()[key.element].name + ".pose"
                                                      : tree->coordinates()[key.element].name + ".q",
                               key);
  }
  return out;
}

OpenGraph open_motion(const NaturalChain& names, std::span<const double> values, bool free_start) {
  const Chain& chain = *names.chain;
  const int knots = static_cast<int>(values.size()) / chain.knot_size();
  const Graph soft = unroll(chain, knots);
  OpenGraph out{{}, unroll_values(chain, knots, values, {}), {}, {}};
  // Least squares among the rows of the machine would compete with the costs of who asks.
  for (const BoundFactor& f : soft.factors()) out.graph.add(f.factor, f.keys, Role::equality);
  out.graph.known() = soft.known();
  name_coordinates(*names.system, out);
  for (int k = 0; k < knots; ++k) {
    for (std::size_t v = 0; v < chain.knot().size(); ++v) {
      const Key key = knot_key(chain, static_cast<int>(v), k);
      if (!out.values.contains(key)) continue;  // a machine without motors has no u
      out.variables.emplace_back(fmt::format("{}[{}]", chain.knot()[v].name, k), key);
    }
  }
  if (!free_start) {
    for (const int v : {names.z, names.zd}) out.graph.known().insert(knot_key(chain, v, 0));
  }
  return out;
}

}  // namespace kinegraph::build
