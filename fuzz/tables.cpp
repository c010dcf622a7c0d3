/// The readers of tables, logs, settings and meshes.
#include <cmath>

#include "fuzz/targets.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/mesh_file.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/sensor_log.hpp"
#include "kinegraph/io/settings_file.hpp"

namespace kinegraph::fuzz {
namespace {

constexpr char kFourbar[] = R"(points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: P1, x: 1, y: 0}
  - {name: P2, x: 1, y: 2}
  - {name: D, x: 4, y: 0, fixed: true}
planar_bodies:
  - {name: crank, points: [A, P1], length: 1, mass: 1}
  - {name: coupler, points: [P1, P2], length: 2, mass: 2}
  - {name: rocker, points: [P2, D], length: sqrt(13), mass: 4}
relative_coordinates: [{name: theta, type: absolute_angle, points: [A, P1]}]
sensors:
  - {name: gyro, type: gyroscope, body: coupler, rate: 100, noise: 0.01}
  - {name: turn, type: encoder, coordinate: theta, rate: 50, noise: 0.1, delay: 0.02}
)";

const Model& fourbar() {
  static const Model model = [] {
    Result<Model> read = parse_planar_yaml(kFourbar, "fourbar.yaml");
    if (!read) fputs(read.failure().to_string().c_str(), stderr);
    check(bool(read), "the mechanism of the logs can be read");
    return *std::move(read);
  }();
  return model;
}

void check_table(const Result<Trajectory>& table, bool gaps, bool may_stand) {
  if (!table) return check_refusal(table.failure());
  for (int i = 0; i < table->samples(); ++i) {
    check(std::isfinite(table->times()[i]), "times are finite");
    const double step = i > 0 ? table->times()[i] - table->times()[i - 1] : 1;
    check(may_stand ? step >= 0 : step > 0, "times increase");
    for (int k = 0; k < table->series(); ++k) {
      const double value = table->at(i, k);
      check(std::isfinite(value) || (gaps && std::isnan(value)), "values are finite, or gaps");
    }
  }
  for (const double resolution : table->resolution) check(resolution >= 0, "printed digits have a size");
}

}  // namespace

void read_table(const std::string& text) {
  check_table(parse_csv(text, "table.csv"), false, false);
  CsvOptions options;
  options.columns = {"t", "a", "-", "b"};
  options.may_be_empty = [](const std::string&) { return true; };
  options.equal_times = true;
  check_table(parse_csv(text, "table.csv", options), true, true);
}

void read_log(const std::string& text) {
  const Result<SensorLog> log = parse_sensor_log(text, "log.csv", fourbar());
  if (!log) return check_refusal(log.failure());
  check_diagnostics(log->warnings);
  double last = -HUGE_VAL;
  for (const SensorReading& reading : log->readings) {
    check(reading.t >= last && std::isfinite(reading.t), "readings are in the order of time");
    check(reading.sensor >= 0 && reading.sensor < static_cast<int>(fourbar().sensors.size()), "readings have a sensor");
    last = reading.t;
  }
}

void read_settings(const std::string& text) {
  const Result<std::vector<FileSetting>> settings = parse_settings(text, "fitted.set");
  if (!settings) return check_refusal(settings.failure());
  for (const FileSetting& setting : *settings) check(std::isfinite(setting.value), "settings are finite");
}

void read_mesh(const std::string& text) {
  for (const std::vector<float>& corners : {io::parse_stl(text), io::parse_obj(text)}) {
    check(corners.size() % 9 == 0, "a mesh is made of triangles");
    for (const float c : corners) check(std::isfinite(c), "corners are finite");
  }
}

}  // namespace kinegraph::fuzz
