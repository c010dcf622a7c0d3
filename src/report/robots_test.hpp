#pragma once

#include <fmt/format.h>

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kinegraph/build/screw_incidence.hpp"
#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/report/skeleton.hpp"

namespace kinegraph::report {

/// Robots of revolute joints without numbers: only how their links hang together matters here.
class RobotMaker {
 public:
  /// Parent −1 is the world. Returns the link.
  int link(int parent, JointType type = JointType::revolute) {
    const int index = static_cast<int>(robot_.links.size());
    Link link;
    link.name = fmt::format("l{}", index + 1);
    link.inertia.mass = 1;
    link.inertia.about_com.setIdentity();
    robot_.links.push_back(link);
    joint(parent, index, type);
    return index;
  }
  int chain(int parent, int links) {
    for (int i = 0; i < links; ++i) parent = link(parent);
    return parent;
  }
  void loop(int a, int b) {
    joint(a, b, JointType::revolute);
    robot_.joints.back().closes_loop = true;
  }
  std::shared_ptr<const screw::Tree> tree() const {
    auto made = screw::Tree::make(robot_);
    if (!made) throw std::runtime_error(made.failure().to_string());
    return *made;
  }

 private:
  void joint(int parent, int child, JointType type) {
    Joint j;
    j.name = fmt::format("j{}", robot_.joints.size() + 1);
    j.type = type;
    if (parent >= 0) j.parent = LinkIndex(parent);
    j.child = LinkIndex(child);
    j.axis = Vector3d::UnitZ();
    j.limits.resize(freedoms(type));
    j.dynamics.resize(freedoms(type));
    robot_.joints.push_back(j);
  }
  Robot robot_;
};

inline std::shared_ptr<const screw::Tree> arm(int joints) {
  RobotMaker maker;
  maker.chain(-1, joints);
  return maker.tree();
}
inline std::shared_ptr<const screw::Tree> quadruped() {
  RobotMaker maker;
  const int body = maker.link(-1, JointType::floating);
  for (int leg = 0; leg < 4; ++leg) maker.chain(body, 3);
  return maker.tree();
}
inline std::shared_ptr<const screw::Tree> five_bar() {
  RobotMaker maker;
  const int left = maker.chain(-1, 2), right = maker.chain(-1, 2);
  maker.loop(left, right);
  return maker.tree();
}
/// Arms of unlike length on a trunk, one of them with a hand of two fingers.
inline std::shared_ptr<const screw::Tree> humanoid() {
  RobotMaker maker;
  const int hip = maker.link(-1, JointType::floating);
  maker.chain(hip, 4);
  maker.chain(hip, 4);
  const int chest = maker.chain(hip, 2);
  maker.chain(chest, 1);
  maker.chain(chest, 3);
  const int hand = maker.chain(chest, 3);
  maker.chain(hand, 2);
  maker.chain(hand, 2);
  return maker.tree();
}

/// A problem with its skeleton and what an order makes of it.
struct Played {
  build::ScrewProblem problem;
  Skeleton skeleton;
  build::ScrewOrder order;
  linear::EliminationGame game;
};

inline Played played(std::shared_ptr<const screw::Tree> tree, const std::vector<build::Given>& given,
                     const std::string& order, const std::string& custom = "", int steps = -1) {
  Played p{build::screw_problem(tree, given), skeleton(*tree), {}, {}};
  std::vector<std::string> names;
  std::istringstream words(custom);
  for (std::string word; words >> word;) names.push_back(word);
  auto found = build::screw_order(p.problem, order, names);
  if (!found) throw std::runtime_error(found.failure().to_string());
  p.order = *found;
  p.game = linear::play(build::incidence(p.problem), p.order, steps);
  return p;
}

}  // namespace kinegraph::report
