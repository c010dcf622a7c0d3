#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "kinegraph/identify/problem_implementation.hpp"
#include "kinegraph/identify/problem_joint.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"

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

/// The joint that moves most at the step that is lost.
std::string Problem::fault() const {
  const Implementation& all = *implementation_;
  const std::string file = all.run.file.empty() ? "" : all.run.file + ": ";
  if (all.lost_reading >= 0) {
    const Reading& reading = all.run.readings[all.lost_reading];
    return fmt::format("{}the reading at t = {:g} s is compared with a number that is not finite", file, reading.t);
  }
  if (all.lost_step < 0) return file + "its sum is too large";
  const maximal::Mechanism& mechanism = *all.mechanism;
  const int k = all.lost_step;
  const double t = all.run.times[k];
  std::vector<double> twist(static_cast<std::size_t>(all.n));
  const double *q = all.pose(all.last, k), *before = all.pose(all.last, k - 1);
  maximal::local(all.n / 6, before, q, twist.data());
  for (double& x : twist) x /= all.length(k - 1);
  Eigen::VectorXd rates = Eigen::VectorXd::Zero(mechanism.tree().freedoms());
  maximal::rates_of(mechanism, all.numbers, q, twist.data(), rates.data());
  if (!rates.allFinite()) return fmt::format("{}there is no motion at t = {:g} s", file, t);
  std::string fastest;
  double most = -1;
  for (const maximal::Freedom& freedom : mechanism.freedoms()) {
    const double rate = std::abs(rates[freedom.velocity]);
    if (rate <= most) continue;
    most = rate;
    fastest = fmt::format("{} moves at {:.3g} {}", mechanism.joints()[freedom.joint].name, rate,
                          freedom.angular ? "rad/s" : "m/s");
  }
  return fmt::format("{}the model has no step at t = {:g} s{}{}", file, t, fastest.empty() ? "" : ", where ", fastest);
}

}  // namespace kinegraph::identify
