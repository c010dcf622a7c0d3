#pragma once

#include <memory>
#include <vector>

#include "kinegraph/identify/parameters.hpp"
#include "kinegraph/identify/problem_knots.hpp"
#include "kinegraph/identify/problem_rows.hpp"
#include "kinegraph/identify/problem_weight.hpp"

namespace kinegraph::identify {

/// The first state has no step before it that holds it together: rows on the knots −1 and 0.
///
///     √κ (M/h) Gᵀ(G Gᵀ)⁻¹ g(q₀)      √κ M Gᵀ(G Gᵀ)⁻¹ G v₀      (002, eqs. 3.16, 3.17, as corrected)
///
/// and a very weak pull of both knots toward where they were first, for directions that no reading sees, whatever κ is.
class StartRows {
 public:
  StartRows(std::shared_ptr<const maximal::Mechanism> mechanism, const ImpulseWeight& weight);

  void set_machine(const MachinePoint& machine) { machine_ = &machine; }
  /// Cost; `poses`: of knots −1 and 0, `first`: their velocity. Rows are added to `rows`, if there are any.
  double add(const double* poses, const KnotPair& first, RowBlock* rows);

 private:
  void see_joint(int joint, const double* q, const double* v, bool slopes);
  void add_block(const Eigen::VectorXd& value, double share, RowBlock* rows);
  double pull(const double* poses, RowBlock* rows);

  std::shared_ptr<const maximal::Mechanism> mechanism_;
  const ImpulseWeight& weight_;
  int n_ = 0, m_ = 0;
  const MachinePoint* machine_ = nullptr;
  std::vector<double> reference_;
  Eigen::MatrixXd G_, speed_by_q_;  // ∂(G v)/∂q
  Eigen::MatrixXd g_by_x_, speed_by_x_;
  Eigen::VectorXd g_, speed_;
  Eigen::MatrixXd by_first_, by_second_, by_x_;
};

}  // namespace kinegraph::identify
