#pragma once

#include <Eigen/Core>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/base/random.hpp"
#include "kinegraph/mechanics/natural/system.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/task/loop_system.hpp"

namespace kinegraph::task {

/// The positions that a machine can take: q with Φ(q) = 0, changes counted in typical lengths and radians. Drivers are
/// left out: they say when a position is taken, not which there are.
class ConfigurationSpace {
 public:
  virtual ~ConfigurationSpace() = default;
  int tangent() const { return tangent_; }  ///< numbers of a change δ

  /// Φ and, unless null, ∂Φ/∂δ.
  virtual void evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& phi, Eigen::MatrixXd* jacobian) = 0;
  virtual void retract(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& out) const = 0;
  /// δ with q ⊕ δ = other; angles the shorter way round.
  virtual void local(const Eigen::VectorXd& q, const Eigen::VectorXd& other, Eigen::VectorXd& delta) const = 0;
  /// Takes full turns out of angles.
  virtual void wrap(Eigen::VectorXd& q) const = 0;
  /// Anywhere, not closed.
  virtual Eigen::VectorXd random(Random& random) const = 0;
  /// Makes a closed q proper: no angle that points backwards. False: it is not to be used.
  virtual bool settle(Eigen::VectorXd& q) const = 0;
  /// Numbers whose sign may tell branches apart, and what a positive and a negative one mean.
  virtual std::vector<double> signs(const Eigen::VectorXd& q) const = 0;
  virtual std::string sign_name(int i, bool positive) const = 0;

 protected:
  int tangent_ = 0;
};

/// A planar mechanism in natural coordinates.
class NaturalConfigurations final : public ConfigurationSpace {
 public:
  NaturalConfigurations(std::shared_ptr<const Model> model, std::shared_ptr<const natural::System> system, double t);

  void evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& phi, Eigen::MatrixXd* jacobian) override;
  void retract(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& out) const override;
  void local(const Eigen::VectorXd& q, const Eigen::VectorXd& other, Eigen::VectorXd& delta) const override;
  void wrap(Eigen::VectorXd& q) const override;
  Eigen::VectorXd random(Random& random) const override;
  bool settle(Eigen::VectorXd& q) const override;
  std::vector<double> signs(const Eigen::VectorXd& q) const override;
  std::string sign_name(int i, bool positive) const override;

  bool angle(int coordinate) const { return angle_[coordinate]; }
  double length() const { return system_->typical_length(); }
  /// Drivers: the coordinate of each, and where it is at t.
  struct Driver {
    int coordinate = 0;
    double value = 0;
  };
  std::vector<Driver> drivers(const Eigen::VectorXd& q) const;

 private:
  Eigen::Vector2d point(const Eigen::VectorXd& q, int i) const;

  std::shared_ptr<const Model> model_;
  std::shared_ptr<const natural::System> system_;
  double t_;
  std::vector<int> row_, driver_rows_;  // row of Φ → row here, −1: a driver
  int rows_ = 0;
  std::vector<bool> angle_;
  std::vector<double> scale_;  // typical length, or 1 for angles
  std::vector<std::array<int, 3>> triangles_;
  mutable std::vector<double> phi_, phi_q_;  // work space
};

/// Joints of a tree that a set of loops ties together; the other numbers of q stay as they are.
class LoopConfigurations final : public ConfigurationSpace {
 public:
  LoopConfigurations(std::shared_ptr<const screw::Tree> tree, int loop_set, Eigen::VectorXd start);

  void evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& phi, Eigen::MatrixXd* jacobian) override;
  void retract(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& out) const override;
  void local(const Eigen::VectorXd& q, const Eigen::VectorXd& other, Eigen::VectorXd& delta) const override;
  void wrap(Eigen::VectorXd& q) const override;
  Eigen::VectorXd random(Random& random) const override;
  bool settle(Eigen::VectorXd&) const override { return true; }
  std::vector<double> signs(const Eigen::VectorXd& q) const override;
  std::string sign_name(int i, bool positive) const override;

  /// Takes the numbers of q that this set has from another position.
  void copy(const Eigen::VectorXd& from, Eigen::VectorXd& to) const;
  const std::vector<int>& columns() const { return columns_; }  ///< numbers of v

 private:
  std::shared_ptr<const screw::Tree> tree_;
  LoopSystem system_;
  Eigen::VectorXd start_;
  std::vector<int> columns_, rows_;
  std::vector<const screw::Coordinate*> coordinates_;
  std::vector<bool> wraps_;  // per column: full turns make no difference
  Eigen::VectorXd open_;
  Eigen::MatrixXd jacobian_;
};

}  // namespace kinegraph::task
