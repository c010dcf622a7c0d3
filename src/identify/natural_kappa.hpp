#pragma once

#include "kinegraph/mechanics/maximal/mechanism.hpp"

namespace kinegraph::identify {

/// The weight κ of squared impulses against squared readings that suits a machine whatever its mass and size.
///
///     κ = c T² / P²      P: of the impulses M V that a rate of 1 of each freedom is, the geometric mean
///                        T² = L/g, L: of radii of gyration about axes; without gravity or axes T = 0.15 s
///
/// A rate that misses the model by r/T, r being the error of a reading, then counts the same in a machine of grams and
/// one of tons. c makes it 100 for the pendulum of paper 002, where 10 to 5000 give the same answers.
double natural_kappa(const maximal::Mechanism& mechanism);

}  // namespace kinegraph::identify
