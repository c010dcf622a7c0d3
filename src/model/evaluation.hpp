#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/quantities.hpp"
#include "kinegraph/model/sensor_elements.hpp"
#include "kinegraph/model/source.hpp"

namespace kinegraph {

/// From a ModelSource to a Model. Elements get their names, then references are resolved, then all numbers are
/// evaluated at once into the places where the Model holds them, then the rules are checked. Faults are collected; a
/// reference that fails stays −1 and a number that fails is not a number.
class Evaluation {
 public:
  Evaluation(std::shared_ptr<const ModelSource> source, const Settings& settings, std::vector<Diagnostic> found);

  Result<Model> run();
  Settings values() const { return quantities_.settable_values(); }  ///< after run()

 private:
  /// Names must differ within a group, because "name.quantity" must say which element is meant.
  enum class Group { located, bodies, springs, sliders, drivers, torques };
  using Lookup = std::unordered_map<std::string, int>;

  // evaluation.cpp: names, references, the order of things
  void name_elements();
  std::string element_name(const ElementSource& element, const std::string& fallback, Group group);
  void name_springs(Section section, const std::string& prefix, int first, bool coordinate);
  void check_settings();
  PointIndex point(const Text& text);
  BodyIndex body(const Text& text);
  RelativeIndex relative(const Text& text);
  std::optional<CoordinateRef> coordinate(const std::string& name) const;  ///< "theta", "theta.q", "P1.x"
  /// The points of a list of `least` to `most` of them; empty if the list itself is faulty.
  std::vector<PointIndex> points_of(const ElementSource& element, std::string_view key, std::size_t least,
                                    std::size_t most);
  int find_point(const std::string& name) const;  ///< by name or index, or −1
  template <class List>
  void unknown(const std::string& kind, const Text& text, const List& known) {
    // Beyond some faults a suggestion costs more than it helps.
    std::vector<std::string> names;
    if (diagnostics_.size() < kMostFaults) {
      for (const auto& element : known) names.push_back(element.name);
    }
    error(text.where, "unknown " + kind + " " + quote(text.text) + did_you_mean(text.text, names));
  }
  void error(const Location& where, std::string message);
  void warning(const Location& where, std::string message);
  Result<Model> conclude();

  // evaluation_bodies.cpp: what a mechanism consists of
  void parameters();
  void gravity();
  void points();
  void bodies();
  void body_length(int index, const ElementSource& element);
  void body_mass(int index, const ElementSource& element);
  void body_local_names(int index);
  int distance(const std::string& name, PointIndex a, PointIndex b, double* target, bool settable);
  void finish_bodies();

  // evaluation_elements.cpp: what acts on it
  void relative_coordinates();
  void sliders();
  void drivers();
  void springs(Section section, int first);
  void coordinate_springs(Section section, int first);
  void motors();
  void loads();
  void torques();
  void joint_frictions();
  void initial();
  struct InitialKey {
    CoordinateRef coordinate;
    bool rate = false;
  };
  std::optional<InitialKey> initial_key(const std::string& name, std::string& message) const;
  std::string initial_name(const InitialKey& key) const;  ///< "theta.q", "P1.vx"
  void finish_initial();
  void number(const std::string& name, const ElementSource& element, std::string_view key, double* target,
              double fallback = 0);
  void law(const std::string& name, const ElementSource& element, std::string_view key, Law* target,
           bool with_derivatives = false);

  // evaluation_sensors.cpp: what is measured and what is not known
  void sensors();
  void sensor_place(int index, const ElementSource& element);
  void sensor_motor(Sensor& sensor, const Text& coordinate);
  void sensor_pin(Sensor& sensor, const Text& name);
  void sensor_on_body(int index, const ElementSource& element);
  void mount_on_point_of_body(Sensor::Mount& mount, const Text& name);
  PointIndex mount_on_point(Sensor::Mount& mount, const Text& name);  ///< on any body that has it, or the ground
  void sensor_ends(Sensor& sensor, const ElementSource& element);
  void finish_sensors();
  /// Where a force acts; returns what the place is called.
  std::string force_place(const ElementSource& element, ForcePlace& place);
  void disturbances();
  void unknowns();

  std::shared_ptr<const ModelSource> source_;
  std::vector<Diagnostic> diagnostics_;
  Model model_;
  Quantities quantities_;
  std::set<std::pair<Group, std::string>> used_names_;
  std::set<std::string> other_settable_;  // beside the quantities: gravity, initial values
  Lookup points_by_name_, bodies_by_name_, relative_by_name_;
  std::vector<int> x_, y_;  // quantities of the points
  std::vector<int> mass_, length_;
  std::vector<double> declared_length_;  // of bodies whose shape is as drawn: for a warning
  double gravity_down_ = 0;
  SensorElements sensor_elements_;
  std::vector<double> sensor_angles_;                          // per sensor
  std::vector<std::pair<Sensor::Mount*, PointIndex>> mounts_;  // places given as points
};

/// Letters, digits and '_', not starting with a digit: a name that formulas and column names can hold.
bool is_identifier(std::string_view name);

/// The value of a relative coordinate as its points are drawn: x0, y0, x1, y1, …
double drawn_value(RelativeCoordinate::Type type, std::span<const double> coordinates);

}  // namespace kinegraph
