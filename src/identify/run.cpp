#include "kinegraph/identify/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/numbers.hpp"
#include "kinegraph/identify/run_inputs.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/mechanics/sensor/screw_places.hpp"
#include "kinegraph/model/columns.hpp"
#include "kinegraph/model/joint_names.hpp"

namespace kinegraph::identify {
namespace {

constexpr double kDefaultNoise = 1e-3;
constexpr double kSameTime = 1e-6;  // of a step: readings so near to a knot are at it
constexpr int kFewestSteps = 3;
constexpr double kMostBytes = 4e9;  // of a search, all recordings together

bool slides(JointType type, int freedom) {
  return type == JointType::prismatic || (type == JointType::cylindrical && freedom == 1) ||
         (type == JointType::planar && freedom < 2);
}

/// A channel of a sensor.
struct Channel {
  int sensor = 0, row = 0;
};

class RunReader {
 public:
  RunReader(const Model& model, const maximal::Mechanism& mechanism, const RunOptions& options)
      : mechanism_(mechanism), options_(options), inputs_(model, mechanism) {
    found_.model = model;
    for (int i = 0; i < static_cast<int>(model.sensors.size()); ++i) add_channels(i);
    list_joint_columns();
    for (std::string& column : motion_columns(model)) motion_.insert(std::move(column));
    for (std::string& column : motion_columns(mechanism.tree().robot())) motion_.insert(std::move(column));
    for (const ControlLaw& law : options.controllers) {
      if (!law.added.empty()) controller_columns_.insert(law.added);
      for (const ControlLaw::Term& term : law.terms) {
        if (!term.target.empty()) controller_columns_.insert(term.target);
      }
    }
  }

  Result<Recordings> run(const std::vector<Trajectory>& tables) {
    if (!(options_.step > 0) || !std::isfinite(options_.step)) {
      error({}, fmt::format("the step between knots must be above 0, is {:.6g} s", options_.step));
    }
    if (tables.empty()) error({}, "no recording is given");
    for (const Trajectory& table : tables) columns(table);
    for (const Trajectory& table : tables) check_controllers(table);
    if (faults_.empty()) {
      for (const Trajectory& table : tables) add(table);
    }
    if (!faults_.empty()) return Failure{Failure::Kind::bad_input, std::move(faults_)};
    return std::move(found_);
  }

 private:
  // ---- columns ----------------------------------------------------------------------------------------------

  void add_channels(int sensor) {
    const Sensor& it = found_.model.sensors[sensor];
    for (int k = 0; k < static_cast<int>(it.channels.size()); ++k) {
      channels_.emplace(it.channels[k].name, Channel{sensor, k});
    }
  }

  /// Positions and rates that an encoder or a tachometer could read, though the model has none.
  void list_joint_columns() {
    const Model& model = found_.model;
    if (!model.spatial()) {
      for (int i = 0; i < static_cast<int>(model.relative.size()); ++i) {
        const RelativeCoordinate& r = model.relative[i];
        const bool slide = r.type == RelativeCoordinate::Type::relative_position;
        could_add(r.name + ".q", SensorType::encoder, r.name, i, 0, slide);
        could_add(r.name + ".v", SensorType::tachometer, r.name, i, 0, slide);
      }
      return;
    }
    for (int i = 0; i < static_cast<int>(model.robot.joints.size()); ++i) {
      const kinegraph::Joint& joint = model.robot.joints[i];
      const auto positions = position_names(joint.name, joint.type), rates = velocity_names(joint.name, joint.type);
      const bool quaternion = positions.size() != rates.size();
      for (int f = 0; f < static_cast<int>(rates.size()); ++f) {
        const std::string name = rates.size() > 1 ? fmt::format("{}_{}", joint.name, f + 1) : joint.name;
        if (!quaternion) could_add(positions[f], SensorType::encoder, name, i, f, slides(joint.type, f));
        could_add(rates[f], SensorType::tachometer, name, i, f, slides(joint.type, f));
      }
    }
  }

