#include <Eigen/Cholesky>

#include "kinegraph/identify/problem_implementation.hpp"
#include "kinegraph/identify/problem_joint.hpp"

namespace kinegraph::identify {

/// What the residual of a step is along the freedoms: μ of M (v⁺ − φ) = Gᵀλ + Bᵀμ, in the sense of least squares.
Eigen::MatrixXd Problem::impulse_residuals() const {
  Implementation& all = *implementation_;
  const maximal::Mechanism& mechanism = *all.mechanism;
  const int m = mechanism.rows(), f = static_cast<int>(mechanism.freedoms().size());
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(f, all.steps());
  if (f == 0 || all.last.empty()) return out;
  Eigen::MatrixXd rows(m + f, all.n), square(m + f, m + f);
  for (int k = 0; k < all.steps(); ++k) {
    rows.setZero();
    const double* q = all.pose(all.last, k);
    for (const maximal::Joint& joint : mechanism.joints()) {
      const auto at = [&](int body) { return body < 0 ? nullptr : q + 7 * body; };
      const JointSight<double> sight(mechanism, joint, all.numbers, at(joint.a), at(joint.b));
      maximal::Row<double> made[6];
      const auto put = [&](int count, int first) {
        for (int i = 0; i < count; ++i) {
          for (int c = 0; c < 6; ++c) {
            if (joint.a >= 0) rows(first + i, 6 * joint.a + c) = made[i].G[c];
            if (joint.b >= 0) rows(first + i, 6 * joint.b + c) = made[i].G[6 + c];
          }
        }
      };
      put(maximal::constraint_rows(joint, sight.make(), made), joint.row);
      if (joint.freedoms > 0) put(maximal::freedom_rows(joint, sight.make(), made), m + joint.freedom);
    }
    square.noalias() = rows * rows.transpose();
    square.diagonal().array() += 1e-10 * square.trace();
    out.col(k) = square.ldlt().solve(rows * all.impulses.col(k) / all.root_kappa).tail(f);
  }
  return out;
}

}  // namespace kinegraph::identify
