#pragma once

#include <Eigen/Core>
#include <vector>

#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::task {

/// The closure equations of a tree in joint coordinates, positions measured in typical lengths: rows of angles and of
/// lengths weigh alike.
class LoopSystem {
 public:
  explicit LoopSystem(const screw::Tree& tree);

  /// How far the loops are open; unless null, the exact Jacobian, also where they are.
  void evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& residual, Eigen::MatrixXd* jacobian);
  /// The rows that velocities must fulfil at a closed position.
  Eigen::MatrixXd velocity_rows(const Eigen::VectorXd& q);

  const screw::Tree& tree() const { return tree_; }
  int loops() const { return static_cast<int>(tree_.loops().size()); }
  double length() const { return length_; }
  const std::vector<int>& columns() const { return columns_; }  ///< the freedoms that loops tie
  bool is_length(int freedom) const { return is_length_[freedom]; }

 private:
  const screw::Tree& tree_;
  screw::Poses poses_;
  double length_ = 1;
  std::vector<int> columns_;
  std::vector<bool> is_length_;
};

/// The farthest that neighbouring joints are apart; 1 if all are at one place.
double typical_length(const screw::Tree& tree);

}  // namespace kinegraph::task
