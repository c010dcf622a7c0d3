#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "kinegraph/base/names.hpp"
#include "kinegraph/build/plan_parts.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/model/mesh_name.hpp"

namespace kinegraph::build {
namespace {

class SettingMaker {
 public:
  SettingMaker(const Model& model, const PlanTask& task) : task_(task), robot_(with_mesh_names(model)) {}

  Result<PlanSetting> make() {
    if (robot_.links.empty()) {
      return Failure::bad_input(task_.model.where, "plans are for robots (URDF, SDF), this is a planar mechanism");
    }
    if (task_.gravity) robot_.gravity = *task_.gravity;
    for (const TaskName& name : task_.passive) {
      const int joint = joint_named(name);
      if (joint >= 0) robot_.joints[joint].passive = true;
    }
    for (Joint& joint : robot_.joints) {
      for (JointDynamics& dynamics : joint.dynamics) {
        if (!task_.dry_friction) dynamics.friction = dynamics.stribeck = dynamics.load_friction = 0;
      }
    }
    for (const TaskSolid& solid : task_.solids) {
      const int link = link_named(solid.link);
      if (link >= 0) robot_.links[link].collisions.push_back(solid.shape);
    }
    Result<std::shared_ptr<const screw::Tree>> tree = screw::Tree::make(robot_);
    if (!tree) return tree.failure();
    PlanSetting setting(*tree);
    setting_ = &setting;
    setting.task = task_;
    std::string refusal = screw::InverseDynamics::refusal(**tree);
    if (refusal.empty()) refusal = screw::StateSlots::refusal(**tree);
    if (!refusal.empty()) return Failure::bad_input(task_.model.where, "cannot be planned for: " + refusal);
    motors();
    phases();
    start();
    limits();
    contacts();
    stand();
    find_loose_contacts(setting, faults_);
    payload();
    clearances();
    for (const TaskGoal& goal : task_.goals) check_goal(goal);
    for (const TaskPath& path : task_.paths) check_frame(path.frame);
    objectives();
    must_have_motors();
    if (!faults_.empty()) return Failure{Failure::Kind::bad_input, std::move(faults_)};
    return setting;
  }

 private:
  void fault(const Location& where, std::string message) {
    faults_.push_back({Severity::error, where, std::move(message)});
  }
  void unknown(const char* kind, const TaskName& name, const std::vector<std::string>& known) {
    fault(name.where, fmt::format("unknown {} {}{}", kind, quote(name.text), did_you_mean(name.text, known)));
  }
  int joint_named(const TaskName& name) {
    const int joint = robot_.find_joint(name.text);
    if (joint >= 0) return joint;
    std::vector<std::string> known;
    for (const Joint& j : robot_.joints) known.push_back(j.name);
    unknown("joint", name, known);
    return -1;
  }
  /// A coordinate of one freedom.
  int coordinate_named(const TaskName& name) {
    const auto& all = setting_->tree->coordinates();
    const int found = setting_->tree->find_coordinate(name.text);
    if (found >= 0 && all[found].freedoms == 1) return found;
    std::vector<std::string> known;
    for (const screw::Coordinate& c : all) {
      if (c.freedoms == 1) known.push_back(c.name);
    }
    unknown("joint", name, known);
    return -1;
  }
  int link_named(const TaskName& name) {
    const int link = robot_.find_link(name.text);
    if (link >= 0) return link;
    std::vector<std::string> known;
    for (const Link& l : robot_.links) known.push_back(l.name);
    unknown("link", name, known);
    return -1;
  }
  int knot_at(double time, const Location& where, const char* what) {
    const double exact = time / task_.step();
    const int knot = task_.knot(time);
    if (time < 0 || time > task_.horizon * (1 + 1e-9)) {
      fault(where, fmt::format("{}: must be between 0 and the horizon {:g} s, is {:g}", what, task_.horizon, time));
    } else if (std::abs(exact - knot) > 1e-4) {
      fault(where, fmt::format("{}: must be a multiple of the step {:g} s, is {:g}; nearest {:g}", what, task_.step(),
                               time, knot * task_.step()));
    }
    return knot;
  }

