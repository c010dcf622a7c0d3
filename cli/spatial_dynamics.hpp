#pragma once

#include <string>

#include "kinegraph/task/spatial_record.hpp"
#include "options.hpp"
#include "summary.hpp"

namespace kinegraph::cli {

/// What `inverse` and `hybrid` say of a run on a robot; `table` is the file that was read.
Summary summarize_spatial(const std::string& verb, const std::string& model, const std::string& table,
                          const task::SpatialDynamicsSummary& found);

/// --ordering: "best" or one of those that need no list. A fault is told to `reader`.
std::string read_ordering(OptionReader& reader, const std::string& text);
/// Their names, for help: "best|rnea|…".
std::string ordering_names();

}  // namespace kinegraph::cli
