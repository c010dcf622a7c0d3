#include "kinegraph/build/dynamics_graph.hpp"

#include "kinegraph/factor/screw/loop_acceleration.hpp"
#include "kinegraph/factor/screw/pose.hpp"
#include "kinegraph/factor/screw/torque.hpp"
#include "kinegraph/factor/screw/twist.hpp"
#include "kinegraph/factor/screw/twist_acceleration.hpp"
#include "kinegraph/factor/screw/wrench.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::build {
namespace {

using screw::Tree;

void add_variables(const Tree& tree, const ScrewKeys& keys, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                   Values& values) {
  const int bodies = static_cast<int>(tree.bodies().size()), loops = static_cast<int>(tree.loops().size());
  for (int c = 0; c < static_cast<int>(tree.coordinates().size()); ++c) {
    const screw::Coordinate& coordinate = tree.coordinates()[c];
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(coordinate.freedoms);
    values.insert(keys.q(c), screw::manifold_of(coordinate.type),
                  std::span<const double>(q.data() + coordinate.q, coordinate.stored));
    values.insert(keys.v(c), v.segment(coordinate.v, coordinate.freedoms).eval());
    values.insert(keys.a(c), zero);
    values.insert(keys.tau(c), zero);
  }
  screw::Poses poses(bodies);
  std::vector<screw::Vector6d> twists(bodies);
  screw::body_poses(tree, q.data(), poses);
  screw::body_twists(tree, q.data(), v.data(), twists);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(6);
  for (int i = 0; i < bodies; ++i) {
    values.insert(keys.pose(i), screw::to_se3(poses[i]));
    values.insert(keys.twist(i), Eigen::VectorXd(twists[i]));
    values.insert(keys.acceleration(i), zero);
  }
  for (int i = 0; i < bodies + loops; ++i) values.insert(keys.wrench(i), zero);
}

std::vector<Key> wrench_keys(const Tree& tree, const ScrewKeys& keys, int body) {
  std::vector<Key> list{keys.wrench(body), keys.acceleration(body), keys.twist(body), keys.pose(body)};
  for (const int child : tree.bodies()[body].children) {
    list.insert(list.end(), {keys.wrench(child), keys.q(tree.bodies()[child].joint.coordinate)});
  }
  for (int l = 0; l < static_cast<int>(tree.loops().size()); ++l) {
    const screw::Loop& loop = tree.loops()[l];
    const Key F = keys.wrench(static_cast<int>(tree.bodies().size()) + l);
    if (loop.a == body) {
      list.push_back(F);
      if (loop.via.freedoms > 0) list.push_back(keys.q(loop.via.coordinate));
    }
    if (loop.b == body) list.push_back(F);
  }
  return list;
}

void add_body(const Tree& tree, const ScrewKeys& keys, int i, Graph& graph) {
  const screw::Body& body = tree.bodies()[i];
  const int c = body.joint.coordinate, p = body.parent;
  const auto with_parent = [&](const Key& first, const Key& parent, std::vector<Key> rest) {
    std::vector<Key> list{first};
    if (p >= 0) list.push_back(parent);
    list.insert(list.end(), rest.begin(), rest.end());
    return list;
  };
  const auto add = [&](auto factor, std::vector<Key> list) {
    graph.add(std::move(factor), std::move(list), Role::equality);
  };
  add(std::make_shared<screw::JointPose>(body), with_parent(keys.pose(i), keys.pose(p), {keys.q(c)}));
  add(std::make_shared<screw::TwistFactor>(body), with_parent(keys.twist(i), keys.twist(p), {keys.q(c), keys.v(c)}));
  add(std::make_shared<screw::TwistAccelerationFactor>(body),
      with_parent(keys.acceleration(i), keys.acceleration(p), {keys.twist(i), keys.q(c), keys.v(c), keys.a(c)}));
  add(std::make_shared<screw::WrenchFactor>(tree, i), wrench_keys(tree, keys, i));
}

void add_loop(const Tree& tree, const ScrewKeys& keys, int l, Graph& graph) {
  const screw::Loop& loop = tree.loops()[l];
  std::vector<Key> list;
  if (loop.b >= 0) list.push_back(keys.acceleration(loop.b));
  if (loop.a >= 0) list.insert(list.end(), {keys.acceleration(loop.a), keys.twist(loop.a)});
  const int c = loop.via.coordinate;
  if (loop.via.freedoms > 0) list.insert(list.end(), {keys.q(c), keys.v(c), keys.a(c)});
  graph.add(std::make_shared<screw::LoopAccelerationFactor>(loop), std::move(list), Role::equality);
}

}  // namespace

void add_dynamics(const std::shared_ptr<const Tree>& tree, const ScrewKeys& keys, const Eigen::VectorXd& q,
                  const Eigen::VectorXd& v, Graph& graph, Values& values) {
  const int bodies = static_cast<int>(tree->bodies().size());
  add_variables(*tree, keys, q, v, values);
  for (int i = 0; i < bodies; ++i) add_body(*tree, keys, i, graph);
  for (int c = 0; c < static_cast<int>(tree->coordinates().size()); ++c) {
    std::vector<Key> list{keys.tau(c), keys.q(c), keys.v(c), keys.a(c)};
    for (int i = 0; i < bodies; ++i) {
      if (tree->bodies()[i].joint.coordinate == c) list.push_back(keys.wrench(i));
    }
    for (std::size_t l = 0; l < tree->loops().size(); ++l) {
      if (tree->loops()[l].via.coordinate == c) list.push_back(keys.wrench(bodies + static_cast<int>(l)));
    }
    graph.add(std::make_shared<screw::TorqueFactor>(*tree, c), std::move(list), Role::equality);
  }
  for (std::size_t l = 0; l < tree->loops().size(); ++l) add_loop(*tree, keys, static_cast<int>(l), graph);
}

void set_known(const Tree& tree, const ScrewKeys& keys, const std::vector<Given>& given, Known& known) {
  for (int c = 0; c < static_cast<int>(tree.coordinates().size()); ++c) {
    known.insert(keys.q(c));
    known.insert(keys.v(c));
    if (given[c] == Given::torque || given[c] == Given::both) known.insert(keys.tau(c));
    if (given[c] == Given::acceleration || given[c] == Given::both) known.insert(keys.a(c));
  }
}

}  // namespace kinegraph::build