  void motors() {
    for (const screw::Coordinate& c : setting_->tree->coordinates()) {
      if (c.type != JointType::floating && !c.passive) setting_->motors.push_back(c.v);
    }
  }

  /// Without one the start decides all that follows, if times are given.
  void must_have_motors() {
    const bool asks = std::any_of(task_.goals.begin(), task_.goals.end(),
                                  [](const TaskGoal& goal) { return goal.sigma == 0 && goal.time > 0; });
    if (!asks || !setting_->motors.empty() || !setting_->phases.empty()) return;
    fault(task_.passive.empty() ? task_.model.where : task_.passive.back().where,
          "no joint has a motor: nothing can be done to meet the goals (simulate shows how it moves by itself)");
  }

  void phases() {
    double from = 0;
    for (const TaskPhase& given : task_.phases) {
      PlanPhase phase{task_.knot(from), knot_at(given.until, given.where, "until"), given.until - from, given.least,
                      given.most};
      if (given.free() && phase.last > phase.first) setting_->phases.push_back(phase);
      from = given.until;
    }
    for (const TaskObjective& objective : task_.objectives) {
      if (objective.type != TaskObjective::Type::time || !setting_->phases.empty()) continue;
      fault(objective.where, "objective time: no duration is free; say phases: [{until: …, duration: [least, most]}]");
    }
  }

  void start() {
    setting_->start_q = setting_->tree->start_position();
    setting_->start_v = setting_->tree->start_velocity();
    for (const auto& [name, value] : task_.start.joints) {
      const int c = coordinate_named(name);
      if (c >= 0) setting_->start_q[setting_->tree->coordinates()[c].q] = value;
    }
    for (const auto& [name, value] : task_.start.rates) {
      const int c = coordinate_named(name);
      if (c >= 0) setting_->start_v[setting_->tree->coordinates()[c].v] = value;
    }
    if (!task_.start.base && !task_.start.base_rpy) return;
    if (!setting_->state.floating) return fault(task_.model.where, "start: base: the robot does not float");
    if (task_.start.base_rpy) {
      const Eigen::Quaterniond q = from_rpy(*task_.start.base_rpy);
      setting_->start_q.head<4>() << q.w(), q.x(), q.y(), q.z();
    }
    if (task_.start.base) setting_->start_q.segment<3>(4) = *task_.start.base;
  }

  /// A base whose place is not given is so high that the contacts that stand at first are on the ground.
  void stand() {
    if (!setting_->state.floating || task_.start.base) return;
    screw::Poses poses(setting_->tree->bodies().size());
    screw::body_poses(*setting_->tree, setting_->start_q.data(), poses);
    double sum = 0;
    int count = 0;
    for (const PlanContact& contact : setting_->contacts) {
      if (!setting_->stands(contact, 0, false)) continue;
      sum += contact.ground - (poses[contact.point.body] * contact.point.at)[2];
      ++count;
    }
    if (count > 0) setting_->start_q[6] += sum / count;
  }

  void limits() {
    const double none = std::numeric_limits<double>::infinity();
    const int n = setting_->state.joints, first = setting_->tree->freedoms() - n;
    std::vector<double> effort(n, none);
    setting_->lower.assign(n, -none);
    setting_->upper = setting_->speed = effort;
    const auto each = [&](auto action) {
      for (const screw::Coordinate& c : setting_->tree->coordinates()) {
        if (c.freedoms == 1) action(c, c.v - first);
      }
    };
    if (task_.model_limits) {
      each([&](const screw::Coordinate& c, int i) {
        if (c.limits.empty()) return;
        setting_->lower[i] = c.limits[0].lower;
        setting_->upper[i] = c.limits[0].upper;
        if (c.limits[0].velocity > 0) setting_->speed[i] = c.limits[0].velocity;
        if (c.limits[0].effort > 0) effort[i] = c.limits[0].effort;
      });
    }
    for (const TaskLimit& limit : task_.limits) {
      const bool all = limit.joint.text == "all";
      const int named = all ? -1 : coordinate_named(limit.joint);
      if (!all && named < 0) continue;
      each([&](const screw::Coordinate& c, int i) {
        if (!all && &c != &setting_->tree->coordinates()[named]) return;
        if (limit.position) setting_->lower[i] = limit.position->first, setting_->upper[i] = limit.position->second;
        if (limit.velocity) setting_->speed[i] = *limit.velocity;
        if (limit.torque) effort[i] = *limit.torque;
      });
    }
    for (const int motor : setting_->motors) setting_->effort.push_back(effort[motor - first]);
  }

