#pragma once

#include <functional>
#include <vector>

#include "kinegraph/task/estimate.hpp"

namespace kinegraph::task {

/// Whether readings are so far from what the motion lets expect that noise does not explain it: the mean NIS per number
/// is above 10 (innovations of 3 standard deviations, as a rule). Where a loss is set outliers are expected: there the
/// median counts.
bool implausible(const EstimateSummary& summary);
/// Whether the median of a channel says so: not only some readings are far off.
bool off_as_a_rule(const EstimateSummary& summary);

/// The mean NIS per number with other readings; infinite where there is no estimate.
using Refit = std::function<double(const std::vector<LogReading>&)>;

/// Warns of an implausible motion, naming the worst channel, by how much it is off and, where readings in other units
/// (`refit`) would fit, which. Fails where nothing is explained: a channel that is off by more than 30 of its standard
/// deviations as a rule (its median), and by more than a tenth of how its readings vary. (Less is an estimate whose
/// noise is set too small.)
Result<std::monostate> judge_fit(const Model& model, const std::vector<LogReading>& readings, const Refit& refit,
                                 EstimateSummary& summary);

/// Readings that come a hundred times more often or more rarely than the sensor's `rate`: warns; and refuses times that
/// seem to be in ms, µs or ns, unless the step is given.
Result<std::monostate> check_rates(const Model& model, const std::vector<LogReading>& readings,
                                   const EstimateOptions& options, EstimateSummary& summary);

/// The median of the intervals at which a sensor reads; 0: it has none.
double usual_interval(const std::vector<LogReading>& readings, int sensor);

}  // namespace kinegraph::task
