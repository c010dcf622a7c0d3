#include "kinegraph/model/robot_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/check.hpp"
#include "kinegraph/model/joint_names.hpp"
#include "kinegraph/model/loops.hpp"

namespace kinegraph {
namespace {

bool has_quaternion(const Joint& joint) { return joint.type == JointType::ball || joint.type == JointType::floating; }

/// Where each named number of a robot stands. Lists that the file leaves empty are filled with their defaults, so that
/// they can be set, and emptied again if they were not.
class Numbers {
 public:
  explicit Numbers(Robot& robot) : robot_(robot) {
    gravity_ = -robot.gravity.z();
    add("gravity", &gravity_);
    for (int i = 0; i < 3; ++i) {
      const char axis = "xyz"[i];
      add(std::string("gravity.") + axis, &robot.gravity[i]);
      places_.emplace(std::string("gravity_") + axis, &robot.gravity[i]);
    }
    for (Link& l : robot.links) link(l);
    for (Joint& j : robot.joints) joint(j);
  }
  Numbers(const Numbers&) = delete;

  bool set(const std::string& name, double value) {
    const auto found = places_.find(name);
    if (found == places_.end()) return false;
    *found->second = value;
    touched_.insert(found->second);
    if (found->second == &gravity_) robot_.gravity = {0, 0, -value};
    return true;
  }

  void empty_what_was_empty() {
    for (const auto& list : doubles_) {
      if (!touched(*list)) list->clear();
    }
    for (const auto& list : limits_) {
      if (!touched(*list)) list->clear();
    }
    for (const auto& list : dynamics_) {
      if (!touched(*list)) list->clear();
    }
  }

  bool touched(const Joint& j) const {
    return touched(j.initial_q) || touched(j.initial_v) || touched(j.limits) || touched(j.dynamics);
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  void add(const std::string& name, double* place) {
    if (places_.emplace(name, place).second) names_.push_back(name);
  }

  void link(Link& l) {
    add(l.name + ".mass", &l.inertia.mass);
    for (int i = 0; i < 3; ++i) add(l.name + ".com_" + "xyz"[i], &l.inertia.com[i]);
    for (int i = 0; i < 3; ++i) {  // the upper triangle; the lower one follows
      for (int j = i; j < 3; ++j) add(l.name + ".i" + "xyz"[i] + "xyz"[j], &l.inertia.about_com(i, j));
    }
  }

  void joint(Joint& j) {
    const int n = freedoms(j.type);
    fill(j.dynamics, n, dynamics_), fill(j.limits, n, limits_);
    for (int i = 0; i < n; ++i) {
      const std::string number = n > 1 ? std::to_string(i + 1) : "";
      JointDynamics& d = j.dynamics[i];
      JointLimits& l = j.limits[i];
      add(j.name + ".damping" + number, &d.damping);
      add(j.name + ".friction" + number, &d.friction);
      add(j.name + ".stiffness" + number, &d.stiffness);
      add(j.name + ".rest" + number, &d.rest);
      add(j.name + ".armature" + number, &d.armature);
      add(j.name + ".lower" + number, &l.lower);
      add(j.name + ".upper" + number, &l.upper);
      add(j.name + ".velocity" + number, &l.velocity);
      add(j.name + ".effort" + number, &l.effort);
    }
    const bool turn = j.initial_q.empty() && has_quaternion(j);
    initial(position_names(j.name, j.type), j.initial_q);
    initial(velocity_names(j.name, j.type), j.initial_v);
    if (turn) j.initial_q[0] = 1;
  }

  void initial(const std::vector<std::string>& names, std::vector<double>& values) {
    fill(values, static_cast<int>(names.size()), doubles_);
    for (std::size_t i = 0; i < names.size(); ++i) add(names[i], &values[i]);
  }

  template <class T>
  static void fill(std::vector<T>& list, int size, std::vector<std::vector<T>*>& filled) {
    if (list.empty()) filled.push_back(&list);
    list.resize(size);
  }

  template <class T>
  bool touched(const std::vector<T>& list) const {
    const auto* begin = reinterpret_cast<const double*>(list.data());
    const auto first = touched_.lower_bound(begin);
    return first != touched_.end() && *first < reinterpret_cast<const double*>(list.data() + list.size());
  }

  Robot& robot_;
  double gravity_ = 0;
  std::unordered_map<std::string, double*> places_;
  std::vector<std::string> names_;
  std::set<const double*> touched_;
  std::vector<std::vector<double>*> doubles_;
  std::vector<std::vector<JointLimits>*> limits_;
  std::vector<std::vector<JointDynamics>*> dynamics_;
};

/// The joints that hold floating parts in the world, as joints of the robot.
void add_bases(Robot& robot) {
  for (Joint& base : floating_bases(robot)) robot.joints.push_back(std::move(base));
}

/// Quaternions that were set component by component get unit length.
void normalise(Robot& robot, std::vector<Diagnostic>& found) {
  for (Joint& j : robot.joints) {
    if (!has_quaternion(j) || j.initial_q.empty()) continue;
    Eigen::Map<Eigen::Vector4d> q(j.initial_q.data());
    const double length = q.norm();
    if (!(length > 1e-9)) {
      found.push_back({Severity::error, {}, fmt::format("{}.qw, .qx, .qy, .qz: a quaternion cannot be 0", j.name)});
    } else if (std::abs(length - 1) > 1e-12) {
      q /= length;
    }
  }
}

std::string cannot_set(const std::string& name, const std::vector<std::string>& valid) {
  const bool short_of_q = std::find(valid.begin(), valid.end(), name + ".q") != valid.end();
  return fmt::format("cannot set {}: no such parameter, quantity or initial value{}", quote(name),
                     short_of_q ? "; did you mean " + quote(name + ".q") + "?" : did_you_mean(name, valid));
}

}  // namespace

std::vector<std::string> setting_names(const Robot& robot) {
  Robot copy = robot;
  add_bases(copy);
  return Numbers(copy).names();
}

Result<Robot> with_settings(Robot robot, const Settings& settings, const std::vector<std::string>& others) {
  const std::size_t given = robot.joints.size();
  add_bases(robot);
  Numbers numbers(robot);
  std::vector<Diagnostic> found;
  for (const auto& [name, value] : settings) {
    if (!std::isfinite(value)) {
      found.push_back({Severity::error, {}, fmt::format("{}: not a finite number", name)});
    } else if (!numbers.set(name, value)) {
      std::vector<std::string> valid = numbers.names();
      valid.insert(valid.end(), others.begin(), others.end());
      found.push_back({Severity::error, {}, cannot_set(name, valid)});
    }
  }
  const bool base_is_set = std::any_of(robot.joints.begin() + given, robot.joints.end(),
                                       [&](const Joint& base) { return numbers.touched(base); });
  numbers.empty_what_was_empty();
  if (!base_is_set) robot.joints.resize(given);
  for (Link& l : robot.links) l.inertia.about_com = Matrix3d(l.inertia.about_com.selfadjointView<Eigen::Upper>());
  normalise(robot, found);
  if (found.empty()) {
    for (Diagnostic& fault : check_robot(robot, false)) {
      // The file was sound before: it is not to blame.
      if (fault.severity == Severity::error) found.push_back({Severity::error, {}, std::move(fault.message)});
    }
  }
  if (!found.empty()) return Failure{Failure::Kind::bad_input, std::move(found)};
  return robot;
}

}  // namespace kinegraph
