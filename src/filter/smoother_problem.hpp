#pragma once

#include <tbb/task_arena.h>

#include <memory>
#include <vector>

#include "kinegraph/filter/smoother.hpp"
#include "kinegraph/filter/smoother_rows.hpp"

namespace kinegraph::filter {

/// A loss made wider: k → widen · k.
struct WidenedLoss {
  Loss loss = Loss::none();
  double widen = 1;
  double rho(double s) const { return widen * widen * loss.rho(s / (widen * widen)); }
  double weight(double s) const { return loss.weight(s / (widen * widen)); }
};

/// The knots of a batch smoother, their states, and the linear system about them.
class SmootherProblem {
 public:
  SmootherProblem(StateSpace& space, const Belief& prior, const std::vector<Measurement>& measurements,
                  const SmootherOptions& options);

  static Result<std::monostate> check(const StateSpace& space, const Belief& prior,
                                      const std::vector<Measurement>& measurements, const SmootherOptions& options,
                                      const std::vector<TimedState>& initial);

  /// First states of all knots: from a motion that is given, or found. Fails (no_answer) where it does not go on.
  Result<std::monostate> start(const Belief& prior, const std::vector<TimedState>& initial);
  /// The rows at the present states, and the cost there. Fails when stopped or where there is no answer.
  Result<std::monostate> linearise(const WidenedLoss& loss, double share);
  /// The cost after a share of the chain's solution, infinite where there is no answer.
  double try_step(const WidenedLoss& loss, double share);
  void accept() { std::swap(x_, trial_); }  ///< the states last tried
  /// Fills in what is asked of a result. linearise() and chain().solve() must be recent.
  Result<std::monostate> finish(const WidenedLoss& loss, int branch, Smoothed& out);

  linear::TimeChain& chain() { return chain_; }
  int knots() const { return static_cast<int>(t_.size()); }
  int unknowns() const { return n_ * knots(); }
  double cost() const { return cost_; }
  /// "theta.q at t = 2 s cannot be determined …"
  std::string undetermined() const;

 private:
  double* x(int k) { return x_.data() + static_cast<std::size_t>(k) * stored_; }
  double* trial(int k) { return trial_.data() + static_cast<std::size_t>(k) * stored_; }
  double* root(int k) { return roots_.data() + static_cast<std::size_t>(k) * (n_ * (n_ + 1) / 2); }
  void place_knots(double start);
  Result<std::monostate> roll_out(const Belief& prior, const std::vector<TimedState>& initial);
  bool filter_pass(const Belief& prior);

  /// What one thread needs.
  struct Worker {
    Worker(std::unique_ptr<StateSpace> own, StateSpace& space, const Belief& prior);
    std::unique_ptr<StateSpace> own;  // null: the caller's
    StateSpace* space;
    SmootherRows rows;
    StepLink link;
    std::vector<double> H, row;
    VectorXd next, delta;
    int stuck = -1;  // the knot where there was no answer
    const char* why = nullptr;
  };
  /// Calls work(worker, k) for knots first … last − 1, each worker its share; it returns what has no answer, or null.
  template <class Work>
  void share_out(int first, int last, const Work& work);
  Failure stuck(const char* what, int k) const;
  const Worker* stuck() const;  // the one that is, earliest; null: none
  const char* place(Worker& w, int k, const WidenedLoss& loss);
  const char* tie(Worker& w, int k);
  const char* try_out(Worker& w, int k, const WidenedLoss& loss);

  StateSpace* space_;
  const std::vector<Measurement>* measurements_;
  const SmootherOptions* options_;
  int n_, stored_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<tbb::task_arena> arena_;  // null: the calling thread
  std::vector<double> t_;
  std::vector<int> order_, first_, knot_of_;  // measurements by time; those of knot k: order_[first_[k]] …
  std::vector<double> x_, trial_, roots_;     // roots: of Q, packed
  std::vector<Chart> chart_, arrival_chart_;  // of the knots; where the motion from the knot before arrives
  linear::TimeChain chain_;
  double cost_ = 0, log_volume_ = 0;
  std::vector<double> knot_cost_, knot_volume_;  // summed in the order of the knots
};

}  // namespace kinegraph::filter
