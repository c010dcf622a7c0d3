#pragma once

#include <memory>
#include <vector>

#include "kinegraph/filter/smoother_rows.hpp"

namespace kinegraph::filter {

struct FixedLagSmootherOptions {
  int window = 10;           ///< the most knots held, ≥ 2
  double step = 0.01;        ///< longest step of the motion, s; a longer interval between knots is made of several
  int iterations = 1;        ///< of Gauss and Newton per reading
  double relinearise = 0.5;  ///< a knot that moved by more of the newest's standard deviations is linearised again
  Loss loss = Loss::none();  ///< of every channel, see smoother.hpp
};

/// A smoother over the newest knots, in bounded time per reading: Gauss-Newton on the window, all that was before in a
/// prior in square-root form (linear::TimeChain).
///
/// Every knot keeps the state about which it is linear until its estimate has moved away from it; as long as it has
/// not, neither its motion nor its sensors are worked out again, and of the elimination only the end is new. The oldest
/// knot bears the prior and is never linearised again: were it moved, the same readings would count at two places, and
/// what nothing observes would seem known.
///
/// A reading makes a knot of its time, joins one of the same time (to 1e-9 of the step), or splits an interval if it
/// came late. Readings before the oldest knot are refused. A push that fails takes nothing in, though it may
/// have moved on. A robust loss judges
/// a new reading by what was expected of it (so that a poor start makes no outliers), later by what is left of it.
class FixedLagSmoother final : public Estimator {
 public:
  static Result<std::unique_ptr<FixedLagSmoother>> make(std::unique_ptr<StateSpace> space, const Belief& start,
                                                        const FixedLagSmootherOptions& options = {});

  Result<std::monostate> push(const Measurement& measurement) override;
  Result<std::monostate> advance(double t) override;
  double t() const override { return knot(knots() - 1).t; }
  /// The newest knot. A P of infinite variances: something of it is not determined yet.
  const Belief& belief() const override { return belief_; }
  const std::vector<double>& branches() const override { return one_; }  ///< 1: it has but one

  int knots() const { return static_cast<int>(order_.size()); }
  double knot_time(int k) const { return knot(k).t; }
  /// Knot k, 0 the oldest: what it was, knowing what came after. The covariance takes a sweep from the newest knot
  /// down.
  bool smoothed(int k, Belief& out, bool covariance = false);
  long linearisations() const { return linearisations_; }  ///< motions with derivative worked out so far

 private:
  struct Reading {
    Measurement measurement;
    int channels = 0;
    std::array<double, kMostRows> e = {}, weight = {};  // e in units of noise, at the knot's state
    std::vector<double> H;                              // in the same units
  };
  struct Knot {
    double t = 0;
    VectorXd x;  // about which it is linear
    Chart chart;
    StepLink link;  // to the next
    int readings = 0;
    std::vector<Reading> reading, spare;  // only the first `readings` count
  };

  FixedLagSmoother(std::unique_ptr<StateSpace> space, const Belief& start, const FixedLagSmootherOptions& options);
  Knot& knot(int k) { return pool_[order_[k]]; }
  const Knot& knot(int k) const { return pool_[order_[k]]; }
  double same_time() const;
  int steps(double h) const;

  Result<std::monostate> append(double t);
  Result<int> place(const Measurement& measurement);
  Result<std::monostate> split(int k, double t);
  Result<std::monostate> iterate();
  Result<std::monostate> solve();
  bool evaluate(double t, const VectorXd& x, const Chart& chart, const Measurement& m, Reading& reading);
  bool take(int k, const Measurement& measurement);
  void judge(int k, Reading& reading);
  bool write_link(int k);
  void write_readings(int k);
  void reweigh();
  void relinearise_moved();
  bool relinearise(int k);
  void insert_knot(int k, double t, const VectorXd& x, const Chart& chart);
  void drop_oldest();

  std::unique_ptr<StateSpace> space_;
  FixedLagSmootherOptions options_;
  Loss convex_;  // of new readings
  SmootherRows rows_;
  linear::TimeChain chain_;
  int n_;
  bool frozen_ = false;  // knot 0 bears a marginal prior
  std::vector<Knot> pool_;
  std::vector<int> order_, free_;
  Belief belief_;
  std::vector<double> one_ = {1.0};
  VectorXd spread_;  // standard deviations of the newest knot
  long linearisations_ = 0;

  // work space
  VectorXd moved_, delta_;
  Chart chart_;
  StepLink link_, second_;
  MatrixXd P_;
  std::vector<double> row_;
};

}  // namespace kinegraph::filter
