// Steps and kicks of packets of states: as NaturalPlant does them, one state to a lane. A lane's numbers do not depend
// on what is in the others. Included with KINEGRAPH_WIDTH and KINEGRAPH_KERNEL set.

#include "kinegraph/filter/natural_packet_saddle.inl"

namespace kinegraph::filter {
namespace {

constexpr int kMostCorrections = 12;  // of one projection; who takes more is not regular
constexpr double kSlow = 0.25;        // a contraction that calls for a fresh factorisation
constexpr double kNearRounding = 50;  // misses below this many roundings are good enough if they fall no more
constexpr double kReach = 0.25;       // kicks farther than this, in a coordinate's lengths, may change the branch

template <class E>
KINEGRAPH_INLINE auto read(const int (&slot)[E::kCoordinates], const Packet* q) {
  std::array<Packet, E::kCoordinates> x;
  for (int k = 0; k < E::kCoordinates; ++k) x[k] = q[slot[k]];
  return x;
}
template <class E>
KINEGRAPH_INLINE auto read(const int (&slot)[E::kCoordinates], const Packet* q, const Packet* v) {
  std::array<Rate, E::kCoordinates> x;
  for (int k = 0; k < E::kCoordinates; ++k) x[k] = Rate(q[slot[k]], v[slot[k]]);
  return x;
}

class Machine {
 public:
  Machine(const PacketProgram& program, double* work)
      : p_(program),
        n_(program.n),
        m_(program.m),
        work_(reinterpret_cast<Packet*>(work)),
        saddle_{program.saddle, n_, nullptr, nullptr, nullptr, nullptr, nullptr} {
    const int slots = n_ + program.constants.count;
    q = take(slots), v = take(slots);
    X_ = take(n_ + m_ + 1);
    d_ = take(n_ + m_ + 1);
    miss_ = take(m_), rate_ = take(m_);
    saddle_.phi = take(program.places + 1);
    saddle_.pair_inverse = take(program.saddle.pairs.count);
    saddle_.reduced = take(program.saddle.reduced_source.count);
    saddle_.lower = take(program.saddle.base.count);
    saddle_.inverse = take(program.saddle.columns.count);
    for (int i = n_; i < slots; ++i) q[i] = program.constants[i - n_], v[i] = 0.0;
  }
  Packet* take(int count) {
    Packet* first = work_;
    work_ += count;
    return first;
  }

  Packet *q, *v;  // the state at hand; constants follow the coordinates

  /// a at (q, v). False where the system is not regular.
  Mask accelerations(const PacketTime& time, const Packet* unknown, Packet* a) {
    for (int i = 0; i < n_; ++i) X_[i] = time.force[i];
    bend(p_.distances), bend(p_.rigid_points), bend(p_.sliders), bend(p_.angles), bend(p_.relative_angles);
    bend(p_.relative_positions);
    for (int i = 0; i < p_.drivers.count; ++i) {
      saddle_.phi[p_.drivers[i].place] = 1.0;
      X_[n_ + p_.drivers[i].row] = time.driver[3 * i + 2];
    }
    push(p_.springs), push(p_.coordinate_springs);
    for (int i = 0; i < p_.torques.count; ++i) {
      const auto f =
          natural::BodyTorqueForce::turn(time.torque[i], read<natural::BodyTorqueForce>(p_.torques[i].slot, q));
      for (int k = 0; k < 4; ++k) X_[p_.torques[i].target[k]] += f[k];
    }
    for (int k = 0; unknown && k < p_.forces.count; ++k) X_[p_.forces[k]] += unknown[k];
    const Mask good = saddle_.factor(X_);
    saddle_.finish(X_);
    for (int i = 0; i < n_; ++i) a[i] = X_[i];
    return good;
  }

  /// The system at q.
  Mask factor() {
    slope(p_.distances), slope(p_.rigid_points), slope(p_.sliders), slope(p_.angles), slope(p_.relative_angles);
    slope(p_.relative_positions);
    for (const PacketDriver& d : p_.drivers) saddle_.phi[d.place] = 1.0;
    return saddle_.factor(nullptr);
  }
  /// d (n + m) of the noise j: how the velocities answer to it.
  Packet* direction(int j) {
    for (int i = 0; i < n_ + m_; ++i) d_[i] = 0.0;
    const PacketNoise noise = p_.noises[j];
    d_[noise.column] = 1.0;
    saddle_.solve(d_);
    const Packet own = d_[noise.column];
    const Mask moves = own * p_.saddle.inertia[noise.column] > Packet(1e-12);
    const Packet factor = choose(moves, noise.acceleration ? 1.0 / own : Packet(1.0), 0.0);
    for (int i = 0; i < n_; ++i) d_[i] = factor * d_[i];
    return d_;
  }

