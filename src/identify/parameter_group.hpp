#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kinegraph/identify/solid.hpp"

namespace kinegraph::identify {

/// A number of the model that coordinates move, by the name of --set.
struct FreeSetting {
  std::string name;
  double start = 0;
  double typical = 1;  ///< by how much it may well change
};

/// One setting: s = scale · x.
struct ScaledNumber {
  double scale = 1;
};

/// Gravity turned from where the model has it, its strength kept:   g = |g| (cos|x| ĝ₀ + sin|x|/|x| E x), E ⟂ ĝ₀
/// In space E has two columns, in the plane one.
struct Direction {
  Eigen::VectorXd start;   ///< g₀
  Eigen::MatrixXd across;  ///< E
  explicit Direction(const Eigen::VectorXd& gravity);
};

/// Settings that some coordinates move together: s(x).
struct ParameterGroup {
  std::string name;                     ///< as the user gives it
  int coordinate = 0, coordinates = 1;  ///< of Parameters
  int setting = 0, settings = 1;        ///< of all that are free
  std::variant<ScaledNumber, Solid, FlatSolid, Direction> shape;

  void values(const double* x, double* s) const;
  Eigen::MatrixXd slope(const double* x) const;  ///< settings × coordinates
  std::vector<std::string> coordinate_names() const;
  bool solid() const { return std::holds_alternative<Solid>(shape) || std::holds_alternative<FlatSolid>(shape); }
};

/// What the last part of a setting's name says of it: "damping" of "elbow.damping2".
struct SettingKind {
  double typical = 1;  ///< of a machine of this size, where the model has zero
  double lower = -std::numeric_limits<double>::infinity();
};
SettingKind kind_of(const std::string& setting, double mass, double length);

}  // namespace kinegraph::identify
