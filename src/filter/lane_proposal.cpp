#include "kinegraph/filter/lane_proposal.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/base/numbers.hpp"

namespace kinegraph::filter {
namespace {

/// Of all lanes.
template <class Do>
inline void every(const Do& act) {
  for (int s = 0; s < kLanes; ++s) act(s);
}

void require_finite(const double* x, bool* good) {
  every([&](int s) { good[s] = good[s] && std::isfinite(x[s]); });
}

}  // namespace

void LaneSums::add_to(InnovationSums& sums) const {
  for (int s = 0; s < kLanes; ++s) {
    sums.weight += weight[s];
    for (int r = 0; r < kMostRows; ++r) sums.e[r] += e[kLanes * r + s];
    for (int k = 0; k < kMostRows * kMostRows; ++k) sums.square[k] += square[kLanes * k + s];
  }
}

LaneProposal::LaneProposal(StateSpace& space, StateLanes& lanes, Proposal kind, double noise_factor)
    : space_(space),
      lanes_(lanes),
      kind_(kind),
      noises_(space.noises()),
      tangent_(space.tangent()),
      most_(noises_ + tangent_) {
  const auto eights = [](int count) { return static_cast<std::size_t>(kLanes) * count; };
  A_.resize(eights(most_ * most_));
  mean_.resize(eights(most_));
  n_.resize(eights(most_));
  y_.resize(eights(kMostRows));
  all_.resize(eights(kMostRows * most_));
  H_.resize(eights(kMostRows * tangent_));
  delta_.resize(eights(tangent_));
  from_.resize(eights(space.stored()));
  state_.resize(eights(space.stored()));
  for (const SensorInfo& sensor : space.sensors()) {
    for (int row = 0; row < kMostRows; ++row) {
      const double noise = row < static_cast<int>(sensor.channels.size()) ? sensor.channels[row].noise : 1;
      information_.push_back(1 / (noise_factor * noise_factor * noise * noise));
    }
  }
}

bool LaneProposal::reads(const std::vector<Measurement>& readings) const {
  return std::all_of(readings.begin(), readings.end(), [&](const Measurement& m) { return lanes_.reads(m.sensor); });
}

/// e_ = y − prediction, the shorter way round; of rows that were read.
void LaneProposal::innovation(const Measurement& reading, const double* predicted, double* e) const {
  const auto& channels = space_.sensors()[reading.sensor].channels;
  for (std::size_t r = 0; r < channels.size(); ++r) {
    const double y = reading.y[r], turn = channels[r].turn;
    const double* from = predicted + kLanes * r;
    double* to = e + kLanes * r;
    eight(to) = y - eight(from);
    if (!channels[r].circular) continue;
    every([&](int s) {
      if (!(std::abs(to[s]) < turn / 2)) to[s] = std::remainder(to[s], turn);
    });
  }
}

void LaneProposal::begin(int drawn) {
  drawn_ = drawn;
  misfit_.fill(0);
  for (int c = 0; c < drawn; ++c) {
    std::fill_n(at(mean_, c), kLanes, 0.0);
    for (int r = c; r < drawn; ++r) std::fill_n(A(r, c), kLanes, r == c ? 1.0 : 0.0);
  }
}

// A += Bᵀ R⁻¹ B, b += Bᵀ R⁻¹ e, B in all_
void LaneProposal::answer(const Measurement& reading, double power) {
  const int rows = static_cast<int>(space_.sensors()[reading.sensor].channels.size());
  for (int row = 0; row < rows; ++row) {
    if (std::isnan(reading.y[row])) continue;
    const double information = power * information_[static_cast<std::size_t>(reading.sensor) * kMostRows + row];
    const Eight e = eight(e_.data() + kLanes * row);
    eight(misfit_.data()) += 0.5 * information * e * e;
    for (int c = 0; c < drawn_; ++c) {
      const Eight b = eight(all_.data() + kLanes * (c * rows + row)) * information;
      eight(at(mean_, c)) += b * e;
      for (int r = c; r < drawn_; ++r) eight(A(r, c)) += b * eight(all_.data() + kLanes * (r * rows + row));
    }
  }
}

// A = L Lᵀ, with 1 / Lᵢᵢ in place of the diagonal; L m = b; log |L|
void LaneProposal::factor(bool* good) {
  Eight size = Eight::Ones();
  for (int c = 0; c < drawn_; ++c) {
    Eight pivot = eight(A(c, c)), mean = eight(at(mean_, c));
    for (int k = 0; k < c; ++k) {
      const Eight l = eight(A(c, k));
      pivot -= l * l;
      mean -= l * eight(at(mean_, k));
    }
    every([&](int s) { good[s] = good[s] && pivot[s] > 0 && pivot[s] < 1e150; });
    const Eight root = pivot.sqrt(), inverse = root.inverse();
    size *= root;
    eight(A(c, c)) = inverse;
    eight(at(mean_, c)) = mean * inverse;
    for (int r = c + 1; r < drawn_; ++r) {
      Eight to = eight(A(r, c));
      for (int k = 0; k < c; ++k) to -= eight(A(r, k)) * eight(A(c, k));
      eight(A(r, c)) = to * inverse;
    }
  }
  require_finite(size.data(), good);
  every([&](int s) { log_size_[s] = std::log(size[s]); });
}

// Lᵀ n = m + ζ
void LaneProposal::solve(const double* zeta) {
  for (int r = drawn_ - 1; r >= 0; --r) {
    Eight n = eight(at(mean_, r)) + eight(zeta + kLanes * r);
    for (int k = r + 1; k < drawn_; ++k) n -= eight(A(k, r)) * eight(at(n_, k));
    eight(at(n_, r)) = n * eight(A(r, r));
  }
}

// p(n) / q(n) of n that came from ζ
void LaneProposal::density_ratio(const double* zeta, double* ratio) const {
  Eight squares = Eight::Zero();
  for (int i = 0; i < drawn_; ++i) {
    squares += eight(zeta + kLanes * i).square() - eight(n_.data() + kLanes * i).square();
  }
  eight(ratio) = 0.5 * squares - eight(log_size_.data());
}

/// −½ |y − h(x)|²_R; e_: of the last reading.
void LaneProposal::weigh(const std::vector<Measurement>& readings, double power, const double* x, double* weighed,
                         bool* good) {
  Eight sum = Eight::Zero();
  for (const Measurement& reading : readings) {
    lanes_.predict(x, reading.sensor, y_.data(), good);
    innovation(reading, y_.data(), e_.data());
    const std::size_t rows = space_.sensors()[reading.sensor].channels.size();
    for (std::size_t row = 0; row < rows; ++row) {
      if (std::isnan(reading.y[row])) continue;
      const double factor = 0.5 * power * information_[static_cast<std::size_t>(reading.sensor) * kMostRows + row];
      sum -= factor * eight(e_.data() + kLanes * row).square();
    }
  }
  eight(weighed) = sum;
}

void LaneProposal::tell(const Measurement& reading, bool answers, const Group& group, LaneSums& sums) const {
  const int rows = static_cast<int>(space_.sensors()[reading.sensor].channels.size());
  Eight weight, seen[kMostRows];  // what is no good may be no number
  every([&](int s) { weight[s] = group.good[s] ? group.weight[s] : 0; });
  every([&](int s) { group.told[s] += group.good[s]; });
  for (int r = 0; r < rows; ++r) {
    every([&](int s) { seen[r][s] = group.good[s] ? e_[kLanes * r + s] : 0; });
  }
  eight(sums.weight.data()) += weight;
  for (int r = 0; r < rows; ++r) {
    if (std::isnan(reading.y[r])) continue;
    eight(sums.e.data() + kLanes * r) += weight * seen[r];
    for (int c = 0; c < rows; ++c) {
      if (std::isnan(reading.y[c])) continue;
      Eight square = seen[r] * seen[c];
      for (int k = 0; k < (answers ? noises_ : 0); ++k) {
        square += eight(all_.data() + kLanes * (k * rows + r)) * eight(all_.data() + kLanes * (k * rows + c));
      }
      double* to = sums.square.data() + kLanes * (r * kMostRows + c);
      every([&](int s) { to[s] += group.good[s] ? weight[s] * square[s] : 0; });
    }
  }
}

void LaneProposal::draw(double t, double span, const std::vector<Measurement>& readings, const Group& group) {
  const bool guided = kind_ == Proposal::optimal && span > 0 && noises_ > 0 && !readings.empty();
  double ratio[kLanes] = {}, weighed[kLanes];
  const double* n = group.zeta;
  begin(span > 0 ? noises_ : 0);
  if (guided) {
    for (int r = 0; r < static_cast<int>(readings.size()); ++r) {
      lanes_.respond(span, group.x, readings[r].sensor, y_.data(), all_.data(), group.good);
      innovation(readings[r], y_.data(), e_.data());
      answer(readings[r], 1);
      const bool last = r + 1 == static_cast<int>(readings.size());
      if (last) factor(group.good);
      if (group.sums && r >= group.first_told) tell(readings[r], true, group, group.sums[r - group.first_told]);
    }
    solve(group.zeta);
    density_ratio(group.zeta, ratio);
    n = n_.data();
  } else if (span > 0) {
    lanes_.find_directions(group.x, group.good);
  }
  if (span > 0) lanes_.disturb(t, span, group.x, n, group.good);
  weigh(readings, 1, group.x, weighed, group.good);
  eight(group.log_weight) = eight(ratio) + eight(weighed);
  require_finite(group.log_weight, group.good);
  if (!guided && group.sums && !readings.empty()) {
    tell(readings.back(), false, group, group.sums[static_cast<int>(readings.size()) - 1 - group.first_told]);
  }
}

/// The states from which kernels count, moved by δ.
void LaneProposal::start(double t, const ParticleOrigin* const* origin, const double* delta, double* out, bool* good) {
  const int stored = space_.stored();
  for (int s = 0; s < kLanes; ++s) {
    const double* from = origin[s]->kernel->origin;
    for (int k = 0; k < stored; ++k) from_[kLanes * k + s] = from[k];
  }
  lanes_.retract(t, from_.data(), delta, out, good);
}

void LaneProposal::aim(double t, const std::vector<Measurement>& readings, double power, const Aims& aims) {
  const double span = aims.origin[0]->span;
  const int noises = span > 0 ? noises_ : 0;
  for (int s = 0; s < kLanes; ++s) {
    for (int k = 0; k < tangent_; ++k) delta_[kLanes * k + s] = aims.origin[s]->kernel->centre[k];
  }
  start(t, aims.origin, delta_.data(), state_.data(), aims.good);
  begin(noises + tangent_);
  const bool sighted = !readings.empty() && power != 0;
  if (!sighted) {
    every([&](int s) { aims.log_weight[s] = 0; });
    return keep(aims.kept, false, aims.good);
  }
  for (const Measurement& reading : readings) {
    const int rows = static_cast<int>(space_.sensors()[reading.sensor].channels.size());
    lanes_.predict(state_.data(), reading.sensor, y_.data(), H_.data(), aims.good);
    innovation(reading, y_.data(), e_.data());
    if (noises > 0) lanes_.respond(span, state_.data(), reading.sensor, y_.data(), all_.data(), aims.good);
    // H S, S lower triangular
    for (int c = 0; c < tangent_; ++c) {
      for (int row = 0; row < rows; ++row) {
        double* to = all_.data() + kLanes * ((noises + c) * rows + row);
        every([&](int s) { to[s] = 0; });
        for (int k = c; k < tangent_; ++k) {
          const double* h = H_.data() + kLanes * (k * rows + row);
          every([&](int s) { to[s] += h[s] * (*aims.origin[s]->kernel->root)(k, c); });
        }
      }
    }
    answer(reading, power);
  }
  factor(aims.good);
  Eight log_weight = -eight(misfit_.data()) - eight(log_size_.data());
  for (int i = 0; i < drawn_; ++i) log_weight += 0.5 * eight(at(mean_, i)).square();
  eight(aims.log_weight) = log_weight;
  require_finite(aims.log_weight, aims.good);
  keep(aims.kept, true, aims.good);
}

void LaneProposal::draw(double t, const std::vector<Measurement>& readings, double power, const Draws& draws) {
  const double span = draws.origin[0]->span;
  const int noises = span > 0 ? noises_ : 0;
  double ratio[kLanes], weighed[kLanes] = {};
  begin(noises + tangent_);
  recall(draws.kept, draws.good);
  solve(draws.zeta);
  density_ratio(draws.zeta, ratio);
  every([&](int s) { ratio[s] = guided_[s] != 0 ? ratio[s] : 0; });
  for (int i = 0; i < drawn_; ++i) {
    double* n = at(n_, i);
    const double* z = draws.zeta + kLanes * i;
    every([&](int s) { n[s] = guided_[s] != 0 ? n[s] : z[s]; });
  }
  for (int r = 0; r < tangent_; ++r) {
    double* delta = at(delta_, r);
    every([&](int s) { delta[s] = draws.origin[s]->kernel->centre[r]; });
    for (int c = 0; c <= r; ++c) {
      const double* n = at(n_, noises + c);
      every([&](int s) { delta[s] += (*draws.origin[s]->kernel->root)(r, c) * n[s]; });
    }
  }
  start(t, draws.origin, delta_.data(), draws.x, draws.good);
  if (noises > 0) {
    lanes_.find_directions(draws.x, draws.good);
    lanes_.disturb(t, span, draws.x, n_.data(), draws.good);
  }
  if (power != 0) weigh(readings, power, draws.x, weighed, draws.good);
  eight(draws.log_weight) = eight(ratio) + eight(weighed);
  require_finite(draws.log_weight, draws.good);
}

// As ParticleProposal::keep() has it.
void LaneProposal::keep(double* const* kept, bool guided, const bool* good) {
  for (int s = 0; s < kLanes; ++s) {
    if (!good[s]) continue;
    double* to = kept[s];
    *to++ = drawn_;
    *to++ = guided;
    *to++ = log_size_[s];
    for (int c = 0; guided && c < drawn_; ++c) {
      *to++ = at(mean_, c)[s];
      for (int r = c; r < drawn_; ++r) *to++ = A(r, c)[s];
    }
  }
}

void LaneProposal::recall(const double* const* kept, bool* good) {
  for (int s = 0; s < kLanes; ++s) {
    const double* from = kept[s];
    good[s] = good[s] && static_cast<int>(from[0]) == drawn_;
    guided_[s] = from[1];
    log_size_[s] = from[2];
    from += 3;
    for (int c = 0; c < drawn_ && good[s] && guided_[s] != 0; ++c) {
      at(mean_, c)[s] = *from++;
      for (int r = c; r < drawn_; ++r) A(r, c)[s] = *from++;
    }
  }
}

}  // namespace kinegraph::filter