  /// (q, v) onto the constraints with the last factorisation. False: it takes more than that.
  Mask settle(const PacketTime& time, Mask good) {
    Mask left = good;
    Packet before = __builtin_inf(), contraction = 1.0;
    for (int k = 0;; ++k) {
      close(time);
      const Packet now = miss(miss_);
      if (k > 0) contraction = choose(left, larger(now, 1.0) / before, contraction);
      const Mask slow = now > kSlow * before;
      left = left & ~((now <= Packet(1.0)) | (slow & (now <= Packet(kNearRounding))));
      good = good & ~(left & slow);
      left = left & good;
      if ((~left).all()) break;
      if (k == kMostCorrections) {
        good = good & ~left;
        break;
      }
      before = now;
      correct(miss_, left, q);
    }
    return settle_rate(time, good, contraction);
  }
  Mask regular_place() const {  // finite, and where sines are good
    Mask good(true);
    for (int i = 0; i < n_; ++i) good = good & (absolute(q[i]) < Packet(kMostAngle));
    return good;
  }
  Mask finite_rate() const {
    Mask good(true);
    for (int i = 0; i < n_; ++i) good = good & (absolute(v[i]) < Packet(__builtin_inf()));
    return good;
  }

 private:
  Mask settle_rate(const PacketTime& time, Mask good, Packet contraction) {
    Mask left = good;
    Packet before = __builtin_inf();
    for (int k = 0;; ++k) {
      Packet speed = 0.1 * p_.size;
      for (int i = 0; i < n_; ++i) speed = larger(speed, absolute(v[i]));
      const Packet now = miss(rate_) * p_.size / speed;
      const Mask slow = now > kSlow * before;
      left = left & ~((now <= Packet(1.0)) | (slow & (now <= Packet(kNearRounding))));
      good = good & ~(left & slow);
      left = left & good;
      if ((~left).all()) return good;
      if (k == kMostCorrections) return good & ~left;
      before = now;
      correct(rate_, left, v);
      left = left & ~(contraction * now <= Packet(1.0));  // sure to be good: not looked at again
      if ((~left).all()) return good;
      close(time);
    }
  }

  // Φ_q and −Φ̇_q q̇, which is −Φ̈ without accelerations.
  template <class E>
  KINEGRAPH_INLINE void bend(const PlainList<PacketConstraint<E>>& list) {
    for (const PacketConstraint<E>& c : list) {
      const auto g = c.equation.gradient(read<E>(c.slot, q, v));
      Packet sum = 0.0;
      for (int k = 0; k < E::kCoordinates; ++k) sum -= g[k].d * v[c.slot[k]];
      X_[n_ + c.row] = sum;
      write_row(c, [&g](int k) { return g[k].x; });
    }
  }
  template <class E>
  KINEGRAPH_INLINE void slope(const PlainList<PacketConstraint<E>>& list) {
    for (const PacketConstraint<E>& c : list) {
      const auto g = c.equation.gradient(read<E>(c.slot, q));
      write_row(c, [&g](int k) { return g[k]; });
    }
  }
  template <class E, class Get>
  KINEGRAPH_INLINE void write_row(const PacketConstraint<E>& c, const Get& get) {
    if (c.merged) {
      for (int k = 0; k < E::kCoordinates; ++k) saddle_.phi[c.place[k]] = 0.0;
      for (int k = 0; k < E::kCoordinates; ++k) saddle_.phi[c.place[k]] += get(k);
    } else {
      for (int k = 0; k < E::kCoordinates; ++k) saddle_.phi[c.place[k]] = get(k);
    }
  }
  template <class E>
  KINEGRAPH_INLINE void push(const PlainList<PacketForce<E>>& list) {
    for (const PacketForce<E>& f : list) {
      const auto local = f.equation.force(read<E>(f.slot, q), read<E>(f.slot, v), 0.0);
      for (int k = 0; k < E::kCoordinates; ++k) X_[f.target[k]] += local[k];
    }
  }

  // Φ and Φ̇
  void close(const PacketTime& time) {
    measure(p_.distances), measure(p_.rigid_points), measure(p_.sliders), measure(p_.angles);
    measure(p_.relative_angles), measure(p_.relative_positions);
    for (int i = 0; i < p_.drivers.count; ++i) {
      const PacketDriver& d = p_.drivers[i];
      miss_[d.row] = q[d.slot] - Packet(time.driver[3 * i]);
      rate_[d.row] = v[d.slot] - Packet(time.driver[3 * i + 1]);
    }
  }
  template <class E>
  KINEGRAPH_INLINE void measure(const PlainList<PacketConstraint<E>>& list) {
    for (const PacketConstraint<E>& c : list) {
      const Rate value = c.equation.phi(read<E>(c.slot, q, v), 0.0);
      miss_[c.row] = value.x;
      rate_[c.row] = value.d;
    }
  }
  Packet miss(const Packet* rows) const {
    Packet most = 0.0;
    for (int r = 0; r < m_; ++r) most = larger(most, p_.sharpness[r] * absolute(rows[r]));
    return most;
  }
  void correct(const Packet* rows, Mask left, Packet* x) {
    for (int i = 0; i < n_; ++i) d_[i] = 0.0;
    for (int r = 0; r < m_; ++r) d_[n_ + r] = -rows[r];
    saddle_.solve(d_);
    for (int i = 0; i < n_; ++i) x[i] = choose(left, x[i] + d_[i], x[i]);
  }

