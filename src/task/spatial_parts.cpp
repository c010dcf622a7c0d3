#include "kinegraph/task/spatial_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kinegraph::task {

double SpatialParts::unbalanced() {
  return watch_.propose(stepper_.q().data(), stepper_.v().data(), stepper_.extra().data());
}

bool SpatialParts::move(double h) {
  return stepper_.advance(h) &&
         std::none_of(stepper_.v().begin(), stepper_.v().end(), [&](double v) { return std::abs(v) * h_ > lost_; });
}

bool SpatialParts::advance_step(double h, double lost) {
  h_ = h;
  lost_ = lost;
  if (exact_) stepper_.save(before_);
  const bool moved = move(h);
  if (moved && (!division_.needed(unbalanced(), watch_.scale(), watch_.rounding()) || !exact_)) return true;
  if (!exact_) return false;
  step::LieStepper::State whole;
  stepper_.save(whole);
  const SpatialWatch::Mark mark = watch_.mark();
  const double scale = moved ? watch_.scale() : watch_.motion();
  stepper_.restore(before_);
  if (division_.run(*this, scale, watch_.rounding())) {
    stepper_.join(before_, h);
    return true;
  }
  watch_.back(mark);
  stepper_.restore(whole);
  return moved;
}

void SpatialParts::keep(int depth) {
  const std::size_t at = static_cast<std::size_t>(depth);
  if (kept_.size() <= at) kept_.resize(at + 1);
  stepper_.save(kept_[at]);
}

void SpatialParts::back(int depth) { stepper_.restore(kept_[static_cast<std::size_t>(depth)]); }

double SpatialParts::advance(int depth) {
  return move(std::ldexp(h_, -depth)) ? unbalanced() : std::numeric_limits<double>::infinity();
}

}  // namespace kinegraph::task
