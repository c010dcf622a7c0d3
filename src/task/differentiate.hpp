#pragma once

#include <vector>

namespace kinegraph::task {

/// A sampled motion with its first two derivatives.
struct SmoothMotion {
  std::vector<double> value, rate, acceleration;
  double residual_max = 0;  ///< largest distance from the samples
};

/// The smoothest motion that agrees with the samples. Each carries an error of standard deviation σ: that of rounding
/// to the digits it was printed with, resolution/√3, or `noise` if that is more (recordings). Between samples the
/// fourth derivative is white noise:
///
///     min Σ (cₖ − yₖ)² + ρ Σ eₖᵀ Q⁻¹ eₖ,   eₖ = xₖ₊₁ − Φ xₖ,   x = (c, ċ, c̈, c⃛)
///
/// (a smoothing spline of degree seven, solved as a chain; one order above 003, eq. 8, for the ends' sake). ρ, the
/// strength of the smoothing, is the largest for which the residuals are still explained by σ. Differences of rounded
/// samples would instead multiply the rounding by 1/Δt².
SmoothMotion differentiate(const std::vector<double>& samples, double step, double resolution, double noise = 0);

/// Angles as one continuous curve: where one jumps by more than half a turn, the rest goes on a turn further.
void unwrap(std::vector<double>& angle);
/// Whether they may have been recorded within one turn: −π … π, 0 … 360°.
bool within_one_turn(const std::vector<double>& angle);

}  // namespace kinegraph::task
