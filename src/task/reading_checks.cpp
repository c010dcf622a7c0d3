#include "kinegraph/task/reading_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "kinegraph/base/names.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {
namespace {

constexpr OtherUnit kOtherUnits[] = {{"rad", "degrees", std::numbers::pi / 180},
                                     {"rad", "milliradians", 1e-3},
                                     {"m", "millimetres", 1e-3},
                                     {"m", "centimetres", 1e-2},
                                     {"m/s^2", "multiples of g", 9.80665},
                                     {"N", "kilonewtons", 1e3}};

}  // namespace

bool is_in(const std::string& unit, const char* si) {
  return unit == si || (unit.starts_with(si) && unit.substr(std::string(si).size()) == "/s");
}

std::string UnitGuess::text(const std::vector<Sensor>& sensors, const std::string& then) const {
  const std::string whose = sensor < 0 ? "readings" : "those of " + quote(sensors[sensor].name);
  return fmt::format("{} are in {}, it seems (then {} {:.2g}): SI units are expected, {}", whose, unit.name, then, cost,
                     unit.si);
}

std::optional<UnitGuess> likely_unit(const std::vector<Sensor>& sensors, int worst, double enough,
                                     const UnitCost& cost) {
  std::optional<UnitGuess> found;
  for (const OtherUnit& unit : kOtherUnits) {
    for (const int s : {-1, worst}) {  // all sensors, the worst one
      if (s >= 0 && sensors.size() == 1) continue;
      const double with = cost(unit, s);
      if (!(with < enough)) continue;
      enough = with;
      found = UnitGuess{unit, s, with};
    }
  }
  return found;
}

double usual_interval(std::vector<double> times) {
  std::vector<double> gaps;
  std::sort(times.begin(), times.end());
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] - times[i - 1] > kSameTime) gaps.push_back(times[i] - times[i - 1]);
  }
  if (gaps.empty()) return 0;
  const auto middle = gaps.begin() + static_cast<long>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

Result<std::string> judge_rates(const std::vector<Sensor>& sensors, const std::function<double(int)>& interval,
                                bool step_given) {
  constexpr double kFar = 100, kNear = 1.5;
  struct Prefix {
    const char* name;
    double factor;
  };
  static constexpr Prefix kPrefixes[] = {{"ms", 1e3}, {"µs", 1e6}, {"ns", 1e9}};
  const Prefix* unit = nullptr;
  bool all = true;
  std::string told;
  for (int s = 0; s < static_cast<int>(sensors.size()); ++s) {
    const Sensor& sensor = sensors[s];
    const double usual = interval(s), ratio = usual * sensor.rate;
    if (!(ratio > 0)) continue;
    const auto found = std::find_if(std::begin(kPrefixes), std::end(kPrefixes), [&](const Prefix& p) {
      return ratio < p.factor * kNear && ratio > p.factor / kNear;
    });
    all = all && found != std::end(kPrefixes) && (!unit || unit == &*found);
    if (found != std::end(kPrefixes)) unit = &*found;
    if (ratio <= kFar && ratio >= 1 / kFar) continue;
    if (told.empty()) {
      told = fmt::format("log: readings of {} come at {:.3g} Hz, its rate is {:.3g} Hz", quote(sensor.name), 1 / usual,
                         sensor.rate);
    }
  }
  if (!told.empty() && all && unit && !step_given) {
    return Failure::bad_input(fmt::format(
        "{}: are the times in {}? Seconds are expected (if they are seconds, say --step)", told, unit->name));
  }
  return told;
}

}  // namespace kinegraph::task
