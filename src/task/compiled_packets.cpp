#include "kinegraph/task/compiled_packets.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::task {
namespace {

using filter::PacketKick;
using filter::PacketStates;
using filter::PacketStep;
using filter::PacketTime;

constexpr int kLanes = 8;
static_assert(kLanes == filter::kPacketMost);
constexpr int kMostCorrections = 6;   // of one projection; who takes more is not regular
constexpr double kNearRounding = 50;  // misses below this many roundings are as good as they get
constexpr double kReach = 0.25;       // kicks farther than this, in a coordinate's lengths, may change the branch
constexpr double kMostAngle = 1e5;    // radians: sines are good up to here

}  // namespace

/// Eight states side by side: number i of state s at [8 i + s]. States beyond the last one repeat it.
struct CompiledPackets::Group {
  const PacketStates& states;
  int n;
  double* work;
  double *q = take(n), *v = take(n), *next_q = take(n), *next_v = take(n), *law = nullptr;
  int first = 0;
  bool good[kLanes] = {};

  double* take(int count) {
    double* begin = work;
    work += kLanes * count;
    return begin;
  }
  int lane(int s) const { return std::min(first + s, states.count - 1); }
  int present() const { return std::min(kLanes, states.count - first); }
  void load(double* to_q, double* to_v) {
    for (int s = 0; s < kLanes; ++s) {
      const double* x = states.x + static_cast<std::ptrdiff_t>(lane(s)) * states.stride;
      for (int i = 0; i < n; ++i) to_q[kLanes * i + s] = x[i], to_v[kLanes * i + s] = x[n + i];
      good[s] = true;
    }
  }
  void require_positive(const double* margin) {
    for (int s = 0; s < kLanes; ++s) good[s] = good[s] && margin[s] > 0;
  }
  /// Finite, and where sines are good.
  void require_regular() {
    double far[kLanes] = {}, nothing[kLanes] = {};  // the latter is no number where one of them is none
    for (int i = 0; i < n; ++i) {
      const double *to_q = q + kLanes * i, *to_v = v + kLanes * i;
      for (int s = 0; s < kLanes; ++s) far[s] = std::max(far[s], std::abs(to_q[s]));
      for (int s = 0; s < kLanes; ++s) nothing[s] += 0 * to_q[s] + 0 * to_v[s];
    }
    for (int s = 0; s < kLanes; ++s) good[s] = good[s] && far[s] < kMostAngle && nothing[s] == 0;
  }
  /// Of `moved`, lengths by coordinate.
  void require_near(const double* moved, const double* from, const std::vector<double>& length) {
    double off[kLanes] = {};
    for (int i = 0; i < n; ++i) {
      const double most = kReach * length[i];
      const double *to = moved + kLanes * i, *at = from ? from + kLanes * i : nullptr;
      for (int s = 0; s < kLanes; ++s) off[s] += std::abs(at ? to[s] - at[s] : to[s]) <= most ? 0 : 1;
    }
    for (int s = 0; s < kLanes; ++s) good[s] = good[s] && off[s] == 0;
  }
  void store(double* to) const {
    for (int s = 0; s < present(); ++s) {
      states.done[first + s] = good[s];
      if (!good[s]) continue;
      double* x = to + static_cast<std::ptrdiff_t>(first + s) * states.stride;
      for (int i = 0; i < n; ++i) x[i] = q[kLanes * i + s], x[n + i] = v[kLanes * i + s];
    }
  }
};

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
  packets->length_.assign(program.length.begin(), program.length.end());
  packets->operations_ = traced->rates.cost().flops();
  const auto compile = [&](const codegen::Program& from, Code& to) -> Result<std::monostate> {
    Result<Code> code = codegen::Compiled::make(from, kLanes, progress);
    if (!code) return code.failure();
    to = *std::move(code);
    return std::monostate{};
  };
  const std::pair<const codegen::Program&, Code&> all[] = {{traced->rates, packets->rates_},
                                                           {traced->correct, packets->correct_},
                                                           {traced->hold, packets->hold_},
                                                           {traced->depart, packets->depart_},
                                                           {traced->directions, packets->directions_}};
  for (const auto& [from, to] : all) {
    if (auto done = compile(from, to); !done) return done.failure();
  }
  for (const PlanarPrograms::Sense& sense : traced->sensors) {
    Sense& made = packets->sensors_.emplace_back();
    if (!sense.traced) continue;
    made.rows = static_cast<int>(sense.read.outputs[0].values.size());
    if (auto done = compile(sense.read, made.read); !done) return done.failure();
    if (auto done = compile(sense.respond, made.respond); !done) return done.failure();
    if (auto done = compile(sense.along, made.along); !done) return done.failure();
  }
  return std::shared_ptr<const CompiledPackets>(std::move(packets));
}

