#include "kinegraph/io/sensor_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/findings.hpp"
#include "kinegraph/model/columns.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph {
namespace {

/// A channel of a sensor.
struct Channel {
  int sensor = 0, row = 0;
};

class LogReader {
 public:
  explicit LogReader(const Model& model) : model_(model) {
    for (int i = 0; i < static_cast<int>(model.sensors.size()); ++i) {
      const Sensor& sensor = model.sensors[i];
      for (int k = 0; k < static_cast<int>(sensor.channels.size()); ++k) {
        channels_.emplace(sensor.channels[k].name, Channel{i, k});
        names_.push_back(sensor.channels[k].name);
      }
    }
    for (std::string& column : motion_columns(model)) motion_.insert(std::move(column));
    if (model.spatial()) return;
    const Result<Robot> robot = robot_of(model, PlanarForces::kept);  // columns of --formulation screw
    if (!robot) return;
    for (std::string& column : motion_columns(*robot)) motion_.insert(std::move(column));
  }

  CsvOptions options(const Progress& progress = {}) {
    CsvOptions options;
    options.progress = progress;
    options.equal_times = true;
    options.may_be_empty = [](const std::string&) { return true; };
    options.judge = [this](const std::string& column, const Location& where) { return judge(column, where); };
    return options;
  }

  void add(const std::string& name, const Result<Trajectory>& table) {
    log_.files.push_back(name);
    if (!table) {
      for (const Diagnostic& fault : table.failure().diagnostics) findings_.error(fault.where, fault.message);
      return;
    }
    if (table->series() == 0) {
      return findings_.error({table->file, table->header_line, 1},
                             fmt::format("no column of a sensor; expected some of {}", few(names_)));
    }
    log_.files.back() = table->file;
    missing_columns(*table);
    readings(*table);
  }

  Result<SensorLog> finish() {
    std::stable_sort(log_.readings.begin(), log_.readings.end(),
                     [](const SensorReading& a, const SensorReading& b) { return a.t < b.t; });
    duplicates();
    if (!findings_.failed() && log_.readings.empty() && !log_.files.empty()) {
      findings_.error({log_.files.front(), 0, 0}, "no readings: all fields are empty");
    }
    if (findings_.failed()) return findings_.failure();
    log_.warnings = findings_.warnings();
    return std::move(log_);
  }

 private:
  static std::string few(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 6;
    const std::size_t shown = std::min(names.size(), kMost);
    return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                       names.size() > kMost ? ", …" : "");
  }

  ColumnUse judge(const std::string& column, const Location& where) {
    if (channels_.contains(column)) return {};
    if (motion_.contains(column)) {
      findings_.warning("column", where, fmt::format("column {} is no reading of a sensor: not used", quote(column)),
                        quote(column));
      return {ColumnUse::What::leave_out, ""};
    }
    return {ColumnUse::What::refuse, unknown(column)};
  }

  /// "gyro.w [deg/s]", "gyro.w(deg/s)": a unit that nobody would convert.
  std::string unknown(const std::string& column) const {
    std::string name = column.substr(0, column.find_first_of(" \t[(/"));
    if (const auto channel = channels_.find(name); channel != channels_.end()) {
      const Channel& c = channel->second;
      return fmt::format("column {}: units are not converted; expected '{}' in {}", quote(column), name,
                         model_.sensors[c.sensor].channels[c.row].unit);
    }
    if (name.empty()) return fmt::format("column {}: units are not converted; expected SI units", quote(column));
    std::string guess = did_you_mean(column, names_);
    if (guess.empty()) guess = "; expected some of " + few(names_);
    return "unknown sensor column " + quote(column) + guess;
  }

  void missing_columns(const Trajectory& table) {
    for (const Sensor& sensor : model_.sensors) {
      int present = -1;
      std::vector<std::string> absent;
      for (const SensorChannel& channel : sensor.channels) {
        const int series = table.find(channel.name);
        if (series < 0) absent.push_back(quote(channel.name));
        if (present < 0) present = series;
      }
      if (present < 0 || absent.empty()) continue;
      findings_.error({table.file, table.header_line, table.columns[present]},
                      fmt::format("sensor {}: missing column{} {}", quote(sensor.name), absent.size() > 1 ? "s" : "",
                                  fmt::join(absent, ", ")));
    }
  }

  void readings(const Trajectory& table) {
    std::map<int, std::vector<std::pair<int, int>>> columns;  // per sensor: series and row
    for (int s = 0; s < table.series(); ++s) {
      const Channel& channel = channels_.at(table.names()[s]);
      columns[channel.sensor].emplace_back(s, channel.row);
    }
    for (int i = 0; i < table.samples(); ++i) {
      for (const auto& [sensor, parts] : columns) {
        SensorReading reading;
        reading.y.fill(std::numeric_limits<double>::quiet_NaN());
        bool given = false;
        for (const auto& [series, row] : parts) {
          reading.y[row] = table.at(i, series);
          given = given || !std::isnan(reading.y[row]);
        }
        if (!given) continue;
        reading.arrived = table.times()[i];
        reading.t = reading.arrived - model_.sensors[sensor].delay;
        reading.sensor = sensor;
        reading.file = static_cast<int>(log_.files.size()) - 1;
        reading.line = table.lines[i];
        log_.readings.push_back(reading);
      }
    }
  }

  /// Readings of one sensor have one delay, so those of one time are neighbours but for other sensors'.
  void duplicates() {
    std::unordered_map<int, const SensorReading*> last;  // per sensor
    for (const SensorReading& reading : log_.readings) {
      const SensorReading*& before = last[reading.sensor];
      if (before && before->arrived == reading.arrived) {
        const std::string& file = log_.files[before->file];
        findings_.error(log_.where(reading),
                        fmt::format("second reading of sensor {} at t = {}; the first is in line {}{}",
                                    quote(model_.sensors[reading.sensor].name), reading.arrived, before->line,
                                    before->file == reading.file ? "" : " of " + quote(file)));
      } else {
        before = &reading;
      }
    }
  }

  const Model& model_;
  io::Findings findings_;
  std::unordered_map<std::string, Channel> channels_;
  std::vector<std::string> names_;          // of the channels
  std::unordered_set<std::string> motion_;  // columns of the machine's motion
  SensorLog log_;
};

Result<std::monostate> has_sensors(const Model& model) {
  if (!model.sensors.empty()) return std::monostate{};
  return Failure::bad_input({model.file, 0, 0}, "the model has no sensors");
}

}  // namespace

Result<SensorLog> read_sensor_log(const std::vector<std::string>& paths, const Model& model, const Progress& progress,
                                  const ReadTable& read) {
  if (const auto sound = has_sensors(model); !sound) return sound.failure();
  if (paths.empty()) return Failure::bad_input("no log of readings is given");
  LogReader reader(model);
  for (const std::string& path : paths) {
    const Result<Trajectory> table = read(path, reader.options(progress));
    if (!table && table.failure().kind == Failure::Kind::interrupted) return table.failure();
    reader.add(path, table);
  }
  return reader.finish();
}

Result<SensorLog> parse_sensor_log(const std::string& text, const std::string& name, const Model& model) {
  if (const auto sound = has_sensors(model); !sound) return sound.failure();
  LogReader reader(model);
  reader.add(name, parse_csv(text, name, reader.options()));
  return reader.finish();
}

}  // namespace kinegraph
