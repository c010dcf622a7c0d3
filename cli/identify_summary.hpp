#pragma once

#include "kinegraph/task/identify.hpp"
#include "summary.hpp"

namespace kinegraph::cli {

/// What `identify` says of a fit.
Summary summarize_identify(const std::string& model, const task::IdentifySummary& found);

}  // namespace kinegraph::cli