  void could_add(const std::string& column, SensorType type, const std::string& name, int coordinate, int freedom,
                 bool slide) {
    Sensor sensor;
    const bool position = type == SensorType::encoder;
    sensor.name = position ? name : name + "_rate";
    sensor.type = type;
    sensor.coordinate = coordinate;
    sensor.freedom = freedom;
    SensorChannel channel;
    channel.name = column;
    channel.unit = slide ? "m" : "rad";
    if (!position) channel.unit += "/s";
    channel.circular = position && !slide;
    channel.noise = options_.noise > 0 ? options_.noise : kDefaultNoise;
    sensor.channels.push_back(channel);
    possible_.emplace(column, std::move(sensor));
  }

  void columns(const Trajectory& table) {
    int readings = 0;
    for (int s = 0; s < table.series(); ++s) {
      const std::string& name = table.names()[s];
      const Location where{table.file, table.header_line,
                           s < static_cast<int>(table.columns.size()) ? table.columns[s] : 0};
      if (const auto channel = channels_.find(name); channel != channels_.end()) {
        const SensorType type = found_.model.sensors[channel->second.sensor].type;
        if (type == SensorType::torque || type == SensorType::load_cell) {
          found_.warnings.push_back(
              {Severity::warning, where, fmt::format("column {}: forces and torques are not fitted yet", quote(name))});
        } else {
          ++readings;
        }
      } else if (inputs_.takes(name) || controller_columns_.contains(name)) {
        continue;
      } else if (const auto possible = possible_.find(name); possible != possible_.end()) {
        add_sensor(possible->second);
        ++readings;
      } else if (motion_.contains(name)) {
        found_.warnings.push_back({Severity::warning, where,
                                   fmt::format("column {} is neither a reading nor an input: not used", quote(name))});
      } else {
        error(where, unknown(name));
      }
    }
    if (readings == 0) {
      error({table.file, table.header_line, 0},
            fmt::format("no column is a reading of a sensor or joint; expected some of {}", few()));
    }
  }

  /// A controller's command drives a motor, its readings are read, and the table has all of its columns.
  void check_controllers(const Trajectory& table) {
    for (const ControlLaw& law : options_.controllers) {
      const auto need = [&](const std::string& column) {
        if (column.empty() || table.find(column) >= 0) return true;
        error({table.file, table.header_line, 0},
              fmt::format("controller of {}: there is no column {}{}", quote(law.command), quote(column),
                          did_you_mean(column, table.names())));
        return false;
      };
      if (need(law.command) && !inputs_.motor(law.command)) {
        error({table.file, table.header_line, 0},
              fmt::format("controller of {}: that is no torque or command of a motor", quote(law.command)));
      }
      need(law.added);
      for (const ControlLaw::Term& term : law.terms) {
        need(term.target);
        if (need(term.reading) && !channels_.contains(term.reading)) {
          error({table.file, table.header_line, 0},
                fmt::format("controller of {}: column {} is no reading", quote(law.command), quote(term.reading)));
        }
      }
    }
  }

  void add_sensor(Sensor sensor) {
    std::vector<Sensor>& all = found_.model.sensors;
    const auto taken = [&] {
      return std::any_of(all.begin(), all.end(), [&](const Sensor& other) { return other.name == sensor.name; });
    };
    while (taken()) sensor.name += "_";
    all.push_back(std::move(sensor));
    add_channels(static_cast<int>(all.size()) - 1);
  }

  std::vector<std::string> known() const {
    std::vector<std::string> names;
    for (const auto& [name, channel] : channels_) names.push_back(name);
    for (const auto& [name, sensor] : possible_) names.push_back(name);
    names.insert(names.end(), inputs_.columns().begin(), inputs_.columns().end());
    return names;
  }

  std::string few() const {
    constexpr std::size_t kMost = 6;
    std::vector<std::string> names;
    for (const auto& [name, channel] : channels_) names.push_back(name);
    for (const auto& [name, sensor] : possible_) names.push_back(name);
    const bool more = names.size() > kMost;
    names.resize(std::min(names.size(), kMost));
    return fmt::format("{}{}", fmt::join(names, ", "), more ? ", …" : "");
  }

  /// "theta.q [deg]": a unit that nobody would convert.
  std::string unknown(const std::string& column) const {
    const std::vector<std::string> names = known();
    const std::string bare = column.substr(0, column.find_first_of(" \t[(/"));
    if (bare != column && std::find(names.begin(), names.end(), bare) != names.end()) {
      return fmt::format("column {}: units are not converted; expected '{}' in SI units", quote(column), bare);
    }
    std::string guess = did_you_mean(column, names);
    if (guess.empty()) guess = "; expected some of " + few();
    return fmt::format("column {} is neither a reading nor an input{}", quote(column), guess);
  }

