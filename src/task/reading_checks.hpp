#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/model/model.hpp"

// Mistakes in tables of readings that the readings themselves show: their units, the unit of their times.
namespace kinegraph::task {

/// A unit that readings may be in by mistake: reading × factor is in SI.
struct OtherUnit {
  const char *si, *name;
  double factor;
};

/// Whether a channel's unit is this one, or its rate.
bool is_in(const std::string& unit, const char* si);

struct UnitGuess {
  OtherUnit unit;
  int sensor = -1;  ///< −1: all of them
  double cost = 0;
  /// "readings are in degrees, it seems (then the mean NIS is 1): SI units are expected, rad"; `then`: "the mean NIS
  /// is"
  std::string text(const std::vector<Sensor>& sensors, const std::string& then) const;
};

/// What readings in another unit would cost, those of one sensor (−1: of all); infinite where there are none.
using UnitCost = std::function<double(const OtherUnit& unit, int sensor)>;

/// The unit in which readings cost least, if that is less than `enough`. `worst`: the sensor that is off most.
std::optional<UnitGuess> likely_unit(const std::vector<Sensor>& sensors, int worst, double enough,
                                     const UnitCost& cost);

/// The median of the intervals between these times; 0: there are none.
double usual_interval(std::vector<double> times);

/// Readings that come a hundred times more often or more rarely than the sensor's `rate`: a warning, else nothing.
/// Refuses times that seem to be in ms, µs or ns, unless the step is given. `interval`: per sensor, 0: none.
Result<std::string> judge_rates(const std::vector<Sensor>& sensors, const std::function<double(int sensor)>& interval,
                                bool step_given);

}  // namespace kinegraph::task
