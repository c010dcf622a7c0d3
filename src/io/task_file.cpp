#include "kinegraph/io/task_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/base/names.hpp"
#include "kinegraph/expr/expression.hpp"
#include "kinegraph/io/task_fields.hpp"
#include "kinegraph/io/text_file.hpp"

namespace kinegraph {
namespace io {
namespace {

using Kind = YamlNode::Kind;

class TaskReader {
 public:
  TaskReader(PlanTask& task, std::vector<Diagnostic>& faults) : task_(task), faults_(faults) {}

  void read(const YamlNode& root) {
    if (root.kind != Kind::map) {
      faults_.push_back(
          {Severity::error, root.where, "expected a map with model, horizon, steps, …, found " + describe(root)});
      return;
    }
    std::vector<std::string> parts;
    for (const TaskSection& section : task_sections().subspan(1)) parts.emplace_back(section.key);
    file(TaskFields(task_sections()[0], root, faults_, parts));
    for (const auto& [key, value] : root.keys) {
      for (const TaskSection& section : task_sections().subspan(1)) {
        if (key->text == section.key) part(section, *value);
      }
    }
  }

 private:
  void part(const TaskSection& section, const YamlNode& value) {
    if (value.kind == Kind::nothing) return;
    if (value.kind != (section.list ? Kind::list : Kind::map)) {
      faults_.push_back(
          {Severity::error, value.where,
           fmt::format("{}: expected a {}, found {}", section.key, section.list ? "list" : "map", describe(value))});
      return;
    }
    const std::vector<const YamlNode*> items = section.list ? value.items : std::vector<const YamlNode*>{&value};
    for (const YamlNode* item : items) {
      if (item->kind != Kind::map) {
        faults_.push_back({Severity::error, item->where,
                           fmt::format("{}: expected a map such as {{{}: …}}, found {}", section.key,
                                       section.keys[0].key, describe(*item))});
        continue;
      }
      element(section, TaskFields(section, *item, faults_));
    }
  }

  void element(const TaskSection& section, const TaskFields& f) {
    if (section.key == "start") start(f);
    if (section.key == "goals") goal(f);
    if (section.key == "limits") limit(f);
    if (section.key == "objectives") objective(f);
    if (section.key == "contacts") contact(f);
    if (section.key == "gait") gait(f);
    if (section.key == "phases") phase(f);
    if (section.key == "paths") path(f);
    if (section.key == "obstacles") obstacle(f);
    if (section.key == "solids") solid(f);
    if (section.key == "collision") collision(f);
    if (section.key == "payload") payload(f);
    if (section.key == "guess") guess(f);
  }

  void file(const TaskFields& f) {
    task_.model = f.name("model");
    if (f.has("base")) {
      const int which = f.choice("base", {"fixed", "floating"}, 0);
      task_.base = which == 1 ? Robot::Base::floating : Robot::Base::fixed;
    }
    task_.gravity = f.vector("gravity");
    task_.horizon = f.positive("horizon", 0);
    const double steps = f.number("steps", 1);
    if (f.has("steps") && !(steps >= 1 && steps <= kMostSteps && steps == std::floor(steps))) {
      f.error(f.where("steps"),
              fmt::format("steps: must be a whole number from 1 to {}, is {}", kMostSteps, f.find("steps")->text));
    } else {
      task_.steps = static_cast<int>(steps);
    }
    task_.collocation =
        static_cast<Collocation>(f.choice("collocation", {"none", "euler", "trapezoidal", "hermite-simpson"}, 2));
    task_.passive = f.names("passive");
    task_.model_limits = f.truth("model_limits", true);
    task_.dry_friction = f.truth("dry_friction", true);
    task_.friction_speed = f.positive("friction_speed", task_.friction_speed);
  }

  void start(const TaskFields& f) {
    task_.start.joints = f.numbers("joints");
    task_.start.rates = f.numbers("rates");
    task_.start.base = f.vector("base");
    task_.start.base_rpy = f.vector("base_rpy");
  }

