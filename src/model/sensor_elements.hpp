#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kinegraph/model/quantities.hpp"
#include "kinegraph/model/source.hpp"

namespace kinegraph {

/// What the sensors, disturbances and unknown forces of planar files and of robots have in common: names, types, keys
/// and numbers. Where they sit is the caller's matter. Faults are collected; one mistake is reported once.
class SensorElements {
 public:
  SensorElements(Quantities& quantities, std::vector<Diagnostic>& diagnostics, bool spatial)
      : quantities_(quantities), diagnostics_(diagnostics), spatial_(spatial) {}

  /// Before the sensors: how many. They must stay where they are until finish().
  void expect(std::size_t sensors);
  /// The type of a sensor, its name (`named_after`: of an encoder without one) and which keys it has. False if the type
  /// is not known.
  bool start(Sensor& sensor, const ElementSource& element, const std::string& named_after);
  /// Its numbers, and its channels but for their errors: these come with finish().
  void numbers(int index, Sensor& sensor, const ElementSource& element, bool slides);
  void finish(std::vector<Sensor>& sensors) const;

  /// `name` and `place` are set by then.
  void numbers(Disturbance& disturbance, const ElementSource& element);
  void numbers(UnknownForce& unknown, const ElementSource& element);
  std::string unknown_name(const ElementSource& element, std::size_t index);

  /// The text of a key that this sensor must have; null if it is missing (reported) or faulty.
  const Text* required(const Sensor& sensor, const ElementSource& element, std::string_view key);
  /// The number of a key, called `name` by the user; `scope`: whose local names its formula may use.
  void number(const std::string& name, const ElementSource& element, std::string_view key, double* target,
              double fallback = 0, int scope = -1);
  /// "at: [x, y]": numbers called `name`_x, …; zeros if it is not given.
  void vector(const std::string& name, const ElementSource& element, std::string_view key, double* target, int size,
              int scope = -1);

  void error(const Location& where, std::string message) {
    diagnostics_.push_back({Severity::error, where, std::move(message)});
  }

 private:
  using Errors = std::array<double, kErrorKeys.size()>;
  enum class Group { sensors, unknowns };

  void check_keys(const Sensor& sensor, const ElementSource& element);
  std::string name_of(const ElementSource& element, const std::string& fallback, Group group);

  Quantities& quantities_;
  std::vector<Diagnostic>& diagnostics_;
  bool spatial_;
  std::set<std::pair<Group, std::string>> used_names_;
  std::map<SensorType, int> counts_;
  std::vector<std::array<Errors, 2>> errors_;  // per sensor; the second: of an imu's accelerations
};

}  // namespace kinegraph