  const PacketProgram& p_;
  int n_, m_;
  Packet* work_;
  PacketSaddle saddle_;
  Packet *X_, *d_, *miss_, *rate_;
};

/// The states of one packet; lanes beyond the last one repeat it.
struct Group {
  const PacketStates& states;
  int first;
  int lane(int i) const { return first + i < states.count ? first + i : states.count - 1; }
  const double* x(int i) const { return states.x + static_cast<long>(lane(i)) * states.stride; }

  KINEGRAPH_INLINE void load(int n, Packet* q, Packet* v) const {
    for (int l = 0; l < kWidth; ++l) {
      const double* from = x(l);
      for (int i = 0; i < n; ++i) q[i].v[l] = from[i], v[i].v[l] = from[n + i];
    }
  }
  void store(int n, const Packet* q, const Packet* v, Mask good, double* next) const {
    for (int l = 0; l < kWidth && first + l < states.count; ++l) {
      states.done[first + l] = good.m[l] != 0;
      if (good.m[l] == 0) continue;
      double* to = next + static_cast<long>(first + l) * states.stride;
      for (int i = 0; i < n; ++i) to[i] = q[i].v[l], to[n + i] = v[i].v[l];
    }
  }
};

void step_packets(const PacketProgram& program, const PacketStates& states, const PacketStep& step) {
  const int n = program.n;
  Machine machine(program, states.work);
  Packet *q0 = machine.take(n), *v0 = machine.take(n), *unknown = machine.take(program.forces.count);
  Packet *stage_v = machine.take(step.stages * n), *stage_a = machine.take(step.stages * n);
  for (int first = 0; first < states.count; first += kWidth) {
    const Group group{states, first};
    group.load(n, q0, v0);
    for (int l = 0; step.force && l < kWidth; ++l) {
      const double* from = step.force + static_cast<long>(group.lane(l)) * states.stride;
      for (int k = 0; k < program.forces.count; ++k) unknown[k].v[l] = from[k];
    }
    Mask good(true);
    const auto combine = [&](int stages, const double* factor) {
      for (int i = 0; i < n; ++i) {
        Packet q = q0[i], v = v0[i];
        for (int j = 0; j < stages; ++j) {
          if (factor[j] == 0) continue;
          q += factor[j] * stage_v[j * n + i];
          v += factor[j] * stage_a[j * n + i];
        }
        machine.q[i] = q, machine.v[i] = v;
      }
      good = good & machine.regular_place();
    };
    for (int s = 0; s < step.stages; ++s) {
      combine(s, step.a + s * step.stages);
      for (int i = 0; i < n; ++i) stage_v[s * n + i] = machine.v[i];
      good = good & machine.accelerations(step.time[s], step.force ? unknown : nullptr, stage_a + s * n);
    }
    combine(step.stages, step.b);
    good = machine.settle(step.time[step.stages], good);
    good = good & machine.regular_place() & machine.finite_rate();
    group.store(n, machine.q, machine.v, good, step.next);
  }
}

void kick_packets(const PacketProgram& program, const PacketStates& states, const PacketKick& kick) {
  const int n = program.n, noises = program.noises.count;
  Machine machine(program, states.work);
  Packet *dq = machine.take(n), *dv = machine.take(n);
  for (int first = 0; first < states.count; first += kWidth) {
    const Group group{states, first};
    group.load(n, machine.q, machine.v);
    for (int i = 0; i < n; ++i) dq[i] = 0.0, dv[i] = 0.0;
    Mask good = machine.regular_place();
    good = good & machine.factor();
    for (int j = 0; j < noises; ++j) {
      const Packet* d = machine.direction(j);
      for (int l = 0; kick.directions && l < kWidth && first + l < states.count; ++l) {
        double* to = kick.directions + (static_cast<long>(first + l) * noises + j) * n;
        for (int i = 0; i < n; ++i) to[i] = d[i].v[l];
      }
      if (!kick.kick) continue;
      Packet by_v, by_q;
      for (int l = 0; l < kWidth; ++l) {
        const double* from = kick.kick + (static_cast<long>(group.lane(l)) * noises + j) * 2;
        by_v.v[l] = from[0], by_q.v[l] = from[1];
      }
      for (int i = 0; i < n; ++i) dq[i] += by_q * d[i], dv[i] += by_v * d[i];
    }
    if (!kick.kick) {
      for (int l = 0; l < kWidth && first + l < states.count; ++l) states.done[first + l] = good.m[l] != 0;
      continue;
    }
    for (int i = 0; i < n; ++i) {
      good = good & (absolute(dq[i]) <= Packet(kReach * program.length[i]));
      machine.q[i] += dq[i];
      machine.v[i] += dv[i];
    }
    good = machine.settle(kick.time, good);
    good = good & machine.regular_place() & machine.finite_rate();
    group.store(n, machine.q, machine.v, good, kick.next);
  }
}

}  // namespace

extern const PacketKernel KINEGRAPH_KERNEL = {&step_packets, &kick_packets};

}  // namespace kinegraph::filter
