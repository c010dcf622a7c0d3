#include "kinegraph/mechanics/sensor/screw_places.hpp"

#include <algorithm>
#include <stdexcept>

namespace kinegraph::sensor {
namespace {

using screw::Coordinate;
using screw::LinkPlace;
using screw::Loop;
using screw::Tree;

constexpr double kSamePlace = 1e-9;  // m

class Placer {
 public:
  Placer(const Model& model, const Tree& tree) : model_(model), tree_(tree) {}

  ScrewPlace place(const Sensor& sensor) const {
    ScrewPlace p;
    mount(sensor, p);
    if (sensor.coordinate >= 0 || sensor.motor >= 0) coordinate(sensor, p);
    if (sensor.type == SensorType::load_cell) model_.spatial() ? through_joint(sensor, p) : at_pin(sensor, p);
    return p;
  }

 private:
  LinkPlace link(int index) const { return index < 0 ? LinkPlace{} : tree_.links()[index]; }
  int body_of(LinkIndex index) const { return link(index.value).body; }

  void mount(const Sensor& sensor, ScrewPlace& p) const {
    const LinkPlace on = link(sensor.on.body), other = link(sensor.other.body);
    p.on = on.body;
    p.other = other.body;
    p.mounting = {on.X_BL * sensor.on.at, other.X_BL * sensor.other.at, on.X_BL.R * sensor.R_BS};
  }

  // ---- coordinates --------------------------------------------------------------------------------------------

  void coordinate(const Sensor& sensor, ScrewPlace& p) const {
    if (model_.spatial()) return of_joint(sensor.coordinate, sensor.freedom, p);
    const int relative = sensor.motor >= 0 ? model_.motors[sensor.motor].coordinate.value : sensor.coordinate;
    // robot_of gives a joint the name of the coordinate that it has
    const int joint = tree_.robot().find_joint(model_.relative[relative].name);
    if (joint >= 0) {
      of_joint(joint, 0, p);
    } else {
      p.line = line(model_.relative[relative]);
    }
  }

  /// The joint's own number as the file counts it: that of its coordinate, through all mimics on the way to it.
  void of_joint(int joint, int freedom, ScrewPlace& p) const {
    const auto& all = tree_.coordinates();
    const auto& joints = tree_.robot().joints;
    for (std::size_t guard = 0; guard <= joints.size(); ++guard) {
      const auto found = std::find_if(all.begin(), all.end(), [&](const Coordinate& c) { return c.joint == joint; });
      if (found != all.end()) {
        p.coordinate = static_cast<int>(found - all.begin());
        p.q = freedom;
        p.v = found->v + std::min(freedom, found->freedoms - 1);
        return;
      }
      if (!joints[joint].mimic) return;  // does not move
      p.offset += p.ratio * joints[joint].mimic->offset;
      p.ratio *= joints[joint].mimic->multiplier;
      joint = joints[joint].mimic->joint.value;
    }
  }

  MeasuredLine line(const RelativeCoordinate& r) const {
    MeasuredLine line{.type = r.type, .points = static_cast<int>(r.points.size()), .body = {}, .at = {}};
    for (int k = 0; k < line.points; ++k) {
      const Point& point = model_.points[r.points[k].value];
      const int holder = point.fixed ? -1 : first_body(r.points[k]);
      const LinkPlace at = link(holder);
      const Vector2d local = holder < 0 ? point.position : local_of(holder, r.points[k]);
      line.body[k] = at.body;
      line.at[k] = at.X_BL * Eigen::Vector3d(local.x(), local.y(), 0);
    }
    return line;
  }

  int number_in(int body, PointIndex p) const {
    const auto& points = model_.bodies[body].points;
    const auto found = std::find(points.begin(), points.end(), p);
    return found == points.end() ? -1 : static_cast<int>(found - points.begin());
  }
  Vector2d local_of(int body, PointIndex p) const { return model_.bodies[body].local[number_in(body, p)]; }
  int first_body(PointIndex p) const {
    for (int b = 0; b < static_cast<int>(model_.bodies.size()); ++b)
      if (number_in(b, p) >= 0) return b;
    return -1;
  }

  // ---- wrenches -----------------------------------------------------------------------------------------------

