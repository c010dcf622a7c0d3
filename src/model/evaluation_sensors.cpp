#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/evaluation.hpp"
#include "kinegraph/model/pins.hpp"

namespace kinegraph {
namespace {

std::string without_q(std::string name) {
  if (name.ends_with(".q")) name.resize(name.size() - 2);
  return name;
}

}  // namespace

void Evaluation::sensors() {
  const auto& elements = source_->of(Section::sensors);
  model_.sensors.resize(elements.size());
  sensor_angles_.assign(elements.size(), 0);
  sensor_elements_.expect(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Sensor& sensor = model_.sensors[i];
    const Text* coordinate = elements[i].text("coordinate");
    if (!sensor_elements_.start(sensor, elements[i], coordinate ? without_q(coordinate->text) : "")) continue;
    sensor_place(static_cast<int>(i), elements[i]);
    const bool slides = sensor.coordinate >= 0 &&
                        model_.relative[sensor.coordinate].type == RelativeCoordinate::Type::relative_position;
    sensor_elements_.numbers(static_cast<int>(i), sensor, elements[i], slides);
  }
}

void Evaluation::sensor_place(int index, const ElementSource& element) {
  Sensor& sensor = model_.sensors[index];
  switch (sensor.type) {
    case SensorType::encoder:
    case SensorType::tachometer:
    case SensorType::torque:
      if (const Text* name = sensor_elements_.required(sensor, element, "coordinate")) {
        sensor.coordinate = relative(*name).value;
        if (sensor.type == SensorType::torque && sensor.coordinate >= 0) sensor_motor(sensor, *name);
      }
      break;
    case SensorType::distance:
      sensor_ends(sensor, element);
      break;
    case SensorType::load_cell:
      if (const Text* name = sensor_elements_.required(sensor, element, "joint")) sensor_pin(sensor, *name);
      break;
    default:
      sensor_on_body(index, element);
  }
}

void Evaluation::sensor_ends(Sensor& sensor, const ElementSource& element) {
  const Text* from = sensor_elements_.required(sensor, element, "from");
  const Text* to = sensor_elements_.required(sensor, element, "to");
  const PointIndex a = from ? mount_on_point(sensor.on, *from) : PointIndex();
  const PointIndex b = to ? mount_on_point(sensor.other, *to) : PointIndex();
  if (!a.valid() || !b.valid()) return;
  const auto has_both = [&](const PlanarBody& body) {
    return std::count(body.points.begin(), body.points.end(), a) > 0 &&
           std::count(body.points.begin(), body.points.end(), b) > 0;
  };
  const std::string what = "distance " + quote(sensor.name) + ": both ends are ";
  if (a == b) {
    error(element.where, what + "the same point");
  } else if (model_.points[a.value].fixed && model_.points[b.value].fixed) {
    error(element.where, what + "fixed");
  } else if (std::any_of(model_.bodies.begin(), model_.bodies.end(), has_both)) {
    error(element.where, what + "on the same body");
  }
}

void Evaluation::sensor_motor(Sensor& sensor, const Text& coordinate) {
  for (std::size_t m = 0; m < model_.motors.size() && sensor.motor < 0; ++m) {
    if (model_.motors[m].coordinate.value == sensor.coordinate) sensor.motor = static_cast<int>(m);
  }
  if (sensor.motor < 0) error(coordinate.where, "no motor acts on coordinate " + quote(coordinate.text));
}

void Evaluation::sensor_pin(Sensor& sensor, const Text& name) {
  sensor.reaction = name.text;
  const std::vector<Pin> known = pins(model_);
  const bool found = std::any_of(known.begin(), known.end(), [&](const Pin& pin) { return pin.name == name.text; });
  if (!found) unknown("joint", name, known);
}

void Evaluation::sensor_on_body(int index, const ElementSource& element) {
  Sensor& sensor = model_.sensors[index];
  const bool by_place = element.fields.contains("at"), by_point = element.fields.contains("point");
  if (by_place && by_point) {
    error(element.fields.find("point")->second.where, "point: expected either at or point");
  }
  const Text* const point_name = element.text("point");
  const bool point_is_enough = sensor.type == SensorType::position && by_point && !element.fields.contains("body");
  if (point_is_enough) {
    const PointIndex p = point_name ? mount_on_point(sensor.on, *point_name) : PointIndex();
    if (p.valid() && model_.points[p.value].fixed)
      error(point_name->where, "point " + quote(point_name->text) + " is fixed");
  } else if (const Text* name = sensor_elements_.required(sensor, element, "body")) {
    sensor.on.body = body(*name).value;
    if (sensor.on.body >= 0 && point_name) mount_on_point_of_body(sensor.on, *point_name);
  }
  const bool known = sensor.on.body >= 0 || !by_place;  // else names of the body would be faults, too
  if (!by_point && known)
    sensor_elements_.vector(sensor.name + ".at", element, "at", sensor.on.at.data(), 2, sensor.on.body);
  if (sensor.type == SensorType::position) return;
  sensor_elements_.number(sensor.name + ".angle", element, "angle", &sensor_angles_[index]);
}

void Evaluation::mount_on_point_of_body(Sensor::Mount& mount, const Text& name) {
  const PointIndex p = point(name);
  const PlanarBody& body = model_.bodies[mount.body];
  if (!p.valid()) return;
  if (std::find(body.points.begin(), body.points.end(), p) != body.points.end()) {
    mounts_.push_back({&mount, p});
    return;
  }
  std::vector<std::string> names;
  for (const PointIndex own : body.points) names.push_back(own.valid() ? model_.points[own.value].name : "?");
  error(name.where, fmt::format("point {} is none of body {}, which has {}", quote(name.text), quote(body.name),
                                fmt::join(names, ", ")));
}

PointIndex Evaluation::mount_on_point(Sensor::Mount& mount, const Text& name) {
  const PointIndex p = point(name);
  if (!p.valid()) return p;
  const auto has = [p](const PlanarBody& body) {
    return std::find(body.points.begin(), body.points.end(), p) != body.points.end();
  };
  const auto first = std::find_if(model_.bodies.begin(), model_.bodies.end(), has);
  const bool fixed = model_.points[p.value].fixed;
  if (!fixed && first == model_.bodies.end()) {
    error(name.where, fmt::format("point {} belongs to no body", quote(name.text)));
    return {};
  }
  mount.body = fixed ? -1 : static_cast<int>(first - model_.bodies.begin());
  mounts_.push_back({&mount, p});
  return p;
}

/// Where the bodies' points are on them is known by now.
void Evaluation::finish_sensors() {
  for (const auto& [mount, p] : mounts_) {
    if (mount->body < 0) {
      mount->at.head<2>() = model_.points[p.value].position;
      continue;
    }
    const PlanarBody& body = model_.bodies[mount->body];
    const std::size_t k = std::find(body.points.begin(), body.points.end(), p) - body.points.begin();
    if (k < body.local.size()) mount->at.head<2>() = body.local[k];
  }
  for (std::size_t i = 0; i < sensor_angles_.size(); ++i) {
    model_.sensors[i].R_BS = Eigen::AngleAxisd(sensor_angles_[i], Eigen::Vector3d::UnitZ()).toRotationMatrix();
  }
  sensor_elements_.finish(model_.sensors);
}

std::string Evaluation::force_place(const ElementSource& element, ForcePlace& place) {
  const Text* name = element.text("coordinate");
  if (!name) return "";
  const auto found = coordinate(name->text);
  if (!found) {
    error(name->where, diagnostics_.size() < kMostFaults
                           ? model_.coordinate(name->text).failure().diagnostics.front().message
                           : "unknown coordinate " + quote(name->text));
    return name->text;
  }
  place.what = static_cast<int>(found->what);
  place.index = found->index;
  return model_.name_of(*found);
}

void Evaluation::disturbances() {
  const auto& elements = source_->of(Section::disturbances);
  model_.disturbances.resize(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Disturbance& disturbance = model_.disturbances[i];
    disturbance.where = elements[i].where;
    disturbance.name = force_place(elements[i], disturbance.place);
    sensor_elements_.numbers(disturbance, elements[i]);
  }
}

void Evaluation::unknowns() {
  const auto& elements = source_->of(Section::unknowns);
  model_.unknowns.resize(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    UnknownForce& force = model_.unknowns[i];
    force.where = elements[i].where;
    force.name = sensor_elements_.unknown_name(elements[i], i);
    force_place(elements[i], force.place);
    sensor_elements_.numbers(force, elements[i]);
  }
}

}  // namespace kinegraph
