#include "kinegraph/task/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kinegraph/base/names.hpp"
#include "kinegraph/filter/natural_plant.hpp"
#include "kinegraph/filter/screw_plant.hpp"
#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/model/joint_names.hpp"
#include "kinegraph/task/input.hpp"
#include "kinegraph/task/spatial_columns.hpp"
#include "kinegraph/task/spatial_start.hpp"
#include "kinegraph/task/start.hpp"

namespace kinegraph::task {
namespace {

class MachineMaker {
 public:
  MachineMaker(const Model& model, const MachineSettings& settings) : settings_(settings) { machine_.model = model; }

  Result<Machine> make() {
    const bool spatial = machine_.model.spatial() || settings_.formulation == "screw";
    if (auto put = spatial ? assemble_robot() : assemble_mechanism(); !put) return put.failure();
    if (auto taken = take_forces(); !taken) return taken.failure();
    auto tableau = step::find_tableau(settings_.integrator);
    if (!tableau) return tableau.failure();

    filter::PlantOptions options;
    options.integrator = *tableau;
    options.chart = settings_.chart;
    options.prefer = preferred();
    filter::MachineOptions space;
    for (const Disturbance& d : machine_.disturbances) {
      options.noises.push_back({column_of(d.place), d.kind});
      space.density.push_back(d.density);
    }
    for (const UnknownForce& f : machine_.unknowns) options.forces.push_back(column_of(f.place));
    space.unknowns = machine_.unknowns;
    std::unique_ptr<filter::Plant> plant = make_plant(options);
    if (settings_.friction_span > 0 && dry_friction()) {
      options.friction_speed = friction_speeds(*plant, space.density);
      plant = make_plant(options);
    }
    machine_.space = std::make_unique<filter::MachineSpace>(std::move(plant), machine_.observer, space);
    count_what_is_preferred();
    return std::move(machine_);
  }

 private:
  Result<std::monostate> assemble_mechanism() {
    if (settings_.input) {
      auto driven = with_input(machine_.model, *settings_.input, settings_.time);
      if (!driven) return driven.failure();
      machine_.model = *std::move(driven);
    }
    if (auto known = natural_friction(machine_.model); !known) return known.failure();
    auto start = make_start(machine_.model);
    if (!start) return start.failure();
    mobility_ = start->mobility;
    machine_.system = start->system;
    machine_.q = start->q;
    machine_.v = start->v;
    machine_.independent = start->mobility.independent;
    for (int i = 0; i < machine_.system->coordinates(); ++i) {
      machine_.columns.push_back(machine_.system->coordinate_name(i));
    }
    machine_.observer = sensor::make_observer(machine_.model, machine_.system);
    return std::monostate{};
  }

  Result<std::monostate> assemble_robot() {
    if (auto known = screw_friction(machine_.model.robot); !known) return known.failure();
    auto start = make_spatial_start(machine_.model);
    if (!start) return start.failure();
    auto drive = SpatialDrive::make(machine_.model, *start->tree, settings_.input, settings_.time);
    if (!drive) return drive.failure();
    if (drive->has_loads()) {
      return Failure::bad_input(header_of(*settings_.input),
                                "loads on links cannot drive a robot with sensors; give torques of joints");
    }
    machine_.tree = start->tree;
    machine_.drive = std::make_shared<SpatialDrive>(*std::move(drive));
    machine_.q = start->q;
    machine_.v = start->v;
    machine_.independent = start->mobility.independent;
    freedoms_ = start->mobility.freedoms;
    for (const screw::Coordinate& c : machine_.tree->coordinates()) {
      for (std::string& name : freedom_names(c.name, c.type)) machine_.columns.push_back(std::move(name));
    }
    machine_.observer = sensor::make_observer(machine_.model, machine_.tree);
    return std::monostate{};
  }

