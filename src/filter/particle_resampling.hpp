#pragma once

#include <vector>

#include "kinegraph/filter/team.hpp"

namespace kinegraph::filter {

/// Systematic resampling: `count` copies of the items with weights w ≥ 0 (n numbers, not all zero), from one random
/// number u of [0, 1). Item i is taken ⌊count wᵢ/Σw⌋ or ⌈count wᵢ/Σw⌉ times, on average exactly count wᵢ/Σw. `parent`
/// gets count indices, in order.
void systematic(const double* w, int n, double u, int count, int* parent);
/// The same by a team; sums: work space. Which items are taken depends on the team's parts, not on its threads.
void systematic(const Team& team, const double* w, int n, double u, int count, int* parent, std::vector<double>& sums);

/// (Σ w)² / Σ w²: how many equal weights would say as much; 0 if all are zero.
double effective_size(const double* w, int n);

/// How `total` particles are shared among branches of the given probabilities (Σ = 1): in proportion, but a branch that
/// is not dead (0) keeps at least `least`. Writes the counts, Σ = total.
void allocate(const std::vector<double>& probability, int total, int least, std::vector<int>& counts);

}  // namespace kinegraph::filter