  void contacts() {
    const bool walks = !task_.gait || check_gait(*task_.gait);
    for (const TaskContact& c : task_.contacts) {
      PlanContact contact;
      contact.name = c.name.text;
      contact.where = c.where;
      for (const PlanContact& other : setting_->contacts) {
        if (other.name == contact.name) fault(c.name.where, "another contact is named " + quote(contact.name));
      }
      const int link = link_named(c.link);
      if (link < 0) continue;
      const screw::LinkPlace& place = setting_->tree->links()[link];
      if (place.body < 0) fault(c.link.where, fmt::format("link {} does not move", quote(c.link.text)));
      contact.point = {std::max(0, place.body), place.X_BL * c.point};
      contact.friction = c.friction;
      contact.ground = c.ground;
      contact.swing = c.swing;
      for (const auto& [from, to] : c.closed) {
        const double end = std::min(to, task_.horizon);
        contact.closed.emplace_back(knot_at(from, c.where, "closed"), knot_at(end, c.where, "closed"));
      }
      if (c.closed.empty() && walks) contact.closed = walked(c);
      setting_->contacts.push_back(std::move(contact));
    }
  }

  /// Whether its feet can be lifted and set down in the steps of the task: else it is a fault.
  bool check_gait(const TaskGait& gait) {
    std::vector<std::string> known;
    for (const TaskContact& c : task_.contacts) known.push_back(c.name.text);
    std::set<std::string> lifted;
    for (const auto& group : gait.order) {
      for (const TaskName& name : group) {
        if (!lifted.insert(name.text).second) {
          fault(name.where,
                fmt::format("contact {} is lifted twice in a cycle; make it half as long", quote(name.text)));
        }
        const auto at = std::find(known.begin(), known.end(), name.text);
        if (at == known.end()) {
          unknown("contact", name, known);
        } else if (!task_.contacts[at - known.begin()].closed.empty()) {
          fault(name.where, fmt::format("contact {} says itself when it is closed", quote(name.text)));
        }
      }
    }
    if ((1 - gait.duty) * gait.cycle >= 2 * task_.step()) return true;
    fault(gait.where, fmt::format("gait: a foot is lifted for {:g} s, less than two steps of {:g} s",
                                  (1 - gait.duty) * gait.cycle, task_.step()));
    return false;
  }

  /// Knots at which a contact of the gait stands. Swings that would not end in time are left out.
  std::vector<std::pair<int, int>> walked(const TaskContact& c) const {
    std::vector<std::pair<int, int>> closed;
    int since = 0;
    const auto has = [&](const std::vector<TaskName>& group) {
      return std::any_of(group.begin(), group.end(), [&](const TaskName& n) { return n.text == c.name.text; });
    };
    const int groups = task_.gait ? static_cast<int>(task_.gait->order.size()) : 0;
    for (int g = 0; g < groups; ++g) {
      const TaskGait& gait = *task_.gait;
      if (!has(gait.order[g])) continue;
      for (double cycle = 0;; ++cycle) {
        const double lift = gait.from + (cycle + static_cast<double>(g) / groups) * gait.cycle;
        const double land = lift + (1 - gait.duty) * gait.cycle;
        if (land > std::min(gait.to, task_.horizon) + 1e-9) break;
        const int up = task_.knot(lift);
        const int down = task_.knot(land);
        if (up > since) closed.emplace_back(since, up);
        since = down;
      }
      break;
    }
    if (since < task_.steps) closed.emplace_back(since, task_.steps);
    return closed;
  }