  /// The number of v of a place; −1: there is none (a point that is fixed).
  int column_of(const ForcePlace& place) const {
    if (machine_.system) {
      return machine_.system->index_of({static_cast<CoordinateRef::What>(place.what), place.index});
    }
    for (const screw::Coordinate& c : machine_.tree->coordinates()) {
      if (place.what >= 0) {  // a planar model as a robot: its angles are joints by their names
        if (place.what == static_cast<int>(CoordinateRef::What::relative) &&
            c.name == machine_.model.relative[place.index].name) {
          return c.v;
        }
      } else if (c.joint == place.index) {
        return c.v + place.freedom;
      }
    }
    return -1;
  }

  /// The place of a coordinate or joint by its name.
  Result<ForcePlace> place_of(const std::string& option, const std::string& name) const {
    const auto found = std::find(machine_.columns.begin(), machine_.columns.end(), name);
    if (found == machine_.columns.end()) {
      return Failure::bad_input(fmt::format("{}: {} is no coordinate that can move{}", option, quote(name),
                                            did_you_mean(name, machine_.columns)));
    }
    const int column = static_cast<int>(found - machine_.columns.begin());
    if (machine_.system) {
      const auto reference = machine_.model.coordinate(name);
      if (!reference) return reference.failure();
      return ForcePlace{static_cast<int>(reference->what), reference->index, 0};
    }
    for (const screw::Coordinate& c : machine_.tree->coordinates()) {
      if (column >= c.v && column < c.v + c.freedoms) return ForcePlace{-1, c.joint, column - c.v};
    }
    return Failure::internal(fmt::format("no joint has the number {}", column));
  }

  template <class Force>
  static Failure nowhere(const char* what, const Force& force) {
    return Failure::bad_input(force.where, fmt::format("{} {}: acts on nothing that can move, or on a point, which has "
                                                       "no coordinates with formulation screw",
                                                       what, quote(force.name)));
  }

  /// Faults of the names in --process and --unknown, all at once.
  Failure check_names() const {
    Failure faults{Failure::Kind::bad_input, {}};
    const auto check = [&](const std::string& option, const std::map<std::string, double>& settings) {
      for (const auto& [name, value] : settings) {
        if (const auto place = place_of(option, name); !place) {
          faults.diagnostics.push_back(place.failure().diagnostics.front());
        }
      }
    };
    check("process", settings_.process);
    check("unknown", settings_.unknown);
    return faults;
  }

  Result<std::monostate> take_forces() {
    if (Failure faults = check_names(); !faults.diagnostics.empty()) return faults;
    machine_.disturbances = machine_.model.disturbances;
    for (const auto& [name, density] : settings_.process) {
      const auto place = place_of("process", name);
      if (!place) return place.failure();
      std::erase_if(machine_.disturbances,
                    [&](const Disturbance& d) { return column_of(d.place) == column_of(*place); });
      if (density > 0) {
        machine_.disturbances.push_back({name, *place, Disturbance::Kind::acceleration, density, {}});
      }
    }
    machine_.unknowns = machine_.model.unknowns;
    for (const auto& [name, walk] : settings_.unknown) {
      const auto place = place_of("unknown", name);
      if (!place) return place.failure();
      std::erase_if(machine_.unknowns, [&](const UnknownForce& f) { return column_of(f.place) == column_of(*place); });
      machine_.unknowns.push_back({name, *place, walk, walk, {}});
    }
    for (const Disturbance& d : machine_.disturbances) {
      if (column_of(d.place) < 0) return nowhere("disturbance", d);
    }
    for (const UnknownForce& f : machine_.unknowns) {
      if (column_of(f.place) < 0) return nowhere("unknown force", f);
    }
    if (machine_.disturbances.empty() && settings_.process.empty()) return assume_density();
    return std::monostate{};
  }

  Result<std::monostate> assume_density() {
    machine_.assumed_density = true;
    for (const int column : machine_.independent) {
      const std::string& name = machine_.columns[column];
      const auto place = place_of("process", name);
      if (!place) return place.failure();
      machine_.disturbances.push_back({name, *place, Disturbance::Kind::acceleration, kAssumedDensity, {}});
    }
    return std::monostate{};
  }

