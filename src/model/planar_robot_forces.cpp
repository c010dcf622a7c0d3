#include "kinegraph/model/planar_robot_forces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/model/pins.hpp"

namespace kinegraph {
namespace {

class Forces {
 public:
  Forces(const Model& model, PlanarForces forces, const PlanarJoints& joints, Robot& robot,
         std::vector<Diagnostic>& found)
      : model_(model), kept_(forces == PlanarForces::kept), joints_(joints), robot_(robot), found_(found) {}

  void run() {
    motors();
    coordinate_springs();
    frictions();
    if (kept_) {
      springs();
      loads();
      drivers();
    } else {
      refuse("spring", model_.springs);
      refuse("load", model_.loads);
      refuse("torque", model_.torques);
      refuse("driver", model_.drivers);
    }
    initial();
  }

 private:
  // ---- along joints -------------------------------------------------------------------------------------------

  void motors() {
    for (const Motor& motor : model_.motors) {
      const int index = joint_of(motor.coordinate.value, "motor", motor);
      if (index < 0) continue;
      Joint& joint = robot_.joints[index];
      const bool second = !joint.passive;
      joint.passive = false;
      if (motor.inertia != 0 || motor.gain != 1) {
        JointDynamics& d = dynamics(joint);
        d.armature += motor.inertia;
        if (!second) d.gain = motor.gain;
      }
      const double gain = joint.dynamics.empty() ? 1 : joint.dynamics[0].gain;
      if (second && kept_ && gain != motor.gain) {
        error(motor.where, fmt::format("motor {}: another motor of coordinate {} has another gain", quote(motor.name),
                                       quote(model_.relative[motor.coordinate.value].name)));
      }
      if (kept_) robot_.torques.push_back({motor.name, JointIndex(index), motor.torque});
    }
  }

  void coordinate_springs() {
    for (const CoordinateSpring& spring : model_.coordinate_springs) {
      const int joint = joint_of(spring.coordinate.value, "spring", spring);
      if (joint < 0) continue;
      // k₁ (q − r₁) + k₂ (q − r₂) = k (q − r)
      JointDynamics& d = dynamics(robot_.joints[joint]);
      const double stiffness = d.stiffness + spring.stiffness;
      if (stiffness != 0) d.rest = (d.stiffness * d.rest + spring.stiffness * spring.rest) / stiffness;
      d.stiffness = stiffness;
      d.damping += spring.damping;
    }
  }

  void frictions() {
    if (model_.frictions.empty()) return;
    const std::vector<Pin> all = pins(model_);
    for (const JointFriction& friction : model_.frictions) {
      const int index = joint_of(all[friction.pin]);
      if (index < 0) {
        error(friction.where,
              fmt::format("joint friction {}: no joint of the spatial model stands for it", quote(friction.name)));
        continue;
      }
      const JointDynamics& own = friction.dynamics;
      if (const auto lacking = beyond_screw(own); !kept_ && !lacking.empty()) {
        error(friction.where, fmt::format("joint friction {}: {} needs --formulation maximal of simulate",
                                          quote(friction.name), fmt::join(lacking, ", ")));
      }
      JointDynamics& d = dynamics(robot_.joints[index]);
      d.damping += own.damping;
      d.friction = own.friction, d.quadratic = own.quadratic, d.load_friction = own.load_friction;
      d.stribeck = own.stribeck, d.stribeck_speed = own.stribeck_speed;
    }
  }

  /// Between the body and the ground or the first body at the point; of a slider its slide.
  int joint_of(const Pin& pin) const {
    if (pin.slider >= 0) {
      const auto found = joints_.of_slider.find(pin.slider);
      return found == joints_.of_slider.end() ? -1 : found->second;
    }
    const int other = model_.points[pin.point.value].fixed ? PlanarJoints::kWorld : first_body(pin.point);
    for (const PlanarJoints::Hinge& hinge : joints_.hinges) {
      if (hinge.point != pin.point.value) continue;
      const bool same =
          (hinge.a == pin.body.value && hinge.b == other) || (hinge.b == pin.body.value && hinge.a == other);
      if (same) return hinge.joint;
    }
    return -1;
  }

  void drivers() {
    for (const Driver& driver : model_.drivers) {
      const bool relative = driver.coordinate.what == CoordinateRef::What::relative;
      const auto found = relative ? joints_.of_coordinate.find(driver.coordinate.index) : joints_.of_coordinate.end();
      if (found == joints_.of_coordinate.end()) {
        error(driver.where, no_joint("driver", driver.name, model_.name_of(driver.coordinate)));
        continue;
      }
      robot_.drives.push_back({driver.name, JointIndex(found->second), driver.law});
      const Taylor2 start = driver.law.taylor(0);
      robot_.joints[found->second].initial_q = {start.x};
      robot_.joints[found->second].initial_v = {start.d};
    }
  }

