#include "kinegraph/task/check.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "kinegraph/task/spatial_check.hpp"
#include "outputs.hpp"

namespace kinegraph::cli {
namespace {

class Check final : public Verb {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view purpose() const override { return "what a model holds: bodies, mobility, redundant constraints"; }
  std::string_view teaching() const override {
    return "Examples:\n"
           "  kinegraph check fourbar.yaml                  bodies, joints, degrees of freedom, warnings\n"
           "  kinegraph check fourbar.yaml --set crank_length=1.2      the same with another crank length\n"
           "  kinegraph check fourbar.yaml --json -         for machines\n"
           "  kinegraph check arm.urdf --strict             a robot; doubtful inertias are errors\n\n"
           "Exit status 1 if the mechanism cannot be assembled (the message says which constraint and by how much),\n"
           "2 if the file has faults (all are told, as file:line:column).\n";
  }
  void declare(CLI::App& app) override { common_.declare(app, false); }
  Done run() override;

 private:
  Done run_spatial(const Model& model, Outputs& outputs);
};

std::string bodies_text(const Model& model) {
  std::string text = "\n";
  for (const PlanarBody& body : model.bodies) {
    std::string points;
    for (const PointIndex p : body.points) points += (points.empty() ? "" : " ") + model.points[p.value].name;
    text += fmt::format("  body {:<10} points {:<10}  length {:<9.6g} m  mass {:<9.6g} kg  inertia {:.6g} kg m²\n",
                        body.name, points, body.length, body.mass, body.inertia);
  }
  return text;
}

std::string place_of(const Model& model, const Sensor& sensor) {
  if (sensor.type == SensorType::load_cell) return sensor.reaction;
  if (sensor.coordinate >= 0) {
    return model.spatial() ? model.robot.joints[sensor.coordinate].name : model.relative[sensor.coordinate].name;
  }
  const auto mount = [&](int body) {
    if (body < 0) return std::string("the ground");
    return model.spatial() ? model.robot.links[body].name : model.bodies[body].name;
  };
  if (sensor.type == SensorType::distance) return mount(sensor.on.body) + " to " + mount(sensor.other.body);
  return mount(sensor.on.body);
}

/// What is measured, and what is not known.
std::string sensors_text(const Model& model) {
  std::string text = model.sensors.empty() && model.disturbances.empty() && model.unknowns.empty() ? "" : "\n";
  for (const Sensor& sensor : model.sensors) {
    std::string columns;
    for (const SensorChannel& channel : sensor.channels) columns += " " + channel.name;
    text += fmt::format("  sensor {:<10} {:<13} {:<10}  {:g} Hz  columns{}\n", sensor.name, info(sensor.type).name,
                        place_of(model, sensor), sensor.rate, columns);
  }
  for (const Disturbance& d : model.disturbances) {
    text += fmt::format("  disturbance {:<10} density {:g} {}\n", d.name, d.density,
                        d.kind == Disturbance::Kind::force ? "N or N m per √Hz" : "rad/s² or m/s² per √Hz");
  }
  for (const UnknownForce& f : model.unknowns) {
    text +=
        fmt::format("  unknown force {:<10} sd {:g}  walk {:g} per √s  column {}.tau\n", f.name, f.sd, f.walk, f.name);
  }
  return text;
}

std::vector<std::string> sensor_columns(const Model& model) {
  std::vector<std::string> columns;
  for (const Sensor& sensor : model.sensors) {
    for (const SensorChannel& channel : sensor.channels) columns.push_back(channel.name);
  }
  return columns;
}

/// A point that several bodies share is a pin; one fixed point and a body too.
int count_pins(const Model& model) {
  std::vector<int> uses(model.points.size(), 0);
  for (const PlanarBody& body : model.bodies) {
    for (const PointIndex p : body.points) ++uses[p.value];
  }
  int pins = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) pins += uses[i] + (model.points[i].fixed ? 1 : 0) > 1;
  return pins;
}

Done Check::run() {
  OptionReader reader;
  common_.read(reader);
  if (!reader.ok()) return reader.failure();
  Result<Outputs> outputs = Outputs::open(common_);
  if (!outputs) return outputs.failure();
  const Result<Model> model = common_.read_model();
  if (!model) return model.failure();
  outputs->show(*model, command);
  if (model->spatial()) return run_spatial(*model, *outputs);
  const Result<task::CheckResult> result = task::check(*model);
  if (!result) return result.failure();

  std::vector<std::string> warnings;
  for (const Diagnostic& warning : result->warnings) warnings.push_back(to_string(warning));
  Summary summary("check", common_.model);
  summary.add("bodies", result->bodies, "bodies")
      .add("points", result->points, "points")
      .add("fixed_points", result->fixed_points, "fixed points")
      .add("pin_joints", count_pins(*model), "pin joints")
      .add("sliders", model->sliders.size(), "sliders")
      .add("motors", model->motors.size(), "motors")
      .add("mass", result->mass, "mass", "kg")
      .add("coordinates", result->coordinates, "coordinates")
      .add("constraints", result->constraints, "constraints")
      .add("rank", result->rank, "independent of them")
      .add("degrees_of_freedom", result->degrees_of_freedom, "degrees of freedom")
      .add("independent", result->independent, "free to choose")
      .add("redundant", result->redundant, "redundant")
      .add("singular_here", result->singular_here, "singular where drawn")
      .add("assembled", result->assembled, "assembled")
      .add("constraint_max", result->constraint_max, "largest constraint left", "m²")
      .add("sensor_columns", sensor_columns(*model), "")
      .add("warnings", warnings, "")
      .add_text(bodies_text(*model))
      .add_text(sensors_text(*model));
  for (const std::string& warning : warnings) summary.add_text(fmt::format("  {}\n", warning));
  return outputs->write(summary, nullptr, {});
}

/// "3 revolute, 1 fixed"
std::string joints_text(const std::map<std::string, int>& joints) {
  std::string text;
  for (const auto& [type, count] : joints) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, type);
  return text.empty() ? "none" : text;
}

