#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/task/branch_follower.hpp"

namespace kinegraph::task {

/// Where a machine is, and how it moves.
struct MarchState {
  double t = 0;
  Eigen::VectorXd q, v, a;
};

/// Closed positions along the rows of a table: some numbers lead, the others follow by the equations.
///
/// Two positions are looked for: that which rates and accelerations of the last row lead to, and that which is reached
/// without leaving the branch while what leads goes straight from row to row. Where they are not the same, a singular
/// position lies near; then the one is taken with
///
///     q₁ ⊖ q₀ = (h/2)(q̇₀ + q̇₁) − (h²/12)(q̈₁ − q̈₀)        (Hermite; true to h⁵)
///
/// if it is true of either. It is asked of every row, so that what is written fits together, whatever found it. Rows
/// that are no motion in time (what leads does not fulfil it itself) are only followed without leaving the branch.
class BranchMarch {
 public:
  struct Options {
    bool accelerations = true;
    double near = 1e-3;   ///< margin below which a row counts as near a singular position
    double torn = 1e-3;   ///< `told` numbers may be off by this much
    double digits = 0;    ///< the last digit of the leading numbers
    bool margins = true;  ///< watch(): looks for singular positions (the work grows with the cube of the size)
  };
  /// Columns of δ: those that lead, those that follow; and the names of all.
  BranchMarch(ClosedPositions& positions, std::vector<int> leading, std::vector<int> following,
              std::vector<std::string> names, const Options& options);

  /// From a closed position that is no row.
  void begin(const Eigen::VectorXd& q);
  /// `wanted`: what leads, and what follows where it is in `told`, is set. No answer: why not.
  Result<std::monostate> go(const MarchState& wanted, const std::vector<int>& told);
  /// A row that something else found, looked at in the same way.
  Result<std::monostate> watch(const MarchState& next);
  /// The same branch with other leading numbers: those with which the position is determined best.
  void choose_leading(const Eigen::VectorXd& q);

  const MarchState& state() const { return at_; }
  double margin() const { return margin_; }                     ///< of the last row
  bool nearly() const { return margin_ < 10 * options_.near; }  ///< not so near that it is a warning
  /// The last row with what follows moved as far as an error ε of the leading numbers may: by ε/μ along the direction
  /// that is determined least (μ: the margin).
  MarchState shifted(double epsilon) const;
  /// What must be said of the rows so far.
  std::vector<std::string> warnings() const;

 private:
  struct Candidate {
    bool found = false, same_side = true;
    MarchState state;
    double margin = 1, mismatch = 0, moved = 0, told = 0, correction = 0;
    int weakest = -1, worst = -1;
  };
  struct Event {
    double from = 0, to = 0, size = 0;
    int column = -1, rows = 0;
  };
  double mismatch(const std::vector<int>& columns, const MarchState& next, double margin, Candidate* worst) const;
  void complete(Candidate& candidate, const MarchState& wanted) const;
  Candidate told_position(const MarchState& wanted, const std::vector<int>& told);
  Candidate along_rates(const MarchState& wanted);
  Candidate along_path(const MarchState& wanted, double* share);
  Result<std::monostate> accept(Candidate& chosen, bool held);
  void note(Event& event, double t, double size, int column);
  Eigen::VectorXd extrapolated(const MarchState& wanted) const;

  ClosedPositions& positions_;
  mutable BranchFollower follower_;
  std::vector<int> leading_;
  std::vector<std::string> names_;
  Options options_;
  MarchState at_;
  bool row_ = false;      // at_ is a row
  bool in_time_ = false;  // and the one asked for follows from it in time
  double margin_ = 1;
  Event near_, passed_, doubtful_;
};

}  // namespace kinegraph::task
