#pragma once

#include <array>
#include <cmath>
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

/// Turned about x, then y, then z, all of the world.
inline Eigen::Quaterniond from_rpy(const Vector3d& rpy) {
  return Eigen::Quaterniond(Eigen::AngleAxisd(rpy[2], Vector3d::UnitZ()) *
                            Eigen::AngleAxisd(rpy[1], Vector3d::UnitY()) *
                            Eigen::AngleAxisd(rpy[0], Vector3d::UnitX()));
}

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
  enum class Type { torque, smoothness, velocity, acceleration, force, time };
  Location where;
  Type type = Type::torque;
  double sigma = 1;              ///< of smoothness: √ of the spectral density of jerk; of time: s
  std::vector<TaskName> joints;  ///< empty: all
};

/// A point of a link that stands on the ground during intervals of time.
struct TaskContact {
  Location where;
  TaskName name, link;
  Vector3d point = Vector3d::Zero();
  std::vector<std::pair<double, double>> closed;  ///< empty: as the gait says, else always
  double friction = 1, ground = 0;                ///< coefficient; height of the ground
  double swing = 0;  ///< how high the point is lifted while it is open; 0: no lower bound but the ground
};

/// When contacts without times of their own stand: each is lifted once in a cycle.
struct TaskGait {
  Location where;
  std::vector<std::vector<TaskName>> order;  ///< those of one list are lifted together
  double cycle = 0, duty = 0;                ///< s; share of it for which each stands
  double from = 0, to = 0;                   ///< s
};

/// A part of the horizon, from where the last one ends, whose duration may be unknown: its steps are then equally long,
/// but not as long as the horizon says.
struct TaskPhase {
  Location where;
  double until = 0;            ///< s, as if all durations were those of the horizon
  double least = 0, most = 0;  ///< s; 0: it lasts as long as the horizon says
  bool free() const { return most > 0; }
};

/// A place that moves along straight lines between points. Numbers that are not asked for are NaN.
struct TaskPath {
  Location where;
  std::string name;
  TaskName frame;
  Vector3d offset = Vector3d::Zero();
  std::vector<std::pair<double, Vector3d>> points;  ///< times increase
  double sigma = 0, tolerance = 0;                  ///< as of a goal

  Vector3d at(double t) const;  ///< before the first and after the last: these
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
  enum class Type { interpolate, rest, kinematics, csv, automatic };
  Type type = Type::automatic;  ///< kinematics, of a robot that floats: interpolate
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
  bool model_limits = true, dry_friction = true;
  double friction_speed = 0.05;  ///< rad/s, m/s: at which dry friction is at three quarters, in the plan
  std::vector<TaskObjective> objectives;
  std::vector<TaskContact> contacts;
  std::optional<TaskGait> gait;
  std::vector<TaskPhase> phases;
  std::vector<TaskPath> paths;
  std::vector<TaskObstacle> obstacles;
  std::vector<TaskSolid> solids;
  std::optional<TaskCollision> collision;
  std::optional<TaskPayload> payload;
  TaskGuess guess;

  /// Corners of meshes by the names that shapes have for them (io/task_meshes.hpp). Without, a mesh keeps no distance.
  std::map<std::string, std::vector<Vector3d>> meshes;

  double step() const { return horizon / steps; }
  int knot(double time) const { return static_cast<int>(std::lround(time / step())); }  ///< the nearest
};

}  // namespace kinegraph
