#include "kinegraph/task/maximal_sensing.hpp"

#include <algorithm>

#include "kinegraph/task/times.hpp"

namespace kinegraph::task {

MaximalSensing::MaximalSensing(const Model& model, std::shared_ptr<const maximal::Mechanism> mechanism,
                               unsigned long seed, std::function<bool()> go_on)
    : mechanism_(std::move(mechanism)),
      log_(sensor::make_observer(model, mechanism_), seed, std::move(go_on)),
      change_(mechanism_->tangent()),
      moved_(mechanism_->tangent()) {
  instant_.q.resize(mechanism_->stored() + mechanism_->tree().stored());
  instant_.v.resize(mechanism_->tangent());
}

void MaximalSensing::add(const MaximalStep& step) {
  const int n = mechanism_->tangent();
  const Eigen::Map<const Eigen::VectorXd> before(step.before, n), after(step.after, n);
  change_ = after - before;
  instant_.a = change_ / step.h;
  instant_.tau = *step.tau;
  instant_.reaction = *step.reaction;
  instant_.q.tail(step.q_tree->size()) = *step.q_tree;
  const double until = step.last ? step.t + kSameTime : step.t + step.h - kSameTime;
  for (int sensor; !log_.stopped() && (sensor = log_.next_until(until)) >= 0;) {
    const double s = std::max(0.0, (log_.due(sensor) - step.t) / step.h);
    instant_.t = step.t + s * step.h;
    instant_.v = 0.5 * (before + after) + s * change_;
    moved_ = step.h * (s * after + 0.5 * s * (s - 1) * change_);
    maximal::retract(static_cast<int>(mechanism_->bodies().size()), step.q, moved_.data(), instant_.q.data());
    log_.read(sensor, log_.due(sensor), instant_);
  }
}

}  // namespace kinegraph::task
