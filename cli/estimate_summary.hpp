#pragma once

#include "kinegraph/task/estimate.hpp"
#include "summary.hpp"

namespace kinegraph::cli {

/// What `estimate` says of a run.
Summary summarize_estimate(const std::string& model, const task::EstimateSummary& found);

}  // namespace kinegraph::cli
