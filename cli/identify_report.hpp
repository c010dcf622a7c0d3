#pragma once

#include <vector>

#include "kinegraph/task/identify.hpp"
#include "report_page.hpp"

namespace kinegraph::cli {

/// What the report of `identify` shows of the first recording: readings as dots beside the motion that was found, and
/// the motion that the model foretold before it was fitted, from the same start.
void fill_identify_report(const Model& model, const std::vector<Trajectory>& recordings,
                          const task::IdentifyResult& result, ReportContent& report);

}  // namespace kinegraph::cli
