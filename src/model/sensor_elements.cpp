#include "kinegraph/model/sensor_elements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/evaluation.hpp"

namespace kinegraph {
namespace {

const SensorTypeInfo* find_sensor_type(const std::string& name) {
  for (const SensorTypeInfo& type : sensor_types()) {
    if (name == type.name) return &type;
  }
  return nullptr;
}

std::string unknown_type(const std::string& name) {
  std::vector<std::string> known;
  for (const SensorTypeInfo& type : sensor_types()) known.emplace_back(type.name);
  std::string guess = did_you_mean(name, known);
  if (guess.empty()) guess = fmt::format("; expected one of {}", fmt::join(known, ", "));
  return "unknown type " + quote(name) + guess;
}

std::string_view sliding_unit(SensorType type) {
  return type == SensorType::encoder ? "m" : type == SensorType::tachometer ? "m/s" : "N";
}

bool of_coordinate(SensorType type) {
  return type == SensorType::encoder || type == SensorType::tachometer || type == SensorType::torque;
}

/// Angles that may be read modulo a full turn. The pitch of a tilt sensor is none: it ends at ±90°.
bool is_circular(SensorType type, std::string_view quantity, bool slides) {
  if (type == SensorType::encoder) return !slides;
  return type == SensorType::tilt && quantity != "pitch";
}

}  // namespace

void SensorElements::expect(std::size_t sensors) {
  constexpr Errors none = {0, 0, 1, 0, 0, 0};  // by default readings are as large as what is measured
  errors_.assign(sensors, {none, none});
}

std::string SensorElements::name_of(const ElementSource& element, const std::string& fallback, Group group) {
  const Text* given = element.text("name");
  const std::string name = given ? given->text : fallback;
  if (given && !is_identifier(name)) {
    error(given->where,
          fmt::format("name {}: expected letters, digits and '_', not starting with a digit", quote(name)));
    return fallback;
  }
  if (!name.empty() && !used_names_.emplace(group, name).second) {
    error(given ? given->where : element.where, "duplicate name " + quote(name));
  }
  return name;
}

bool SensorElements::start(Sensor& sensor, const ElementSource& element, const std::string& named_after) {
  sensor.where = element.where;
  const Text* written = element.text("type");
  const SensorTypeInfo* type = written ? find_sensor_type(written->text) : nullptr;
  if (written && !type) error(written->where, unknown_type(written->text));
  if (!type) return false;
  sensor.type = type->type;
  const bool after_coordinate = sensor.type == SensorType::encoder && !named_after.empty();
  const std::string fallback = after_coordinate ? named_after : fmt::format("{}{}", type->name, counts_[sensor.type]++);
  sensor.name = name_of(element, fallback, Group::sensors);
  check_keys(sensor, element);
  return true;
}

void SensorElements::check_keys(const Sensor& sensor, const ElementSource& element) {
  const SensorTypeInfo& type = info(sensor.type);
  const std::vector<std::string_view> keys = sensor_keys(type, spatial_);
  for (const auto& [key, field] : element.fields) {
    const std::string_view whole = std::string_view(key).substr(0, key.find('.'));  // "from.link" is of "from"
    if (field.faulty || whole != key || std::find(keys.begin(), keys.end(), whole) != keys.end()) continue;
    error(field.where, fmt::format("{}: not a key of type {}, which takes {}", key, type.name, fmt::join(keys, ", ")));
  }
}

const Text* SensorElements::required(const Sensor& sensor, const ElementSource& element, std::string_view key) {
  if (!element.fields.contains(key)) {
    error(element.where, fmt::format("missing key '{}' of the {} {}", key, info(sensor.type).name, quote(sensor.name)));
  }
  return element.text(key);
}

void SensorElements::number(const std::string& name, const ElementSource& element, std::string_view key, double* target,
                            double fallback, int scope) {
  const Quantities::Spec spec{name, scope, true, quantity_of(key)};
  if (const Text* text = element.text(key)) {
    quantities_.formula(spec, *text, target);
  } else if (element.fields.contains(key)) {
    quantities_.faulty(spec);
  } else {
    quantities_.number(spec, fallback, target);
  }
}

void SensorElements::vector(const std::string& name, const ElementSource& element, std::string_view key, double* target,
                            int size, int scope) {
  const Field* field = element.find(key);
  const bool sound = field && static_cast<int>(field->items.size()) == size;
  if (field && !sound) {
    error(field->where, fmt::format("{}: expected {}, found {} values", key, size == 2 ? "[x, y]" : "[x, y, z]",
                                    field->items.size()));
  }
  for (int i = 0; i < size; ++i) {
    const Quantities::Spec spec{fmt::format("{}_{}", name, "xyz"[i]), scope, true, key == "at" ? "length" : ""};
    if (sound) {
      quantities_.formula(spec, field->items[i], target + i);
    } else if (element.fields.contains(key)) {
      quantities_.faulty(spec);
    } else {
      quantities_.number(spec, 0, target + i);
    }
  }
}

void SensorElements::numbers(int index, Sensor& sensor, const ElementSource& element, bool slides) {
  const auto errors = [&](const auto& keys, Errors& into) {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      number(fmt::format("{}.{}", sensor.name, keys[k]), element, keys[k], &into[k], into[k]);
    }
  };
  const bool imu = sensor.type == SensorType::imu;
  errors(imu ? kGyroErrorKeys : kErrorKeys, errors_[index][0]);
  if (imu) errors(kAccelErrorKeys, errors_[index][1]);
  double* const sampling[] = {&sensor.rate, &sensor.delay, &sensor.dropout, &sensor.outliers, &sensor.outlier_size};
  for (std::size_t k = 0; k < kSamplingKeys.size(); ++k) {
    number(fmt::format("{}.{}", sensor.name, kSamplingKeys[k]), element, kSamplingKeys[k], sampling[k], *sampling[k]);
  }

