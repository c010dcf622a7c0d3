#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kinegraph/base/sparse.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::natural {

/// The equations of motion of a planar mechanism in natural coordinates (000, section 2), as plain functions of a
/// state. Coordinates q: x, y of every moving point in the order of the model, then the relative coordinates.
///
///     Φ(q, t) = 0,    M q̈ + Φ_qᵀ λ = Q(q, q̇, t) + B u
///
/// Sparse matrices are arrays of values in the order of their pattern (row by row). Any output may be null: it is then
/// not computed. Nothing here allocates after construction.
class System {
 public:
  explicit System(const Model& model);  ///< of a checked model

  int coordinates() const;  ///< n
  int constraints() const;  ///< m rows of Φ
  int motors() const;       ///< size of u

  const std::string& coordinate_name(int i) const;  ///< "P1.x", "theta"
  const std::string& constraint_name(int i) const;  ///< "distance P1-P2", "angle theta", "driver crank"
  int index_of(const CoordinateRef&) const;         ///< −1 for a coordinate of a fixed point
  double typical_length() const;                    ///< of the mechanism; scales tolerances
  Eigen::VectorXd guess() const;                    ///< q as the file draws it

  // ---- constraints ------------------------------------------------------------------------------------------
  std::span<const Entry> jacobian_pattern() const;  ///< of Φ_q, and of its time derivatives

  /// Φ (m) and, unless null, Φ_q (by pattern).
  void position(const double* q, double t, double* phi, double* phi_q) const;
  /// Φ̇ = Φ_q q̇ + Φ_t, and ∂Φ̇/∂q = Φ̇_q, ∂Φ̇/∂q̇ = Φ_q.
  void velocity(const double* q, const double* v, double t, double* rate, double* rate_q, double* rate_v) const;
  /// Φ̈ = Φ_q q̈ + Φ̇_q q̇ + Φ̇_t, and ∂Φ̈/∂q = Φ̈_q, ∂Φ̈/∂q̇ = 2 Φ̇_q, ∂Φ̈/∂q̈ = Φ_q.
  void acceleration(const double* q, const double* v, const double* a, double t, double* acc, double* acc_q,
                    double* acc_v, double* acc_a) const;
  /// Φ_q and Φ̈ at q̈ = 0, which is Φ̇_q q̇ + Φ̇_t: what accelerations need, and no more.
  void bias(const double* q, const double* v, double t, double* acc, double* phi_q) const;
  /// Φ and Φ̇ in one pass: how far a state is from its constraints.
  void closure(const double* q, const double* v, double t, double* phi, double* rate) const;
  /// Σₖ λₖ ∂²Φₖ/∂q²: the derivative of Φ_qᵀ λ (by hessian_pattern, both triangles).
  std::span<const Entry> hessian_pattern() const;
  void hessian(const double* q, double t, const double* lambda, double* values) const;

  // ---- masses and forces ------------------------------------------------------------------------------------
  std::span<const Entry> mass_pattern() const;  ///< M is constant; both triangles
  std::span<const double> mass_values() const;
  std::span<const Entry> force_pattern() const;  ///< of ∂Q/∂q and of ∂Q/∂q̇ (one pattern for both)
  /// Q(q, q̇, t) (n) without motors; derivatives unless null.
  void force(const double* q, const double* v, double t, double* Q, double* Q_q, double* Q_v) const;
  std::span<const int> motor_coordinate() const;  ///< B: the coordinate on which motor j acts
  double motor_law(int motor, double t) const;    ///< the model's own torque

  // ---- the equation of motion -------------------------------------------------------------------------------
  std::span<const Entry> stiffness_pattern() const;  ///< of ∂r/∂q: hessian_pattern() and force_pattern() together
  /// r = M q̈ + Φ_qᵀ λ − Q − B u (n) in one pass, with ∂r/∂q = Σ λₖ Φₖ_qq − Q_q (by stiffness_pattern),
  /// ∂r/∂q̇ = −Q_q̇ (by force_pattern) and ∂r/∂λ = Φ_qᵀ (by jacobian_pattern, to be read transposed).
  void motion(const double* q, const double* v, const double* a, const double* lambda, const double* u, double t,
              double* r, double* r_q, double* r_v, double* phi_q) const;

  /// False where Φ = 0 holds but an angle points backwards: its equation has θ + π as a second root.
  bool proper(const double* q) const;

  double kinetic_energy(const double* v) const;
  double potential_energy(const double* q) const;  ///< gravity and springs

  struct Implementation;  ///< implementation.hpp
  const Implementation& implementation() const { return *self_; }

 private:
  std::shared_ptr<const Implementation> self_;
};

}  // namespace kinegraph::natural
