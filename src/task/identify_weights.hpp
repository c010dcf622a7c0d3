#pragma once

#include "kinegraph/task/identify_fit.hpp"

namespace kinegraph::task {

/// Weights with the noise of readings and of impulses as what is left of them has it (002, eqs. 3.26 to 3.28), at the
/// most of the likelihood with the motion integrated out:
///
///     σ² = Σ r² / (N − γ)      1/κ = Σ |M (v⁺ − φ)|² / (Σ γ − 2 f)
///
/// γ: how many of a channel's N numbers the motion took up; f: the machine's freedoms, whose starts are no impulses.
/// Without γ a motion that follows every reading would tell of no noise at all. The fit has been made with `weights`.
identify::Weights reestimated(const Fit& fit, const identify::Weights& weights, int freedoms);

/// fit(), and again with reestimated() weights until they stay: `weights` are the first, and the last.
Result<Fit> fit_and_weigh(const Model& model, const identify::Parameters& parameters, const FitData& data,
                          const IdentifyOptions& options, const FitStart& start, identify::Weights& weights,
                          const Progress& progress);

}  // namespace kinegraph::task
