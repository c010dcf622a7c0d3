#include "kinegraph/report/series.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "kinegraph/model/joint_names.hpp"
#include "kinegraph/report/packed.hpp"

namespace kinegraph::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostNumbers = 500'000;  ///< of all series: 2 MB, as text 2.7 MB
constexpr std::size_t kMostOfSeries = 40'000;  ///< of one series
constexpr std::size_t kLeastPoints = 2'000;    ///< more than a screen has columns
constexpr std::string_view kDeviation = ".sd";

/// "rad", "rad/s", … of a coordinate that turns, "m", … of one that slides.
enum class Motion { turns, slides };

Motion motion_of(const Model& model, const std::string& element, const std::string& quantity) {
  for (const RelativeCoordinate& r : model.relative) {
    if (r.name == element)
      return r.type == RelativeCoordinate::Type::relative_position ? Motion::slides : Motion::turns;
  }
  for (const Joint& joint : model.robot.joints) {
    if (joint.name != element) continue;
    if (joint.type == JointType::prismatic) return Motion::slides;
    const bool second = quantity.ends_with('2'), first = quantity.ends_with('1');
    if (joint.type == JointType::cylindrical && second) return Motion::slides;
    if (joint.type == JointType::planar && (first || second)) return Motion::slides;
  }
  return Motion::turns;
}

struct Known {
  std::string_view suffix;
  const char *unit, *group;
  int rank;
};

/// Quantities whose unit does not depend on the element.
constexpr Known kKnown[] = {
    {"x", "m", "Position", 40},
    {"y", "m", "Position", 40},
    {"z", "m", "Position", 40},
    {"vx", "m/s", "Velocity", 50},
    {"vy", "m/s", "Velocity", 50},
    {"vz", "m/s", "Velocity", 50},
    {"ax", "m/s²", "Acceleration", 70},
    {"ay", "m/s²", "Acceleration", 70},
    {"az", "m/s²", "Acceleration", 70},
    {"fx", "N", "Force", 60},
    {"fy", "N", "Force", 60},
    {"fz", "N", "Force", 60},
    {"mx", "N m", "Moment", 65},
    {"my", "N m", "Moment", 65},
    {"mz", "N m", "Moment", 65},
    {"wx", "rad/s", "Angular velocity", 55},
    {"wy", "rad/s", "Angular velocity", 55},
    {"wz", "rad/s", "Angular velocity", 55},
    {"alx", "rad/s²", "Angular acceleration", 75},
    {"aly", "rad/s²", "Angular acceleration", 75},
    {"alz", "rad/s²", "Angular acceleration", 75},
    {"qw", "", "Orientation (quaternion)", 80},
    {"qx", "", "Orientation (quaternion)", 80},
    {"qy", "", "Orientation (quaternion)", 80},
    {"qz", "", "Orientation (quaternion)", 80},
    {"nis", "", "Innovations, squared and normalised", 85},
    {"u", "", "Control", 12},
};

/// q, v, a, tau and, of joints with several freedoms, q1, v2, …
Quantity of_coordinate(const Model& model, const std::string& element, const std::string& quantity) {
  const bool turns = motion_of(model, element, quantity) == Motion::turns;
  const std::string unit = turns ? "rad" : "m";
  std::string kind = quantity;
  while (!kind.empty() && kind.back() >= '0' && kind.back() <= '9') kind.pop_back();
  if (kind == "q") return {unit, turns ? "Angle" : "Travel", turns ? 0 : 1};
  if (kind == "v") return {unit + "/s", turns ? "Rate" : "Speed of travel", turns ? 20 : 21};
  if (kind == "a") return {unit + "/s²", turns ? "Angular acceleration of joints" : "Acceleration of travel", 30};
  if (kind == "tau") return {turns ? "N m" : "N", turns ? "Torque" : "Driving force", 10};
  return {"", "Other", 90};
}

/// "Reaction force", "Joint moment"; of robots what is no reaction is a contact's, a load's or the base's: "Force".
std::string force_group(const std::string& what, bool reaction, bool spatial) {
  if (reaction) return "Reaction " + what;
  return spatial ? (what == "force" ? "Force" : "Moment") : "Joint " + what;
}

}  // namespace

