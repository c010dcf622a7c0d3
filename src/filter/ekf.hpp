#pragma once

#include "kinegraph/filter/kalman.hpp"

namespace kinegraph::filter {

/// The extended Kalman filter, in error-state form: motion and sensors are linearised at the belief's state, and a
/// correction δ is taken back into it by a retraction, so that the state stays on the machine's constraints. With a
/// chart of independent coordinates or one on the manifold, as the space gives it.
///
///     x⁺ = f(x),  P⁺ = F P Fᵀ + Q          x ⊕ K (y − h(x)),  P − K H P
///
/// With `iterations` > 1 a reading is linearised again at the corrected state (Gauss–Newton; Bell and Cathey 1993).
class Ekf final : public Kalman {
 public:
  static Result<std::unique_ptr<Ekf>> make(std::unique_ptr<StateSpace> space, const Belief& start,
                                           const KalmanOptions& options = {});

 private:
  using Kalman::Kalman;
  bool step(double h) override;
  bool expect(const Measurement& measurement, const VectorXd& delta, LinearReading& reading) override {
    return linearise(measurement, delta, reading);
  }
  int linearisations() const override { return options_.iterations; }

  MatrixXd F_, Q_, noise_, work_;
};

}  // namespace kinegraph::filter
