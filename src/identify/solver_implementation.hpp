#pragma once

#include <Eigen/Cholesky>

#include "kinegraph/identify/solver.hpp"
#include "kinegraph/linear/barrier_step.hpp"

namespace kinegraph::identify {

// Of diag H. Rows of steps hold a smooth motion, sin ωt, by (ωh)⁴ of what they hold one knot by: damping must be less
// than that, or motions do not move as a whole. It is raised where a step was not good.
inline constexpr double kFirstDamping = 1e-12, kRaisedDamping = 1e-6, kLeastDamping = 1e-14, kMostDamping = 1e9;
inline constexpr double kFirstNu = 2, kMostNu = 4294967296.0;
inline constexpr double kSmallFall = 1e-4;  // of the residuals' variance: a hundredth of standard deviations
// Friction that comes and goes between two answers makes steps that promise more than they hold: a modest one that is
// not good, nor any shorter one, is the end.
inline constexpr double kSlowFall = 0.3, kModestFall = 10;  // of the same
inline constexpr int kMostSlow = 2;                         // such steps, one after the other
inline constexpr double kNothing = 1e-26;                   // of the first cost
inline constexpr double kRidge = 1e-2;                      // of the residuals' variance
inline constexpr double kMargin = 1e-6;                     // to bounds, at the start
inline constexpr double kSameStep = 1e-3;                   // a share of a step
inline constexpr int kMostHalvings = 30, kMostShorter = 3, kFewShorter = 1;

/// Levenberg-Marquardt, as 002's algorithm 1 corrected:
///
///     ρ = (old − new)/predicted     α ← α max(⅓, 1 − (2ρ − 1)³), ν ← 2   if better, else   α ← α ν, ν ← 2ν
class Solver {
 public:
  Solver(const Parameters& parameters, std::vector<Problem>& problems, const SolverOptions& options);
  Result<SolverReport> run(Eigen::VectorXd& x, std::vector<std::vector<double>>& poses);

 private:
  using Poses = std::vector<std::vector<double>>;
  void iterate();
  bool propose(Eigen::VectorXd& d);
  Result<MachinePoint> approach(Eigen::VectorXd& d) const;
  bool is_small(const Eigen::VectorXd& d, double fall) const;
  bool has_failed(const Eigen::VectorXd& d, double fall) const;
  double move(const MachinePoint& machine, const Eigen::VectorXd& d);
  Failure no_start() const;
  void worsen();
  void fail(bool last, bool modest);
  void stop(bool converged, const char* why);
  void remember();
  bool measure();
  double prior_cost(const Eigen::VectorXd& x) const;
  void find_variance();
  double linearize(const MachinePoint& machine, const Eigen::VectorXd& x, const Poses& poses);
  double cost(const MachinePoint& machine, const Eigen::VectorXd& x, const Poses& poses, double most);

  const Parameters& parameters_;
  std::vector<Problem>& problems_;
  const SolverOptions& options_;
  SolverMemory own_;
  SolverMemory& arrows_;
  SolverReport report_;
  MachinePoint machine_;
  Eigen::VectorXd x_;
  Poses poses_, trial_;
  double cost_ = 0, variance_ = 0, damping_ = kFirstDamping, nu_ = kFirstNu;
  int slow_ = 0;
  Eigen::VectorXd failed_;   // the last step that was not good, from here, …
  double failed_fall_ = -1;  // … and what it promised; −1: none
  std::vector<bool> at_bound_;
  std::string undetermined_;
};

}  // namespace kinegraph::identify
