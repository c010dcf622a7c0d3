#pragma once

#include <Eigen/Core>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/base/constants.hpp"
#include "kinegraph/base/index.hpp"
#include "kinegraph/base/result.hpp"
#include "kinegraph/expr/law.hpp"
#include "kinegraph/model/robot.hpp"
#include "kinegraph/model/sensor.hpp"

namespace kinegraph {

using Eigen::Vector2d;

/// A point of a planar mechanism; a pin joint where several bodies share it.
struct Point {
  std::string name;   ///< given, or its index ("1")
  Vector2d position;  ///< where the file puts it: the first guess of the assembly, exact if fixed
  Vector2d velocity = Vector2d::Zero();
  bool fixed = false;
  Location where;
};

/// A rigid body. Its frame has its origin at points[0] and its x axis toward points[1].
struct PlanarBody {
  std::string name;  ///< given, or "body0"
  std::vector<PointIndex> points;
  std::vector<Vector2d> local;  ///< the points in the body's frame: (0,0), (length,0), …
  double length = 0;            ///< from points[0] to points[1]
  double mass = 0;
  double inertia = 0;               ///< about points[0] (the file's I0)
  Vector2d cog = Vector2d::Zero();  ///< in the body's frame
  Location where;
};

/// A coordinate that is not a point's x or y.
struct RelativeCoordinate {
  enum class Type {
    absolute_angle,    ///< of the line points[0]→points[1] against the x axis
    relative_angle,    ///< of the line points[2]→points[3] against the line points[0]→points[1]
    relative_position  ///< of points[2] along the line points[0]→points[1], from points[0]
  };
  std::string name;  ///< given, or "angle0"
  Type type = Type::absolute_angle;
  std::vector<PointIndex> points;
  Location where;
};

/// points a, b define a line, on which `point` slides. The line is fixed if both points are.
struct Slider {
  std::string name;
  PointIndex point, a, b;
  Location where;
};

/// One coordinate of the mechanism, by name: "P1.x", "P1.y", "theta".
struct CoordinateRef {
  enum class What { point_x, point_y, relative };
  What what = What::relative;
  int index = 0;
};

/// A coordinate that follows a law of time: q = law(t).
struct Driver {
  std::string name;
  CoordinateRef coordinate;
  Law law;
  Location where;
};

/// A spring and damper between two points.   F = k (l − l₀) + c l̇, along the line
struct Spring {
  std::string name;
  PointIndex a, b;
  double stiffness = 0, rest = 0, damping = 0;
  Location where;
};

/// A spring and damper on a relative coordinate.   Q = −k (q − q₀) − c q̇
struct CoordinateSpring {
  std::string name;
  RelativeIndex coordinate;
  double stiffness = 0, rest = 0, damping = 0;
  Location where;
};

/// A force at a point, in world axes.
struct PointLoad {
  std::string name;
  PointIndex point;
  Law x, y;
  Location where;
};

/// A torque on a body.
struct BodyTorque {
  std::string name;
  BodyIndex body;
  Law torque;
  Location where;
};

/// A motor on a relative coordinate. Its torque (force, on a position) follows a law, a recording, or is unknown.
struct Motor {
  std::string name;  ///< given, or its coordinate's
  RelativeIndex coordinate;
  Law torque;
  double gain = 1;     ///< torque per unit of its recorded control `motor.u`
  double inertia = 0;  ///< of its shaft, about the coordinate
  Location where;
};

/// Friction in a pin or slider, as columns of reactions name it ("A", "P.body2", "P.rail").
struct JointFriction {
  std::string name;
  int pin = -1;  ///< of pins(model)
  JointDynamics dynamics;
  Location where;
};

/// What the start of a motion prescribes: the value or rate of one coordinate.
struct InitialValue {
  CoordinateRef coordinate;
  bool rate = false;
  double value = 0;
  Location where;
};

struct Parameter {
  std::string name;
  double value = 0;
  Location where;
};

using Settings = std::map<std::string, double>;

class ModelSource;  ///< the file as read, with its expressions; of a robot its sidecar of sensors

/// A machine. A function of its named parameters: with() evaluates the file's expressions again. Once made it does
/// not change; it holds no state and no solver.
struct Model {
  std::string name;
  std::string file;
  Vector2d gravity{0, -kGravity};
  std::vector<Parameter> parameters;
  std::vector<Point> points;
  std::vector<PlanarBody> bodies;
  std::vector<RelativeCoordinate> relative;
  std::vector<Slider> sliders;
  std::vector<Driver> drivers;
  std::vector<Spring> springs;
  std::vector<CoordinateSpring> coordinate_springs;
  std::vector<PointLoad> loads;
  std::vector<BodyTorque> torques;
  std::vector<Motor> motors;
  std::vector<JointFriction> frictions;
  std::vector<InitialValue> initial;
  std::vector<Sensor> sensors;
  std::vector<Disturbance> disturbances;
  std::vector<UnknownForce> unknowns;  ///< forces to be estimated beside the state
  Robot robot;                         ///< of a spatial model (URDF, SDF); without links else
  std::vector<Diagnostic> warnings;
  Settings settings;                          ///< what with() has set so far, over the file's values
  std::shared_ptr<const ModelSource> source;  ///< shared: immutable, and large next to a copy of the rest

  bool spatial() const { return !robot.links.empty(); }

  /// The same machine with some parameters or quantities changed ("L", "body0.mass", "theta.q" = an initial value).
  /// Unknown names are refused with the nearest valid one.
  Result<Model> with(const Settings& settings) const;
  /// All numbers that with() takes, by name; of planar files initial values are left out.
  Settings values() const;

  /// "P1.x", "theta.q", "theta": a coordinate by its name, or nothing.
  Result<CoordinateRef> coordinate(const std::string& name) const;
  std::string name_of(const CoordinateRef&) const;  ///< "P1.x", "theta"
};

}  // namespace kinegraph
