#pragma once

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/model/robot.hpp"

namespace kinegraph {

/// A name in a task file: of a joint, a link, a file.
struct TaskName {
  std::string text;
  Location where;
  bool given() const { return !text.empty(); }
};

/// Numbers by name, in the order of the file: {shoulder: 30deg, elbow: 0}.
using TaskNumbers = std::vector<std::pair<TaskName, double>>;

/// How the motion between two knots follows from the knots.
enum class Collocation { none, euler, trapezoidal, hermite_simpson };
const char* to_string(Collocation c);

/// Where the motion starts. Joints that are not named start where the model says.
struct TaskStart {
  TaskNumbers joints, rates;
  std::optional<Vector3d> base, base_rpy;  ///< pose of a floating base
};

/// What shall be at a time. Numbers of a position that are not asked for are NaN.
struct TaskGoal {
  Location where;
  std::string name;
  double time = 0;
  double until = 0;  ///< = time: at that knot only; else at all knots up to it
  TaskNumbers joints;
  bool rest = false;  ///< no velocity
  TaskName frame;     ///< a link; "com": the centre of mass
  Vector3d offset = Vector3d::Zero();
  std::optional<Vector3d> position;
  std::optional<Eigen::Quaterniond> rotation;
  double sigma = 0;      ///< 0: must be; else as near as its weight asks
  double tolerance = 0;  ///< of positions and joints: anywhere within it
};

/// Limits of a joint, tighter or in place of those of the model.
struct TaskLimit {
  Location where;
  TaskName joint;  ///< "all": every joint that moves
  std::optional<std::pair<double, double>> position;
  std::optional<double> velocity, torque;
};

/// What shall be small. sigma: the size that costs ½ per number and knot.
struct TaskObjective {
  enum class Type { torque, smoothness, velocity, acceleration, force };
  Location where;
  Type type = Type::torque;
  double sigma = 1;              ///< of smoothness: √ of the spectral density of jerk
  std::vector<TaskName> joints;  ///< empty: all
};

/// A point of a link that stands on the ground during intervals of time.
struct TaskContact {
  Location where;
  TaskName name, link;
  Vector3d point = Vector3d::Zero();
  std::vector<std::pair<double, double>> closed;
  double friction = 1, ground = 0;  ///< coefficient; height of the ground
  double swing = 0;                 ///< how high the point is lifted while it is open; 0: no lower bound but the ground
};

/// A body that does not move.
struct TaskObstacle {
  Location where;
  TaskName name;
  Shape shape;  ///< X_LG: where it is in the world
};

/// A shape of a link that keeps clear, where the model has none that will do.
struct TaskSolid {
  Location where;
  TaskName link;
  Shape shape;
};

struct TaskCollision {
  Location where;
  double margin = 0.01;
  std::vector<TaskName> links;                       ///< that keep clear of the obstacles; empty: all with a shape
  std::vector<std::pair<TaskName, TaskName>> pairs;  ///< that keep clear of each other
};

/// A mass that hangs on a link during an interval.
struct TaskPayload {
  Location where;
  TaskName link;
  double from = 0, to = std::numeric_limits<double>::infinity();
  Inertia inertia;
  std::optional<Shape> shape;
};

/// Where the search starts.
struct TaskGuess {
  enum class Type { interpolate, rest, kinematics, csv };
  Type type = Type::interpolate;
  TaskName file;
};

/// A motion to be planned (docs/formats.md, "Tasks").
struct PlanTask {
  std::string file;
  TaskName model;
  std::optional<Robot::Base> base;
  std::optional<Vector3d> gravity;
  double horizon = 0;
  int steps = 0;
  Collocation collocation = Collocation::trapezoidal;
  std::vector<TaskName> passive;  ///< joints without a motor
  TaskStart start;
  std::vector<TaskGoal> goals;
  std::vector<TaskLimit> limits;
  bool model_limits = true;
  std::vector<TaskObjective> objectives;
  std::vector<TaskContact> contacts;
  std::vector<TaskObstacle> obstacles;
  std::vector<TaskSolid> solids;
  std::optional<TaskCollision> collision;
  std::optional<TaskPayload> payload;
  TaskGuess guess;

  double step() const { return horizon / steps; }
};

}  // namespace kinegraph
