#pragma once

#include <array>
#include <memory>
#include <vector>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/build/plan.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/step/joint_response.hpp"
#include "kinegraph/step/lie_stepper.hpp"

namespace kinegraph::task {

/// Dry friction as the plan rounds it off (PlanTask::friction_speed), or the model's own.
enum class PlanFriction { planned, own };

/// Forward dynamics under the torques and forces of one interval of a plan.
class PlannedField final : public step::Field {
 public:
  PlannedField(const build::PlanSetting& setting, const std::shared_ptr<const screw::Tree>& tree,
               PlanFriction friction);

  void set_interval(double start, double length, const build::PlanSample* from, const build::PlanSample* middle,
                    const build::PlanSample* to) {
    start_ = start, length_ = length;
    from_ = from, middle_ = middle, to_ = to;
  }

  bool rates(double t, const double* q, const double* v, double* a, double*) override;
  void begin_step(const double* q) override { response_.prepare(q); }
  bool correct(double half, const double* q, const double* v, const double* g, double* delta) override {
    response_.correct(half, q, v, g, delta);
    return true;
  }
  const std::vector<double>& tau() const { return tau_; }

  /// A bound of the rates at which damping and dry friction bring joints to rest, 1/s:
  ///
  ///     ρ(M⁻¹ D) ≤ tr(M⁻¹ D) = Σ dᵢ (M⁻¹)ᵢᵢ,      dᵢ: damping + friction / v₀
  double stiffness(const double* q);
  Eigen::Vector3d force(std::size_t contact, double t) const;

 private:
  /// Of the start, the middle and the end of the interval: held, linear or quadratic between.
  std::array<double, 3> weights(double t) const;

  const build::PlanSetting& setting_;
  std::shared_ptr<const screw::Tree> tree_;
  build::Dynamics dynamics_;
  screw::Surroundings surroundings_;
  std::vector<double> tau_;
  std::vector<screw::Vector6d> loads_;
  std::vector<double> friction_speed_;
  step::JointResponse response_;
  screw::Poses poses_;
  double start_ = 0, length_ = 1;
  const build::PlanSample *from_ = nullptr, *middle_ = nullptr, *to_ = nullptr;
};

/// What acts during a step of a plan.
struct StepInputs {
  build::PlanSample from, middle, to;  ///< of `middle` and `to` the torques and forces count
  bool end_is_other = false;           ///< a payload is taken or left at the end, whose torques are then not the plan's
};

/// One step of a plan after the other, as its torques make it.
class StepRoller {
 public:
  StepRoller(const build::PlanProblem& problem, int divisions, PlanFriction friction);

  StepInputs inputs(int k) const { return inputs(k, problem_.sample(k + 1)); }
  StepInputs inputs(int k, build::PlanSample end) const;  ///< with this at its end
  /// In how many parts a division is taken from q.
  int parts(int k, const double* q);
  /// Moves q and v from knot k to the next; `write` sees the state before every part, and the last one. False where it
  /// cannot go on.
  template <class Write>
  bool run(int k, const StepInputs& inputs, int parts, std::vector<double>& q, std::vector<double>& v,
           const Write& write);
  template <class Write>
  bool run(int k, std::vector<double>& q, std::vector<double>& v, const Write& write) {
    return run(k, inputs(k), parts(k, q.data()), q, v, write);
  }
  /// The accelerations at a knot under the torques there; false: there is no answer.
  bool set_acceleration(int k, build::PlanSample& sample);

 private:
  bool finite(const step::LieStepper& stepper) const;
  PlannedField& field(int k) { return setting_.carries(k) ? *loaded_ : bare_; }

  const build::PlanProblem& problem_;
  const build::PlanSetting& setting_;
  int divisions_;
  bool sticks_;  // steps are implicit
  step::Scheme scheme_;
  PlannedField bare_;
  std::unique_ptr<PlannedField> loaded_;
};

template <class Write>
bool StepRoller::run(int k, const StepInputs& inputs, int parts, std::vector<double>& q, std::vector<double>& v,
                     const Write& write) {
  const double h = problem_.step(k) / divisions_, start = problem_.time(k);
  PlannedField& field = this->field(k);
  field.set_interval(start, problem_.step(k), &inputs.from, setting_.has_middles() ? &inputs.middle : nullptr,
                     &inputs.to);
  step::LieStepper stepper(setting_.tree, field, scheme_);
  if (!stepper.start(start, q.data(), v.data())) return false;
  write(stepper, field);
  for (int i = 0; i < divisions_; ++i) {
    for (int part = 0; part < parts; ++part) {
      if (!stepper.advance(h / parts)) return false;
    }
    if (!finite(stepper)) return false;
    if (i + 1 < divisions_ || k + 1 == setting_.task.steps) write(stepper, field);
  }
  q = stepper.q();
  v = stepper.v();
  return true;
}

}  // namespace kinegraph::task
