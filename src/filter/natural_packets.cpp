#include "kinegraph/filter/natural_packets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kinegraph/mechanics/natural/implementation.hpp"

namespace kinegraph::filter {
namespace {

using natural::Operand;
template <class E>
using Constraints = std::vector<natural::PlacedConstraint<E>>;
template <class E>
using Forces = std::vector<natural::PlacedForce<E>>;

constexpr double kMostAngle = 1e5;  // radians: sines of code are good up to here

static_assert(std::tuple_size_v<natural::Constraints> == 7 && std::tuple_size_v<natural::Forces> == 4,
              "a new type of constraint or force needs its list in PacketProgram");

}  // namespace

/// The mechanism as plain data, and what that data is.
struct NaturalPackets::Tables {
  NaturalSaddle saddle;
  NaturalScales scales;
  std::vector<int> forces;
  std::vector<double> constants;
  std::vector<PacketConstraint<natural::ConstantDistance>> distances;
  std::vector<PacketConstraint<natural::RigidPoint>> rigid_points;
  std::vector<PacketConstraint<natural::SliderConstraint>> sliders;
  std::vector<PacketConstraint<natural::AbsoluteAngle>> angles;
  std::vector<PacketConstraint<natural::RelativeAngle>> relative_angles;
  std::vector<PacketConstraint<natural::RelativePosition>> relative_positions;
  std::vector<PacketDriver> drivers;
  std::vector<PacketForce<natural::SpringForce>> springs;
  std::vector<PacketForce<natural::CoordinateSpringForce>> coordinate_springs;
  std::vector<PacketTorque> torques;
  std::vector<PacketNoise> noises;
  PacketProgram program;
  bool steady = false;  // nothing follows a law of time

  Tables(const natural::System& system, const NaturalSaddle& from, const PlantOptions& options, NaturalScales sizes)
      : saddle(from), scales(std::move(sizes)), forces(options.forces) {
    const natural::System::Implementation& s = system.implementation();
    program.n = system.coordinates();
    program.m = system.constraints();
    program.places = static_cast<int>(system.jacobian_pattern().size());
    take(s, distances), take(s, rigid_points), take(s, sliders), take(s, angles), take(s, relative_angles);
    take(s, relative_positions), take(s, springs), take(s, coordinate_springs);
    for (const auto& c : std::get<Constraints<natural::DriverConstraint>>(s.constraints)) {
      drivers.push_back({c.row, slot(c.operands[0]), place(c.columns[0])});
    }
    for (const auto& f : std::get<Forces<natural::BodyTorqueForce>>(s.forces)) {
      PacketTorque& torque = torques.emplace_back();
      for (int k = 0; k < 4; ++k) torque.slot[k] = slot(f.operands[k]), torque.target[k] = target(f.operands[k]);
    }
    steady = drivers.empty() && torques.empty() && system.motors() == 0 &&
             std::get<Forces<natural::PointLoadForce>>(s.forces).empty();
    for (const PlantNoise& noise : options.noises) {
      noises.push_back({noise.column, noise.kind == Disturbance::Kind::acceleration});
    }
    program.tableau.stages = options.integrator.stages;
    for (int i = 0; i < program.tableau.stages; ++i) {
      program.tableau.b[i] = options.integrator.b[i];
      for (int j = 0; j < program.tableau.stages; ++j) program.tableau.a[i][j] = options.integrator.a[i][j];
    }
    link();
  }

 private:
  int slot(const Operand& o) {
    if (o.moves()) return o.index;
    const auto found = std::find(constants.begin(), constants.end(), o.constant);
    const int at = static_cast<int>(found - constants.begin());
    if (found == constants.end()) constants.push_back(o.constant);
    return program.n + at;
  }
  int place(int column) const { return column < 0 ? program.places : column; }
  int target(const Operand& o) const { return o.moves() ? o.index : program.n + program.m; }