/// The same for all states.
void CompiledPackets::put_law(const PacketTime& time, double* law) const {
  if (!has_law_) return;
  const auto put = [&](const double* from, int count) {
    for (int i = 0; i < count; ++i, law += kLanes) std::fill_n(law, kLanes, from[i]);
  };
  put(time.force, n_);
  put(time.torque, torques_);
  put(time.driver, 3 * drivers_);
}

/// Newton's steps until all that are still good are on the constraints; each corrects v at the q it starts from.
void CompiledPackets::settle(Group& group, const PacketTime& time, const codegen::Compiled& correct) const {
  put_law(time, group.law);
  double off[kLanes], margin[kLanes];
  for (int k = 0; k < kMostCorrections; ++k) {
    const double* inputs[] = {group.q, group.v, group.law};
    double* outputs[] = {group.next_q, group.next_v, off, margin};
    correct.run_batch(inputs, outputs);
    std::swap(group.q, group.next_q);
    std::swap(group.v, group.next_v);
    group.require_positive(margin);
    bool settled = true;
    for (int s = 0; s < kLanes; ++s) settled = settled && (!group.good[s] || off[s] <= kNearRounding);
    if (settled) return;
  }
  for (int s = 0; s < kLanes; ++s) group.good[s] = group.good[s] && off[s] <= kNearRounding;
}

void CompiledPackets::step(const PacketStates& states, const PacketStep& step) const {
  const int n = n_, stages = step.stages, size = kLanes * n;
  Group group{states, n, states.work};
  group.law = group.take(n + torques_ + 3 * drivers_);
  double *q0 = group.take(n), *v0 = group.take(n), *unknown = group.take(forces_);
  double *stage_v = group.take(stages * n), *stage_a = group.take(stages * n), *margin = group.take(1);
  const auto velocity = [&](int stage) { return stage == 0 ? v0 : stage_v + stage * size; };
  // x = x₀ + Σ factor dx, of the stages before
  const auto combine = [&](int count, const double* factor, double* q, double* v) {
    const double *from_q = q0, *from_v = v0;
    for (int j = 0; j < count; ++j) {
      if (factor[j] == 0) continue;
      const double f = factor[j], *dv = velocity(j), *da = stage_a + j * size;
      for (int i = 0; i < size; ++i) q[i] = from_q[i] + f * dv[i];
      for (int i = 0; i < size; ++i) v[i] = from_v[i] + f * da[i];
      from_q = q, from_v = v;
    }
    if (from_q == q) return;
    std::copy_n(q0, size, q);
    std::copy_n(v0, size, v);
  };
  for (; group.first < states.count; group.first += kLanes) {
    group.load(q0, v0);
    for (int s = 0; s < kLanes && forces_ > 0; ++s) {
      const double* from =
          step.force ? step.force + static_cast<std::ptrdiff_t>(group.lane(s)) * states.stride : nullptr;
      for (int k = 0; k < forces_; ++k) unknown[kLanes * k + s] = from ? from[k] : 0;
    }
    for (int s = 0; s < stages; ++s) {
      if (s > 0) combine(s, step.a + s * stages, group.q, velocity(s));
      put_law(step.time[s], group.law);
      const double* inputs[] = {s > 0 ? group.q : q0, velocity(s), has_law_ ? group.law : unknown, unknown};
      double* outputs[] = {stage_a + s * size, margin};
      rates_->run_batch(inputs, outputs);
      group.require_positive(margin);
    }
    combine(stages, step.b, group.q, group.v);
    settle(group, step.time[stages], *correct_);
    group.require_regular();
    group.store(step.next);
  }
}

