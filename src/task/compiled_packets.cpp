#include "kinegraph/task/compiled_packets.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/filter/state_lanes.hpp"

namespace kinegraph::task {
namespace {

using filter::PacketLanes;
using filter::PacketTime;

constexpr int kLanes = 8;
static_assert(kLanes == filter::kPacketMost);
constexpr int kMostCorrections = 6;  // of one projection; who takes more is not regular
/// Misses of the constraints, in roundings, that are left to the next projection: 1e-12 of the machine's size, which is
/// far less than the error of a step.
constexpr double kLeftOver = 5e3;
constexpr double kReach = 0.25;     // kicks farther than this, in a coordinate's lengths, may change the branch
constexpr double kMostAngle = 1e5;  // radians: sines are good up to here

void require_positive(const double* margin, bool* good) {
  for (int s = 0; s < kLanes; ++s) good[s] = good[s] && margin[s] > 0;
}
void require_near(const double* far, bool* good) {
  for (int s = 0; s < kLanes; ++s) good[s] = good[s] && far[s] <= kReach;
}

/// Finite, and where sines are good.
void require_regular(const double* x, int n, bool* good) {
  filter::Eight far = filter::Eight::Zero(), nothing = far;  // the latter is no number where one of them is none
  for (int i = 0; i < n; ++i, x += kLanes) far = far.max(filter::eight(x).abs());
  for (int i = 0; i < n; ++i, x += kLanes) nothing += 0 * filter::eight(x);
  for (int s = 0; s < kLanes; ++s) good[s] = good[s] && far[s] < kMostAngle && nothing[s] == 0;
}

/// Numbers of eight states, cut off a work space.
struct Room {
  double* work;
  double* take(int count) {
    double* begin = work;
    work += kLanes * count;
    return begin;
  }
};

}  // namespace

Result<std::shared_ptr<const CompiledPackets>> CompiledPackets::make(const Model& model, const natural::System& system,
                                                                     const filter::PacketProgram& program,
                                                                     const std::vector<int>& independent,
                                                                     const Progress& progress) {
  const Result<PlanarPrograms> traced = trace_planar(model, system, program, independent);
  if (!traced) return traced.failure();
  std::shared_ptr<CompiledPackets> packets(new CompiledPackets(program));
  packets->has_law_ = traced->has_law;
  packets->independent_ = independent;
  packets->torques_ = program.torques.count;
  packets->drivers_ = program.drivers.count;
  packets->forces_ = program.forces.count;
  packets->stages_ = program.tableau.stages;
  packets->operations_ = traced->rates.cost().flops();
  packets->sensors_.resize(traced->sensors.size());
  std::vector<std::pair<const codegen::Program*, Code*>> all = {
      {&traced->step, &packets->step_},       {&traced->correct, &packets->correct_},
      {&traced->hold, &packets->hold_},       {&traced->kick, &packets->kick_},
      {&traced->retract, &packets->retract_}, {&traced->directions, &packets->directions_}};
  for (std::size_t i = 0; i < traced->sensors.size(); ++i) {
    const PlanarPrograms::Sense& sense = traced->sensors[i];
    Sense& made = packets->sensors_[i];
    if (!sense.traced) continue;
    made.rows = static_cast<int>(sense.read.outputs[0].values.size());
    all.insert(all.end(), {{&sense.read, &made.read}, {&sense.respond, &made.respond}, {&sense.along, &made.along}});
  }
  for (const auto& [from, to] : all) {
    Result<Code> code = codegen::Compiled::make(*from, kLanes, progress);
    if (!code) return code.failure();
    *to = *std::move(code);
  }
  return std::shared_ptr<const CompiledPackets>(std::move(packets));
}

/// The same for all states.
double* CompiledPackets::put_law(const PacketTime& time, double* law) const {
  if (!has_law_) return law;
  const auto put = [&](const double* from, int count) {
    for (int i = 0; i < count; ++i, law += kLanes) std::fill_n(law, kLanes, from[i]);
  };
  put(time.force, n_);
  put(time.torque, torques_);
  put(time.driver, 3 * drivers_);
  return law;
}

/// Newton's steps until all that are still good are on the constraints.
void CompiledPackets::settle(const PacketLanes& lanes, const double* law, const codegen::Compiled& correct, double* off,
                             double* margin, double* other) const {
  const int size = kLanes * n_;
  for (int k = 0;; ++k) {
    require_positive(margin, lanes.good);
    bool settled = true;
    for (int s = 0; s < kLanes; ++s) settled = settled && (!lanes.good[s] || off[s] <= kLeftOver);
    if (settled || k == kMostCorrections) break;
    const double* inputs[] = {lanes.next, lanes.next + size, law};
    double* outputs[] = {other, other + size, off, margin};
    correct.run_batch(inputs, outputs);
    std::copy_n(other, 2 * size, lanes.next);
  }
  for (int s = 0; s < kLanes; ++s) lanes.good[s] = lanes.good[s] && off[s] <= kLeftOver;
  require_regular(lanes.next, n_, lanes.good);
}

void CompiledPackets::step(const PacketLanes& lanes, double h, const PacketTime* time, const double* force) const {
  const int size = kLanes * n_;
  Room room{lanes.work};
  double *other = room.take(2 * n_), *off = room.take(1), *margin = room.take(1), *length = room.take(1);
  double *none = room.take(forces_), *law = room.take((stages_ + 1) * law_size()), *end = law;
  for (int s = 0; s < stages_; ++s) end = put_law(time[s], end);
  put_law(time[stages_], end);
  std::fill_n(length, kLanes, h);
  if (!force && forces_ > 0) std::fill_n(none, kLanes * forces_, 0.0), force = none;
  const double* inputs[5] = {lanes.x, lanes.x + size};
  int count = 2;
  if (has_law_) inputs[count++] = law;
  inputs[count++] = length;
  inputs[count] = force;
  double* outputs[] = {lanes.next, lanes.next + size, off, margin};
  step_->run_batch(inputs, outputs);
  settle(lanes, end, *correct_, off, margin, other);
}

void CompiledPackets::directions(const PacketLanes& lanes, double* d) const {
  double margin[kLanes];
  const double* inputs[] = {lanes.x, lanes.x + kLanes * n_};
  double* outputs[] = {d, margin};
  directions_->run_batch(inputs, outputs);
  require_positive(margin, lanes.good);
}

void CompiledPackets::kick(const PacketLanes& lanes, const PacketTime& time, const double* d,
                           const double* kicks) const {
  move(lanes, time, *kick_, {d, kicks}, *correct_);
}

/// In one reach: who goes farther is left to others.
void CompiledPackets::retract(const PacketLanes& lanes, const PacketTime& time, const double* delta) const {
  move(lanes, time, *retract_, {delta, nullptr}, *hold_);
}

void CompiledPackets::move(const PacketLanes& lanes, const PacketTime& time, const codegen::Compiled& code,
                           std::array<const double*, 2> told, const codegen::Compiled& correct) const {
  const int size = kLanes * n_;
  Room room{lanes.work};
  double *other = room.take(2 * n_), *off = room.take(1), *margin = room.take(1), *far = room.take(1);
  double* law = room.take(law_size());
  put_law(time, law);
  const double* inputs[5] = {lanes.x, lanes.x + size};
  int count = 2;
  if (has_law_) inputs[count++] = law;
  for (const double* input : told) inputs[count++] = input;
  double* outputs[] = {lanes.next, lanes.next + size, off, far, margin};
  code.run_batch(inputs, outputs);
  require_near(far, lanes.good);
  settle(lanes, law, correct, off, margin, other);
}

void CompiledPackets::see(const PacketLanes& lanes, int sensor, double* y) const {
  look(lanes, *sensors_[sensor].read, {y, nullptr, nullptr});
}

void CompiledPackets::respond(const PacketLanes& lanes, int sensor, double* y, double* along, double* d) const {
  look(lanes, *sensors_[sensor].respond, {y, along, d});
}

void CompiledPackets::see_along(const PacketLanes& lanes, int sensor, double* y, double* H) const {
  look(lanes, *sensors_[sensor].along, {y, H, nullptr});
}

void CompiledPackets::look(const PacketLanes& lanes, const codegen::Compiled& code,
                           std::array<double*, 3> answers) const {
  double margin[kLanes];
  const double* inputs[] = {lanes.x, lanes.x + kLanes * n_};
  double* outputs[4] = {};
  int count = 0;
  for (double* answer : answers) {
    if (answer) outputs[count++] = answer;
  }
  outputs[count] = margin;
  code.run_batch(inputs, outputs);
  require_positive(margin, lanes.good);
}

bool CompiledPackets::charts(const int* columns, int count) const {
  return std::equal(columns, columns + count, independent_.begin(), independent_.end());
}

}  // namespace kinegraph::task