  /// The wrench through a joint of the robot on its child. Nothing if the joint does not move: its links are one body.
  std::optional<WrenchTerm> wrench(int joint) const {
    const Joint& j = tree_.robot().joints[joint];
    const auto& loops = tree_.loops();
    const auto loop = std::find_if(loops.begin(), loops.end(), [&](const Loop& l) { return l.joint == joint; });
    if (loop != loops.end()) {
      const auto row = 6 * (tree_.bodies().size() + (loop - loops.begin()));
      return WrenchTerm{static_cast<int>(row), 1, loop->b, loop->X_BM.R};
    }
    const int parent = body_of(j.parent), child = body_of(j.child);
    if (parent == child) return std::nullopt;
    const bool forward = child >= 0 && tree_.bodies()[child].parent == parent;
    const int body = forward ? child : parent;
    return WrenchTerm{6 * body, forward ? 1.0 : -1.0, body, Eigen::Matrix3d::Identity()};
  }

  [[noreturn]] static void none(const Sensor& sensor) {
    throw std::invalid_argument("sensor " + sensor.name + ": no joint carries the force " + sensor.reaction);
  }

  /// In the axes of the child's link.
  void through_joint(const Sensor& sensor, ScrewPlace& p) const {
    const int joint = tree_.robot().find_joint(sensor.reaction);
    const auto term = joint < 0 ? std::nullopt : wrench(joint);
    if (!term) none(sensor);
    const LinkPlace child = link(tree_.robot().joints[joint].child.value);
    p.wrenches = {*term};
    p.cell = child.body;
    p.R_BL = child.X_BL.R;
    p.mounting.R_BS = sensor.R_BS;
  }

  /// A force of natural::Reactions: on a body at a pin, from all hinges there; or of a slider's line on its point.
  void at_pin(const Sensor& sensor, ScrewPlace& p) const {
    for (int i = 0; i < static_cast<int>(model_.points.size()) && p.wrenches.empty(); ++i)
      pin(PointIndex(i), sensor, p);
    if (p.wrenches.empty()) none(sensor);
  }

  void pin(PointIndex point, const Sensor& sensor, ScrewPlace& p) const {
    const Point& at = model_.points[point.value];
    std::vector<int> held, lines;
    for (int b = 0; b < static_cast<int>(model_.bodies.size()); ++b)
      if (number_in(b, point) >= 0) held.push_back(b);
    for (int i = 0; i < static_cast<int>(model_.sliders.size()); ++i)
      if (model_.sliders[i].point == point) lines.push_back(i);
    const std::size_t first = at.fixed ? 0 : 1;
    const bool alone = lines.empty() && held.size() == first + 1;
    for (std::size_t i = first; i < held.size(); ++i) {
      if (sensor.reaction == (alone ? at.name : at.name + "." + model_.bodies[held[i]].name))
        return hinges_of(held[i], local_of(held[i], point), p);
    }
    for (const int i : lines) {
      const std::string& name = model_.sliders[i].name;
      if (sensor.reaction == (lines.size() == 1 ? at.name : at.name + "." + name)) slide_of(i, at.fixed ? -1 : 1, p);
    }
  }

  void hinges_of(int held, const Vector2d& at, ScrewPlace& p) const {
    const Eigen::Vector3d place(at.x(), at.y(), 0);
    for (int j = 0; j < static_cast<int>(tree_.robot().joints.size()); ++j) {
      const Joint& joint = tree_.robot().joints[j];
      const bool child = joint.child.value == held;
      if (joint.type != JointType::revolute || (!child && joint.parent.value != held)) continue;
      if (((child ? joint.X_CM : joint.X_PF).position() - place).norm() > kSamePlace) continue;
      add(j, child ? 1 : -1, p);
    }
  }

  /// The massless link of a slider is carried by its line.
  void slide_of(int slider, double sign, ScrewPlace& p) const {
    const int block = static_cast<int>(model_.bodies.size()) + slider;
    for (int j = 0; j < static_cast<int>(tree_.robot().joints.size()); ++j) {
      const Joint& joint = tree_.robot().joints[j];
      const bool child = joint.child.value == block;
      if (joint.type == JointType::prismatic && (child || joint.parent.value == block)) add(j, child ? sign : -sign, p);
    }
  }

  void add(int joint, double sign, ScrewPlace& p) const {
    if (std::optional<WrenchTerm> term = wrench(joint)) {
      term->sign *= sign;
      p.wrenches.push_back(*term);
    }
  }

  const Model& model_;
  const Tree& tree_;
};

}  // namespace

std::vector<ScrewPlace> screw_places(const Model& model, const Tree& tree) {
  const Placer placer(model, tree);
  std::vector<ScrewPlace> places;
  for (const Sensor& sensor : model.sensors) places.push_back(placer.place(sensor));
  return places;
}

}  // namespace kinegraph::sensor
