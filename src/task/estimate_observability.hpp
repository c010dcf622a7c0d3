#pragma once

#include "kinegraph/task/estimate.hpp"

namespace kinegraph::task {

/// Whether the log could tell the state at all, whatever the filter. No answer where it cannot, with the numbers that
/// stay hidden and what would help; what is known by --start-sd, and offsets and forces by their deviation in the
/// model, need not be told. Otherwise a sentence for the summary; what is told but badly becomes a warning.
Result<std::string> check_observability(const Model& model, const std::vector<LogReading>& readings,
                                        const EstimateOptions& options, EstimateSummary& summary);

}  // namespace kinegraph::task