/// The first few names, and how many more.
std::string few(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() > kMost ? fmt::format("{} and {} more", text, names.size() - kMost) : text;
}

Done Check::run_spatial(const Model& model, Outputs& outputs) {
  const Result<task::SpatialCheckResult> checked = task::spatial_check(model);
  if (!checked) return checked.failure();
  const task::SpatialCheckResult& r = *checked;
  std::vector<std::string> warnings;
  for (const Diagnostic& warning : r.warnings) warnings.push_back(to_string(warning));
  Summary summary("check", common_.model);
  summary.add("links", r.links, "links")
      .add("bodies", r.bodies, "bodies that move")
      .add("joints", r.joints, "")
      .add_text(fmt::format("  joints: {}\n", joints_text(r.joints)))
      .add("mimic_joints", r.mimic, "joints that follow others")
      .add("limited_joints", r.limited, "joints with limits")
      .add("motors", r.motors, "joints with a motor")
      .add("base", r.base, "base")
      .add("mass", r.mass, "mass that moves", "kg")
      .add("joint_freedoms", r.joint_freedoms, "freedoms of the joints")
      .add("loops", r.loops, "loops")
      .add("closure_equations", r.closure_equations, "equations that close them")
      .add("rank", r.rank, "independent of them")
      .add("degrees_of_freedom", r.freedoms, "degrees of freedom")
      .add("independent", r.independent, r.independent.size() > 12 ? "" : "free to choose")
      .add("redundant", r.redundant, "redundant")
      .add("singular_here", r.singular_here, "singular at the start")
      .add("closure_max", r.closure_max, "largest gap left", "m or rad")
      .add("massless", r.massless, "")
      .add("undetermined", r.undetermined, "")
      .add("sensor_columns", sensor_columns(model), "")
      .add("warnings", warnings, "")
      .add_text(sensors_text(model));
  if (!r.massless.empty()) {
    summary.add_text(fmt::format("\n  {} bodies without mass: {}\n", r.massless.size(), few(r.massless)));
  }
  if (!r.undetermined.empty()) {
    summary.add_text(fmt::format("  no mass decides how these joints accelerate: {}\n", few(r.undetermined)));
  }
  for (const std::string& warning : warnings) summary.add_text(fmt::format("  {}\n", warning));
  return outputs.write(summary, nullptr, {});
}

}  // namespace

std::unique_ptr<Verb> make_check() { return std::make_unique<Check>(); }

}  // namespace kinegraph::cli
