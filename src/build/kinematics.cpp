#include "kinegraph/build/kinematics.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/factor/screw/coordinate_prior.hpp"
#include "kinegraph/factor/screw/limit.hpp"
#include "kinegraph/factor/screw/loop_closure.hpp"
#include "kinegraph/factor/screw/pose.hpp"
#include "kinegraph/factor/screw/pose_goal.hpp"

namespace kinegraph::build {
namespace {

Key pose_key(int body) { return {Kind::pose, false, body, 0}; }
Key coordinate_key(int coordinate) { return {Kind::position, false, coordinate, 0}; }
Key limit_key(int coordinate) { return {Kind::multiplier, false, coordinate, 0}; }

bool limited(const screw::Coordinate& c) {
  if (c.stored != c.freedoms) return false;  // quaternions have none
  return std::any_of(c.limits.begin(), c.limits.end(),
                     [](const JointLimits& l) { return std::isfinite(l.lower) || std::isfinite(l.upper); });
}

}  // namespace

KinematicsGraph::KinematicsGraph(std::shared_ptr<const screw::Tree> tree, const Eigen::VectorXd& q,
                                 const std::vector<int>& bodies)
    : tree_(std::move(tree)), q_(q) {
  choose(bodies);
  for (std::size_t c = 0; c < tree_->coordinates().size(); ++c) {
    const screw::Coordinate& coordinate = tree_->coordinates()[c];
    if (!coordinate_in_[c]) continue;
    values.insert(coordinate_key(static_cast<int>(c)), screw::manifold_of(coordinate.type),
                  std::span(q_.data() + coordinate.q, coordinate.stored));
  }
  for (std::size_t i = 0; i < tree_->bodies().size(); ++i) {
    if (body_in_[i]) values.insert(pose_key(static_cast<int>(i)), SE3());
  }
  set_position(q);
  for (std::size_t i = 0; i < tree_->bodies().size(); ++i) {
    const screw::Body& body = tree_->bodies()[i];
    if (!body_in_[i]) continue;
    std::vector<Key> keys = {pose_key(static_cast<int>(i))};
    if (body.parent >= 0) keys.push_back(pose_key(body.parent));
    keys.push_back(coordinate_key(body.joint.coordinate));
    graph.add(std::make_shared<screw::JointPose>(body), std::move(keys), Role::equality);
  }
  for (std::size_t l = 0; l < tree_->loops().size(); ++l) {
    const screw::Loop& loop = tree_->loops()[l];
    if (!loop_in_[l]) continue;
    std::vector<Key> keys;
    if (loop.a >= 0) keys.push_back(pose_key(loop.a));
    if (loop.b >= 0) keys.push_back(pose_key(loop.b));
    if (loop.via.freedoms > 0) keys.push_back(coordinate_key(loop.via.coordinate));
    graph.add(std::make_shared<screw::LoopClosure>(loop), std::move(keys), Role::equality);
  }
}

// A body needs its ancestors; a coordinate that a loop ties needs that loop, and a loop both of its ends.
void KinematicsGraph::choose(const std::vector<int>& bodies) {
  const bool all = bodies.empty();
  body_in_.assign(tree_->bodies().size(), all);
  loop_in_.assign(tree_->loops().size(), all);
  coordinate_in_.assign(tree_->coordinates().size(), all);
  bool loops = false;
  const auto need = [&](int body) {
    for (int i = body; i >= 0 && !body_in_[i]; i = tree_->bodies()[i].parent) {
      body_in_[i] = true;
      const int c = tree_->bodies()[i].joint.coordinate;
      coordinate_in_[c] = true;
      loops = loops || tree_->coordinates()[c].in_loop;
    }
  };
  for (const int body : bodies) need(body);
  if (all || !loops) return;
  for (std::size_t l = 0; l < tree_->loops().size(); ++l) {
    const screw::Loop& loop = tree_->loops()[l];
    loop_in_[l] = true;
    need(loop.a);
    need(loop.b);
    if (loop.via.coordinate >= 0) coordinate_in_[loop.via.coordinate] = true;
  }
}

void KinematicsGraph::hold(int coordinate) { graph.known().insert(coordinate_key(coordinate)); }

void KinematicsGraph::stay(double sigma) {
  for (std::size_t c = 0; c < tree_->coordinates().size(); ++c) {
    const screw::Coordinate& coordinate = tree_->coordinates()[c];
    if (!coordinate_in_[c]) continue;
    const double* at = q_.data() + coordinate.q;
    graph.add(std::make_shared<screw::CoordinatePrior>(coordinate.name, screw::manifold_of(coordinate.type),
                                                       std::vector<double>(at, at + coordinate.stored)),
              {coordinate_key(static_cast<int>(c))}, Role::cost, Noise::isotropic(sigma));
  }
}

void KinematicsGraph::add_goal(const std::string& name, int body, const screw::Transform<double>& X_BT,
                               const screw::GoalPose& goal, double length) {
  Eigen::VectorXd sigmas = Eigen::VectorXd::Constant(goal.rows(), length);
  if (goal.rotation) sigmas.head<3>().setOnes();
  graph.add(std::make_shared<screw::PoseGoal>(name, goal, X_BT), {pose_key(body)}, Role::cost, Noise::diagonal(sigmas));
}

void KinematicsGraph::add_limits(double sigma) {
  for (std::size_t c = 0; c < tree_->coordinates().size(); ++c) {
    const screw::Coordinate& coordinate = tree_->coordinates()[c];
    if (!coordinate_in_[c] || !limited(coordinate)) continue;
    const int at = static_cast<int>(c);
    values.insert(limit_key(at), Eigen::VectorXd::Zero(coordinate.freedoms));
    graph.known().insert(limit_key(at));
    graph.add(std::make_shared<screw::JointLimit>(coordinate.name, coordinate.limits),
              {coordinate_key(at), limit_key(at)}, Role::cost, Noise::isotropic(sigma));
    limited_.push_back(at);
  }
}

double KinematicsGraph::update_limits() {
  double beyond = 0;
  for (const int c : limited_) {
    const screw::Coordinate& coordinate = tree_->coordinates()[c];
    const auto q = values.at(coordinate_key(c));
    const auto shift = values.at(limit_key(c));
    for (int k = 0; k < coordinate.freedoms; ++k) {
      const JointLimits& limit = coordinate.limits[k];
      const double x = q[k] + shift[k];
      const double force = std::max(0.0, x - limit.upper) - std::max(0.0, limit.lower - x);
      beyond = std::max({beyond, q[k] - limit.upper, limit.lower - q[k]});
      shift[k] = force;
    }
  }
  return beyond;
}

Eigen::VectorXd KinematicsGraph::position() const {
  Eigen::VectorXd q = q_;
  for (std::size_t c = 0; c < tree_->coordinates().size(); ++c) {
    if (!coordinate_in_[c]) continue;
    const auto stored = values.at(coordinate_key(static_cast<int>(c)));
    std::copy(stored.begin(), stored.end(), q.data() + tree_->coordinates()[c].q);
  }
  return q;
}

void KinematicsGraph::set_position(const Eigen::VectorXd& q) {
  q_ = q;
  screw::Poses poses(tree_->bodies().size());
  screw::body_poses(*tree_, q.data(), poses);
  for (std::size_t i = 0; i < poses.size(); ++i) {
    if (body_in_[i]) screw::to_se3(poses[i]).store(values.at(pose_key(static_cast<int>(i))).data());
  }
  for (std::size_t c = 0; c < tree_->coordinates().size(); ++c) {
    if (!coordinate_in_[c]) continue;
    const auto stored = values.at(coordinate_key(static_cast<int>(c)));
    std::copy_n(q.data() + tree_->coordinates()[c].q, stored.size(), stored.data());
  }
  for (const int c : limited_) std::ranges::fill(values.at(limit_key(c)), 0.0);
}

std::vector<std::string> KinematicsGraph::at_limits() const {
  std::vector<std::string> names;
  for (const int c : limited_) {
    const screw::Coordinate& coordinate = tree_->coordinates()[c];
    const auto shift = values.at(limit_key(c));
    for (int k = 0; k < coordinate.freedoms; ++k) {
      if (shift[k] != 0) names.push_back(tree_->position_names()[coordinate.q + k]);
    }
  }
  return names;
}

}  // namespace kinegraph::build
