#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/check.hpp"
#include "kinegraph/model/columns.hpp"
#include "kinegraph/model/source.hpp"

namespace kinegraph {
namespace {

using What = CoordinateRef::What;

/// Comparisons are written so that what is not a number passes: the fault that caused it is reported already.
class SensorRules {
 public:
  explicit SensorRules(const Model& model) : model_(model) {}

  std::vector<Diagnostic> run() {
    for (int i = 0; i < static_cast<int>(model_.sensors.size()); ++i) {
      readings(i);
      sampling(i);
    }
    for (int i = 0; i < static_cast<int>(model_.disturbances.size()); ++i) disturbance(i);
    for (int i = 0; i < static_cast<int>(model_.unknowns.size()); ++i) unknown(i);
    columns();
    return std::move(found_);
  }

 private:
  void readings(int i) {
    const Sensor& sensor = model_.sensors[i];
    if (sensor.channels.empty()) return;  // of no known type
    const bool imu = sensor.type == SensorType::imu;
    errors(i, imu ? kGyroErrorKeys : kErrorKeys, sensor.channels.front());
    if (imu) errors(i, kAccelErrorKeys, sensor.channels.back());
  }

  void errors(int i, std::span<const std::string_view> keys, const SensorChannel& channel) {
    at_least_zero(Section::sensors, i, keys[0], channel.noise);
    at_least_zero(Section::sensors, i, keys[1], channel.quantum);
    if (channel.scale == 0) fault(Section::sensors, i, keys[2], "must not be 0", channel.scale);
    at_least_zero(Section::sensors, i, keys[4], channel.bias_sd);
    at_least_zero(Section::sensors, i, keys[5], channel.bias_walk);
  }

  void sampling(int i) {
    const Sensor& sensor = model_.sensors[i];
    if (sensor.channels.empty()) return;
    if (sensor.rate <= 0) fault(Section::sensors, i, "rate", "must be > 0", sensor.rate);
    at_least_zero(Section::sensors, i, "delay", sensor.delay);
    for (const auto& [key, share] : {std::pair("dropout", sensor.dropout), std::pair("outliers", sensor.outliers)}) {
      if (share < 0 || share > 1) fault(Section::sensors, i, key, "must be between 0 and 1", share);
    }
    at_least_zero(Section::sensors, i, "outlier_size", sensor.outlier_size);
    if (sensor.outliers > 0 && sensor.outlier_size == 0) {
      found_.push_back({Severity::warning, field(Section::sensors, i, "outliers"),
                        fmt::format("{}.outliers has no effect: outlier_size is 0", sensor.name)});
    }
  }

  void disturbance(int i) {
    const Disturbance& d = model_.disturbances[i];
    const bool force = d.kind == Disturbance::Kind::force;
    at_least_zero(Section::disturbances, i, force ? "force_density" : "density", d.density);
    const bool fresh = disturbed_.emplace(d.place.what, d.place.index, d.place.freedom).second;
    if (d.place.index < 0) return;
    if (!fresh) error(d.where, quote(d.name) + " has two disturbances");
    on_coordinate(d.place, d.where, "disturbance on " + quote(d.name));
  }

  void unknown(int i) {
    const UnknownForce& f = model_.unknowns[i];
    at_least_zero(Section::unknowns, i, "sd", f.sd);
    at_least_zero(Section::unknowns, i, "walk", f.walk);
    if (f.sd == 0 && f.walk == 0) {
      error(f.where,
            fmt::format("unknown force {}: sd or walk must be > 0, else it is known to be zero", quote(f.name)));
    }
    if (f.place.index >= 0) on_coordinate(f.place, f.where, "unknown force " + quote(f.name));
  }

