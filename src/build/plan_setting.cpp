#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/build/plan.hpp"

namespace kinegraph::build {
namespace {

class SettingMaker {
 public:
  SettingMaker(const Model& model, const PlanTask& task) : task_(task), robot_(model.robot) {}

  Result<PlanSetting> make() {
    if (robot_.links.empty()) {
      return Failure::bad_input(task_.model.where, "plans are for robots (URDF, SDF), this is a planar mechanism");
    }
    if (task_.gravity) robot_.gravity = *task_.gravity;
    for (const TaskName& name : task_.passive) {
      const int joint = joint_named(name);
      if (joint >= 0) robot_.joints[joint].passive = true;
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
    start();
    limits();
    contacts();
    payload();
    clearances();
    for (const TaskGoal& goal : task_.goals) check_goal(goal);
    objectives();
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
    const int knot = static_cast<int>(std::lround(exact));
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
      const Vector3d& rpy = *task_.start.base_rpy;
      const Eigen::Quaterniond q(Eigen::AngleAxisd(rpy[2], Vector3d::UnitZ()) *
                                 Eigen::AngleAxisd(rpy[1], Vector3d::UnitY()) *
                                 Eigen::AngleAxisd(rpy[0], Vector3d::UnitX()));
      setting_->start_q.head<4>() << q.w(), q.x(), q.y(), q.z();
    }
    if (task_.start.base) setting_->start_q.segment<3>(4) = *task_.start.base;
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
    for (const TaskContact& c : task_.contacts) {
      PlanContact contact;
      contact.name = c.name.text;
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
      setting_->contacts.push_back(std::move(contact));
    }
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
    if (const auto tree = screw::Tree::make(robot)) setting_->loaded = *tree;
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

  /// The solids of a link, with the body that carries them.
  std::vector<screw::CarriedSolid> solids(int link) {
    const screw::LinkPlace& place = setting_->tree->links()[link];
    std::vector<screw::CarriedSolid> all;
    for (const Shape& shape : robot_.links[link].collisions) {
      std::optional<screw::Solid> solid = screw::solid_of(shape);
      if (!solid) continue;
      solid->X = place.X_BL * solid->X;
      all.push_back({place.body, *solid});
    }
    return all;
  }

  void add_pair(const std::string& name, const screw::CarriedSolid& a, const screw::CarriedSolid& b,
                const Location& where, int from, int to) {
    if (a.body == b.body) return;
    if (!screw::can_separate(a.solid.type, b.solid.type)) {
      return fault(where,
                   fmt::format("{}: two boxes have no distance here; give one of them as spheres or capsules", name));
    }
    setting_->pairs.push_back({name, a, b, from, to});
  }

  /// Links that nothing keeps clear of obstacles: no shape, or none whose distance is known.
  void warn_of_shapeless(const std::vector<int>& links) {
    std::vector<std::string> names;
    for (const int link : links) {
      if (solids(link).empty()) names.push_back(quote(robot_.links[link].name));
    }
    if (names.empty()) return;
    setting_->warnings.push_back(fmt::format(
        "{} of {} moving links have no collision shape that keeps clear (sphere, capsule, cylinder, box): {}",
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
    const int last = setting_->knots();
    for (const TaskObstacle& obstacle : task_.obstacles) {
      const screw::CarriedSolid stands{-1, *screw::solid_of(obstacle.shape)};
      for (const int link : links) {
        for (const screw::CarriedSolid& solid : solids(link)) {
          add_pair(robot_.links[link].name + " - " + obstacle.name.text, solid, stands, obstacle.where, 0, last);
        }
      }
      if (setting_->loaded && task_.payload->shape) {
        const screw::LinkPlace& place = setting_->tree->links()[robot_.find_link(task_.payload->link.text)];
        screw::CarriedSolid carried{place.body, *screw::solid_of(*task_.payload->shape)};
        carried.solid.X = place.X_BL * carried.solid.X;
        add_pair("payload - " + obstacle.name.text, carried, stands, obstacle.where, setting_->load_from,
                 setting_->load_to);
      }
    }
    for (const auto& [first, second] : rules.pairs) {
      const int a = link_named(first), b = link_named(second);
      if (a < 0 || b < 0) continue;
      for (const screw::CarriedSolid& one : solids(a))
        for (const screw::CarriedSolid& other : solids(b))
          add_pair(first.text + " - " + second.text, one, other, first.where, 0, last);
    }
  }

  void check_goal(const TaskGoal& goal) {
    knot_at(goal.time, goal.where, "time");
    if (goal.until != goal.time) knot_at(goal.until, goal.where, "until");
    for (const auto& [name, value] : goal.joints) coordinate_named(name);
    if (!goal.frame.given() || goal.frame.text == "com") return;
    const int link = link_named(goal.frame);
    if (link >= 0 && setting_->tree->links()[link].body < 0) {
      fault(goal.frame.where, fmt::format("link {} does not move", quote(goal.frame.text)));
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
};

}  // namespace

Result<PlanSetting> PlanSetting::make(const Model& model, const PlanTask& task) {
  return SettingMaker(model, task).make();
}

bool PlanSetting::stands(const PlanContact& contact, int knot, bool middle) const {
  return std::any_of(contact.closed.begin(), contact.closed.end(), [&](const std::pair<int, int>& interval) {
    return knot >= interval.first && (middle ? knot < interval.second : knot <= interval.second);
  });
}

bool PlanSetting::bears(const PlanContact& contact, int knot, bool middle) const {
  if (middle) return stands(contact, knot, true);
  return std::any_of(contact.closed.begin(), contact.closed.end(), [&](const std::pair<int, int>& interval) {
    const bool after = knot > interval.first || (knot == 0 && interval.first == 0);
    const bool before = knot < interval.second || (knot == task.steps && interval.second == task.steps);
    return after && before;
  });
}

std::vector<int> PlanSetting::bearing(int knot, bool middle) const {
  std::vector<int> all;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (bears(contacts[c], knot, middle)) all.push_back(static_cast<int>(c));
  }
  return all;
}

}  // namespace kinegraph::build
