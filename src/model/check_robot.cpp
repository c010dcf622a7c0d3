#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/check.hpp"

namespace kinegraph {
namespace {

constexpr double kInertiaRounding =
    1e-6;  // of the largest principal inertia: what a file of seven digits can be wrong by

/// A kind of warning: the first place, and how often it applies.
struct Kind {
  Location where;
  std::string message;
  int count = 0;
};

class RobotRules {
 public:
  RobotRules(const Robot& robot, bool strict) : robot_(robot), strict_(strict) {}

  std::vector<Diagnostic> run() {
    if (!robot_.gravity.allFinite()) error({}, "gravity: not a finite number");
    for (const Link& l : robot_.links) link(l);
    for (const Joint& j : robot_.joints) joint(j);
    flush(triangle_, "links");
    flush(damping_, "joints");
    flush(bounds_, "joints");
    return std::move(found_);
  }

 private:
  void link(const Link& l) {
    const Inertia& inertia = l.inertia;
    const Location& where = l.inertia_where.line > 0 ? l.inertia_where : l.where;
    const std::string name = "link " + quote(l.name);
    if (!std::isfinite(inertia.mass)) {
      error(where, name + ": the mass is not a finite number");
    } else if (inertia.mass < 0) {
      error(where, fmt::format("{}: the mass must be >= 0, is {:.6g}", name, inertia.mass));
    }
    if (!inertia.com.allFinite()) error(where, name + ": the centre of mass is not finite");
    if (!inertia.about_com.allFinite()) return error(where, name + ": the inertia is not finite");
    principal(name, where, inertia.about_com);
    for (const Shape& shape : l.collisions) {
      if (!surface(name, l.where, shape)) break;  // one is enough
    }
  }

  bool surface(const std::string& name, const Location& where, const Shape& shape) {
    const std::size_t before = found_.size();
    if (!(shape.friction >= 0) || !std::isfinite(shape.friction)) {
      error(where, fmt::format("{}: mu of its surface must be >= 0, is {:.6g}", name, shape.friction));
    } else if (!(shape.restitution >= 0 && shape.restitution <= 1)) {
      error(where,
            fmt::format("{}: restitution of its surface must be between 0 and 1, is {:.6g}", name, shape.restitution));
    }
    return found_.size() == before;
  }

  /// Principal inertias are sums of two of three non-negative second moments: none is negative, none above the sum of
  /// the others.
  void principal(const std::string& name, const Location& where, const Matrix3d& inertia) {
    const double size = inertia.cwiseAbs().maxCoeff();
    if (size == 0) return;
    const Vector3d moments = Eigen::SelfAdjointEigenSolver<Matrix3d>(inertia / size, Eigen::EigenvaluesOnly)
                                 .eigenvalues();  // ascending; scaled, so that nothing overflows
    if (!std::isfinite(size * moments[2])) return error(where, name + ": the inertia is too large for a number");
    if (moments[0] < -kInertiaRounding) {
      return error(where,
                   fmt::format("{}: the inertia has a negative principal moment, {:.6g}", name, size * moments[0]));
    }
    if (moments[0] + moments[1] >= moments[2] - kInertiaRounding) return;
    std::string message = fmt::format(
        "{}: no body has the principal inertias {:.4g}, {:.4g} and {:.4g} (the largest is "
        "above the sum of the others)",
        name, size * moments[0] + 0.0, size * moments[1], size * moments[2]);
    if (strict_) return error(where, std::move(message));
    note(triangle_, where, std::move(message));
  }

  void joint(const Joint& j) {
    const std::string name = "joint " + quote(j.name);
    for (const JointLimits& limit : j.limits) {
      if (std::isnan(limit.lower) || std::isnan(limit.upper) || std::isnan(limit.velocity) ||
          std::isnan(limit.effort)) {
        error(j.where, name + ": a limit is not a number");
      } else if (limit.lower > limit.upper) {
        error(j.where, fmt::format("{}: the lower limit {:.6g} is above the upper limit {:.6g}", name, limit.lower,
                                   limit.upper));
      } else if (limit.velocity < 0 || limit.effort < 0) {
        const bool velocity = limit.velocity < 0;
        note(bounds_, j.where,
             fmt::format("{}: the {} limit is negative: {:.6g}", name, velocity ? "velocity" : "effort",
                         velocity ? limit.velocity : limit.effort));
      }
    }
    for (const JointDynamics& d : j.dynamics) dynamics(name, j.where, d);
    if (j.mimic && !(std::isfinite(j.mimic->multiplier) && std::isfinite(j.mimic->offset))) {
      error(j.where, name + ": mimic is not finite");
    }
    for (const double value : {j.pitch, j.axis.sum(), j.axis2.sum()}) {
      if (!std::isfinite(value)) return error(j.where, name + ": the axis or pitch is not finite");
    }
    const auto finite = [](double v) { return std::isfinite(v); };
    if (!std::all_of(j.initial_q.begin(), j.initial_q.end(), finite) ||
        !std::all_of(j.initial_v.begin(), j.initial_v.end(), finite)) {
      error(j.where, name + ": an initial value is not finite");
    }
  }

  void dynamics(const std::string& name, const Location& where, const JointDynamics& d) {
    enum class Sign { any, warned, refused };  // published robots have negative damping; other files do not
    struct Entry {
      const char* name;
      double value;
      Sign negative;
    };
    for (const Entry& e :
         {Entry{"damping", d.damping, Sign::warned}, Entry{"friction", d.friction, Sign::warned},
          Entry{"stiffness", d.stiffness, Sign::any}, Entry{"rest", d.rest, Sign::any},
          Entry{"armature", d.armature, Sign::warned}, Entry{"stribeck", d.stribeck, Sign::refused},
          Entry{"stribeck_speed", d.stribeck_speed, Sign::any}, Entry{"quadratic", d.quadratic, Sign::refused},
          Entry{"load_friction", d.load_friction, Sign::refused}, Entry{"gain", d.gain, Sign::any}}) {
      if (!std::isfinite(e.value)) {
        error(where, fmt::format("{}: {} is not a finite number", name, e.name));
      } else if (e.value < 0 && e.negative == Sign::warned) {
        note(damping_, where, fmt::format("{}: {} is negative: {:.6g}", name, e.name, e.value));
      } else if (e.value < 0 && e.negative == Sign::refused) {
        error(where, fmt::format("{}: {} must be >= 0, is {:.6g}", name, e.name, e.value));
      }
    }
    if (d.stribeck_speed <= 0) {
      error(where, fmt::format("{}: stribeck_speed must be > 0, is {:.6g}", name, d.stribeck_speed));
    }
  }

  void note(Kind& kind, const Location& where, std::string message) {
    if (kind.count++ == 0) kind.where = where, kind.message = std::move(message);
  }
  void flush(Kind& kind, const char* things) {
    if (kind.count == 0) return;
    if (kind.count > 1) kind.message += fmt::format("; {} {} in all", kind.count, things);
    found_.push_back({Severity::warning, kind.where, std::move(kind.message)});
  }
  void error(const Location& where, std::string message) {
    found_.push_back({Severity::error, where, std::move(message)});
  }

  const Robot& robot_;
  const bool strict_;
  std::vector<Diagnostic> found_;
  Kind triangle_, damping_, bounds_;
};

}  // namespace

std::vector<Diagnostic> check_robot(const Robot& robot, bool strict) { return RobotRules(robot, strict).run(); }

}  // namespace kinegraph
