#include "kinegraph/task/natural_parts.hpp"

#include <cmath>
#include <limits>

namespace kinegraph::task {

NaturalParts::NaturalParts(const Start& start, build::NaturalOptions options, int relative_coordinates)
    : start_(start), options_(std::move(options)), relative_(relative_coordinates) {
  options_.formulation = build::Formulation::natural;
  options_.independent.clear();
}

void NaturalParts::begin(const NaturalState& state, EnergyWatch& watch) {
  state_ = state;
  watch_ = &watch;
}

Motion& NaturalParts::motion(int depth) {
  const std::size_t at = static_cast<std::size_t>(depth);
  if (motions_.size() <= at) motions_.resize(at + 1);
  if (!motions_[at]) {
    build::NaturalOptions options = options_;
    options.step = std::ldexp(options_.step, -depth);
    motions_[at] = std::make_unique<Motion>(start_, options, relative_, 2);
  }
  return *motions_[at];
}

void NaturalParts::keep(int depth) {
  const std::size_t at = static_cast<std::size_t>(depth);
  if (kept_.size() <= at) kept_.resize(at + 1);
  kept_[at] = state_;
}

void NaturalParts::back(int depth) { state_ = kept_[static_cast<std::size_t>(depth)]; }

double NaturalParts::advance(int depth) {
  Motion& m = motion(depth);
  m.begin(state_.t, state_.q, state_.v, state_.a, state_.lambda);
  m.advance(state_.t + std::ldexp(options_.step, -depth));
  if (!m.solve().converged) return std::numeric_limits<double>::infinity();
  state_.t = m.t(1);
  std::copy_n(m.q(1), state_.q.size(), state_.q.data());
  std::copy_n(m.v(1), state_.v.size(), state_.v.data());
  std::copy_n(m.a(1), state_.a.size(), state_.a.data());
  std::copy_n(m.lambda(1), state_.lambda.size(), state_.lambda.data());
  return watch_->propose(m.q(1), m.v(1), m.lambda(1), m.u(1), m.t(1));
}

}  // namespace kinegraph::task
