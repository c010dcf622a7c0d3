#pragma once

#include <Eigen/Core>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/identify/machine_numbers.hpp"
#include "kinegraph/identify/parameter_group.hpp"
#include "kinegraph/mechanics/maximal/mechanism.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::identify {

/// A number of the model that is not known: any that --set takes ("arm.mass", "A.dry", "L", "gyro.bias"), or a group:
/// "arm.inertia" (mass, centre and moments of a link: ten numbers, always a possible solid), "gravity.direction" (two
/// angles on the sphere; its strength is kept).
struct FreeParameter {
  std::string name;
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  std::optional<double> prior = {};  ///< standard deviation about the model's value; of "arm.inertia": relative
};

/// A named number of the answer, as a function of the coordinates x that the solver moves.
struct Quantity {
  std::string name;  ///< as --set takes it
  double value = 0;
  Eigen::VectorXd slope;  ///< by x
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
};

/// A symmetric matrix that must stay positive definite:   value + Σ dᵢ slope[i] ≻ 0   (to first order in d)
struct MatrixInequality {
  std::string what;  ///< "inertia of arm"
  Eigen::MatrixXd value;
  std::vector<Eigen::MatrixXd> slope;
};

/// The machine at a value of its parameters.
struct MachinePoint {
  Model model;
  Eigen::VectorXd numbers;     ///< of the Mechanism
  Eigen::MatrixXd directions;  ///< ∂ numbers / ∂ x, one column per coordinate
  std::vector<Sensor> sensors;
  Eigen::MatrixXd bias, scale;  ///< ∂ of each channel's bias and scale / ∂ x: channels (of all sensors in turn) × size
};

/// What is free, as coordinates x: those that the solver moves. Ordinary parameters are their own coordinates (times a
/// scale that makes x of order one); an inertia is ten numbers of its pseudo-inertia's Cholesky factor (of a planar
/// body four), so that any x is a possible solid; single moments, masses or centres of a link keep it possible by a
/// matrix inequality.
///
/// Where no bounds are given, damping, friction of every kind, stiffness, armature and the inertia of a motor are at
/// least zero and the speed of Stribeck's friction is above it, if the model's values are.
class Parameters {
 public:
  /// Refused, all at once: unknown names (with the nearest), names given twice or by a group and alone, bounds that
  /// exclude the model's value, numbers that move nothing, links that are no possible solid where only some of their
  /// moments are free.
  static Result<Parameters> make(const Model& model, const std::vector<FreeParameter>& free);

  int size() const { return static_cast<int>(start_.size()); }
  const Eigen::VectorXd& start() const { return start_; }
  const std::vector<std::string>& names() const { return names_; }  ///< of coordinates, for messages
  const maximal::Mechanism& mechanism() const { return *mechanism_; }
  std::shared_ptr<const maximal::Mechanism> shared_mechanism() const { return mechanism_; }
  const Model& model() const { return model_; }
  /// Links that the file gives no possible inertia: their search starts from the nearest possible one.
  const std::vector<Diagnostic>& warnings() const { return warnings_; }

  /// Fails where the model's own rules are broken.
  Result<MachinePoint> at(const Eigen::VectorXd& x, bool derivatives = true) const;
  /// The model's settings at x, by the names of --set.
  Settings settings(const Eigen::VectorXd& x) const;

  const Eigen::VectorXd& lower() const { return lower_; }
  const Eigen::VectorXd& upper() const { return upper_; }
  const Eigen::VectorXd& prior() const { return prior_; }  ///< standard deviation of x about start(); infinite: none
  std::vector<MatrixInequality> inequalities(const Eigen::VectorXd& x) const;
  std::vector<Quantity> quantities(const Eigen::VectorXd& x) const;

 private:
  friend class ParameterMaker;
  /// A link that settings beside those of a group move.
  struct TouchedLink {
    int link = 0;
    bool mass = false, moments = false;
  };

  Model model_;
  std::shared_ptr<const maximal::Mechanism> mechanism_;
  std::vector<std::string> names_;
  Eigen::VectorXd start_, lower_, upper_, prior_;
  std::vector<Diagnostic> warnings_;
  std::vector<FreeSetting> settings_;  // of all groups in turn
  std::vector<ParameterGroup> groups_;
  std::shared_ptr<const MachineNumbers> numbers_;
  std::vector<TouchedLink> touched_;

  Eigen::VectorXd values(const Eigen::VectorXd& x) const;        // of the settings; I_c for I0 of planar solids
  Eigen::MatrixXd value_slopes(const Eigen::VectorXd& x) const;  // by x
};

}  // namespace kinegraph::identify
