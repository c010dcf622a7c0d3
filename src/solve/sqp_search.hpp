#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "kinegraph/linear/horizon_elimination.hpp"
#include "kinegraph/solve/horizon_problem.hpp"
#include "kinegraph/solve/sqp.hpp"

namespace kinegraph {

/// Pairs (violation, merit) that a new point must beat in one or the other.
class SqpFilter {
 public:
  void clear(double largest_violation) {
    pairs_.clear();
    largest_ = largest_violation;
  }
  bool accepts(double violation, double merit) const;
  void add(double violation, double merit) { pairs_.push_back({violation, merit}); }

 private:
  struct Pair {
    double violation, merit;
  };
  std::vector<Pair> pairs_;
  double largest_ = 0;
};

/// The search for a minimum. Unknowns x, slacks s with g(x) − s = 0, s > 0, multipliers y of c and z of s ≥ 0:
///
///     ∇f + Jᵀ y − Gᵀ z = 0,    c = 0,    g − s = 0,    s z = μ,    μ → 0
///
/// A Newton step on these, s and z eliminated (Σ = z/s, only H changes):
///
///     [ H + Gᵀ Σ G + δ   Jᵀ ] [ dx ]   [ −∇f − Jᵀ y + Gᵀ (μ/s − Σ (g − s)) ]
///     [ J                −C ] [ dy ] = [ −c                                ]
///
///     ds = G dx + g − s          dz = μ/s − z − Σ ds
///
/// δ is raised until the elimination finds a minimum, C where rows are redundant. The step is judged by a filter of
/// θ = ‖c‖₁ + ‖g − s‖₁ and φ = f − μ Σ log s, with second-order corrections (Wächter and Biegler, Math. Program. 106
/// (2006) 25, whose constants are used). Where no step is accepted, the violation alone is made smaller
/// (sqp_penalty.cpp).
class SqpSearch {
 public:
  SqpSearch(HorizonProblem& problem, linear::HorizonElimination& elimination, const SqpOptions& options,
            SqpDuals& duals);

  SqpReport run(bool warm);

 private:
  enum class Outcome { accepted, rejected, converged, infeasible, interrupted, limit };

  // sqp_search.cpp: the loop and the filter
  void start_slacks(bool warm);
  Outcome iterate();
  bool lower_barrier();
  Outcome search_along();
  bool try_step(double length, const Eigen::VectorXd& dx, const Eigen::VectorXd& ds);
  bool acceptable(double length);
  bool correct_second_order(double length);
  void take(double length, double dual_length);
  double error(double barrier) const;
  double violation_of(const HorizonPoint& p) const;
  double theta_of(const HorizonPoint& p, const Eigen::VectorXd& s) const;
  double merit_of(const HorizonPoint& p, const Eigen::VectorXd& s) const;
  double boundary(const Eigen::VectorXd& v, const Eigen::VectorXd& dv) const;
  void move(double length, const Eigen::VectorXd& dx);
  bool tell(SqpIteration::Phase phase, double length);
  bool go_on() const;  ///< asked of Progress, between iterations and between the trials of one
  void refresh_lagrangian();

  // sqp_newton.cpp: the step
  bool factor_newton();
  void solve_newton(const Eigen::VectorXd& c, const Eigen::VectorXd& slack_rest, Eigen::VectorXd& dx,
                    Eigen::VectorXd& dy, Eigen::VectorXd& ds);

  // sqp_penalty.cpp: constraints as costs
  struct Penalty {
    Eigen::VectorXd equality, inequality;  // weights: ½ Σ w c² + ½ Σ v min(0, g)²
    double cost = 1;                       // weight of the costs
    int iterations = 10;
    double fall = 1e-9;  // relative; stops when the sum falls less in three steps
    SqpIteration::Phase phase = SqpIteration::Phase::warm_start;
  };
  enum class PenaltyEnd { converged, stuck, limit, interrupted, good };
  PenaltyEnd minimize_penalty(const Penalty& penalty, bool stop_when_acceptable);
  bool penalty_step(const Penalty& penalty, double damping);
  double penalty_of(const Penalty& penalty, const HorizonPoint& p) const;
  Penalty warm_penalty() const;
  Penalty restoration_penalty() const;
  Penalty naming_penalty() const;
  Penalty soft_penalty() const;
  bool good_enough(double theta);
  bool is_hopeless();
  void reset_slacks();
  Outcome restore();
  Outcome tell_apart(PenaltyEnd end);
  SqpReport solve_soft();

  // sqp_report.cpp
  SqpReport report(SqpStatus status) const;
  void list_violations(SqpReport& report) const;

  HorizonProblem& problem_;
  linear::HorizonElimination& elimination_;
  const SqpOptions& options_;
  SqpDuals& duals_;
  bool inequalities_;
  int n_, hard_, slacks_;

  HorizonPoint point_, trial_;
  Eigen::VectorXd y_, z_, s_, trial_s_, sigma_;
  Eigen::VectorXd dx_, dy_, ds_, dz_, cdx_, cdy_, cds_;
  Eigen::VectorXd rhs_, diagonal_, lagrangian_, scaled_, c_, slack_rest_, soc_rest_, target_, penalty_scale_;
  Eigen::VectorXd pull_y_, pull_z_, equilibration_;
  std::vector<double> matrix_, base_;
  SqpFilter filter_;
  double barrier_ = 0, theta_ = 0, merit_ = 0, slope_ = 0, theta_min_ = 0, theta_max_ = 0;
  double damping_ = 0, last_damping_ = 0, extra_damping_ = 0, compliance_ = 0, penalty_damping_ = 1e-3;
  double predicted_ = 0, step_size_ = 0;
  double least_violation_ = std::numeric_limits<double>::infinity();  // worth to go on from, and since when
  int least_since_ = 0;
  bool armijo_ = false, given_up_ = false;
  int iteration_ = 0, warm_iterations_ = 0, restorations_ = 0, factorizations_ = 0;
};

}  // namespace kinegraph
