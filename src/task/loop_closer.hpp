#pragma once

#include <Eigen/Core>
#include <vector>

#include "kinegraph/task/loop_system.hpp"

namespace kinegraph::task {

/// Of the largest pivot: rows of closed loops that depend on others leave less. Axes that a file writes as parallel are
/// so to its digits.
inline constexpr double kLoopRank = 1e-4;

/// The columns of a matrix that may move, and where they belong.
struct FreeColumns {
  FreeColumns(const LoopSystem& system, const std::vector<bool>& held) {
    for (const int c : system.columns()) {
      if (!held[c]) columns.push_back(c);
    }
  }
  Eigen::MatrixXd of(const Eigen::MatrixXd& jacobian) const { return jacobian(Eigen::all, columns); }
  Eigen::VectorXd spread(const Eigen::VectorXd& part, int size) const {
    Eigen::VectorXd all = Eigen::VectorXd::Zero(size);
    all(columns) = part;
    return all;
  }
  std::vector<int> columns;
};

/// The farthest that a freedom which loops tie moves from one position to another.
double leap(const LoopSystem& system, const Eigen::VectorXd& from, const Eigen::VectorXd& to);

/// Levenberg-Marquardt steps with √μ in proportion to what is left open. Redundant rows (a planar loop in space, a
/// Bennett linkage) and the freedoms of the mechanism leave J without full rank; √μ ~ ‖r‖ converges quadratically all
/// the same (Yamashita and Fukushima 2001: it is enough that ‖r‖ grows with the distance to the closed positions).
class LoopCloser {
 public:
  LoopCloser(LoopSystem& system, const std::vector<bool>& held) : system_(system), free_(system, held) {}

  /// Moves q; true if the loops are closed there. Where the rows are redundant but for the last digits of the file,
  /// nothing closes the loops to rounding, or only a position far away: the nearest position that is closed along all
  /// that can be moved is then taken, if what is left is no more than those digits.
  bool run(Eigen::VectorXd& q);

  Eigen::VectorXd residual;

 private:
  /// Gauss-Newton steps along the directions that close the loops well. True if it ends with little open.
  bool run_truncated(Eigen::VectorXd& q);
  bool run_damped(Eigen::VectorXd& q, double enough);
  /// False if there is nothing more to gain.
  bool step(Eigen::VectorXd& q);

  LoopSystem& system_;
  FreeColumns free_;
  Eigen::MatrixXd jacobian_;
  Eigen::VectorXd scale_;
  double damping_ = 0.1;
};

}  // namespace kinegraph::task
