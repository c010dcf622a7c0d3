#include "kinegraph/model/model.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include "binding.hpp"
#include "options.hpp"

namespace kinegraph::python {
namespace {

using ModelPointer = std::shared_ptr<Model>;

/// What the command line reads with the same options, in the same way; its warnings are returned beside the model.
std::pair<ModelPointer, std::vector<std::string>> load(const std::string& path, const std::vector<std::string>& set,
                                                       const std::string& base, const std::string& loops,
                                                       const std::string& sensor_file, bool strict) {
  cli::CommonOptions options;
  options.model = path;
  options.set = set;
  options.base = base;
  options.loops = loops;
  options.sensor_file = sensor_file;
  options.strict = strict;
  cli::Embedding embedding;
  options.embedding = &embedding;
  cli::OptionReader reader;
  options.read(reader);
  if (!reader.ok()) raise(reader.failure());
  std::optional<Result<Model>> read;
  {
    const py::gil_scoped_release free;
    read.emplace(options.read_model());
  }
  auto model = std::make_shared<Model>(value_of(*std::move(read)));
  return {std::move(model), std::move(embedding.warnings)};
}

ModelPointer with(const Model& model, const Settings& settings) {
  return std::make_shared<Model>(value_of(model.with(settings)));
}

py::dict points(const Model& model) {
  py::dict found;
  for (const Point& point : model.points) found[py::str(point.name)] = point.position;
  return found;
}

py::dict masses(const Model& model) {
  py::dict found;
  for (const PlanarBody& body : model.bodies) found[py::str(body.name)] = body.mass;
  for (const Link& link : model.robot.links) found[py::str(link.name)] = link.inertia.mass;
  return found;
}

std::vector<std::string> bodies(const Model& model) {
  std::vector<std::string> names;
  for (const PlanarBody& body : model.bodies) names.push_back(body.name);
  for (const Link& link : model.robot.links) names.push_back(link.name);
  return names;
}

std::vector<std::string> coordinates(const Model& model) {
  std::vector<std::string> names;
  for (const RelativeCoordinate& c : model.relative) names.push_back(c.name);
  for (const Joint& joint : model.robot.joints) {
    if (joint.type != JointType::fixed) names.push_back(joint.name);
  }
  return names;
}

/// Names of the sensors, each with the columns that it has in a log.
py::dict sensors(const Model& model) {
  py::dict found;
  for (const Sensor& sensor : model.sensors) {
    py::list channels;
    for (const SensorChannel& channel : sensor.channels) channels.append(channel.name);
    found[py::str(sensor.name)] = channels;
  }
  return found;
}

Settings parameters(const Model& model) {
  Settings found;
  for (const Parameter& p : model.parameters) found.emplace(p.name, p.value);
  return found;
}

}  // namespace

void bind_model(py::module_& module) {
  py::class_<Model, ModelPointer>(module, "Model")
      .def_readonly("name", &Model::name)
      .def_readonly("file", &Model::file)
      .def_property_readonly("spatial", &Model::spatial)
      .def_property_readonly("parameters", &parameters)
      .def_property_readonly("values", &Model::values)
      .def_property_readonly("points", &points)
      .def_property_readonly("bodies", &bodies)
      .def_property_readonly("masses", &masses)
      .def_property_readonly("coordinates", &coordinates)
      .def_property_readonly("sensors", &sensors)
      .def("set", &with, py::arg("settings"));
  module.def("parse_number", [](const std::string& field, const std::string& text) {
    cli::OptionReader reader;
    const double value = reader.number(field, text);
    if (!reader.ok()) raise(reader.failure());
    return value;
  });
  module.def("load", &load, py::arg("path"), py::arg("set"), py::arg("base"), py::arg("loops"), py::arg("sensor_file"),
             py::arg("strict"));
}

}  // namespace kinegraph::python
