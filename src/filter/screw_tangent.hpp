#pragma once

#include <Eigen/LU>
#include <Eigen/QR>
#include <memory>
#include <vector>

#include "kinegraph/filter/chart.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::filter {

/// C X, for X with a row per number of v. out may not be X.
void count_in(const Chart& chart, const Eigen::MatrixXd& X, Eigen::MatrixXd& out);

/// The motions that the closed loops of a robot leave, at one position: J(q) Z = 0, and how to come back to closed
/// loops. See screw_tangent.cpp. Without loops all freedoms are free: Z = 1. Allocates when it is made, never after.
class ScrewTangent {
 public:
  /// `freedoms`: of the mechanism, its loops closed.
  ScrewTangent(std::shared_ptr<const screw::Tree> tree, int freedoms);

  /// At q; with `turned` (freedoms square, or null) for changes δ with v = turned · δ̇. False: the loops are in a
  /// singular position.
  bool set(const double* q, const Eigen::MatrixXd* turned = nullptr);

  int rank() const { return rank_; }
  const Eigen::MatrixXd& jacobian() const { return jacobian_; }  ///< J, (6 loops) × freedoms
  const Eigen::MatrixXd& basis() const { return basis_; }        ///< Z, freedoms × f
  /// Z with its lengths in typical lengths, columns orthonormal: how well a freedom tells the motion.
  const Eigen::MatrixXd& scaled_basis() const { return scaled_; }

  /// N with C N = 1 that spans the same motions. False: the chart does not tell them.
  bool span(const Chart& chart, Eigen::MatrixXd& N);

  /// How far some freedom moves, at most, when one of the chart's moves by its unit: 1 at least, and then well chosen.
  double reach(const Chart& chart, const Eigen::MatrixXd& N) const;

  /// δ with J δ = gap (6 loops × k), one of many.
  void bridge(const Eigen::MatrixXd& gap, Eigen::MatrixXd& delta);
  /// μ with Jᵀ μ = force (freedoms × k), the least one.
  void react(const Eigen::MatrixXd& force, Eigen::MatrixXd& mu);
  /// x (6 loops × k) without its part in the range of J: of wrenches, what has no effect and is none in the least ones.
  void idle(Eigen::MatrixXd& x);

  /// Freedoms that tell the motion: those of `first` that can be, then motors, then others.
  void choose(const std::vector<int>& first, std::vector<int>& columns);
  /// Those that tell it best. With `tree_only` none of the joints that close loops.
  void choose_best(bool tree_only, std::vector<int>& columns);

 private:
  void take(int freedom, std::vector<int>& columns);
  int next(int turn) const;
  void factorise_range();

  std::shared_ptr<const screw::Tree> tree_;
  int rank_ = 0, freedoms_ = 0;
  double length_ = 1;
  Eigen::VectorXd scale_;  // per freedom: the unit of its changes
  std::vector<bool> passive_;
  screw::Poses poses_;
  Eigen::MatrixXd jacobian_, rows_;                 // rows_: Jᵀ, scaled
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr_;  // of that
  Eigen::MatrixXd basis_, scaled_, left_;           // left_: what no chosen freedom tells yet
  Eigen::MatrixXd answer_;                          // freedoms × rank: from chosen equations to δ
  Eigen::MatrixXd chosen_, range_;                  // range_: orthonormal, of J
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> range_qr_;
  bool range_ready_ = false;
  Eigen::MatrixXd counted_, inverse_;  // C Z
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  Eigen::VectorXd workspace_;
};

}  // namespace kinegraph::filter
