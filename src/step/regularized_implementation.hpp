#pragma once

#include "kinegraph/step/regularized_step.hpp"

namespace kinegraph::step {

/// Above this many rows the system is factored as a sparse one.
inline constexpr int kMostDense = 72;
/// Σ of a freedom that dry friction holds, over its mobility: it creeps by this share of what would move it.
inline constexpr double kHold = 1e-9;
/// Of constraints at the end of a step: m/s (rad/s) that may be left of their rates, over 1 + |v|; and rounds.
inline constexpr double kSameEnding = 1e-11;
inline constexpr double kPoorEnding = 1e-4;  // over the same: more than that after all rounds is no answer
inline constexpr double kNearEnding = 1e-7;  // over the same: where the last linearisation will do
inline constexpr int kMostEndings = 10;
inline constexpr double kSameLinearization = 1e-9;  // rad, m at the end: derivatives are wrong by about such a share
inline constexpr double kFarGuess = 0.3;            // rad, m: changes of a step from which no search starts

/// Up to a multiple of 4, as linear::ArrowheadKernel takes numbers of rows and columns.
inline int padded(int count) { return (count + 3) / 4 * 4; }

/// The pose of a body with derivatives along its own directions, the first of which is number `first` (−1: none).
///     R exp(δ) = R (1 + δ^) to first order
template <class T>
maximal::Pose<T> RegularizedStep::pose(int body, int first, bool shifts) const {
  maximal::Pose<T> out;
  if (body < 0) return out;
  const maximal::Pose<double>& at = poses_[body];
  if constexpr (kDirections<T> == 0) {
    return at;
  } else {
    out.R = at.R.template cast<T>();
    out.p = at.p.template cast<T>();
    for (int k = 0; k < 3 && first >= 0; ++k) {
      const int next = (k + 1) % 3, last = (k + 2) % 3;  // R e_k^: columns turn into each other
      for (int i = 0; i < 3; ++i) {
        out.R(i, next).v[first + k] = at.R(i, last);
        out.R(i, last).v[first + k] = -at.R(i, next);
      }
      if (shifts) out.p[k].v[first + 3 + k] = 1;
    }
    return out;
  }
}

/// Velocities of the two bodies of an element; of the ground: zeros.
template <class Element>
void gather(const Element& element, const double* v, double* both) {
  for (int k = 0; k < 6; ++k) both[k] = element.a < 0 ? 0.0 : v[6 * element.a + k];
  for (int k = 0; k < 6; ++k) both[6 + k] = element.b < 0 ? 0.0 : v[6 * element.b + k];
}

}  // namespace kinegraph::step