  const SensorTypeInfo& type = info(sensor.type);
  const auto quantities = spatial_ ? type.spatial : type.planar;
  const auto units = spatial_ ? type.spatial_units : type.units;
  for (std::size_t k = 0; k < quantities.size(); ++k) {
    SensorChannel& channel = sensor.channels.emplace_back();
    channel.name = fmt::format("{}.{}", sensor.name, quantities[k]);
    channel.unit = slides && of_coordinate(sensor.type) ? sliding_unit(sensor.type) : units[k];
    channel.circular = is_circular(sensor.type, quantities[k], slides);
  }
}

void SensorElements::finish(std::vector<Sensor>& sensors) const {
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const SensorTypeInfo& type = info(sensors[i].type);
    const auto quantities = spatial_ ? type.spatial : type.planar;
    for (std::size_t k = 0; k < sensors[i].channels.size(); ++k) {
      const bool acceleration = type.type == SensorType::imu && quantities[k].starts_with('a');
      const Errors& e = errors_[i][acceleration ? 1 : 0];
      SensorChannel& channel = sensors[i].channels[k];
      channel.noise = e[0], channel.quantum = e[1], channel.scale = e[2];
      channel.bias = e[3], channel.bias_sd = e[4], channel.bias_walk = e[5];
    }
  }
}

void SensorElements::numbers(Disturbance& disturbance, const ElementSource& element) {
  const bool acceleration = element.fields.contains("density"), force = element.fields.contains("force_density");
  if (acceleration == force) {
    error(element.where, fmt::format("disturbance on {}: expected {} density or force_density", quote(disturbance.name),
                                     acceleration ? "either" : "one of"));
  }
  disturbance.kind = force ? Disturbance::Kind::force : Disturbance::Kind::acceleration;
  const std::string_view key = force ? "force_density" : "density";
  number(fmt::format("{}.{}", disturbance.name, key), element, key, &disturbance.density);
}

void SensorElements::numbers(UnknownForce& unknown, const ElementSource& element) {
  number(unknown.name + ".sd", element, "sd", &unknown.sd);
  number(unknown.name + ".walk", element, "walk", &unknown.walk);
}

std::string SensorElements::unknown_name(const ElementSource& element, std::size_t index) {
  return name_of(element, fmt::format("unknown{}", index), Group::unknowns);
}

}  // namespace kinegraph