void CompiledPackets::kick(const PacketStates& states, const PacketKick& kick) const {
  const int n = n_, size = kLanes * n;
  Group group{states, n, states.work};
  group.law = group.take(n + torques_ + 3 * drivers_);
  double *d = group.take(n * noises_), *margin = group.take(1);
  for (; group.first < states.count; group.first += kLanes) {
    group.load(group.q, group.v);
    group.require_regular();
    const double* inputs[] = {group.q, group.v};
    double* outputs[] = {d, margin};
    directions_->run_batch(inputs, outputs);
    group.require_positive(margin);
    for (int s = 0; s < group.present() && kick.directions; ++s) {
      double* to = kick.directions + static_cast<std::ptrdiff_t>(group.first + s) * noises_ * n;
      for (int i = 0; i < n * noises_; ++i) to[i] = d[kLanes * i + s];
    }
    if (!kick.kick) {
      for (int s = 0; s < group.present(); ++s) states.done[group.first + s] = group.good[s];
      continue;
    }
    double* moved = group.next_q;
    std::fill_n(moved, size, 0.0);
    for (int j = 0; j < noises_; ++j) {
      double by_v[kLanes], by_q[kLanes];
      for (int s = 0; s < kLanes; ++s) {
        const double* from = kick.kick + (static_cast<std::ptrdiff_t>(group.lane(s)) * noises_ + j) * 2;
        by_v[s] = from[0], by_q[s] = from[1];
      }
      for (int i = 0; i < size; i += kLanes) {
        const double* along = d + j * size + i;
        for (int s = 0; s < kLanes; ++s) moved[i + s] += by_q[s] * along[s];
        for (int s = 0; s < kLanes; ++s) group.v[i + s] += by_v[s] * along[s];
      }
    }
    group.require_near(moved, nullptr, length_);
    for (int i = 0; i < size; ++i) group.q[i] += moved[i];
    settle(group, kick.time, *correct_);
    group.require_regular();
    group.store(kick.next);
  }
}

void CompiledPackets::see(const PacketStates& states, int sensor, double* y, double* along) const {
  const Sense& sense = sensors_[sensor];
  see(states, along ? *sense.respond : *sense.read, sense.rows, along ? 2 * noises_ * sense.rows : 0, y, along);
}

void CompiledPackets::see_along(const PacketStates& states, int sensor, double* y, double* H) const {
  const Sense& sense = sensors_[sensor];
  see(states, *sense.along, sense.rows, 2 * static_cast<int>(independent_.size()) * sense.rows, y, H);
}

void CompiledPackets::see(const PacketStates& states, const codegen::Compiled& code, int rows, int slopes, double* y,
                          double* along) const {
  Group group{states, n_, states.work};
  double *reading = group.take(rows), *answer = group.take(slopes), *margin = group.take(1);
  for (; group.first < states.count; group.first += kLanes) {
    group.load(group.q, group.v);
    group.require_regular();
    const double* inputs[] = {group.q, group.v};
    double* outputs[] = {reading, slopes > 0 ? answer : margin, margin};
    code.run_batch(inputs, outputs);
    group.require_positive(margin);
    for (int s = 0; s < group.present(); ++s) {
      const auto at = static_cast<std::ptrdiff_t>(group.first + s);
      states.done[at] = group.good[s];
      for (int r = 0; r < rows; ++r) y[at * rows + r] = reading[kLanes * r + s];
      for (int k = 0; k < slopes; ++k) along[at * slopes + k] = answer[kLanes * k + s];
    }
  }
}

bool CompiledPackets::charts(const int* columns, int count) const {
  return std::equal(columns, columns + count, independent_.begin(), independent_.end());
}

/// In one reach: who goes farther is left to others.
void CompiledPackets::retract(const PacketStates& states, const PacketTime& time, const double* delta, int size,
                              double* next) const {
  const int n = n_, numbers = 2 * static_cast<int>(independent_.size());
  Group group{states, n, states.work};
  group.law = group.take(n + torques_ + 3 * drivers_);
  double *asked = group.take(numbers), *margin = group.take(1), *far = group.take(1), *left = group.take(n);
  for (; group.first < states.count; group.first += kLanes) {
    group.load(group.q, group.v);
    group.require_regular();
    for (int s = 0; s < kLanes; ++s) {
      const double* from = delta + static_cast<std::ptrdiff_t>(group.lane(s)) * size;
      for (int k = 0; k < numbers; ++k) asked[kLanes * k + s] = from[k];
    }
    const double* inputs[] = {group.q, group.v, asked};
    double* outputs[] = {left, group.next_v, far, margin};
    depart_->run_batch(inputs, outputs);
    group.require_positive(margin);
    for (int s = 0; s < kLanes; ++s) group.good[s] = group.good[s] && far[s] <= kReach;
    std::copy_n(left, kLanes * n, group.q);
    std::swap(group.v, group.next_v);
    settle(group, time, *hold_);
    group.require_regular();
    group.require_near(group.q, left, length_);  // farther: another branch
    group.store(next);
  }
}

}  // namespace kinegraph::task