  void payload() {
    if (!task_.payload) return;
    const int link = link_named(task_.payload->link);
    if (link < 0) return;
    setting_->load_from = knot_at(task_.payload->from, task_.payload->where, "payload: from");
    setting_->load_to = task_.payload->to > task_.horizon
                            ? setting_->knots()
                            : knot_at(task_.payload->to, task_.payload->where, "payload: to");
    Robot robot = robot_;
    Inertia& own = robot.links[link].inertia;
    own = joined(own, task_.payload->inertia);
    robot.links[link].has_inertia = true;
    const Result<std::shared_ptr<const screw::Tree>> tree = screw::Tree::make(robot);
    if (!tree) {
      for (const Diagnostic& d : tree.failure().diagnostics) fault(task_.payload->where, "payload: " + d.message);
      return;
    }
    setting_->loaded = *tree;
  }

  /// Two bodies as one.
  static Inertia joined(const Inertia& a, const Inertia& b) {
    Inertia sum;
    sum.mass = a.mass + b.mass;
    sum.com = sum.mass > 0 ? Vector3d((a.mass * a.com + b.mass * b.com) / sum.mass) : Vector3d::Zero();
    for (const Inertia* part : {&a, &b}) {
      const Vector3d r = part->com - sum.com;
      sum.about_com += part->about_com + part->mass * (r.squaredNorm() * Matrix3d::Identity() - r * r.transpose());
    }
    return sum;
  }

  std::optional<screw::Solid> solid_of(const Shape& shape) const {
    if (shape.type != Shape::Type::mesh) return screw::solid_of(shape);
    const auto mesh = task_.meshes.find(shape.mesh);
    return mesh == task_.meshes.end() ? std::nullopt : screw::hull_of(shape, mesh->second);
  }

  /// The solids of a link, with the body that carries them. Meshes that could not be read are told of, once.
  const std::vector<screw::CarriedSolid>& solids(int link) {
    const auto [known, fresh] = solids_.try_emplace(link);
    std::vector<screw::CarriedSolid>& all = known->second;
    if (!fresh) return all;
    const screw::LinkPlace& place = setting_->tree->links()[link];
    for (const Shape& shape : robot_.links[link].collisions) {
      std::optional<screw::Solid> solid = solid_of(shape);
      if (!solid) {
        setting_->warnings.push_back(
            fmt::format("link {}: mesh {} is not read, nothing keeps it clear (--meshes FOLDER)",
                        quote(robot_.links[link].name), quote(shape.mesh)));
        continue;
      }
      solid->X = place.X_BL * solid->X;
      all.push_back({place.body, *solid});
    }
    return all;
  }

  void add_pair(const std::string& name, const screw::CarriedSolid& a, const screw::CarriedSolid& b,
                const Location& where, int from, int to) {
    if (a.body == b.body) return;
    if (!screw::can_separate(a.solid.type, b.solid.type)) {
      return fault(where, fmt::format("{}: two planes have no distance", name));
    }
    setting_->pairs.push_back({name, a, b, from, to});
  }

  /// Links that nothing keeps clear of obstacles: no shape, or none whose distance is known. A link without mass and
  /// picture is a frame: there is nothing of it.
  void warn_of_shapeless(const std::vector<int>& links) {
    std::vector<std::string> names;
    for (const int link : links) {
      const Link& given = robot_.links[link];
      const bool frame_only = given.visuals.empty() && given.collisions.empty() && !(given.inertia.mass > 0);
      if (solids(link).empty() && !frame_only) names.push_back(quote(robot_.links[link].name));
    }
    if (names.empty()) return;
    setting_->warnings.push_back(
        fmt::format("{} of {} moving links have no collision shape that keeps clear, or a mesh that is not there: {}",
                    names.size(), links.size(), fmt::join(names, ", ")));
  }

