#include "kinegraph/model/plan_schema.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include "kinegraph/model/plan_task.hpp"

namespace kinegraph {
namespace {

using enum TaskShape;

constexpr std::array kFile = {
    TaskKey{"model", text, true, "the robot's file, relative to the task's"},
    TaskKey{"base", text, false, "fixed or floating; default: as the model says, else fixed"},
    TaskKey{"gravity", list, false, "[x, y, z], m/s²; default: the model's"},
    TaskKey{"horizon", number, true, "s, how long the motion lasts"},
    TaskKey{"steps", number, true, "into how many equal steps it is divided"},
    TaskKey{"collocation", text, false, "euler, trapezoidal (default), hermite-simpson; none: smoothness alone"},
    TaskKey{"passive", names, false, "joints without a motor"},
    TaskKey{"model_limits", truth, false, "the limits in the model's file hold; default true"},
    TaskKey{"dry_friction", truth, false, "that of joints counts; default true; legs at rest plan better without"},
    TaskKey{"friction_speed", number, false,
            "rad/s or m/s, over which dry friction of joints turns round in the plan; default 0.05"},
};
constexpr std::array kStart = {
    TaskKey{"joints", map, false, "where joints start; others: as the model says"},
    TaskKey{"rates", map, false, "their velocities; default 0"},
    TaskKey{"base", list, false, "[x, y, z] of a floating base; default: so that its contacts stand"},
    TaskKey{"base_rpy", list, false, "[roll, pitch, yaw] of a floating base"},
};
constexpr std::array kGoal = {
    TaskKey{"name", text, false, "what messages call it"},
    TaskKey{"time", number, true, "s, when; a knot"},
    TaskKey{"until", number, false, "s, up to when it holds; default: only at `time`"},
    TaskKey{"joints", map, false, "where joints are then"},
    TaskKey{"rest", truth, false, "nothing moves then; default false"},
    TaskKey{"frame", text, false, "a link, or com: the centre of mass"},
    TaskKey{"offset", list, false, "[x, y, z] on the link; default its origin"},
    TaskKey{"position", list, false, "[x, y, z] of the frame; `free` for what is not asked for"},
    TaskKey{"rpy", list, false, "[roll, pitch, yaw] of the frame"},
    TaskKey{"quaternion", list, false, "[w, x, y, z] of the frame, in place of rpy"},
    TaskKey{"sigma", number, false,
            "as a cost, this far off costs ½ (of `rest`: this fast, rad/s or m/s); default: it must be met"},
    TaskKey{"tolerance", number, false, "of joints and position: anywhere within it; default 0"},
};
constexpr std::array kLimit = {
    TaskKey{"joint", text, true, "its name, or all"},
    TaskKey{"position", list, false, "[lower, upper]"},
    TaskKey{"velocity", number, false, "largest, either way"},
    TaskKey{"torque", number, false, "largest, either way (N of a slide)"},
};
constexpr std::array kObjective = {
    TaskKey{"type", text, true, "torque, smoothness, velocity, acceleration, force (of contacts) or time (phases)"},
    TaskKey{"sigma", number, false,
            "what costs ½ per number and knot; of smoothness: √ spectral density; of time: what costs ½, s; default 1"},
    TaskKey{"joints", names, false, "which; default all"},
};
constexpr std::array kContact = {
    TaskKey{"name", text, true, "names the columns of its force: name.fx"},
    TaskKey{"link", text, true, "which link touches the ground"},
    TaskKey{"point", list, false, "[x, y, z] on the link; default its origin"},
    TaskKey{"closed", pairs, false, "when it stands: [[from, to], …], s; default: as the gait says, else always"},
    TaskKey{"friction", number, false, "coefficient; default 1"},
    TaskKey{"ground", number, false, "height of the ground, m; default 0"},
    TaskKey{"swing", number, false, "how high it is lifted between, m; default 0: it may graze"},
};
constexpr std::array kGait = {
    TaskKey{"order", groups, true, "contacts in the order in which they are lifted; [[a, b], c]: a and b together"},
    TaskKey{"cycle", number, true, "s, in which each is lifted once; times are rounded to knots"},
    TaskKey{"duty", number, false, "share of the cycle for which each stands; default: lifted one after the other"},
    TaskKey{"from", number, false, "s, when the first is lifted; default 0"},
    TaskKey{"to", number, false, "s, when all stand again; default: the end"},
};
constexpr std::array kPhase = {
    TaskKey{"until", number, true, "s, where it ends if all lasts as long as the horizon says; a knot"},
    TaskKey{"duration", list, false, "[least, most], s: found by the plan; default: as the horizon says"},
};
constexpr std::array kPath = {
    TaskKey{"name", text, false, "what messages call it"},
    TaskKey{"frame", text, true, "a link, or com: the centre of mass"},
    TaskKey{"offset", list, false, "[x, y, z] on the link; default its origin"},
    TaskKey{"points", rows, true, "[[t, x, y, z], …]: straight between; `free` for what is not asked for"},
    TaskKey{"sigma", number, false, "as a cost, this far off costs ½ at each knot; default: it must be met"},
    TaskKey{"tolerance", number, false, "anywhere within it; default 0"},
};
constexpr std::array kObstacle = {
    TaskKey{"name", text, true, "what messages call it"},
    TaskKey{"type", text, true, "plane, sphere, capsule, cylinder, box or mesh"},
    TaskKey{"at", list, false, "[x, y, z] of its middle; default the origin"},
    TaskKey{"rpy", list, false, "[roll, pitch, yaw]; default none"},
    TaskKey{"radius", number, false, "of a sphere, capsule or cylinder, m"},
    TaskKey{"length", number, false, "of a cylinder, or of a capsule between the middles of its ends; along z, m"},
    TaskKey{"size", list, false, "of a box, [x, y, z], m"},
    TaskKey{"file", text, false, "of a mesh: STL or OBJ, relative to the task's file; its convex hull is meant"},
    TaskKey{"scale", number, false, "of a mesh: by which its numbers are multiplied; default 1"},
    TaskKey{"normal", list, false, "of a plane, [x, y, z]; default up"},
};
constexpr std::array kSolid = {
    TaskKey{"link", text, true, "which link"},
    TaskKey{"type", text, true, "sphere, capsule, cylinder, box or mesh"},
    TaskKey{"at", list, false, "[x, y, z] of its middle on the link; default the origin"},
    TaskKey{"rpy", list, false, "[roll, pitch, yaw]; default none"},
    TaskKey{"radius", number, false, "of a sphere, capsule or cylinder, m"},
    TaskKey{"length", number, false, "of a cylinder, or of a capsule between the middles of its ends; along z, m"},
    TaskKey{"size", list, false, "of a box, [x, y, z], m"},
    TaskKey{"file", text, false, "of a mesh: STL or OBJ, relative to the task's file; its convex hull is meant"},
    TaskKey{"scale", number, false, "of a mesh: by which its numbers are multiplied; default 1"},
};
constexpr std::array kCollision = {
    TaskKey{"margin", number, false, "least distance, m; default 0.01"},
    TaskKey{"links", names, false, "which keep clear of the obstacles; default: all that have a shape"},
    TaskKey{"pairs", pairs, false,
            "links that keep clear of each other: [[hand, base], …]; a payload does as the links that it moves with"},
};
constexpr std::array kPayload = {
    TaskKey{"link", text, true, "on which it hangs"},
    TaskKey{"from", number, false, "s; default 0"},
    TaskKey{"to", number, false, "s; default: the end"},
    TaskKey{"mass", number, true, "kg"},
    TaskKey{"com", list, false, "[x, y, z] on the link; default its origin"},
    TaskKey{"inertia", list, false, "[ixx, iyy, izz] about its middle, kg m²; default 0"},
    TaskKey{"type", text, false, "its shape, which keeps clear: sphere, capsule, cylinder, box or mesh; default: none"},
    TaskKey{"at", list, false, "[x, y, z] of the shape's middle on the link; default `com`"},
    TaskKey{"rpy", list, false, "[roll, pitch, yaw]; default none"},
    TaskKey{"radius", number, false, "of a sphere (the type where none is said), capsule or cylinder, m"},
    TaskKey{"length", number, false, "of a cylinder, or of a capsule between the middles of its ends; along z, m"},
    TaskKey{"size", list, false, "of a box, [x, y, z], m"},
    TaskKey{"file", text, false, "of a mesh: STL or OBJ, relative to the task's file; its convex hull is meant"},
    TaskKey{"scale", number, false, "of a mesh: by which its numbers are multiplied; default 1"},
};
constexpr std::array kGuess = {
    TaskKey{"type", text, true, "interpolate, rest, kinematics or csv"},
    TaskKey{"file", text, false, "of csv: a plan, relative to the task's file"},
};

const std::array kTaskSections = {
    TaskSection{"", false, "task", kFile},
    TaskSection{"start", false, "start", kStart},
    TaskSection{"goals", true, "goal", kGoal},
    TaskSection{"limits", true, "limit", kLimit},
    TaskSection{"objectives", true, "objective", kObjective},
    TaskSection{"contacts", true, "contact", kContact},
    TaskSection{"gait", false, "gait", kGait},
    TaskSection{"phases", true, "phase", kPhase},
    TaskSection{"paths", true, "path", kPath},
    TaskSection{"obstacles", true, "obstacle", kObstacle},
    TaskSection{"solids", true, "solid", kSolid},
    TaskSection{"collision", false, "collision", kCollision},
    TaskSection{"payload", false, "payload", kPayload},
    TaskSection{"guess", false, "guess", kGuess},
};

}  // namespace

std::span<const TaskSection> task_sections() { return kTaskSections; }

const char* to_string(Collocation c) {
  static const char* const names[] = {"none", "euler", "trapezoidal", "hermite-simpson"};
  return names[static_cast<int>(c)];
}

Vector3d TaskPath::at(double t) const {
  const auto after = std::upper_bound(points.begin(), points.end(), t,
                                      [](double time, const auto& point) { return time < point.first; });
  if (after == points.begin()) return points.front().second;
  if (after == points.end()) return points.back().second;
  const auto& [t0, p0] = *std::prev(after);
  const auto& [t1, p1] = *after;
  return p0 + (t - t0) / (t1 - t0) * (p1 - p0);
}

}  // namespace kinegraph
