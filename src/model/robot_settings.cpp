#include "kinegraph/model/robot_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "kinegraph/base/largest.hpp"
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
  struct Surface {
    double mu = 0, restitution = 0;
  };

 public:
  explicit Numbers(Robot& robot) : robot_(robot) {
    gravity_ = -robot.gravity.z();
    add("gravity", &gravity_);
    for (int i = 0; i < 3; ++i) {
      const char axis = "xyz"[i];
      add(std::string("gravity.") + axis, &robot.gravity[i]);
      places_.emplace(std::string("gravity_") + axis, &robot.gravity[i]);
    }
    origins_.resize(robot.joints.size());
    surfaces_.resize(robot.links.size());
    for (std::size_t i = 0; i < robot.links.size(); ++i) link(robot.links[i], surfaces_[i]);
    for (std::size_t i = 0; i < robot.joints.size(); ++i) joint(robot.joints[i], origins_[i]);
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

  /// What is not set in place: surfaces of all shapes of a link, and where joints sit.
  void apply() {
    for (std::size_t i = 0; i < robot_.links.size(); ++i) {
      for (Shape& shape : robot_.links[i].collisions) {
        if (touched_.contains(&surfaces_[i].mu)) shape.friction = surfaces_[i].mu;
        if (touched_.contains(&surfaces_[i].restitution)) shape.restitution = surfaces_[i].restitution;
      }
    }
    bool moved = false;
    for (std::size_t i = 0; i < origins_.size(); ++i) {
      SE3& frame = robot_.joints[i].X_PF;
      if (origins_[i] == frame.position()) continue;
      frame = SE3(frame.rotation(), origins_[i]);
      moved = true;
    }
    if (moved) draw_again();
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
  Settings values() const {
    Settings values;
    for (const auto& [name, place] : places_) values.emplace(name, *place);
    return values;
  }

 private:
  void add(const std::string& name, double* place) {
    if (places_.emplace(name, place).second) names_.push_back(name);
  }

  void link(Link& l, Surface& surface) {
    add(l.name + ".mass", &l.inertia.mass);
    for (int i = 0; i < 3; ++i) add(l.name + ".com_" + "xyz"[i], &l.inertia.com[i]);
    for (int i = 0; i < 3; ++i) {  // the upper triangle; the lower one follows
      for (int j = i; j < 3; ++j) add(l.name + ".i" + "xyz"[i] + "xyz"[j], &l.inertia.about_com(i, j));
    }
    if (l.collisions.empty()) return;
    surface = {l.collisions.front().friction, l.collisions.front().restitution};
    add(l.name + ".mu", &surface.mu);
    add(l.name + ".restitution", &surface.restitution);
  }

  void joint(Joint& j, Vector3d& origin) {
    const int n = freedoms(j.type);
    fill(j.dynamics, n, dynamics_), fill(j.limits, n, limits_);
    for (int i = 0; i < n; ++i) {
      const std::string number = n > 1 ? std::to_string(i + 1) : "";
      JointDynamics& d = j.dynamics[i];
      JointLimits& l = j.limits[i];
      add(j.name + ".damping" + number, &d.damping);
      add(j.name + ".friction" + number, &d.friction);
      add(j.name + ".stribeck" + number, &d.stribeck);
      add(j.name + ".stribeck_speed" + number, &d.stribeck_speed);
      add(j.name + ".quadratic" + number, &d.quadratic);
      add(j.name + ".load_friction" + number, &d.load_friction);
      add(j.name + ".stiffness" + number, &d.stiffness);
      add(j.name + ".rest" + number, &d.rest);
      add(j.name + ".armature" + number, &d.armature);
      add(j.name + ".gain" + number, &d.gain);
      add(j.name + ".lower" + number, &l.lower);
      add(j.name + ".upper" + number, &l.upper);
      add(j.name + ".velocity" + number, &l.velocity);
      add(j.name + ".effort" + number, &l.effort);
    }
    const bool turn = j.initial_q.empty() && has_quaternion(j);
    initial(position_names(j.name, j.type), j.initial_q);
    initial(velocity_names(j.name, j.type), j.initial_v);
    if (turn) j.initial_q[0] = 1;
    origin = j.X_PF.position();
    // Of joints that move in a plane or freely `.x` is where they start.
    if (j.type == JointType::planar || j.type == JointType::floating) return;
    for (int i = 0; i < 3; ++i) add(j.name + "." + "xyz"[i], &origin[i]);
  }

  /// Where links are drawn, at q = 0, after joints have been put elsewhere.
  void draw_again() {
    if (robot_.X_WL.empty()) return;
    std::vector<int> parts;  // links that follow those before
    std::vector<const Joint*> above(robot_.links.size(), nullptr);
    for (const Joint& j : robot_.joints) {
      if (!j.closes_loop && j.child.valid() && !above[j.child.value]) above[j.child.value] = &j;
    }
    std::vector<bool> drawn(robot_.links.size());
    for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] = !above[i];
    for (std::size_t start = 0; start < drawn.size(); ++start) {
      parts.clear();
      int link = static_cast<int>(start);
      for (; !drawn[link]; link = above[link]->parent.value) {
        drawn[link] = true;
        parts.push_back(link);
        if (!above[link]->parent.valid()) break;
      }
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        const Joint& j = *above[*part];
        if (j.type == JointType::planar || j.type == JointType::floating) continue;
        robot_.X_WL[*part] = (j.parent.valid() ? robot_.X_WL[j.parent.value] : SE3()) * j.X_PF * j.X_CM.inverse();
      }
    }
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
  std::vector<Surface> surfaces_;  // per link
  std::vector<Vector3d> origins_;  // per joint
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

Settings setting_values(const Robot& robot) {
  Robot copy = robot;
  add_bases(copy);
  return Numbers(copy).values();
}

std::string setting_name(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return name;
  for (const auto& [other, own] :
       {std::pair<std::string, std::string>{".viscous", ".damping"}, {".dry", ".friction"}}) {
    const std::string number = name.substr(std::min(name.size(), dot + other.size()));
    const bool same = name.compare(dot, other.size(), other) == 0;
    if (same && number.find_first_not_of("123456") == std::string::npos) return name.substr(0, dot) + own + number;
  }
  return name;
}

Result<Settings> by_setting_names(const Settings& settings) {
  Settings renamed;
  std::vector<Diagnostic> found;
  for (const auto& [name, value] : settings) {
    const std::string own = setting_name(name);
    if (own != name && settings.contains(own)) {
      found.push_back({Severity::error, {}, fmt::format("{} and {} are the same number", own, name)});
    }
    renamed.emplace(own, value);
  }
  if (!found.empty()) return Failure{Failure::Kind::bad_input, std::move(found)};
  return renamed;
}

Result<Robot> with_settings(Robot robot, const Settings& settings, const std::vector<std::string>& others) {
  const std::size_t given = robot.joints.size();
  add_bases(robot);
  Numbers numbers(robot);
  std::vector<Diagnostic> found;
  for (const auto& [name, value] : settings) {
    if (!is_usable(value)) {
      found.push_back({Severity::error, {}, fmt::format("{}: must be a number {}, is {:g}", name, usable_range(), value)});
    } else if (!numbers.set(name, value)) {
      std::vector<std::string> valid = numbers.names();
      valid.insert(valid.end(), others.begin(), others.end());
      found.push_back({Severity::error, {}, cannot_set(name, valid)});
    }
  }
  numbers.apply();
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