  // ---- readings ---------------------------------------------------------------------------------------------

  /// About what a search takes per step: normal equations and rows on three knots, motions, inputs.
  double step_bytes() const {
    constexpr double kParameters = 10, kCopies = 3, kMotions = 500;
    const double n = mechanism_.tangent();
    return n * (kCopies * (3 * n + kParameters + 1) * sizeof(double) + kMotions);
  }

  void add(const Trajectory& table) {
    const auto line = [&](int i) { return i < static_cast<int>(table.lines.size()) ? table.lines[i] : 0; };
    for (int i = 1; i < table.samples(); ++i) {
      if (table.times()[i] >= table.times()[i - 1]) continue;
      return error({table.file, line(i), 1},
                   fmt::format("time goes backwards: {:.9g} after {:.9g}", table.times()[i], table.times()[i - 1]));
    }
    Run run;
    run.file = table.file;
    read(table, run);
    if (run.readings.empty()) {
      return error({table.file, 0, 0}, fmt::format("no readings between {:g} and {:g} s", options_.from, options_.to));
    }
    const double first = run.readings.front().t, last = run.readings.back().t;
    const double steps = std::floor((last - first) / options_.step + kSameTime);
    if (!(steps >= kFewestSteps)) {
      return error({table.file, 0, 0}, fmt::format("the readings cover {:.6g} s: fewer than {} steps of {:.6g} s",
                                                   last - first, kFewestSteps, options_.step));
    }
    steps_ += steps;
    if (const double bytes = steps_ * step_bytes(); bytes > kMostBytes) {
      return error(
          {table.file, 0, 0},
          fmt::format("the motion must take at most {:g} GB of memory, takes {:.3g} GB in {:.3g} steps; choose a "
                      "longer --step, or less of the recordings (--from, --to)",
                      kMostBytes * 1e-9, bytes * 1e-9, steps_));
    }
    for (int k = 0; k <= static_cast<int>(steps); ++k) run.times.push_back(first + k * options_.step);
    place(run);
    check_inputs(table, run);
    run.input = inputs_.over(table, run.times, options_.held);
    std::vector<std::string> commands;
    for (const ControlLaw& law : options_.controllers) {
      run.control.push_back(control_record(law, table));
      commands.push_back(law.command);
    }
    if (!commands.empty()) {
      const std::vector<step::StepInput> rest = inputs_.over(table, run.times, options_.held, commands);
      for (ControlRecord& record : run.control) {
        for (const step::StepInput& input : rest) {
          record.rest.push_back((record.control ? input.control : input.torque)[record.freedom]);
        }
      }
    }
    add_references(run);
    found_.runs.push_back(std::move(run));
  }

  void read(const Trajectory& table, Run& run) const {
    std::map<int, std::vector<std::pair<int, int>>> parts;  // per sensor: series and row
    for (int s = 0; s < table.series(); ++s) {
      const auto channel = channels_.find(table.names()[s]);
      if (channel != channels_.end()) parts[channel->second.sensor].emplace_back(s, channel->second.row);
    }
    for (int i = 0; i < table.samples(); ++i) {
      for (const auto& [sensor, series] : parts) {
        Reading reading;
        reading.y.fill(std::numeric_limits<double>::quiet_NaN());
        bool given = false;
        for (const auto& [column, row] : series) {
          reading.y[row] = table.at(i, column);
          given = given || !std::isnan(reading.y[row]);
        }
        reading.t = table.times()[i] - found_.model.sensors[sensor].delay;
        if (!given || reading.t < options_.from || reading.t > options_.to) continue;
        reading.sensor = sensor;
        reading.line = i < static_cast<int>(table.lines.size()) ? table.lines[i] : 0;
        run.readings.push_back(reading);
      }
    }
    std::stable_sort(run.readings.begin(), run.readings.end(),
                     [](const Reading& a, const Reading& b) { return a.t < b.t; });
    unwrap(run);
  }

