#pragma once

#include "kinegraph/model/plan_task.hpp"
#include "report_page.hpp"

namespace kinegraph::cli {

/// What a page of `plan` shows beside the motion: contacts, obstacles, the limits that the task sets.
void fill_plan_report(const Model& model, const PlanTask& task, ReportContent& report);

}  // namespace kinegraph::cli
