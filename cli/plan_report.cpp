#include "plan_report.hpp"

#include "kinegraph/model/joint_names.hpp"

namespace kinegraph::cli {
namespace {

/// Limits of the task in place of those of the model, tighter or looser: as the plan takes them.
report::Ranges limits(const Model& model, const PlanTask& task) {
  report::Ranges ranges = report::limits_of(model);
  if (!task.model_limits) {
    for (auto& [name, range] : ranges) range = {};
  }
  for (const TaskLimit& limit : task.limits) {
    for (const Joint& joint : model.robot.joints) {
      if (joint.name != limit.joint.text && limit.joint.text != "all") continue;
      const auto q = position_names(joint.name, joint.type), v = velocity_names(joint.name, joint.type),
                 tau = torque_names(joint.name, joint.type);
      if (q.size() != v.size()) continue;
      for (std::size_t i = 0; i < q.size(); ++i) {
        if (limit.position) ranges[q[i]] = {limit.position->first, limit.position->second};
        if (limit.velocity) ranges[v[i]] = {-*limit.velocity, *limit.velocity};
        if (limit.torque) ranges[tau[i]] = {-*limit.torque, *limit.torque};
      }
    }
  }
  return ranges;
}

}  // namespace

void fill_plan_report(const Model& model, const PlanTask& task, ReportContent& report) {
  report.limits = limits(model, task);
  report.limits["clearance"].low = task.collision.value_or(TaskCollision{}).margin;
  for (const TaskContact& c : task.contacts) report.contacts.push_back({c.name.text, c.link.text, c.point});
  for (const TaskObstacle& o : task.obstacles) {
    if (o.shape.type != Shape::Type::plane) report.obstacles.push_back({o.name.text, o.shape});
  }
  report.page.inputs.emplace_back("robot", task.model.text);
}

}  // namespace kinegraph::cli