  /// Inputs are held beyond their first and last numbers: of a motor that is off before or after, that would be wrong.
  void check_inputs(const Trajectory& table, const Run& run) {
    constexpr double kMostSteps = 10, kMostIntervals = 2;
    for (int s = 0; s < table.series(); ++s) {
      if (!inputs_.takes(table.names()[s])) continue;
      std::vector<int> rows;
      for (int i = 0; i < table.samples(); ++i) {
        if (!std::isnan(table.at(i, s))) rows.push_back(i);
      }
      const Location where{table.file, table.header_line,
                           s < static_cast<int>(table.columns.size()) ? table.columns[s] : 0};
      const auto warn = [&](std::string text) {
        found_.warnings.push_back({Severity::warning, where, std::move(text)});
      };
      if (rows.empty()) {
        warn(fmt::format("column {} has no number: it counts as 0", quote(table.names()[s])));
        continue;
      }
      const auto t = [&](std::size_t i) { return table.times()[rows[i]]; };
      const std::size_t last = rows.size() - 1;
      const double usual = last > 0 ? (t(last) - t(0)) / static_cast<double>(last) : 0;
      const double most = std::max(kMostSteps * options_.step, kMostIntervals * usual);
      const auto held = [&](const char* side, std::size_t i) {
        warn(fmt::format("column {} has no number {} t = {:g} s: {:g} is taken there; write 0 where nothing drives it",
                         quote(table.names()[s]), side, t(i), table.at(rows[i], s)));
      };
      if (t(0) - run.times.front() > most && table.at(rows[0], s) != 0) held("before", 0);
      if (!options_.held && run.times.back() - t(last) > most && table.at(rows[last], s) != 0) held("after", last);
    }
  }

  /// Rows with a command are a controller's ticks: those of the time that is used, and as many before it as the first
  /// of them looks back to.
  ControlRecord control_record(const ControlLaw& law, const Trajectory& table) {
    ControlRecord record;
    const RunInputs::Motor motor = *inputs_.motor(law.command);
    record.freedom = motor.freedom, record.control = motor.control;
    const int command = table.find(law.command);
    std::vector<int> rows, earlier;
    for (int i = 0; i < table.samples(); ++i) {
      const double t = table.times()[i];
      if (std::isnan(table.at(i, command)) || t > options_.to) continue;
      (t < options_.from ? earlier : rows).push_back(i);
    }
    const auto no_number = [&](const std::string& column) {
      error({table.file, table.header_line, 0},
            fmt::format("controller of {}: column {} has no number in the time that is used", quote(law.command),
                        quote(column)));
    };
    if (rows.empty()) {
      no_number(law.command);
      return record;
    }
    record.before = std::min(static_cast<int>(earlier.size()), law.order + 1);
    rows.insert(rows.begin(), earlier.end() - record.before, earlier.end());
    for (const int i : rows) record.t.push_back(table.times()[i]);
    const auto values = [&](const std::string& column, double turn) {
      std::vector<double> all(rows.size(), 0.0);
      if (column.empty()) return all;
      const int series = table.find(column);
      double last = std::numeric_limits<double>::quiet_NaN();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        double value = table.at(rows[i], series);
        if (turn > 0 && !std::isnan(last)) value -= turn * std::round((value - last) / turn);
        all[i] = last = std::isnan(value) ? last : value;
      }
      const auto first = std::find_if(all.begin(), all.end(), [](double x) { return !std::isnan(x); });
      if (first == all.end()) {
        no_number(column);
        return all;
      }
      std::fill(all.begin(), first, *first);
      return all;
    };
    record.u = values(law.command, 0);
    record.added = values(law.added, 0);
    for (const ControlLaw::Term& term : law.terms) {
      const Channel& place = channels_.at(term.reading);
      const Sensor& sensor = found_.model.sensors[place.sensor];
      const SensorChannel& channel = sensor.channels[place.row];
      const double turn = channel.circular ? kTurn * std::abs(channel.scale) : 0;
      record.terms.push_back(
          {place.sensor, place.row, sensor.delay, turn, values(term.reading, turn), values(term.target, 0)});
    }
    return record;
  }