  void goal(const TaskFields& f) {
    TaskGoal g;
    g.where = f.where();
    g.time = f.not_negative("time", 0);
    g.until = f.number("until", g.time);
    if (g.until < g.time) f.error(f.where("until"), fmt::format("until: must be >= time, which is {}", g.time));
    g.name = f.has("name") ? f.name("name").text : fmt::format("goal at {:g} s", g.time);
    g.joints = f.numbers("joints");
    g.rest = f.truth("rest", false);
    g.frame = f.name("frame");
    g.offset = f.vector("offset").value_or(Vector3d::Zero());
    g.position = f.vector("position", true);
    if (const auto rpy = f.vector("rpy")) g.rotation = from_rpy(*rpy);
    if (const auto q = f.list("quaternion", 4); !q.empty()) quaternion(f, q, g);
    g.sigma = f.positive("sigma", 0);
    g.tolerance = f.positive("tolerance", 0);
    const bool placed = g.position || g.rotation;
    if (f.has("frame") && !placed) f.error(g.where, "a frame needs a position, rpy or quaternion");
    if (!f.has("frame") && placed) f.error(g.where, "missing key 'frame': whose position or rotation");
    if (g.frame.text == "com" && g.rotation) f.error(g.where, "the centre of mass has no rotation");
    if (!placed && g.joints.empty() && !g.rest) f.error(g.where, "a goal needs joints, a frame or rest");
    if (g.sigma > 0 && g.tolerance > 0) f.error(f.where("tolerance"), "tolerance: not together with sigma");
    task_.goals.push_back(std::move(g));
  }

  static void quaternion(const TaskFields& f, const std::vector<double>& q, TaskGoal& g) {
    const Eigen::Quaterniond given(q[0], q[1], q[2], q[3]);
    if (f.has("rpy")) f.error(f.where("quaternion"), "quaternion: not together with rpy");
    if (!(given.norm() > 1e-6)) return f.error(f.where("quaternion"), "quaternion: must not be zero");
    g.rotation = given.normalized();
  }

  void limit(const TaskFields& f) {
    TaskLimit l;
    l.where = f.where();
    l.joint = f.name("joint");
    if (const auto bounds = f.list("position", 2); !bounds.empty()) {
      if (bounds[0] > bounds[1]) f.error(f.where("position"), "position: the lower limit is above the upper one");
      l.position = {bounds[0], bounds[1]};
    }
    if (f.has("velocity")) l.velocity = f.positive("velocity", 1);
    if (f.has("torque")) l.torque = f.not_negative("torque", 1);
    task_.limits.push_back(std::move(l));
  }

  void objective(const TaskFields& f) {
    TaskObjective o;
    o.where = f.where();
    o.type = static_cast<TaskObjective::Type>(
        f.choice("type", {"torque", "smoothness", "velocity", "acceleration", "force", "time"}, 0));
    o.sigma = f.positive("sigma", 1);
    o.joints = f.names("joints");
    task_.objectives.push_back(std::move(o));
  }

  void contact(const TaskFields& f) {
    TaskContact c;
    c.where = f.where();
    c.name = f.name("name");
    c.link = f.name("link");
    c.point = f.vector("point").value_or(Vector3d::Zero());
    if (f.has("closed") && f.find("closed")->kind == Kind::list && f.find("closed")->items.empty()) {
      f.error(f.where("closed"), "closed: there are no intervals; a contact that never stands is none");
    }
    for (const auto& [from, to] : f.pairs("closed")) {
      const Result<double> a = parse_number(from.text, from.where), b = parse_number(to.text, to.where);
      for (const Result<double>* side : {&a, &b}) {
        if (!*side)
          faults_.insert(faults_.end(), side->failure().diagnostics.begin(), side->failure().diagnostics.end());
      }
      if (!a || !b) continue;
      const double last = c.closed.empty() ? -1 : c.closed.back().second;
      if (!(*b > *a)) f.error(from.where, "closed: an interval must end after it begins");
      if (*a <= last)
        f.error(from.where, fmt::format("closed: must begin after {} s, where the last interval ends", last));
      c.closed.emplace_back(*a, *b);
    }
    c.friction = f.positive("friction", 1);
    c.ground = f.number("ground", 0);
    c.swing = f.not_negative("swing", 0);
    task_.contacts.push_back(std::move(c));
  }

