#include "kinegraph/task/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <memory>

namespace kinegraph::task {
namespace {

/// A column that drives: what it stands for, and by which factor.
struct Place {
  std::string name;
  Law* law = nullptr;
  double factor = 1;
};

/// What other verbs write of a motion: it does not drive anything, and is passed over.
bool written_by_verbs(const Model& model, const std::string& name) {
  const std::size_t dot = name.find('.'), last = name.rfind('.');
  if (dot == std::string::npos) return false;
  const std::string element = name.substr(0, dot), quantity = name.substr(last);
  const auto one_of = [&](std::initializer_list<const char*> list) {
    return std::any_of(list.begin(), list.end(), [&](const char* q) { return quantity == q; });
  };
  for (const Point& p : model.points) {
    if (p.name == element && one_of({".x", ".y", ".vx", ".vy", ".ax", ".ay", ".fx", ".fy"})) return true;
  }
  for (const RelativeCoordinate& r : model.relative) {
    if (r.name == element && one_of({".q", ".v", ".a"})) return true;
  }
  return false;
}

}  // namespace

Result<Model> with_input(const Model& model, const Trajectory& input, double time) {
  Model driven = model;
  std::vector<Place> places;
  for (Motor& m : driven.motors) {
    places.push_back({m.name + ".tau", &m.torque});
    places.push_back({m.name + ".u", &m.torque, m.gain});
  }
  for (BodyTorque& t : driven.torques) places.push_back({t.name + ".tau", &t.torque});
  for (PointLoad& l : driven.loads) {
    places.push_back({l.name + ".fx", &l.x});
    places.push_back({l.name + ".fy", &l.y});
  }
  std::vector<std::string> valid;
  for (const Place& place : places) valid.push_back(place.name);

  Failure faults{Failure::Kind::bad_input, {}};
  bool drives = false;
  const auto fault = [&](int line, int column, std::string message) {
    faults.diagnostics.push_back({Severity::error, {input.file, line, column}, std::move(message)});
  };
  for (int s = 0; s < input.series(); ++s) {
    const std::string& name = input.names()[s];
    const auto place = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.name == name; });
    if (place == places.end() && written_by_verbs(model, name)) continue;
    if (place == places.end()) {
      const std::string hint = did_you_mean(name, valid);
      fault(input.header_line, s < static_cast<int>(input.columns.size()) ? input.columns[s] : 1,
            valid.empty()
                ? fmt::format("column '{}' drives nothing: the model has no motor, torque or load", name)
                : fmt::format("column '{}' drives nothing; expected {}{}", name, fmt::join(valid, ", "), hint));
      continue;
    }
    drives = true;
    for (const Place& other : places) {
      if (other.law == place->law && other.name < name && input.find(other.name) >= 0) {
        fault(input.header_line, s < static_cast<int>(input.columns.size()) ? input.columns[s] : 1,
              fmt::format("'{}' and '{}' drive the same motor", other.name, name));
      }
    }
    auto recording = std::make_shared<Recording>();
    recording->times = input.times();
    recording->values = input.column(s);
    for (double& value : recording->values) value *= place->factor;
    *place->law = Law(std::shared_ptr<const Recording>(std::move(recording)));
  }
  if (!drives && faults.diagnostics.empty()) {
    fault(input.header_line, 1, fmt::format("no column drives anything; expected {}", fmt::join(valid, ", ")));
  }
  if (input.samples() > 0 && input.times().front() > 0) {
    fault(input.lines.empty() ? 0 : input.lines.front(), 1,
          fmt::format("the recording starts at {:g} s, after the simulation's 0 s", input.times().front()));
  }
  if (input.samples() == 0) {
    fault(input.header_line, 1, "no samples");
  } else if (input.times().back() < time * (1 - 1e-9)) {
    fault(input.lines.empty() ? 0 : input.lines.back(), 1,
          fmt::format("the recording ends at {:g} s, before the simulation's {:g} s", input.times().back(), time));
  }
  if (!faults.diagnostics.empty()) return faults;
  return driven;
}

}  // namespace kinegraph::task