  /// Angles that are read modulo a turn go on from the reading before.
  void unwrap(Run& run) const {
    std::map<std::pair<int, int>, double> last;
    for (Reading& reading : run.readings) {
      const Sensor& sensor = found_.model.sensors[reading.sensor];
      for (int k = 0; k < static_cast<int>(sensor.channels.size()); ++k) {
        if (!sensor.channels[k].circular || std::isnan(reading.y[k])) continue;
        const auto [before, fresh] = last.emplace(std::pair(reading.sensor, k), reading.y[k]);
        const double turn = kTurn * std::abs(sensor.channels[k].scale);
        if (!fresh && turn > 0) reading.y[k] -= turn * std::round((reading.y[k] - before->second) / turn);
        before->second = reading.y[k];
      }
    }
  }

  /// Between which knots each reading is. What is beyond the last is left out.
  void place(Run& run) const {
    const int steps = run.knots() - 1;
    for (Reading& reading : run.readings) {
      const double at = (reading.t - run.times.front()) / options_.step;
      reading.knot = std::clamp(static_cast<int>(std::floor(at + kSameTime)), 0, steps);
      reading.fraction = at - reading.knot;
      if (std::abs(reading.fraction) < kSameTime) reading.fraction = 0;
      if (reading.knot == steps) reading.knot = steps - 1, reading.fraction += 1;
    }
    std::erase_if(run.readings, [](const Reading& reading) { return reading.fraction > 1; });
  }

  /// Where the freedoms are near: as their encoders say, else where the motion starts.
  void add_references(Run& run) const {
    const screw::Tree& tree = mechanism_.tree();
    const Eigen::VectorXd start = tree.start_position();
    const std::vector<sensor::ScrewPlace> places = sensor::screw_places(found_.model, tree);
    for (std::size_t f = 0; f < mechanism_.freedoms().size(); ++f) {
      const maximal::Freedom& freedom = mechanism_.freedoms()[f];
      const auto reads = [&](const sensor::ScrewPlace& place) { return !place.line && place.v == freedom.velocity; };
      double near = freedom.position < 0 ? 0 : start[freedom.position];
      std::size_t next = 0;
      for (int k = 0; k + 1 < run.knots(); ++k) {
        for (; next < run.readings.size() && run.readings[next].t <= run.times[k] + kSameTime * options_.step; ++next) {
          const Reading& reading = run.readings[next];
          const Sensor& sensor = found_.model.sensors[reading.sensor];
          const sensor::ScrewPlace& place = places[reading.sensor];
          if (sensor.type != SensorType::encoder || !reads(place) || std::isnan(reading.y[0])) continue;
          near = ((reading.y[0] - sensor.channels[0].bias) / sensor.channels[0].scale - place.offset) / place.ratio;
        }
        run.input[k].reference[f] = near;
      }
    }
  }

  void error(const Location& where, std::string message) {
    faults_.push_back({Severity::error, where, std::move(message)});
  }

  const maximal::Mechanism& mechanism_;
  const RunOptions options_;
  RunInputs inputs_;
  Recordings found_;
  double steps_ = 0;                         // of all recordings so far
  std::map<std::string, Channel> channels_;  // of sensors, by column
  std::map<std::string, Sensor> possible_;   // sensors that a column may stand for
  std::set<std::string> motion_;             // columns that verbs write of a motion
  std::set<std::string> controller_columns_;
  std::vector<Diagnostic> faults_;
};

}  // namespace

Result<Recordings> read_runs(const Model& model, const maximal::Mechanism& mechanism,
                             const std::vector<Trajectory>& tables, const RunOptions& options) {
  return RunReader(model, mechanism, options).run(tables);
}

void set_references(const maximal::Mechanism& mechanism, const Eigen::VectorXd& numbers,
                    const std::vector<double>& poses, Run& run) {
  Eigen::VectorXd q = mechanism.tree().start_position();
  const auto& freedoms = mechanism.freedoms();
  for (std::size_t f = 0; f < freedoms.size() && !run.input.empty(); ++f) {
    if (freedoms[f].position >= 0) q[freedoms[f].position] = run.input.front().reference[f];
  }
  for (std::size_t k = 0; k < run.input.size(); ++k) {
    coordinates_of(mechanism, numbers, poses.data() + (k + 1) * mechanism.stored(), q.data());
    for (std::size_t f = 0; f < freedoms.size(); ++f) {
      if (freedoms[f].position >= 0) run.input[k].reference[f] = q[freedoms[f].position];
    }
  }
}

}  // namespace kinegraph::identify