  void gait(const TaskFields& f) {
    TaskGait g;
    g.where = f.where();
    g.order = f.groups("order");
    g.cycle = f.positive("cycle", 1);
    g.duty = f.number("duty", 1 - 1.0 / static_cast<double>(std::max<std::size_t>(2, g.order.size())));
    if (!(g.duty > 0 && g.duty < 1)) f.error(f.where("duty"), "duty: must be between 0 and 1");
    g.from = f.not_negative("from", 0);
    g.to = f.number("to", std::numeric_limits<double>::infinity());
    if (!(g.to > g.from)) f.error(f.where("to"), "to: must be after from");
    task_.gait = std::move(g);
  }

  void phase(const TaskFields& f) {
    TaskPhase p;
    p.where = f.where();
    p.until = f.positive("until", 0);
    if (const auto bounds = f.list("duration", 2); !bounds.empty()) {
      p.least = bounds[0], p.most = bounds[1];
      if (!(p.least > 0 && p.most > p.least)) {
        f.error(f.where("duration"), "duration: expected [least, most] with 0 < least < most");
      }
    }
    const double before = task_.phases.empty() ? 0 : task_.phases.back().until;
    if (p.until <= before)
      f.error(f.where("until"), fmt::format("until: must be after {:g} s, where the last ends", before));
    task_.phases.push_back(p);
  }

  void path(const TaskFields& f) {
    TaskPath p;
    p.where = f.where();
    p.frame = f.name("frame");
    p.name = f.has("name") ? f.name("name").text : "path";
    p.offset = f.vector("offset").value_or(Vector3d::Zero());
    p.points = f.rows("points");
    p.sigma = f.positive("sigma", 0);
    p.tolerance = f.positive("tolerance", 0);
    if (f.has("points") && p.points.empty()) f.error(f.where("points"), "points: there are none");
    if (p.sigma > 0 && p.tolerance > 0) f.error(f.where("tolerance"), "tolerance: not together with sigma");
    task_.paths.push_back(std::move(p));
  }

  void obstacle(const TaskFields& f) {
    TaskObstacle o;
    o.where = f.where();
    o.name = f.name("name");
    o.shape = shape(f, {"sphere", "capsule", "cylinder", "box", "mesh", "plane"});
    if (o.shape.type == Shape::Type::plane) {
      o.shape.size = f.vector("normal").value_or(Vector3d::UnitZ());
      if (!(o.shape.size.norm() > 1e-9)) f.error(f.where("normal"), "normal: must not be zero");
      o.shape.size.normalize();
    }
    task_.obstacles.push_back(std::move(o));
  }

  void solid(const TaskFields& f) {
    task_.solids.push_back({f.where(), f.name("link"), shape(f, {"sphere", "capsule", "cylinder", "box", "mesh"})});
  }

  static Shape shape(const TaskFields& f, const std::vector<std::string>& types) {
    using Type = Shape::Type;
    constexpr Type all[] = {Type::sphere, Type::capsule, Type::cylinder, Type::box, Type::mesh, Type::plane};
    const auto need = [&](const char* key) {
      if (!f.has(key)) f.error(f.where(), fmt::format("missing key '{}' of this shape", key));
    };
    Shape made;
    const int type = f.choice("type", types, 0);
    made.type = all[type];
    refuse_others(f, made.type, types[type]);
    made.X_LG =
        SE3(SO3(from_rpy(f.vector("rpy").value_or(Vector3d::Zero()))), f.vector("at").value_or(Vector3d::Zero()));
    if (made.type == Shape::Type::box) {
      need("size");
      made.size = f.vector("size").value_or(Vector3d::Ones());
      if (!(made.size.minCoeff() > 0)) f.error(f.where("size"), "size: must be > 0");
    } else if (made.type == Shape::Type::mesh) {
      need("file");
      made.mesh = f.name("file").text;
      made.size = Vector3d::Constant(f.positive("scale", 1));
    } else if (made.type != Shape::Type::plane) {
      need("radius");
      if (made.type != Shape::Type::sphere) need("length");
      made.size = {f.positive("radius", 1), f.positive("length", 0), 0};
    }
    return made;
  }

