#include "kinegraph/task/hybrid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/task/spatial_solver.hpp"

namespace kinegraph::task {
namespace {

using build::Given;
using screw::Coordinate;

constexpr std::size_t kMostFaults = 20;

/// Reads, per sample, what is known of each joint.
class KnownReader {
 public:
  KnownReader(const screw::Tree& tree, const Trajectory& table, const SpatialColumns& columns)
      : tree_(tree), table_(table), columns_(columns), given_(tree.coordinates().size(), Given::torque) {
    marked_ = std::any_of(tree.coordinates().begin(), tree.coordinates().end(),
                          [](const Coordinate& c) { return c.in_loop && c.passive && c.joint >= 0; });
  }

  /// Fills a and tau, zero where they are not known. Faults are kept.
  const std::vector<Given>& read(int sample, Eigen::VectorXd& a, Eigen::VectorXd& tau) {
    std::map<int, int> missing;  // per set of loops that hang together: asked for twice, less given twice
    std::map<int, const Coordinate*> open;
    for (std::size_t c = 0; c < given_.size(); ++c) {
      const Coordinate& coordinate = tree_.coordinates()[c];
      const int accelerations = take(sample, columns_.a, coordinate, a);
      const int torques = take(sample, columns_.tau, coordinate, tau);
      if (partial(accelerations, coordinate) || partial(torques, coordinate)) {
        fault(sample, coordinate, "a part of its numbers is given: give all of them or none");
        continue;
      }
      given_[c] = decide(coordinate, accelerations > 0, torques > 0);
      if (!coordinate.in_loop && given_[c] == Given::both) {
        fault(sample, coordinate, "acceleration and torque are both given: leave one of them empty");
      } else if (!coordinate.in_loop && given_[c] == Given::neither) {
        fault(sample, coordinate, "neither acceleration nor torque is given");
      }
      if (!coordinate.in_loop) continue;
      if (given_[c] == Given::both) missing[coordinate.loop_set] -= coordinate.freedoms;
      if (given_[c] != Given::neither) continue;
      missing[coordinate.loop_set] += coordinate.freedoms;
      open.emplace(coordinate.loop_set, &coordinate);
    }
    for (const auto& [set, count] : missing) {
      if (count > 0) fault(sample, *open.at(set), "neither acceleration nor torque is given");
    }
    return given_;
  }

  bool enough() const { return faults_.diagnostics.size() >= kMostFaults; }
  const Failure* faults() const { return faults_.diagnostics.empty() ? nullptr : &faults_; }

 private:
  static bool partial(int found, const Coordinate& c) { return found != 0 && found != c.freedoms; }

  /// How many numbers of a joint are there.
  int take(int sample, const std::vector<int>& series, const Coordinate& c, Eigen::VectorXd& values) const {
    int found = 0;
    for (int i = c.v; i < c.v + c.freedoms; ++i) {
      const double value = series[i] < 0 ? std::nan("") : table_.at(sample, series[i]);
      found += std::isfinite(value);
      values[i] = std::isfinite(value) ? value : 0;
    }
    return found;
  }

  Given decide(const Coordinate& c, bool acceleration, bool torque) const {
    if (acceleration) return torque ? Given::both : Given::acceleration;
    if (torque) return Given::torque;
    const bool column = columns_.a[c.v] >= 0 || columns_.tau[c.v] >= 0;
    return c.passive || (c.in_loop && !marked_ && !column) ? Given::torque : Given::neither;
  }

  void fault(int sample, const Coordinate& c, const char* message) {
    faults_.diagnostics.push_back(
        {Severity::error, row_of(table_, sample), fmt::format("joint '{}': {}", c.name, message)});
  }

  const screw::Tree& tree_;
  const Trajectory& table_;
  const SpatialColumns& columns_;
  std::vector<Given> given_;
  bool marked_ = false;
  Failure faults_{Failure::Kind::bad_input, {}};
};

}  // namespace

bool may_be_unknown(const std::string& column) {
  static const std::vector<std::string> quantities{"a",  "a1", "a2", "alx", "aly", "alz", "ax",  "ay",   "az",
                                                   "mx", "my", "mz", "fx",  "fy",  "fz",  "tau", "tau1", "tau2"};
  const std::size_t dot = column.rfind('.');
  if (dot == std::string::npos || column.substr(0, dot).ends_with(".load")) return false;
  return std::find(quantities.begin(), quantities.end(), column.substr(dot + 1)) != quantities.end();
}

Result<HybridResult> hybrid(const Model& model, const Trajectory& table, const HybridOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  if (auto known = screw_friction(model.robot); !known) return known.failure();
  const auto start = make_spatial_start(model);
  if (!start) return start.failure();
  const screw::Tree& tree = *start->tree;
  const auto columns = find_spatial_columns(tree, table, model.points);
  if (!columns) return columns.failure();
  auto motion = SpatialMotion::make(*start, table, *columns, {false, options.noise});
  if (!motion) return motion.failure();

  KnownReader reader(tree, table, *columns);
  Eigen::VectorXd a(tree.freedoms()), tau(tree.freedoms());
  for (int k = 0; k < table.samples() && !reader.enough(); ++k) reader.read(k, a, tau);
  if (reader.faults()) return *reader.faults();

  SpatialSolver solver(start->tree, options.ordering, options.planar_loops);
  SpatialRecord record(start->tree, options.reactions, table.samples());
  std::vector<char> asked(tree.coordinates().size(), 0);
  for (int k = 0; k < table.samples(); ++k) {
    const std::vector<Given>& given = reader.read(k, a, tau);
    const auto dynamics = solver.plan(given);
    if (!dynamics) return dynamics.failure();
    if (auto done = motion->go_to(k); !done) return done.failure();
    const auto outcome = solver.solve(**dynamics, *motion, table.times()[k], a, tau);
    if (!outcome) return outcome.failure();
    record.add(table.times()[k], *motion, a, tau, **dynamics, *outcome);
    for (std::size_t c = 0; c < given.size(); ++c) {
      if (given[c] == Given::acceleration || given[c] == Given::neither) asked[c] = 1;
    }
    if (options.progress && !options.progress(double(k) / table.samples())) {
      return Failure::interrupted();
    }
  }

  HybridResult result{record.take(), record.summary(*motion), solver.plans()};
  for (std::size_t c = 0; c < asked.size(); ++c) {
    if (asked[c]) result.summary.actuators.push_back(tree.coordinates()[c].name);
  }
  result.summary.degrees_of_freedom = start->mobility.freedoms;
  result.summary.ordering = options.ordering.empty() ? "best" : options.ordering;
  result.summary.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.summary.sample_us = result.summary.wall_s / table.samples() * 1e6;
  return result;
}

}  // namespace kinegraph::task
