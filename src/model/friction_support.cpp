#include "kinegraph/model/friction_support.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kinegraph/base/names.hpp"

namespace kinegraph {
namespace {

Result<std::monostate> result(std::vector<Diagnostic> found) {
  if (!found.empty()) return Failure{Failure::Kind::bad_input, std::move(found)};
  return std::monostate{};
}

}  // namespace

std::vector<const char*> beyond_screw(const JointDynamics& d) {
  std::vector<const char*> lacking;
  if (d.stribeck != 0) lacking.push_back("stribeck");
  if (d.quadratic != 0) lacking.push_back("quadratic");
  if (d.load_friction != 0) lacking.push_back("load_friction");
  return lacking;
}

Result<std::monostate> screw_friction(const Robot& robot) {
  std::vector<Diagnostic> found;
  for (const Joint& joint : robot.joints) {
    std::vector<const char*> lacking;
    for (const JointDynamics& d : joint.dynamics) {
      for (const char* kind : beyond_screw(d)) {
        if (std::find(lacking.begin(), lacking.end(), kind) == lacking.end()) lacking.push_back(kind);
      }
    }
    if (lacking.empty()) continue;
    found.push_back({Severity::error, joint.where,
                     fmt::format("joint {}: {} needs --formulation maximal of simulate", quote(joint.name),
                                 fmt::join(lacking, ", "))});
  }
  return result(std::move(found));
}

Result<std::monostate> natural_friction(const Model& model) {
  std::vector<Diagnostic> found;
  for (const JointFriction& friction : model.frictions) {
    const JointDynamics& d = friction.dynamics;
    if (d.smooth() && d.damping == 0 && d.quadratic == 0) continue;  // set to zero
    const bool screw_has_it = beyond_screw(friction.dynamics).empty();
    found.push_back({Severity::error, friction.where,
                     fmt::format("joint friction {} needs --formulation {}", quote(friction.name),
                                 screw_has_it ? "screw, or maximal of simulate" : "maximal of simulate")});
  }
  for (const Motor& motor : model.motors) {
    if (motor.inertia == 0) continue;
    found.push_back(
        {Severity::error, motor.where,
         fmt::format("motor {}: inertia needs --formulation screw, or maximal of simulate", quote(motor.name))});
  }
  return result(std::move(found));
}

}  // namespace kinegraph