  /// Keys of a shape that this type has no use for.
  static void refuse_others(const TaskFields& f, Shape::Type type, const std::string& name) {
    using Type = Shape::Type;
    const bool round = type == Type::sphere || type == Type::capsule || type == Type::cylinder;
    const std::pair<const char*, bool> keys[] = {{"radius", round},
                                                 {"length", round && type != Type::sphere},
                                                 {"size", type == Type::box},
                                                 {"file", type == Type::mesh},
                                                 {"scale", type == Type::mesh},
                                                 {"normal", type == Type::plane}};
    for (const auto& [key, used] : keys) {
      if (!used && f.has(key)) f.error(f.where(key), fmt::format("{}: of no use to a {}", key, name));
    }
  }

  void collision(const TaskFields& f) {
    TaskCollision c;
    c.where = f.where();
    c.margin = f.not_negative("margin", c.margin);
    c.links = f.names("links");
    c.pairs = f.pairs("pairs");
    task_.collision = std::move(c);
  }

  void payload(const TaskFields& f) {
    TaskPayload p;
    p.where = f.where();
    p.link = f.name("link");
    p.from = f.not_negative("from", 0);
    p.to = f.number("to", p.to);
    if (!(p.to > p.from)) f.error(f.where("to"), "to: must be after from");
    p.inertia.mass = f.positive("mass", 1);
    p.inertia.com = f.vector("com").value_or(Vector3d::Zero());
    if (const auto i = f.vector("inertia")) {
      p.inertia.about_com = i->asDiagonal();
      const bool possible = i->minCoeff() >= 0 && 2 * i->maxCoeff() <= i->sum() * (1 + 1e-9);
      if (!possible) {
        f.error(f.where("inertia"),
                "inertia: no body has it: none is < 0, and none larger than the other two together");
      }
    }
    if (f.has("type") || f.has("radius")) {
      p.shape = shape(f, {"sphere", "capsule", "cylinder", "box", "mesh"});
      if (!f.has("at")) p.shape->X_LG = SE3(p.shape->X_LG.rotation(), p.inertia.com);
    } else {
      for (const char* key : {"at", "rpy", "length", "size", "file", "scale"}) {
        if (f.has(key)) f.error(f.where(key), fmt::format("{}: of no use without a type of shape", key));
      }
    }
    task_.payload = std::move(p);
  }

  void guess(const TaskFields& f) {
    task_.guess.type = static_cast<TaskGuess::Type>(f.choice("type", {"interpolate", "rest", "kinematics", "csv"}, 0));
    task_.guess.file = f.name("file");
    const bool csv = task_.guess.type == TaskGuess::Type::csv;
    if (csv && !f.has("file")) f.error(f.where(), "missing key 'file' of a guess from csv");
  }

  static constexpr int kMostSteps = 1000000;
  PlanTask& task_;
  std::vector<Diagnostic>& faults_;
};

}  // namespace
}  // namespace io

Result<PlanTask> parse_task(const std::string& text, const std::string& file_name) {
  const Result<io::YamlTree> tree = io::YamlTree::parse(text, file_name);
  if (!tree) return tree.failure();
  PlanTask task;
  task.file = file_name;
  std::vector<Diagnostic> faults;
  io::TaskReader(task, faults).read(tree->root());
  io::keep_first_faults(faults, file_name);
  if (!faults.empty()) return Failure{Failure::Kind::bad_input, std::move(faults)};
  return task;
}

Result<PlanTask> read_task(const std::filesystem::path& path) {
  const Result<std::string> text = io::read_text_file(path, io::YamlTree::kLargestFile);
  if (!text) return text.failure();
  Result<PlanTask> task = parse_task(*text, path.string());
  if (!task) return task;
  for (TaskName* name : {&task->model, &task->guess.file}) {
    if (name->given()) name->text = (path.parent_path() / name->text).string();
  }
  const auto place = [&](Shape& shape) {
    if (shape.type == Shape::Type::mesh) shape.mesh = (path.parent_path() / shape.mesh).string();
  };
  for (TaskObstacle& obstacle : task->obstacles) place(obstacle.shape);
  for (TaskSolid& solid : task->solids) place(solid.shape);
  if (task->payload && task->payload->shape) place(*task->payload->shape);
  return task;
}

}  // namespace kinegraph
