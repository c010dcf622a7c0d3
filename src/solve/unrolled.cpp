#include "kinegraph/solve/unrolled.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace kinegraph {
namespace {

constexpr double kUnrolledCompliance =
    1e-12;  // lets redundant rows share their multipliers; the steps are iterated, so no bias

}  // namespace

Unrolled::Unrolled(const Chain& chain, int knots) : knots_(knots) {
  const int frozen[] = {0};
  graph_ = unroll(chain, knots, frozen);
  const std::vector<double> knot(static_cast<std::size_t>(knots) * chain.knot_size(), 0.0);
  const std::vector<double> middle(static_cast<std::size_t>(knots - 1) * chain.middle_size(), 0.0);
  values_ = unroll_values(chain, knots, knot, middle);
  auto linearization = Linearization::make(graph_, values_);
  if (!linearization) throw std::invalid_argument(linearization.failure().to_string());
  linearization_ = std::move(*linearization);
  damping_.setZero(linearization_->unknowns());
  compliance_.setConstant(linearization_->hard_rows(), kUnrolledCompliance);
  hard_.resize(linearization_->hard_rows());
  scale_.setZero(linearization_->hard_rows());
  rhs_.resize(linearization_->unknowns() + linearization_->hard_rows());
  typical_.assign(values_.count(), 0.0);
}

// How large the terms of each hard row are: what its residual is measured against.
void Unrolled::scale_rows() {
  const Structure& structure = linearization_->structure();
  for (const auto& e : linearization_->hard_entries()) {
    const int variable = structure.columns[e.column];
    const double x = values_.data(variable)[e.column - structure.variable[variable]];
    const double term = std::abs(linearization_->matrix()[e.place]) * (std::abs(x) + 1e-6);
    scale_[e.row] = std::max(scale_[e.row], term);
  }
}

Unrolled::Step Unrolled::step() {
  Step step;
  if (!linearization_->linearize(hard_).finite()) return step;
  scale_rows();
  for (int r = 0; r < hard_.size(); ++r) {
    step.residual = std::max(step.residual, std::abs(hard_[r]) / (scale_[r] + 1e-300));
    step.worst = std::max(step.worst, std::abs(hard_[r]));
  }
  if (!kkt_) {
    auto kkt = KktSystem::make(*linearization_, {}, damping_, compliance_);
    if (!kkt) return step;
    kkt_ = std::move(*kkt);
  }
  kkt_->factor(*linearization_, damping_, compliance_);
  rhs_.head(damping_.size()) = -linearization_->gradient();
  rhs_.tail(hard_.size()) = -hard_;
  if (!kkt_->solve(rhs_)) return step;

  const Structure& structure = linearization_->structure();
  values_.retract(rhs_.head(damping_.size()), structure.variable);
  for (int c = 0; c < damping_.size(); ++c) {
    const int variable = structure.columns[c];
    const double x = values_.data(variable)[c - structure.variable[variable]];
    typical_[variable] = std::max(typical_[variable], std::abs(x));
  }
  for (int c = 0; c < damping_.size(); ++c) {
    const double t = typical_[structure.columns[c]];
    if (t > 0) step.moved = std::max(step.moved, std::abs(rhs_[c]) / t);
  }
  step.solved = true;
  return step;
}

}  // namespace kinegraph
