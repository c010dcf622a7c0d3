#pragma once

#include <cmath>
#include <vector>

#include "kinegraph/identify/run.hpp"

namespace kinegraph::identify {

/// m: of radii of gyration about axes the geometric mean; without axes of the links themselves. A turning impulse
/// counts as one at this arm.
double natural_length(const maximal::Mechanism& mechanism);

inline constexpr double kNaturalShare = 0.01;  ///< c

/// The weight κ of squared impulses against squared readings that suits a machine whatever its mass, its size and how
/// much it is shaken: its motion may miss the model by a share c of the impulses that it has itself.
///
///     κ = σ² / (c² (I² + I₀²))     I²: mean of |M Δv|² over the steps of `poses`, turning impulses over `length`
///                                  I₀ = P σ/T: what the noise of readings makes of a machine at rest
///     P: of the impulses M V that a rate of 1 of each freedom is, the geometric mean;   T² = L/g, or 0.15 s
///
/// `poses`: per run, at knots −1 … K, as a first guess has them. `noise`: σ of readings.
double natural_kappa(const maximal::Mechanism& mechanism, const std::vector<Run>& runs,
                     const std::vector<std::vector<double>>& poses, double noise, double length);

/// The share of the impulses that the motion has itself which the model misses, where κ was found to be `found`.
inline double missed_share(double natural, double found) { return kNaturalShare * std::sqrt(natural / found); }

}  // namespace kinegraph::identify