  void clearances() {
    if (task_.obstacles.empty() && !task_.collision) return;
    const TaskCollision rules = task_.collision.value_or(TaskCollision{});
    setting_->margin = rules.margin;
    std::vector<int> links;
    for (const TaskName& name : rules.links) {
      const int link = link_named(name);
      if (link < 0) continue;
      if (solids(link).empty())
        fault(name.where, fmt::format("link {} has no shape that keeps clear", quote(name.text)));
      links.push_back(link);
    }
    for (std::size_t link = 0; rules.links.empty() && link < robot_.links.size(); ++link) {
      if (setting_->tree->links()[link].body >= 0) links.push_back(static_cast<int>(link));
    }
    warn_of_shapeless(links);
    const std::optional<screw::CarriedSolid> load = load_solid();
    const int last = setting_->knots();
    for (const TaskObstacle& obstacle : task_.obstacles) {
      const std::optional<screw::Solid> solid_there = solid_of(obstacle.shape);
      if (!solid_there) {
        fault(obstacle.where, fmt::format("cannot read a mesh (STL, OBJ) from {}", quote(obstacle.shape.mesh)));
        continue;
      }
      const screw::CarriedSolid stands{-1, *solid_there};
      for (const int link : links) {
        for (const screw::CarriedSolid& solid : solids(link)) {
          add_pair(robot_.links[link].name + " - " + obstacle.name.text, solid, stands, obstacle.where, 0, last);
        }
      }
      if (load) {
        add_pair("payload - " + obstacle.name.text, *load, stands, obstacle.where, setting_->load_from,
                 setting_->load_to);
      }
    }
    for (const auto& [first, second] : rules.pairs) {
      const int a = link_named(first), b = link_named(second);
      if (a < 0 || b < 0) continue;
      const auto carries = [&](int link) { return load && setting_->tree->links()[link].body == load->body; };
      for (const auto& [name, link] : {std::pair{&first, a}, std::pair{&second, b}}) {
        if (solids(link).empty() && !carries(link))
          fault(name->where, fmt::format("link {} has no shape that keeps clear", quote(name->text)));
      }
      for (const screw::CarriedSolid& one : solids(a))
        for (const screw::CarriedSolid& other : solids(b))
          add_pair(first.text + " - " + second.text, one, other, first.where, 0, last);
      for (const auto& [carrier, other, name] : {std::tuple{a, b, &second}, std::tuple{b, a, &first}}) {
        for (std::size_t i = 0; carries(carrier) && i < solids(other).size(); ++i) {
          add_pair("payload - " + name->text, *load, solids(other)[i], first.where, setting_->load_from,
                   setting_->load_to);
        }
      }
    }
  }

  /// The payload's shape, on the body that carries it.
  std::optional<screw::CarriedSolid> load_solid() {
    if (!setting_->loaded || !task_.payload->shape) return {};
    const std::optional<screw::Solid> solid = solid_of(*task_.payload->shape);
    if (!solid) {
      fault(task_.payload->where,
            fmt::format("cannot read a mesh (STL, OBJ) from {}", quote(task_.payload->shape->mesh)));
      return {};
    }
    const screw::LinkPlace& place = setting_->tree->links()[robot_.find_link(task_.payload->link.text)];
    screw::CarriedSolid carried{place.body, *solid};
    carried.solid.X = place.X_BL * carried.solid.X;
    return carried;
  }

  void check_goal(const TaskGoal& goal) {
    if (knot_at(goal.time, goal.where, "time") == 0 && goal.until == goal.time) {
      fault(goal.where, "time: a goal at 0 is the start's business; give it there");
    }
    if (goal.until != goal.time) knot_at(goal.until, goal.where, "until");
    for (const auto& [name, value] : goal.joints) coordinate_named(name);
    check_frame(goal.frame);
  }

  void check_frame(const TaskName& frame) {
    if (!frame.given() || frame.text == "com") return;
    const int link = link_named(frame);
    if (link >= 0 && setting_->tree->links()[link].body < 0) {
      fault(frame.where, fmt::format("link {} does not move", quote(frame.text)));
    }
  }

  void objectives() {
    bool smooth = false;
    for (const TaskObjective& objective : task_.objectives) {
      for (const TaskName& name : objective.joints) coordinate_named(name);
      smooth |= objective.type == TaskObjective::Type::smoothness;
    }
    if (task_.collocation == Collocation::none && !smooth) {
      fault(task_.model.where, "collocation: none: nothing ties the knots together; add an objective of smoothness");
    }
  }

  const PlanTask& task_;
  Robot robot_;
  PlanSetting* setting_ = nullptr;
  std::vector<Diagnostic> faults_;
  std::map<int, std::vector<screw::CarriedSolid>> solids_;  // by link
};

}  // namespace

Result<PlanSetting> PlanSetting::make(const Model& model, const PlanTask& task) {
  return SettingMaker(model, task).make();
}

}  // namespace kinegraph::build
