#pragma once

#include "kinegraph/filter/estimator.hpp"
#include "kinegraph/graph/noise.hpp"
#include "kinegraph/linear/time_chain.hpp"

namespace kinegraph::filter {

/// L, lower triangular, with L Lᵀ = Q, and no pivot below a floor: a singular Q (a constant offset, a joint that
/// nothing disturbs) would make rows of infinite weight. A pivot below 1e-12 of its diagonal entry becomes that, or
/// least[i] if that is more; others stay exactly as they are.
void floored_root(const MatrixXd& Q, const VectorXd& least, MatrixXd& L);

/// The motion from a knot on, with its derivative.
struct StepLink {
  VectorXd next;  ///< where the motion goes
  Chart chart;    ///< there
  MatrixXd F, L;  ///< ∂δ⁺/∂δ, and the root of Q, in that chart
};

/// The rows of a linear::TimeChain for a state space: what the smoothers have in common. δ of each knot is counted in a
/// chart of its own at the state about which it is linear. Nothing allocates after the first use.
class SmootherRows {
 public:
  SmootherRows(StateSpace& space, const Belief& prior);
  /// Faults of a prior: sizes, what is not finite, a covariance that is not one. An infinite variance means that
  /// nothing is known of that number; no covariance at all (0 × 0), of none.
  static Result<std::monostate> check(const StateSpace& space, const Belief& prior);

  StateSpace& space() { return *space_; }

  /// The motion from x over h, in `steps` equal parts. `chart_next`: the chart that is wanted there.
  bool advance(double t, double h, int steps, const double* x, const Chart& chart, const Chart& chart_next,
               StepLink& link);
  /// The n rows [E F | e] of a link to the state `next`: with r = local(link.next, link.chart, next), to first order
  ///
  ///     L⁻¹ (r − F δ + T δ⁺) = 0      T: from the chart at `next` to that of the link; 1 where they are the same
  ///
  /// Adds log |det L⁻¹ T| to log_volume.
  bool link(double t_next, const double* next, const Chart& chart_next, const StepLink& link, double* rows,
            double& log_volume);
  /// ‖L⁻¹ local(x, chart, next)‖², L packed by rows.
  double misfit(const double* x, const Chart& chart, const double* next, const double* L);

  /// The rows of the prior about the state x of knot 0. Adds log |det| of them to log_volume.
  bool prior(const double* x, const Chart& chart, linear::TimeChain& chain, double& log_volume);
  double prior_misfit(const double* x);
  int prior_rank() const { return rank_; }

  /// What a reading says against a state: e = y − h(x) in units of the channels' noise (NaN: not given), and the rows H
  /// in the same units, row-major (null: not wanted).
  bool reading(double t, const double* x, const Chart& chart, const Measurement& m, double* e, double* H);

 private:
  bool charts_differ(double t, const double* x, const Chart& from, const Chart& to, MatrixXd& T);

  StateSpace* space_;
  int n_;
  VectorXd least_;  // smallest variance of a step's noise
  double prior_t_;
  VectorXd prior_x_;
  Chart prior_chart_;
  MatrixXd whitener_;  // of the prior: Wᵀ W = P⁻¹
  int rank_ = 0;
  double prior_log_ = 0;

  MatrixXd F_, Q_, sum_, T_, H_, product_;
  VectorXd between_, r_;
  Chart chart_;
};

/// Itself if convex, else Huber's loss with 95 % of the efficiency of least squares: it has one minimum, from which the
/// others can be approached.
Loss convex(const Loss& loss);

/// log |det A| of a small square matrix.
double log_volume(const MatrixXd& A);

}  // namespace kinegraph::filter
