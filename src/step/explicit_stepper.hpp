#pragma once

#include <functional>
#include <vector>

#include "kinegraph/step/acceleration.hpp"
#include "kinegraph/step/tableau.hpp"

namespace kinegraph::step {

/// Classic time stepping of (q, q̇) with accelerations from the augmented system, projected onto the constraints after
/// every step. The baseline that the graph is measured against, and the engine of roll-outs.
class ExplicitStepper {
 public:
  /// Fills the motors' torques at a time.
  using Input = std::function<void(double t, double* u)>;

  ExplicitStepper(Acceleration& acceleration, const Tableau& tableau, Input input);

  /// The state to start from; computes its acceleration.
  bool start(double t, const double* q, const double* v);
  bool advance(double h);  ///< the same h every time: t is a multiple of it, without the rounding of a sum

  /// Goes on from the k-th step of h, its state found elsewhere.
  bool resume(double h, long k, const double* q, const double* v);

  double t() const { return t_; }
  const std::vector<double>& q() const { return q_; }
  const std::vector<double>& v() const { return v_; }
  const std::vector<double>& a() const { return a_; }
  const std::vector<double>& lambda() const { return lambda_; }
  const std::vector<double>& u() const { return u_; }

 private:
  Acceleration& acceleration_;
  Tableau tableau_;
  Input input_;
  double t_ = 0, start_ = 0;
  long steps_ = 0;
  std::vector<double> q_, v_, a_, lambda_, u_, stage_q_, stage_v_;
  std::vector<std::vector<double>> rate_q_, rate_v_;
};

}  // namespace kinegraph::step