Quantity quantity_of(const Model& model, const std::string& name) {
  for (const Sensor& sensor : model.sensors) {
    for (const SensorChannel& channel : sensor.channels) {
      if (channel.name == name && !name.ends_with(".q") && !name.ends_with(".v")) {
        return {channel.unit, "Sensor readings", 15};
      }
      if (name.starts_with(sensor.name + ".bias.")) return {channel.unit, "Offsets of sensors", 35};
    }
  }
  const std::size_t dot = name.rfind('.');
  if (name == "clearance") return {"m", "Clearance", 70};  // of a plan: to obstacles, and of the robot to itself
  if (dot == std::string::npos) return {"", "Other", 90};
  const std::string element = name.substr(0, dot), quantity = name.substr(dot + 1);
  if (element == "branch") return {"", "Probability of each branch", 5};
  const bool reaction = element.ends_with(".reaction");
  for (const Known& known : kKnown) {
    if (quantity != known.suffix) continue;
    const bool force = known.rank == 60 || known.rank == 65;
    return {known.unit,
            force ? force_group(known.rank == 60 ? "force" : "moment", reaction, model.spatial())
                  : std::string(known.group),
            known.rank};
  }
  return of_coordinate(model, element, quantity);
}

Thinning::Thinning(std::size_t samples, std::size_t most) {
  if (samples <= most) return;
  const std::size_t stretches = std::max<std::size_t>(1, most / 2);
  first.reserve(stretches + 1);
  for (std::size_t k = 0; k <= stretches; ++k) first.push_back(k * samples / stretches);
}

std::vector<double> Thinning::times(const std::vector<double>& t) const {
  if (all()) return t;
  std::vector<double> out;
  out.reserve(2 * first.size());
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    const double begin = t[first[k]], end = t[std::min(first[k + 1], t.size() - 1)];
    out.push_back(begin);
    out.push_back(begin + (end - begin) / 2);
  }
  return out;
}

std::vector<std::size_t> Thinning::pick(const std::vector<double>& y) const {
  std::vector<std::size_t> out;
  out.reserve(2 * first.size());
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    std::size_t low = first[k], high = first[k];
    for (std::size_t i = first[k]; i < first[k + 1]; ++i) {
      if (y[i] < y[low] || std::isnan(y[low])) low = i;
      if (y[i] > y[high] || std::isnan(y[high])) high = i;
    }
    out.push_back(std::min(low, high));
    out.push_back(std::max(low, high));
  }
  return out;
}

std::vector<Beside> beside(const Trajectory& shown, const Trajectory& other, const std::string& label, bool dots) {
  std::vector<Beside> found;
  for (int i = 0; i < other.series(); ++i) {
    const std::string& name = other.names()[i];
    if (shown.find(name) < 0 || name.ends_with(kDeviation)) continue;
    Beside b{name, label, dots, {}, {}};
    for (int k = 0; k < other.samples(); ++k) {
      if (!std::isfinite(other.at(k, i))) continue;
      b.times.push_back(other.times()[k]);
      b.values.push_back(other.at(k, i));
    }
    if (!b.times.empty()) found.push_back(std::move(b));
  }
  return found;
}

