#include "kinegraph/identify/parameter_group.hpp"

#include <Eigen/Geometry>
#include <map>
#include <string_view>

#include "kinegraph/base/constants.hpp"

namespace kinegraph::identify {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

/// sin(a)/a and its slope over a.
struct Sinc {
  double value = 1, slope = -1.0 / 3;
  explicit Sinc(double a) {
    if (a < 1e-4) {
      value = 1 - a * a / 6;
    } else {
      value = std::sin(a) / a;
      slope = (std::cos(a) - value) / (a * a);
    }
  }
};

}  // namespace

Direction::Direction(const Eigen::VectorXd& gravity) : start(gravity) {
  const int n = static_cast<int>(gravity.size());
  if (n == 2) {
    across = Eigen::Vector2d(-gravity.y(), gravity.x()).normalized();  // turned counterclockwise
    return;
  }
  // the world's axes that are least along it: x and y where gravity is along z
  const Eigen::Vector3d down = gravity.normalized();
  int along = 0;
  down.cwiseAbs().maxCoeff(&along);
  const Eigen::Vector3d e = Eigen::Vector3d::Unit(along == 0 ? 1 : 0);
  const Eigen::Vector3d first = (e - down * down.dot(e)).normalized(), second = down.cross(first);
  across.resize(3, 2);
  across << first, (second.sum() < 0 ? Eigen::Vector3d(-second) : second);
}

void ParameterGroup::values(const double* x, double* s) const {
  std::visit(Overloaded{[&](const ScaledNumber& number) { s[0] = number.scale * x[0]; },
                        [&](const Direction& direction) {
                          const Eigen::Map<const Eigen::VectorXd> turn(x, coordinates);
                          const double angle = turn.norm();
                          Eigen::Map<Eigen::VectorXd>(s, settings) =
                              std::cos(angle) * direction.start +
                              Sinc(angle).value * direction.start.norm() * (direction.across * turn);
                        },
                        [&](const auto& solid) { Eigen::Map<Eigen::VectorXd>(s, settings) = solid.at(x); }},
             shape);
}

Eigen::MatrixXd ParameterGroup::slope(const double* x) const {
  return std::visit(
      Overloaded{
          [&](const ScaledNumber& number) -> Eigen::MatrixXd { return Eigen::MatrixXd::Constant(1, 1, number.scale); },
          [&](const Direction& direction) -> Eigen::MatrixXd {
            const Eigen::Map<const Eigen::VectorXd> turn(x, coordinates);
            const Sinc sinc(turn.norm());
            const Eigen::VectorXd along = direction.across * turn;
            const double strength = direction.start.norm();
            return (strength * sinc.slope * along - sinc.value * direction.start) * turn.transpose() +
                   strength * sinc.value * direction.across;
          },
          [&](const auto& solid) -> Eigen::MatrixXd { return solid.slope(x); }},
      shape);
}

std::vector<std::string> ParameterGroup::coordinate_names() const {
  static const std::vector<std::string> kSolid = {"mass",    "extent x", "extent y", "extent z", "tilt xy",
                                                  "tilt xz", "tilt yz",  "centre x", "centre y", "centre z"};
  static const std::vector<std::string> kFlat = {"mass", "centre x", "centre y", "extent"};
  if (coordinates == 1) return {name};
  const std::vector<std::string> turns = {"first turn", "second turn"};
  const auto& parts = std::holds_alternative<Solid>(shape) ? kSolid : solid() ? kFlat : turns;
  std::vector<std::string> names;
  for (const std::string& part : parts) names.push_back(name + " (" + part + ")");
  return names;
}

SettingKind kind_of(const std::string& setting, double mass, double length) {
  const std::size_t dot = setting.rfind('.');
  if (dot == std::string::npos) return {setting == "gravity" ? kGravity : 1.0};
  std::string_view last = std::string_view(setting).substr(dot + 1);
  while (!last.empty() && last.back() >= '1' && last.back() <= '6') last.remove_suffix(1);  // of a freedom
  // a hundredth of what gravity does to the machine
  const double force = 0.01 * mass * kGravity, torque = force * length, time = std::sqrt(length / kGravity);
  static constexpr double kAny = -std::numeric_limits<double>::infinity();
  struct Row {
    std::string_view name;
    double typical, lower;
  };
  const Row rows[] = {
      {"mass", 0.1 * mass, kAny},
      {"damping", torque * time, 0},
      {"viscous", torque * time, 0},
      {"friction", torque, 0},
      {"dry", torque, 0},
      {"stribeck", torque, 0},
      {"stribeck_speed", 0.1, 1e-4},
      {"quadratic", torque * time * time, 0},
      {"load_friction", 0.01 * length, 0},
      {"stiffness", torque, 0},
      {"armature", 0.01 * mass * length * length, 0},
      {"inertia", 0.01 * mass * length * length, 0},  // of a motor
      {"rest", 0.1, kAny},
      {"bias", 0.01, kAny},
      {"gyro_bias", 0.01, kAny},
      {"accel_bias", 0.1, kAny},
      {"I0", 0.1 * mass * length * length, kAny},
  };
  for (const Row& row : rows) {
    if (last == row.name) return {row.typical, row.lower};
  }
  if (setting.starts_with("gravity.")) return {kGravity};
  if (last.size() == 3 && last[0] == 'i') return {0.01 * mass * length * length};  // ixx
  for (const char* place : {"com_x", "com_y", "com_z", "cog_x", "cog_y", "length", "x", "y", "z"}) {
    if (last == place) return {0.1 * length};
  }
  return {};
}

}  // namespace kinegraph::identify
