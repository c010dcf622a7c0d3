#include "kinegraph/filter/particle_proposal.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/base/numbers.hpp"

namespace kinegraph::filter {

void InnovationSums::add(const InnovationSums& other) {
  weight += other.weight;
  for (std::size_t i = 0; i < e.size(); ++i) e[i] += other.e[i];
  for (std::size_t i = 0; i < square.size(); ++i) square[i] += other.square[i];
}

ParticleProposal::ParticleProposal(StateSpace& space, Proposal kind, double noise_factor)
    : space_(space), kind_(kind), noises_(space.noises()) {
  const int most = noises_ + space.tangent();
  zeta_.setZero(most);
  n_.setZero(most);
  mean_.setZero(most);
  A_.setZero(most, most);
  normals_.resize(static_cast<std::size_t>(kMostTogether) * noises_);
  deltas_.resize(static_cast<std::size_t>(kMostTogether) * space.tangent());
  states_.resize(static_cast<std::size_t>(kMostTogether) * space.stored());
  read_.resize(static_cast<std::size_t>(kMostTogether) * kMostRows);
  for (const SensorInfo& sensor : space.sensors()) {
    const auto rows = static_cast<Eigen::Index>(sensor.channels.size());
    B_.push_back(MatrixXd::Zero(rows, noises_));
    H_.push_back(MatrixXd::Zero(rows, space.tangent()));
    all_.push_back(MatrixXd::Zero(rows, most));
    for (const SensorInfo::Channel& channel : sensor.channels) {
      information_.push_back(1 / (noise_factor * noise_factor * channel.noise * channel.noise));
    }
    information_.resize(all_.size() * kMostRows);
  }
}

// Those of the same sensor serve again, so that nothing is allocated anew.
ParticleProposal::Responses& ParticleProposal::responses(const std::vector<Measurement>& readings, int reading) {
  const int sensor = readings[reading].sensor;
  answer_.resize(std::max<std::size_t>(answer_.size(), readings.size()));
  for (std::size_t i = 0; i < responses_.size(); ++i) {
    Responses& known = responses_[i];
    const bool taken =
        std::find(answer_.begin(), answer_.begin() + reading, static_cast<int>(i)) != answer_.begin() + reading;
    if (known.sensor == sensor && !taken) return answer_[reading] = static_cast<int>(i), known;
  }
  answer_[reading] = static_cast<int>(responses_.size());
  Responses& added = responses_.emplace_back();
  added.sensor = sensor;
  added.B.assign(kMostTogether, B_[sensor]);
  added.H.assign(kMostTogether, H_[sensor]);
  return added;
}

/// y, and how it answers to the noise of a span.
void ParticleProposal::ask(double t, double span, int count, const double* x,
                           const std::vector<Measurement>& readings) {
  for (int r = 0; r < static_cast<int>(readings.size()); ++r) {
    Responses& told = responses(readings, r);
    if (drawn_ > 0) {
      space_.response_many(t, span, count, x, readings[r].sensor, told.y.data(), told.B.data(), told.good.data());
    } else {
      space_.predict_many(t, count, x, readings[r].sensor, told.y.data(), told.good.data());
    }
  }
}

void ParticleProposal::draw(double t, double span, const std::vector<Measurement>& readings, const Group& group) {
  const int count = group.count, stored = space_.stored();
  drawn_ = span > 0 ? noises_ : 0;
  const bool aims = kind_ == Proposal::optimal && drawn_ > 0;
  if (aims) ask(t, span, count, group.x, readings);
  for (int i = 0; i < count; ++i) {
    const double* x = group.x + static_cast<std::ptrdiff_t>(i) * stored;
    sums_ = group.sums, weight_ = group.sums ? group.weight[i] : 0;
    first_told_ = to_tell_ = group.first_told;
    guided_ = aims && !readings.empty() && guide({x, span, nullptr}, readings, 1, i);
    left_to_tell_[i] = to_tell_;
    Random random = group.random[i];
    double* n = normals_.data() + static_cast<std::ptrdiff_t>(i) * drawn_;
    random.normal(guided_ ? zeta_.data() : n, drawn_);
    if (guided_) solve(n);
    ratio_[i] = guided_ ? log_density_ratio(n) : 0;
  }
  sums_ = nullptr;
  good_.fill(true);
  if (span > 0) space_.disturb_many(t, span, count, group.x, normals_.data(), good_.data());
  weigh_many(t, count, group.x, readings, 1);
  for (int i = 0; i < count; ++i) {
    group.log_weight[i] = good_[i] ? ratio_[i] + weighed_[i] : -kInfinity;
    if (!group.sums || !(group.log_weight[i] > -kInfinity)) continue;
    for (int r = left_to_tell_[i]; r < static_cast<int>(readings.size()); ++r) {
      tell(readings[r], misses(r, i), nullptr, group.weight[i], group.sums[r - group.first_told]);
    }
  }
}

void ParticleProposal::aim(double t, const std::vector<Measurement>& readings, double power, const Aims& aims) {
  aim_at_kernels(t, readings, power, aims);
  // A kernel that is too wide for the machine: the particle alone.
  std::array<ParticleOrigin*, kMostTogether> origin;
  std::array<double*, kMostTogether> kept;
  std::array<double, kMostTogether> log_weight;
  std::array<int, kMostTogether> which;
  int count = 0;
  for (int i = 0; i < aims.count; ++i) {
    if (aims.origin[i]->kernel && aims.log_weight[i] > -kInfinity) continue;
    aims.origin[i]->kernel = nullptr;
    origin[count] = aims.origin[i], kept[count] = aims.kept[i], which[count++] = i;
  }
  if (count == 0) return;
  aim_as_points(t, readings, power, {count, origin.data(), kept.data(), log_weight.data()});
  for (int k = 0; k < count; ++k) aims.log_weight[which[k]] = log_weight[k];
}

/// Those with a kernel, at its centre.
void ParticleProposal::aim_at_kernels(double t, const std::vector<Measurement>& readings, double power,
                                      const Aims& aims) {
  const int stored = space_.stored();
  std::array<int, kMostTogether> which;
  int count = 0;
  for (int i = 0; i < aims.count; ++i) {
    aims.log_weight[i] = -kInfinity;
    const ParticleKernels::Kernel* k = aims.origin[i]->kernel;
    if (!k) continue;
    retractions_[count] = {k->origin, k->chart, k->centre};
    charts_[count] = k->chart;
    which[count++] = i;
  }
  if (count == 0) return;
  const double span = aims.origin[which[0]]->span;
  drawn_ = span > 0 ? noises_ : 0;
  space_.retract_many(t, count, retractions_.data(), states_.data(), good_.data());
  const bool sighted = !readings.empty() && power != 0;
  for (int r = 0; sighted && r < static_cast<int>(readings.size()); ++r) {
    Responses& told = responses(readings, r);
    std::array<bool, kMostTogether> good;
    space_.predict_many(t, count, states_.data(), charts_.data(), readings[r].sensor, told.y.data(), told.H.data(),
                        good.data());
    if (drawn_ > 0) {
      space_.response_many(t, span, count, states_.data(), readings[r].sensor, told.y.data(), told.B.data(),
                           told.good.data());
      for (int k = 0; k < count; ++k) told.good[k] = told.good[k] && good[k];
    } else {
      told.good = good;
    }
  }
  drawn_ += space_.tangent();
  for (int k = 0; k < count; ++k) {
    const double* x = states_.data() + static_cast<std::ptrdiff_t>(k) * stored;
    const auto finite = [](double value) { return std::isfinite(value); };
    if (!good_[k] || !std::all_of(x, x + stored, finite)) continue;
    const int i = which[k];
    aims.log_weight[i] = linear_weight(t, *aims.origin[i], x, readings, power, k);
    keep(aims.kept[i]);
  }
}

void ParticleProposal::aim_as_points(double t, const std::vector<Measurement>& readings, double power,
                                     const Aims& aims) {
  const int stored = space_.stored();
  const double span = aims.origin[0]->span;
  for (int k = 0; k < aims.count; ++k) {
    std::copy_n(aims.origin[k]->x, stored, states_.data() + static_cast<std::ptrdiff_t>(k) * stored);
  }
  drawn_ = span > 0 ? noises_ : 0;
  if (!readings.empty() && power != 0) ask(t, span, aims.count, states_.data(), readings);
  for (int k = 0; k < aims.count; ++k) {
    const double* x = states_.data() + static_cast<std::ptrdiff_t>(k) * stored;
    aims.log_weight[k] = linear_weight(t, *aims.origin[k], x, readings, power, k);
    keep(aims.kept[k]);
  }
}

/// Log of the weight as far as the readings are linear, N(e; 0, B Bᵀ + R), less the constant of R.
double ParticleProposal::linear_weight(double t, const ParticleOrigin& origin, const double* x,
                                       const std::vector<Measurement>& readings, double power, int of_group) {
  guided_ = false;
  if (readings.empty() || power == 0) return 0;
  guided_ = guide(origin, readings, power, of_group);
  if (!guided_) {
    weigh_many(t, 1, x, readings, power);
    return weighed_[0];
  }
  double log_weight = -misfit_ - log_size_;
  for (int i = 0; i < drawn_; ++i) log_weight += 0.5 * mean_[i] * mean_[i];
  return std::isfinite(log_weight) ? log_weight : -kInfinity;
}

void ParticleProposal::draw(double t, const std::vector<Measurement>& readings, double power, const Draws& draws) {
  const int count = draws.count, stored = space_.stored(), d = space_.tangent();
  if (count == 0) return;
  const double span = draws.origin[0]->span;
  const int noises = span > 0 ? noises_ : 0;
  std::array<int, kMostTogether> which;
  int kernels = 0;
  for (int i = 0; i < count; ++i) {
    recall(draws.kept[i]);
    Random random = draws.random[i];
    random.normal(zeta_.data(), drawn_);
    if (guided_) solve(n_.data());
    const double* n = guided_ ? n_.data() : zeta_.data();
    ratio_[i] = guided_ ? log_density_ratio(n) : 0;
    std::copy_n(n, noises, normals_.data() + static_cast<std::ptrdiff_t>(i) * noises);
    const ParticleKernels::Kernel* k = draws.origin[i]->kernel;
    if (!k) {
      std::copy_n(draws.origin[i]->x, stored, draws.x + static_cast<std::ptrdiff_t>(i) * stored);
      continue;
    }
    double* delta = deltas_.data() + static_cast<std::ptrdiff_t>(kernels) * d;
    for (int r = 0; r < d; ++r) {
      delta[r] = k->centre[r];
      for (int c = 0; c <= r; ++c) delta[r] += (*k->root)(r, c) * n[noises + c];
    }
    retractions_[kernels] = {k->origin, k->chart, delta};
    which[kernels++] = i;
  }
  std::array<bool, kMostTogether> fine;
  fine.fill(true);
  if (kernels > 0) space_.retract_many(t, kernels, retractions_.data(), states_.data(), good_.data());
  for (int k = 0; k < kernels; ++k) {
    fine[which[k]] = good_[k];
    const double* x = good_[k] ? states_.data() + static_cast<std::ptrdiff_t>(k) * stored : draws.origin[which[k]]->x;
    std::copy_n(x, stored, draws.x + static_cast<std::ptrdiff_t>(which[k]) * stored);
  }
  good_.fill(true);
  if (noises > 0) space_.disturb_many(t, span, count, draws.x, normals_.data(), good_.data());
  if (power == 0) {
    std::fill_n(weighed_.data(), count, 0.0);
  } else {
    weigh_many(t, count, draws.x, readings, power);
  }
  for (int i = 0; i < count; ++i) {
    const double* x = draws.x + static_cast<std::ptrdiff_t>(i) * stored;
    const bool finite = std::all_of(x, x + stored, [](double value) { return std::isfinite(value); });
    draws.log_weight[i] = fine[i] && good_[i] && finite ? weighed_[i] + ratio_[i] : -kInfinity;
  }
}

int ParticleProposal::kept() const { return 3 + static_cast<int>(mean_.size() * (mean_.size() + 3) / 2); }

void ParticleProposal::keep(double* to) const {
  *to++ = drawn_;
  *to++ = guided_;
  *to++ = log_size_;
  for (int c = 0; guided_ && c < drawn_; ++c) {
    *to++ = mean_[c];
    for (int r = c; r < drawn_; ++r) *to++ = A_(r, c);
  }
}

void ParticleProposal::recall(const double* from) {
  drawn_ = static_cast<int>(*from++);
  guided_ = *from++ != 0;
  log_size_ = *from++;
  for (int c = 0; guided_ && c < drawn_; ++c) {
    mean_[c] = *from++;
    for (int r = c; r < drawn_; ++r) A_(r, c) = *from++;
  }
}

/// weighed_: −½ |y − h(x)|²_R; misses_: e.
void ParticleProposal::weigh_many(double t, int count, const double* x, const std::vector<Measurement>& readings,
                                  double power) {
  std::fill_n(weighed_.data(), count, 0.0);
  std::array<bool, kMostTogether> good;
  misses_.resize(std::max(misses_.size(), readings.size() * kMostTogether * kMostRows));
  for (int number = 0; number < static_cast<int>(readings.size()); ++number) {
    const Measurement& reading = readings[number];
    const SensorInfo& sensor = space_.sensors()[reading.sensor];
    const double* information = information_of(reading);
    space_.predict_many(t, count, x, reading.sensor, read_.data(), good.data());
    for (int i = 0; i < count; ++i) {
      double* e = misses(number, i);
      innovation(sensor, reading.y.data(), read_.data() + static_cast<std::ptrdiff_t>(i) * kMostRows, e);
      for (std::size_t row = 0; row < sensor.channels.size(); ++row) {
        if (!std::isnan(reading.y[row])) weighed_[i] -= 0.5 * power * information[row] * e[row] * e[row];
      }
      if (!good[i] || !std::isfinite(weighed_[i])) weighed_[i] = -kInfinity;
    }
  }
}

// p(n) / q(n) of n that came from ζ
double ParticleProposal::log_density_ratio(const double* n) const {
  double squares = 0;
  for (int i = 0; i < drawn_; ++i) squares += zeta_[i] * zeta_[i] - n[i] * n[i];
  return 0.5 * squares - log_size_;
}

// n ~ N(A⁻¹ b, A⁻¹), b = Bᵀ R⁻¹ e, of what the particles of a group were asked. False: no answer.
bool ParticleProposal::guide(const ParticleOrigin& origin, const std::vector<Measurement>& readings, double power,
                             int of_group) {
  double e[kMostRows];
  const int noises = origin.span > 0 ? noises_ : 0;
  misfit_ = 0;
  for (int c = 0; c < drawn_; ++c) {
    mean_[c] = 0;
    for (int r = c; r < drawn_; ++r) A_(r, c) = r == c;
  }
  for (const Measurement& reading : readings) {
    const Responses& told = responses_[answer_[&reading - readings.data()]];
    if (!told.good[of_group]) return false;
    MatrixXd& all = all_[reading.sensor];
    if (origin.kernel) {
      const MatrixXd &H = told.H[of_group], &S = *origin.kernel->root;
      for (int c = 0; c < S.cols(); ++c) {
        for (int row = 0; row < H.rows(); ++row) {
          double sum = 0;
          for (int k = c; k < S.rows(); ++k) sum += H(row, k) * S(k, c);
          all(row, noises + c) = sum;
        }
      }
    }
    const MatrixXd& B = told.B[of_group];
    for (int c = 0; c < noises; ++c) {
      for (int row = 0; row < B.rows(); ++row) all(row, c) = B(row, c);
    }
    const double* y = told.y.data() + static_cast<std::ptrdiff_t>(of_group) * kMostRows;
    innovation(space_.sensors()[reading.sensor], reading.y.data(), y, e);
    answer(reading, all, e, power);
    if (sums_ && &reading - readings.data() == to_tell_) {
      tell(reading, e, noises > 0 ? &B : nullptr, weight_, sums_[to_tell_++ - first_told_]);
    }
  }
  return factor();
}

// A += Bᵀ R⁻¹ B, b += Bᵀ R⁻¹ e
void ParticleProposal::answer(const Measurement& reading, const MatrixXd& B, const double* e, double power) {
  for (int row = 0; row < B.rows(); ++row) {
    if (std::isnan(reading.y[row])) continue;
    const double information = power * information_of(reading)[row];
    misfit_ += 0.5 * information * e[row] * e[row];
    for (int c = 0; c < drawn_; ++c) {
      const double b = B(row, c) * information;
      mean_[c] += b * e[row];
      for (int r = c; r < drawn_; ++r) A_(r, c) += b * B(row, r);
    }
  }
}

// A = L Lᵀ, with 1 / Lᵢᵢ in place of the diagonal; L m = b; log |L|
bool ParticleProposal::factor() {
  constexpr double kLarge = 1e150;
  double size = 1;
  log_size_ = 0;
  for (int c = 0; c < drawn_; ++c) {
    double pivot = A_(c, c);
    for (int k = 0; k < c; ++k) pivot -= A_(c, k) * A_(c, k);
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    const double root = std::sqrt(pivot), inverse = 1 / root;
    A_(c, c) = inverse;
    size *= root;
    if (size > kLarge) log_size_ += std::log(size), size = 1;
    for (int k = 0; k < c; ++k) mean_[c] -= A_(c, k) * mean_[k];
    mean_[c] *= inverse;
    for (int r = c + 1; r < drawn_; ++r) {
      double sum = A_(r, c);
      for (int k = 0; k < c; ++k) sum -= A_(r, k) * A_(c, k);
      A_(r, c) = sum * inverse;
    }
  }
  log_size_ += std::log(size);
  return true;
}

// Lᵀ n = m + ζ
void ParticleProposal::solve(double* n) const {
  for (int r = drawn_ - 1; r >= 0; --r) {
    double sum = mean_[r] + zeta_[r];
    for (int k = r + 1; k < drawn_; ++k) sum -= A_(k, r) * n[k];
    n[r] = sum * A_(r, r);
  }
}

void ParticleProposal::tell(const Measurement& reading, const double* e, const MatrixXd* B, double weight,
                            InnovationSums& sums) const {
  const int rows = static_cast<int>(space_.sensors()[reading.sensor].channels.size());
  sums.weight += weight;
  for (int r = 0; r < rows; ++r) {
    if (std::isnan(reading.y[r])) continue;
    sums.e[r] += weight * e[r];
    for (int c = 0; c < rows; ++c) {
      if (std::isnan(reading.y[c])) continue;
      sums.square[r * kMostRows + c] += weight * (e[r] * e[c] + (B ? B->row(r).dot(B->row(c)) : 0));
    }
  }
}

}  // namespace kinegraph::filter