  // ---- on bodies ----------------------------------------------------------------------------------------------

  void springs() {
    for (const Spring& spring : model_.springs) {
      const auto a = place_of(spring.a, "spring", spring), b = place_of(spring.b, "spring", spring);
      if (a && b) robot_.springs.push_back({spring.name, *a, *b, spring.stiffness, spring.rest, spring.damping});
    }
  }

  void loads() {
    for (const PointLoad& load : model_.loads) {
      if (model_.points[load.point.value].fixed) continue;  // a load on the ground has no effect
      if (const auto on = place_of(load.point, "load", load)) {
        robot_.loads.push_back({load.name, *on, {load.x, load.y, Law()}, {}});
      }
    }
    for (const BodyTorque& torque : model_.torques) {
      robot_.loads.push_back(
          {torque.name, {LinkIndex(torque.body.value), Vector3d::Zero()}, {}, {Law(), Law(), torque.torque}});
    }
  }

  template <class Element>
  std::optional<LinkPoint> place_of(PointIndex p, const char* kind, const Element& element) {
    const Point& point = model_.points[p.value];
    if (point.fixed) return LinkPoint{LinkIndex(), {point.position.x(), point.position.y(), 0}};
    const int body = first_body(p);
    if (body < 0) {
      error(element.where,
            fmt::format("{} {}: its point {} belongs to no body", kind, quote(element.name), quote(point.name)));
      return std::nullopt;
    }
    const PlanarBody& on = model_.bodies[body];
    const Vector2d local = on.local[std::find(on.points.begin(), on.points.end(), p) - on.points.begin()];
    return LinkPoint{LinkIndex(body), {local.x(), local.y(), 0}};
  }

  // ---- where they start ---------------------------------------------------------------------------------------

  void initial() {
    for (const InitialValue& value : model_.initial) {
      const bool relative = value.coordinate.what == CoordinateRef::What::relative;
      const auto found = relative ? joints_.of_coordinate.find(value.coordinate.index) : joints_.of_coordinate.end();
      if (found == joints_.of_coordinate.end()) {
        const std::string name =
            relative ? fmt::format("{}.{}", model_.name_of(value.coordinate), value.rate ? "v" : "q")
                     : fmt::format("{}.{}{}", model_.points[value.coordinate.index].name, value.rate ? "v" : "",
                                   value.coordinate.what == CoordinateRef::What::point_x ? "x" : "y");
        error(value.where,
              fmt::format("initial value of {}: no joint of the spatial model has this coordinate", quote(name)));
        continue;
      }
      Joint& joint = robot_.joints[found->second];
      (value.rate ? joint.initial_v : joint.initial_q) = {value.value};
    }
  }

  // ---- what all share -----------------------------------------------------------------------------------------

  template <class Elements>
  void refuse(const char* kind, const Elements& elements) {
    for (const auto& e : elements) {
      error(e.where, fmt::format("{} {} has no counterpart in a spatial model", kind, quote(e.name)));
    }
  }

  template <class Element>
  int joint_of(int coordinate, const char* kind, const Element& element) {
    const auto found = joints_.of_coordinate.find(coordinate);
    if (found != joints_.of_coordinate.end()) return found->second;
    error(element.where, no_joint(kind, element.name, model_.relative[coordinate].name));
    return -1;
  }

  static std::string no_joint(const char* kind, const std::string& name, const std::string& coordinate) {
    return fmt::format("{} {}: no joint of the spatial model has its coordinate {}", kind, quote(name),
                       quote(coordinate));
  }

  static JointDynamics& dynamics(Joint& joint) {
    joint.dynamics.resize(1);
    return joint.dynamics[0];
  }

  /// −1: none has the point.
  int first_body(PointIndex p) const {
    const auto has = [p](const PlanarBody& body) {
      return std::find(body.points.begin(), body.points.end(), p) != body.points.end();
    };
    const auto found = std::find_if(model_.bodies.begin(), model_.bodies.end(), has);
    return found == model_.bodies.end() ? -1 : static_cast<int>(found - model_.bodies.begin());
  }

  void error(const Location& where, std::string message) {
    found_.push_back({Severity::error, where, std::move(message)});
  }

  const Model& model_;
  const bool kept_;
  const PlanarJoints& joints_;
  Robot& robot_;
  std::vector<Diagnostic>& found_;
};

}  // namespace

void add_planar_forces(const Model& model, PlanarForces forces, const PlanarJoints& joints, Robot& robot,
                       std::vector<Diagnostic>& found) {
  Forces(model, forces, joints, robot, found).run();
}

}  // namespace kinegraph
