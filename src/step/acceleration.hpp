#pragma once

#include <memory>
#include <vector>

#include "kinegraph/linear/condensation.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::step {

/// Accelerations and multipliers of a planar mechanism at one state (000, eq. 5):
///
///     [ M    Φ_qᵀ ] [ q̈ ]   [ Q + B u            ]
///     [ Φ_q  0    ] [ λ ] = [ −Φ̇_q q̇ − Φ̇_t = c ]
///
/// Redundant rows of Φ are left out, and their multipliers are zero. The same factorisation projects a state back onto
/// Φ = 0 and Φ̇ = 0, by the smallest change in the norm of M. Nothing allocates after construction.
class Acceleration {
 public:
  Acceleration(std::shared_ptr<const natural::System> system, const std::vector<int>& redundant = {});

  /// q̈ and λ (either may be null). False if they are not finite.
  bool solve(const double* q, const double* v, double t, const double* u, double* a, double* lambda);

  /// One Newton step onto Φ = 0 and Φ̇ = 0 with the factorisation of the last solve(): q and v change.
  void project(double* q, double* v, double t);

  const natural::System& system() const { return *system_; }
  /// The coordinate or constraint (n + row) that the last solve() could not determine, −1 if none: a part without mass,
  /// or a singular position.
  int undetermined() const { return kkt_.passed_over(); }
  int repivots() const { return repivots_; }

 private:
  void substitute(double* x);  // rhs by row [n + m] → solution by column [n + m]

  std::shared_ptr<const natural::System> system_;
  int n_, m_;
  linear::Condensation kkt_;
  std::vector<double> values_, zero_, rhs_, work_, bias_;
  std::vector<int> column_of_multiplier_;
  int jacobian_begin_ = 0, jacobian_size_ = 0, repivots_ = 0;
  bool chosen_ = false;
};

}  // namespace kinegraph::step