namespace {

std::vector<double> chosen(const std::vector<double>& values, const std::vector<std::size_t>& samples) {
  std::vector<double> out(samples.size());
  for (std::size_t k = 0; k < samples.size(); ++k) out[k] = values[samples[k]];
  return out;
}

Json beside_json(const Beside& b, std::size_t most) {
  Json json{{"label", b.label}, {"dots", b.dots}};
  const Thinning thinning(b.times.size(), most);
  const std::vector<std::size_t> samples = thinning.all() ? std::vector<std::size_t>{} : thinning.pick(b.values);
  json["t"] = packed_times(thinning.all() ? b.times : chosen(b.times, samples));
  json["y"] = packed(thinning.all() ? b.values : chosen(b.values, samples));
  return json;
}

Json one_series(const Model& model, const Trajectory& trajectory, int index, const Thinning& thinning) {
  const std::string& name = trajectory.names()[index];
  const Quantity quantity = quantity_of(model, name);
  Json json{{"name", name}, {"unit", quantity.unit}, {"plot", quantity.group}, {"rank", quantity.rank}};
  const std::vector<double> values = trajectory.column(index);
  const int deviation = trajectory.find(name + std::string(kDeviation));
  if (thinning.all()) {
    json["y"] = packed(values);
    if (deviation >= 0) json["sd"] = packed(trajectory.column(deviation));
    return json;
  }
  const std::vector<std::size_t> samples = thinning.pick(values);
  json["y"] = packed(chosen(values, samples));
  if (deviation >= 0) json["sd"] = packed(chosen(trajectory.column(deviation), samples));
  return json;
}

}  // namespace

Json series_section(const Model& model, const Trajectory& trajectory, const std::vector<Beside>& beside,
                    const Ranges& limits) {
  const std::size_t columns = std::max<std::size_t>(1, trajectory.names().size() + beside.size());
  const std::size_t most = std::clamp(kMostNumbers / columns, kLeastPoints, kMostOfSeries);
  const Thinning thinning(static_cast<std::size_t>(trajectory.samples()), most);
  Json json{{"samples", trajectory.samples()}, {"thinned", !thinning.all()}};
  json["t"] = packed_times(thinning.times(trajectory.times()));
  json["list"] = Json::array();
  for (int i = 0; i < trajectory.series(); ++i) {
    const std::string& name = trajectory.names()[i];
    const bool of_another =
        name.ends_with(kDeviation) && trajectory.find(name.substr(0, name.size() - kDeviation.size())) >= 0;
    if (of_another) continue;
    Json one = one_series(model, trajectory, i, thinning);
    for (const Beside& b : beside) {
      if (b.of == name) one["beside"].push_back(beside_json(b, most));
    }
    if (const auto range = limits.find(name); range != limits.end()) {
      const auto side = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
      one["limits"] = {side(range->second.low), side(range->second.high)};
    }
    json["list"].push_back(std::move(one));
  }
  return json;
}

Ranges limits_of(const Model& model) {
  Ranges ranges;
  for (const Joint& joint : model.robot.joints) {
    const auto q = position_names(joint.name, joint.type), v = velocity_names(joint.name, joint.type),
               tau = torque_names(joint.name, joint.type);
    if (q.size() != v.size()) continue;  // orientations have no limits
    for (std::size_t i = 0; i < std::min(joint.limits.size(), q.size()); ++i) {
      const JointLimits& limit = joint.limits[i];
      ranges[q[i]] = {limit.lower, limit.upper};
      ranges[v[i]] = {-limit.velocity, limit.velocity};
      ranges[tau[i]] = {-limit.effort, limit.effort};
    }
  }
  return ranges;
}

Json timing_section(const Trajectory& trajectory, const std::vector<std::string>& names) {
  Json rows = Json::array();
  for (const std::string& name : names) {
    std::vector<int> columns;
    for (const char* axis : {".fx", ".fy", ".fz"}) columns.push_back(trajectory.find(name + axis));
    if (std::count(columns.begin(), columns.end(), -1) > 0) continue;
    Json spans = Json::array();
    double from = 0;
    bool bears = false;
    for (int k = 0; k < trajectory.samples(); ++k) {
      const double t = trajectory.times()[k];
      const bool now = std::any_of(columns.begin(), columns.end(), [&](int c) { return trajectory.at(k, c) != 0; });
      if (now && !bears) from = t;
      if (!now && bears) spans.push_back({from, trajectory.times()[k - 1]});
      bears = now;
    }
    if (bears) spans.push_back({from, trajectory.times().back()});
    rows.push_back({{"name", name}, {"spans", std::move(spans)}});
  }
  return rows.empty() ? Json() : Json{{"title", "Contacts"}, {"rows", std::move(rows)}};
}

}  // namespace kinegraph::report
