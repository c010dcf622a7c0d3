#pragma once

#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::filter {

/// δ ↦ q₀ ⊕ δ of the joints with quaternions (ball, floating): v = Jᵣ(δ) δ̇. All blocks of other joints are 1.
class CurvedJoints {
 public:
  explicit CurvedJoints(const screw::Tree& tree);
  bool any() const { return !joints_.empty(); }

  void right_jacobian(const double* delta, Eigen::MatrixXd& matrix) const;  ///< Jᵣ(δ) of all freedoms
  /// rate = Jᵣ⁻¹(δ) v; rate may be v.
  void rates(const double* delta, const double* v, double* rate) const;

  // In place, on the rows of a matrix of directions:
  void by_right(const double* delta, Eigen::MatrixXd& x) const;          ///< x ← Jᵣ(δ) x
  void by_right_inverse(const double* delta, Eigen::MatrixXd& x) const;  ///< x ← Jᵣ⁻¹(δ) x
  void by_left_inverse(const double* delta, Eigen::MatrixXd& x) const;   ///< x ← Jₗ⁻¹(δ) x
  /// x ← x + ∂(Jᵣ⁻¹(δ) v)/∂δ y
  void add_rate_changes(const double* delta, const double* v, const Eigen::MatrixXd& y, Eigen::MatrixXd& x) const;

 private:
  struct CurvedJoint {
    int v = 0;
    bool floating = false;
  };
  int freedoms_ = 0;
  std::vector<CurvedJoint> joints_;
};

}  // namespace kinegraph::filter
