#pragma once

#include <memory>
#include <vector>

#include "kinegraph/build/independent.hpp"
#include "kinegraph/build/natural_chain.hpp"
#include "kinegraph/solve/chain_solver.hpp"
#include "kinegraph/task/start.hpp"

namespace kinegraph::task {

/// A mechanism marching in time: the chain of its graph, solved knot by knot (or, in batch, all knots at once). Shared
/// by the tasks that follow a motion; it only names the variables and keeps the known ones up to date.
class Motion {
 public:
  Motion(const Start& start, const build::NaturalOptions& options, int relative_coordinates, int capacity);

  /// Puts the start into knot 0.
  void begin(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& a,
             const Eigen::VectorXd& lambda);
  /// Goes on from a state of the same motion that was found elsewhere: it becomes knot 0.
  void resume(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& a,
              const Eigen::VectorXd& lambda);
  /// Adds the knot at time t, its values extrapolated; with a middle, that at t − h/2.
  void advance(double t);
  ChainOutcome solve();

  int last() const { return solver_.knots() - 1; }
  double* at(int knot, int variable) { return solver_.knot(knot) + names_.chain->knot_offset(variable); }
  const double* q(int knot) { return at(knot, names_.q); }
  const double* v(int knot) { return at(knot, names_.v); }
  const double* a(int knot) { return at(knot, names_.a); }
  const double* lambda(int knot) { return at(knot, names_.lambda); }
  const double* u(int knot) { return at(knot, names_.u); }
  double t(int knot) { return *at(knot, names_.t); }

  const build::NaturalChain& names() const { return names_; }
  ChainSolver& solver() { return solver_; }
  long singular_passes() const { return singular_passes_; }  ///< positions passed where the mechanism could branch
  int coordinate_changes() const { return coordinate_changes_; }
  /// "rate of distance P1-P2": the hard row that an outcome complains about.
  std::string worst(const ChainOutcome& outcome) const;

 private:
  double* middle(int interval, int variable) {
    return solver_.middle(interval) + names_.chain->middle_offset(variable);
  }
  void set_known(int knot, double t);
  void predict_from_first(double h);
  void choose_coordinates_again();
  void watch_singularity();

  Start start_;
  build::NaturalOptions options_;
  build::NaturalChain names_;
  ChainSolver solver_;
  build::IndependentChoice choice_;
  std::vector<int> independent_;
  double quality_ = 1;
  int coordinate_changes_ = 0, since_check_ = 0;

  // How far the newest knot is from a singular position (smallest pivot of Φ_q), how fast that changes, when to look
  // again.
  double margin_ = 1, margin_rate_ = 0;
  int margin_wait_ = 0, margin_age_ = 0;
  bool falling_ = false;
  long singular_passes_ = 0;
};

}  // namespace kinegraph::task
