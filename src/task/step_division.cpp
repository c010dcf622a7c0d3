#include "kinegraph/task/step_division.hpp"

#include <cmath>

namespace kinegraph::task {
namespace {

constexpr double kUnbalanced = 1e-4;  // of the motion's energy, over one step
constexpr int kDeepest = 12;          // 4096 parts
constexpr int kMostTried = 1000;      // tried in one step
constexpr int kMostExhausted = 10;    // steps in which that did not do: the whole motion is too fast for the step

}  // namespace

bool StepDivision::needed(double unbalanced, double scale, double rounding) {
  if (exhausted_ >= kMostExhausted) return false;
  return !(std::abs(unbalanced) <= std::fmax(kUnbalanced * scale, rounding));
}

bool StepDivision::run(DivisibleStep& step, double scale, double rounding) {
  budget_ = kMostTried;
  rounding_ = rounding;
  const bool done = halve(step, 1, kUnbalanced * scale / 2);
  if (budget_ <= 0) ++exhausted_;
  if (done) ++steps_;
  return done;
}

bool StepDivision::halve(DivisibleStep& step, int depth, double allowed) {
  for (int half = 0; half < 2; ++half) {
    step.keep(depth);
    const double unbalanced = std::abs(step.advance(depth));
    --budget_;
    const bool balances = unbalanced <= std::fmax(allowed, rounding_);
    if (!balances && depth < kDeepest && budget_ > 0) {
      step.back(depth);
      if (!halve(step, depth + 1, allowed / 2)) return false;
      continue;
    }
    if (!std::isfinite(unbalanced)) return false;
    step.take();
  }
  return true;
}

}  // namespace kinegraph::task