  void on_coordinate(const ForcePlace& place, const Location& where, const std::string& what) {
    if (model_.spatial()) return;
    const auto kind = static_cast<What>(place.what);
    if (kind != What::relative && model_.points[place.index].fixed) error(where, what + ": the point is fixed");
    const bool driven = std::any_of(model_.drivers.begin(), model_.drivers.end(), [&](const Driver& d) {
      return d.coordinate.index == place.index && d.coordinate.what == kind;
    });
    if (driven) error(where, what + ": a driver prescribes the coordinate");
  }

  /// A reading may have the name of what it reads, not of something else.
  void columns() {
    if (model_.sensors.empty() && model_.unknowns.empty()) return;
    std::unordered_set<std::string> motion;
    for (std::string& column : motion_columns(model_)) motion.insert(std::move(column));
    std::unordered_set<std::string> of_sensors;
    for (const Sensor& s : model_.sensors) {
      for (const SensorChannel& channel : s.channels) {
        of_sensors.insert(channel.name);
        if (!motion.contains(channel.name) || own_name(s)) continue;
        error(s.where,
              fmt::format("sensor {}: its column '{}' is also one of the machine's motion; give it another name",
                          quote(s.name), channel.name));
        break;
      }
    }
    for (const UnknownForce& f : model_.unknowns) {
      const std::string column = f.name + ".tau";
      if (!motion.contains(column) && !of_sensors.contains(column)) continue;
      error(f.where, fmt::format("unknown force {}: its column '{}' is also one of {}; give it another name",
                                 quote(f.name), column, motion.contains(column) ? "the machine's motion" : "a sensor"));
    }
  }

  bool own_name(const Sensor& s) const {
    if (s.type == SensorType::load_cell) return s.name == s.reaction;
    if (s.type == SensorType::torque && s.motor >= 0) return s.name == model_.motors[s.motor].name;
    if (s.coordinate >= 0 && !model_.spatial()) return s.name == model_.relative[s.coordinate].name;
    if (s.coordinate >= 0) {
      const Joint& joint = model_.robot.joints[s.coordinate];
      return s.name == joint.name && freedoms(joint.type) == 1;
    }
    if (s.type != SensorType::position || s.on.body < 0) return false;
    if (model_.spatial()) return s.name == model_.robot.links[s.on.body].name && s.on.at.isZero(0);
    const PlanarBody& body = model_.bodies[s.on.body];
    for (std::size_t k = 0; k < body.local.size(); ++k) {
      const bool named = body.points[k].valid() && model_.points[body.points[k].value].name == s.name;
      if (named && body.local[k] == s.on.at.head<2>()) return true;
    }
    return false;
  }

  // ---- what the rules share ---------------------------------------------------------------------------------

  std::string element_name(Section section, int i) const {
    if (section == Section::sensors) return model_.sensors[i].name;
    return section == Section::disturbances ? model_.disturbances[i].name : model_.unknowns[i].name;
  }

  Location field(Section section, int i, std::string_view key) const {
    if (!model_.source || i >= static_cast<int>(model_.source->of(section).size())) return {};
    const ElementSource& element = model_.source->of(section)[i];
    const Field* field = element.find(key);
    return field ? field->where : element.where;
  }

  void at_least_zero(Section section, int i, std::string_view key, double value) {
    if (value < 0) fault(section, i, key, "must be >= 0", value);
  }

  /// About a number that the user may have set over the file's: then the file is not to blame.
  void fault(Section section, int i, std::string_view key, std::string_view rule, double value) {
    const std::string name = fmt::format("{}.{}", element_name(section, i), key);
    error(model_.settings.contains(name) ? Location{} : field(section, i, key),
          fmt::format("{}: {}, is {}", name, rule, value));
  }

  void error(const Location& where, std::string message) {
    found_.push_back({Severity::error, where, std::move(message)});
  }

  const Model& model_;
  std::vector<Diagnostic> found_;
  std::set<std::tuple<int, int, int>> disturbed_;
};

}  // namespace

std::vector<Diagnostic> check_sensors(const Model& model) { return SensorRules(model).run(); }

}  // namespace kinegraph
