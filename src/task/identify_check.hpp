#pragma once

#include <optional>
#include <vector>

#include "kinegraph/task/identify_fit.hpp"

namespace kinegraph::task {

/// How well a machine foretells run `index` of a fit, from the states of that, and with horizons also from states that
/// know only what was read before.
IdentifySummary::Check check_run(Fit& fit, int index, const identify::Weights& weights, const IdentifyOptions& options,
                                 int substeps);

/// Recordings that were fitted, and those held out, the states of which are estimated first.
std::optional<Failure> add_checks(Fit& fit, const FitData& data, const identify::Weights& weights,
                                  const IdentifyOptions& options, int substeps, const Progress& progress,
                                  IdentifySummary& summary);

/// Errors of the same channel in several runs, as one.
std::vector<identify::ChannelError> pooled(const std::vector<IdentifySummary::Check>& checks);

}  // namespace kinegraph::task