  template <class E>
  void take(const natural::System::Implementation& s, std::vector<PacketConstraint<E>>& list) {
    for (const auto& c : std::get<Constraints<E>>(s.constraints)) {
      PacketConstraint<E>& placed = list.emplace_back();
      placed.equation = c.equation;
      placed.row = c.row;
      placed.merged = c.merged;
      for (int k = 0; k < E::kCoordinates; ++k) {
        placed.slot[k] = slot(c.operands[k]);
        placed.place[k] = place(c.columns[k]);
      }
    }
  }
  template <class E>
  void take(const natural::System::Implementation& s, std::vector<PacketForce<E>>& list) {
    for (const auto& f : std::get<Forces<E>>(s.forces)) {
      PacketForce<E>& placed = list.emplace_back();
      placed.equation = f.equation;
      for (int k = 0; k < E::kCoordinates; ++k) {
        placed.slot[k] = slot(f.operands[k]);
        placed.target[k] = target(f.operands[k]);
      }
    }
  }

  void link() {
    const auto list = []<class T>(const std::vector<T>& x) {
      return PlainList<T>{x.data(), static_cast<int>(x.size())};
    };
    program.constants = list(constants);
    program.distances = list(distances);
    program.rigid_points = list(rigid_points);
    program.sliders = list(sliders);
    program.angles = list(angles);
    program.relative_angles = list(relative_angles);
    program.relative_positions = list(relative_positions);
    program.drivers = list(drivers);
    program.springs = list(springs);
    program.coordinate_springs = list(coordinate_springs);
    program.torques = list(torques);
    program.saddle = saddle.plan();
    program.noises = list(noises);
    program.forces = list(forces);
    program.sharpness = list(scales.sharpness);
    program.length = list(scales.length);
    program.size = scales.size;
  }
};

NaturalPackets::NaturalPackets(std::shared_ptr<const natural::System> system, const NaturalSaddle& saddle,
                               const PlantOptions& options, NaturalScales scales)
    : system_(std::move(system)),
      tables_(std::make_shared<const Tables>(*system_, saddle, options, std::move(scales))),
      tableau_(options.integrator),
      kernel_(&packet_kernel()) {
  const PacketProgram& p = tables_->program;
  const int stages = tableau_.stages;
  work_.resize(packet_work(p, stages) + kPacketMost);
  law_.resize(static_cast<std::size_t>(stages + 2) * (p.n + p.torques.count + 3 * p.drivers.count));
  a_.resize(static_cast<std::size_t>(stages) * stages);
  b_.resize(stages);
  time_.resize(stages + 2);
  eight_.resize(static_cast<std::size_t>(kPacketMost) * 4 * p.n);
  const int told = p.forces.count + 2 * p.noises.count + p.n * p.noises.count;
  const int seen = 6 * (1 + 2 * p.noises.count + 2 * p.n) + p.n * p.noises.count;
  answers_.resize(static_cast<std::size_t>(kPacketMost) * (told + seen));
}

double* NaturalPackets::work() {
  constexpr std::uintptr_t kAlign = kPacketMost * sizeof(double);
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(work_.data());
  return work_.data() + (kAlign - begin % kAlign) % kAlign / sizeof(double);
}

PacketStates NaturalPackets::states(int count, int stride, const double* x, bool* done) {
  return {count, stride, x, done, work()};
}

/// act(lanes, i): for eight states from the i-th on, which stand side by side; those beyond the last one repeat it.
template <class Do>
void NaturalPackets::by_eight(int count, int stride, const double* x, double* next, bool* done, const Do& act) {
  const int size = 2 * tables_->program.n;
  double* begin = eight_.data();
  const auto number = [&](double* list, int k, int s) -> double& { return list[kPacketMost * k + s]; };
  double* to = begin + static_cast<std::ptrdiff_t>(kPacketMost) * size;
  for (int first = 0; first < count; first += kPacketMost) {
    const int present = std::min(kPacketMost, count - first);
    bool good[kPacketMost];
    for (int s = 0; s < kPacketMost; ++s) {
      const double* from = x + static_cast<std::ptrdiff_t>(first + std::min(s, present - 1)) * stride;
      good[s] = true;
      for (int k = 0; k < size; ++k) {
        number(begin, k, s) = from[k];
        good[s] = good[s] && std::abs(from[k]) < (k < size / 2 ? kMostAngle : INFINITY);
      }
    }
    act(PacketLanes{begin, to, good, work()}, first, present);
    for (int s = 0; s < present; ++s) {
      done[first + s] = good[s];
      if (!next || !good[s]) continue;
      double* out = next + static_cast<std::ptrdiff_t>(first + s) * stride;
      for (int k = 0; k < size; ++k) out[k] = number(to, k, s);
    }
  }
}

// What does not depend on the state.
PacketTime NaturalPackets::at(double t, int place) {
  const PacketProgram& p = tables_->program;
  const natural::System::Implementation& s = system_->implementation();
  double* force = law_.data() + static_cast<std::size_t>(place) * (p.n + p.torques.count + 3 * p.drivers.count);
  double *torque = force + p.n, *driver = torque + p.torques.count;
  const PacketTime time{force, torque, driver};
  std::copy(s.constant_force.begin(), s.constant_force.end(), force);
  for (const auto& f : std::get<Forces<natural::PointLoadForce>>(s.forces)) {
    const auto local = f.equation.force({}, {}, t);
    for (int k = 0; k < 2; ++k) {
      if (f.operands[k].moves()) force[f.operands[k].index] += local[k];
    }
  }
  for (int j = 0; j < system_->motors(); ++j) force[system_->motor_coordinate()[j]] += system_->motor_law(j, t);
  for (const auto& f : std::get<Forces<natural::BodyTorqueForce>>(s.forces)) {
    *torque++ = f.equation.torque(t) / (f.equation.length * f.equation.length);
  }
  for (const auto& c : std::get<Constraints<natural::DriverConstraint>>(s.constraints)) {
    const Taylor2 f = c.equation.law.taylor(t);
    *driver++ = f.x, *driver++ = f.d, *driver++ = f.dd;
  }
  return time;
}

const PacketTime* NaturalPackets::step_times(double t, double h) {
  const int stages = tableau_.stages;
  if (std::isfinite(known_.t) && (tables_->steady || (t == known_.t && h == known_.h))) return time_.data();
  known_.t = t, known_.h = h;
  for (int s = 0; s < stages; ++s) time_[s] = at(t + tableau_.c[s] * h, s);
  time_[stages] = at(t + h, stages);
  return time_.data();
}

const PacketTime& NaturalPackets::end_time(double t) {
  const int place = tableau_.stages + 1;
  if (t != known_.end && !(tables_->steady && std::isfinite(known_.end))) time_[place] = at(t, place), known_.end = t;
  return time_[place];
}

void NaturalPackets::step(double t, double h, int count, int stride, const double* x, const double* force, double* next,
                          bool* done) {
  const int stages = tableau_.stages;
  const PacketTime* times = step_times(t, h);
  const double* unknown = tables_->forces.empty() ? nullptr : force;
  if (code_) {
    const int forces = static_cast<int>(tables_->forces.size());
    by_eight(count, stride, x, next, done, [&](const PacketLanes& lanes, int first, int present) {
      for (int s = 0; s < kPacketMost && unknown; ++s) {
        const double* from = unknown + static_cast<std::ptrdiff_t>(first + std::min(s, present - 1)) * stride;
        for (int k = 0; k < forces; ++k) answers_[kPacketMost * k + s] = from[k];
      }
      code_->step(lanes, h, times, unknown ? answers_.data() : nullptr);
    });
    return;
  }
  for (int s = 0; s < stages; ++s) {
    b_[s] = h * tableau_.b[s];
    for (int j = 0; j < stages; ++j) a_[s * stages + j] = h * tableau_.a[s][j];
  }
  const PacketStep told{stages, a_.data(), b_.data(), times, unknown, next};
  kernel_->step(tables_->program, states(count, stride, x, done), told);
}

/// Answers of eight states, one state's after the other's.
void NaturalPackets::put_apart(const double* answers, int size, int first, int present, double* out) {
  for (int s = 0; s < present; ++s) {
    for (int k = 0; k < size; ++k)
      out[static_cast<std::ptrdiff_t>(first + s) * size + k] = answers[kPacketMost * k + s];
  }
}

void NaturalPackets::directions(int count, int stride, const double* x, double* out, bool* done) {
  if (!code_) return kernel_->kick(tables_->program, states(count, stride, x, done), {nullptr, {}, out, nullptr});
  by_eight(count, stride, x, nullptr, done, [&](const PacketLanes& lanes, int first, int present) {
    code_->directions(lanes, answers_.data());
    put_apart(answers_.data(), tables_->program.n * tables_->program.noises.count, first, present, out);
  });
}

void NaturalPackets::kick(double t, int count, int stride, double* x, const double* kicks, bool* done) {
  const PacketTime time = end_time(t);
  if (!code_) return kernel_->kick(tables_->program, states(count, stride, x, done), {kicks, time, nullptr, x});
  const int noises = tables_->program.noises.count;
  double *told = answers_.data(), *d = told + static_cast<std::ptrdiff_t>(kPacketMost) * 2 * noises;
  by_eight(count, stride, x, x, done, [&](const PacketLanes& lanes, int first, int present) {
    for (int s = 0; s < kPacketMost; ++s) {
      const double* from = kicks + static_cast<std::ptrdiff_t>(first + std::min(s, present - 1)) * 2 * noises;
      for (int k = 0; k < 2 * noises; ++k) told[kPacketMost * k + s] = from[k];
    }
    code_->directions(lanes, d);
    code_->kick(lanes, time, d, told);
  });
}

bool NaturalPackets::see(int sensor, int rows, int count, int stride, const double* x, double* y, double* along,
                         bool* done) {
  if (!code_ || !code_->sees(sensor)) return false;
  const int slopes = 2 * tables_->program.noises.count * rows;
  double *read = answers_.data(), *slope = read + kPacketMost * rows, *d = slope + kPacketMost * slopes;
  by_eight(count, stride, x, nullptr, done, [&](const PacketLanes& lanes, int first, int present) {
    if (along) {
      code_->respond(lanes, sensor, read, slope, d);
      put_apart(slope, slopes, first, present, along);
    } else {
      code_->see(lanes, sensor, read);
    }
    put_apart(read, rows, first, present, y);
  });
  return true;
}

bool NaturalPackets::see_along(int sensor, int rows, int count, int stride, const double* x, double* y, double* H,
                               int tangent, bool* done) {
  if (!code_ || !code_->sees(sensor)) return false;
  double *read = answers_.data(), *slope = read + kPacketMost * rows;
  by_eight(count, stride, x, nullptr, done, [&](const PacketLanes& lanes, int first, int present) {
    code_->see_along(lanes, sensor, read, slope);
    put_apart(read, rows, first, present, y);
    put_apart(slope, tangent * rows, first, present, H);
  });
  return true;
}

bool NaturalPackets::charts(const Chart& chart) const {
  return code_ && code_->charts(chart.columns.data(), static_cast<int>(chart.columns.size()));
}

void NaturalPackets::retract(double t, int count, int stride, double* x, const double* delta, int size, bool* done) {
  const PacketTime time = end_time(t);
  by_eight(count, stride, x, x, done, [&](const PacketLanes& lanes, int first, int present) {
    for (int s = 0; s < kPacketMost; ++s) {
      const double* from = delta + static_cast<std::ptrdiff_t>(first + std::min(s, present - 1)) * size;
      for (int k = 0; k < size; ++k) answers_[kPacketMost * k + s] = from[k];
    }
    code_->retract(lanes, time, answers_.data());
  });
}

const PacketProgram& NaturalPackets::program() const { return tables_->program; }

}  // namespace kinegraph::filter