  /// What noise and unknown forces act on should be what is counted, then what is independent at the start.
  std::vector<int> preferred() const {
    std::vector<int> columns;
    const auto add = [&](int column) {
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    };
    for (const UnknownForce& f : machine_.unknowns) add(column_of(f.place));
    for (const Disturbance& d : machine_.disturbances) add(column_of(d.place));
    for (const int column : machine_.independent) add(column);
    return columns;
  }

  /// The start is told, and the end, in the coordinates that filters count in: those that noise and unknown forces act
  /// on where they serve.
  void count_what_is_preferred() {
    const Eigen::VectorXd x = machine_.space->state(machine_.q, machine_.v);
    filter::Chart chart;
    if (machine_.space->choose(0, x.data(), chart) && !chart.columns.empty()) machine_.independent = chart.columns;
  }

  bool dry_friction() const {
    const auto dry = [](const screw::Coordinate& c) {
      return std::any_of(c.dynamics.begin(), c.dynamics.end(), [](const JointDynamics& d) { return d.friction != 0; });
    };
    return machine_.tree && std::any_of(machine_.tree->coordinates().begin(), machine_.tree->coordinates().end(), dry);
  }

  // What acts on the mean is the friction averaged over what noise makes of v. With densities s along d the variance of
  // v over a time T is σ² = T Σ (s d)², and as tanh is almost the integral of a normal density
  //
  //     E tanh((v + σ n) / v₀) ≈ tanh(v / √(v₀² + π/2 σ²))      (to 0.02)
  //
  // d at the start: it is the size that matters.
  std::vector<double> friction_speeds(filter::Plant& plant, const std::vector<double>& density) const {
    std::vector<double> speeds(plant.velocities(), screw::kFrictionSpeed);
    Eigen::VectorXd x(plant.stored());
    x << machine_.q, machine_.v;
    Eigen::MatrixXd directions;
    if (plant.noises() == 0 || !plant.noise_directions(0, x.data(), directions)) return speeds;
    for (int i = 0; i < plant.velocities(); ++i) {
      double variance = 0;
      for (int j = 0; j < plant.noises(); ++j) {
        variance += settings_.friction_span * std::pow(density[j] * directions(i, j), 2);
      }
      speeds[i] = std::sqrt(screw::kFrictionSpeed * screw::kFrictionSpeed + std::numbers::pi / 2 * variance);
    }
    return speeds;
  }

  std::unique_ptr<filter::Plant> make_plant(filter::PlantOptions options) const {
    if (machine_.system) {
      return std::make_unique<filter::NaturalPlant>(machine_.model, machine_.system, mobility_, std::move(options));
    }
    const auto torques = [drive = machine_.drive](double t, double* tau) { drive->torques(t, tau); };
    return std::make_unique<filter::ScrewPlant>(machine_.tree, freedoms_, torques, std::move(options));
  }

  const MachineSettings& settings_;
  Machine machine_;
  build::Mobility mobility_;  // of natural coordinates
  int freedoms_ = 0;          // of a robot
};

}  // namespace

double Machine::position(const double* x, int column) const {
  if (system) return x[column];
  for (const screw::Coordinate& c : tree->coordinates()) {
    if (column >= c.v && column < c.v + c.freedoms && c.stored == c.freedoms) return x[c.q + column - c.v];
  }
  return std::numeric_limits<double>::quiet_NaN();
}

Result<Machine> make_machine(const Model& model, const MachineSettings& settings) {
  return MachineMaker(model, settings).make();
}

Result<std::monostate> check_movable(const Machine& machine) {
  if (machine.plant().freedoms() > 0) return std::monostate{};
  return Failure::bad_input({machine.model.file, 0, 0},
                            "nothing can move (0 degrees of freedom): there is no motion to be estimated");
}

}  // namespace kinegraph::task
