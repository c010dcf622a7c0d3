#pragma once

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <memory>
#include <vector>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/mechanics/screw/mass_matrix.hpp"

namespace kinegraph::step {

/// Brings a robot back onto its closed loops. See loop_projection.cpp. Nothing allocates after the first call of each
/// function.
class LoopProjection {
 public:
  enum class Weight { mass, none };

  /// `rank`: of the closure equations where nothing is singular (freedoms of the tree less those of the mechanism).
  LoopProjection(std::shared_ptr<const screw::Tree> tree, int rank, Weight weight = Weight::mass);

  /// Factorises at a q whose loops are closed, or nearly.
  void prepare(const double* q);

  /// The nearest q with closed loops and the nearest v that keeps them closed, by Newton iteration with the last
  /// factorisation; where that does not converge, with a new one. False: it does not get there; worst() says which loop
  /// and how far.
  bool project(double* q, double* v);

  struct Opening {
    int loop = -1;
    double metres = 0, radians = 0;
  };
  /// How far the loops are open at q: the largest distance and the largest angle; `loop` is that of the largest number.
  Opening opening(const double* q);
  Opening worst() const { return worst_; }  ///< after project() said no
  int rank_here() const { return rank_here_; }
  long factorisations() const { return factorisations_; }
  long iterations() const { return iterations_; }

 private:
  struct LoopFrame {
    Eigen::Matrix<double, 6, 6> S;  // of the closing joint
    Eigen::Matrix<double, 6, 6> Q;  // orthonormal: the first `freedoms` columns span S, N is the others transposed
    Eigen::Matrix<double, 6, 6> pseudo_inverse;
    int freedoms = 0;         // that are its own
    int first = 0, rows = 0;  // of N in the reduced equations
  };
  bool close_position(double* q, double accepted);
  bool close_velocity(const double* q, double* v, double accepted);
  void closure_velocity(const double* q, const double* v);
  static void split(LoopFrame& frame);
  void correct();  // residual_ → delta_

  std::shared_ptr<const screw::Tree> tree_;
  int rank_, equations_ = 0, rank_here_ = 0;
  Weight weight_;
  screw::MassMatrix mass_;
  screw::Poses poses_;
  std::vector<screw::Vector6d> twists_;
  Eigen::MatrixXd jacobian_, weights_;
  Eigen::LLT<Eigen::MatrixXd> cholesky_;
  Eigen::MatrixXd rows_;                            // L⁻¹ Jᵀ Nᵀ
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr_;  // of that
  Eigen::MatrixXd answer_;                          // tree freedoms × rank: from chosen equations to δ
  Eigen::VectorXd residual_, reduced_, chosen_, delta_, workspace_;
  std::vector<LoopFrame, Eigen::aligned_allocator<LoopFrame>> frames_;
  Opening worst_;
  long factorisations_ = 0, iterations_ = 0;
};

}  // namespace kinegraph::step
