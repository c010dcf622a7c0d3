#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/filter/chart.hpp"
#include "kinegraph/mechanics/sensor/instant.hpp"
#include "kinegraph/model/sensor.hpp"
#include "kinegraph/step/tableau.hpp"

namespace kinegraph::filter {

/// Where a noise or an unknown force acts: along one number of v.
struct PlantNoise {
  int column = 0;
  Disturbance::Kind kind = Disturbance::Kind::acceleration;
};

struct PlantOptions {
  step::Tableau integrator;
  ChartKind chart = ChartKind::independent;
  std::vector<int> prefer;         ///< numbers of v that should be independent as long as they can
  std::vector<PlantNoise> noises;  ///< white: see Plant::noise_directions()
  std::vector<int> forces;         ///< numbers of v along which an unknown force acts
  /// Speed below which dry friction is rounded off, per number of v: what process noise makes of v within a step.
  /// Empty: as sharp as simulate takes it.
  std::vector<double> friction_speed;
};

/// A machine as a system with a state x = (q, v) that lies on its constraints, Φ(q, t) = 0 and Φ̇ = 0, with 2 f degrees
/// of freedom. One implementation per formulation. An object has work space of its own: one per thread (clone()).
/// Functions return false where there is no answer (not finite, did not close). Nothing allocates after the first call
/// of each function with the same sizes.
class Plant {
 public:
  virtual ~Plant() = default;
  virtual std::unique_ptr<Plant> clone() const = 0;

  int positions() const { return positions_; }    ///< numbers of q
  int velocities() const { return velocities_; }  ///< numbers of v
  int stored() const { return positions_ + velocities_; }
  int freedoms() const { return freedoms_; }  ///< f
  int tangent() const { return 2 * freedoms_; }
  int noises() const { return static_cast<int>(options_.noises.size()); }
  int forces() const { return static_cast<int>(options_.forces.size()); }
  const PlantOptions& options() const { return options_; }
  /// "theta", "P1.x", "elbow": what number i of v is the rate of.
  virtual const std::string& column_name(int i) const = 0;
  virtual bool circular(int column) const = 0;  ///< an angle: full turns make no difference

  // ---- the manifold -------------------------------------------------------------------------------------------
  /// A chart at x. One that is given (not empty) is kept as long as it serves.
  virtual bool choose(double t, const double* x, Chart& chart) = 0;
  /// δq = N δz, δv = D δz + N δż: the tangent at x in a chart (velocities × f each).
  virtual bool lift(double t, const double* x, const Chart& chart, Eigen::MatrixXd& N, Eigen::MatrixXd& D) = 0;
  /// The state with coordinates δ about x: on the constraints, exactly. out may be x.
  virtual bool retract(double t, const double* x, const Chart& chart, const double* delta, double* out) = 0;
  /// δ of another state about x.
  virtual void local(const double* x, const Chart& chart, const double* other, double* delta) const = 0;
  /// Of several others.
  struct Many {
    int count = 0;
    int stride = 0, delta_stride = 0;  ///< numbers from one state, or δ, to the next
  };
  virtual void local_many(const double* x, const Chart& chart, Many many, const double* others, double* delta) const;
  /// x ← (q ⊕ dq, v + dv), brought back onto the constraints by the smallest change in the norm of the mass. Null:
  /// zero.
  virtual bool shift(double t, double* x, const double* dq, const double* dv) = 0;

  // ---- the motion ---------------------------------------------------------------------------------------------
  /// One step of the integrator from t to t + h under the model's own forces and the unknown ones (null: none), onto
  /// the constraints. next may not be x.
  virtual bool advance(double t, double h, const double* x, const double* force, double* next) = 0;
  /// The same with derivatives: by_state = ∂δ⁺/∂δ (2f × 2f) from the chart at x to that at next, which is chosen anew
  /// if `next_chart` does not serve there; by_force = ∂δ⁺/∂force (2f × forces).
  virtual bool advance(double t, double h, const double* x, const double* force, const Chart& chart, double* next,
                       Chart& next_chart, Eigen::MatrixXd& by_state, Eigen::MatrixXd& by_force) = 0;
  /// How the velocities answer to each noise (velocities × noises). A random force at the noise's column, spread by the
  /// inertia of the machine under its constraints, K = N (Nᵀ M N)⁻¹ Nᵀ:
  ///
  ///     force: d = K e_c        acceleration: d = K e_c / (e_cᵀ K e_c), so that column c itself moves by one
  ///
  /// which does not depend on the chart. Over a step h white noise of density s changes v by d s √h n₁ and q by
  /// d s h^{3/2} (n₁ / 2 + n₂ / √12).
  virtual bool noise_directions(double t, const double* x, Eigen::MatrixXd& directions) = 0;

  // ---- many states at once ------------------------------------------------------------------------------------
  /// What each of them would give alone, to rounding; it does not depend on the others. `stride` numbers from one state
  /// to the next; good[i]: whether there is an answer for state i. force: of the first state; null: none.
  virtual void advance_many(double t, double h, int count, int stride, const double* x, const double* force,
                            double* next, bool* good);
  /// velocities × noises per state, column by column.
  virtual void noise_directions_many(double t, int count, int stride, const double* x, double* directions, bool* good);
  /// Changes v and q along the noises' directions. kicks: by state and noise, of v and of q.
  virtual void kick_many(double t, int count, int stride, double* x, const double* kicks, bool* good);

  // ---- what sensors see ---------------------------------------------------------------------------------------
  /// The machine at x, along directions dq, dv (velocities × k; both null: none). With `accelerations` also a, reaction
  /// and tau with their changes; then `forces()` more columns follow: along each unknown force, at the same (q, v).
  virtual bool instant(double t, const double* x, const double* force, bool accelerations, const Eigen::MatrixXd* dq,
                       const Eigen::MatrixXd* dv, sensor::Instant& out) = 0;

 protected:
  Plant(int positions, int velocities, int freedoms, PlantOptions options)
      : positions_(positions), velocities_(velocities), freedoms_(freedoms), options_(std::move(options)) {}
  Plant(const Plant&) = default;

  /// One state of the above.
  bool kick(double t, double* x, const double* kicks);

  int positions_, velocities_, freedoms_;
  PlantOptions options_;

 private:
  Eigen::MatrixXd directions_;  // work space
  Eigen::VectorXd kick_q_, kick_v_;
};

}  // namespace kinegraph::filter
