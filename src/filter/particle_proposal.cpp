#include "kinegraph/filter/particle_proposal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kinegraph::filter {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

void InnovationSums::add(const InnovationSums& other) {
  weight += other.weight;
  for (std::size_t i = 0; i < e.size(); ++i) e[i] += other.e[i];
  for (std::size_t i = 0; i < square.size(); ++i) square[i] += other.square[i];
}

ParticleProposal::ParticleProposal(StateSpace& space, Proposal kind, double noise_factor)
    : space_(space), kind_(kind), noise_factor_(noise_factor), noises_(space.noises()) {
  const int most = noises_ + space.tangent();
  zeta_.setZero(most);
  n_.setZero(most);
  mean_.setZero(most);
  A_.setZero(most, most);
  normals_.resize(static_cast<std::size_t>(kMostTogether) * noises_);
  delta_.setZero(space.tangent());
  centre_.setZero(space.stored());
  for (const SensorInfo& sensor : space.sensors()) {
    const auto rows = static_cast<Eigen::Index>(sensor.channels.size());
    B_.push_back(MatrixXd::Zero(rows, noises_));
    H_.push_back(MatrixXd::Zero(rows, space.tangent()));
    all_.push_back(MatrixXd::Zero(rows, most));
  }
}

double ParticleProposal::variance(const Measurement& reading, int row) const {
  const double sd = noise_factor_ * space_.sensors()[reading.sensor].channels[row].noise;
  return sd * sd;
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
  return added;
}

void ParticleProposal::draw(double t, double span, const std::vector<Measurement>& readings, const Group& group) {
  const int count = group.count, stored = space_.stored();
  drawn_ = span > 0 ? noises_ : 0;
  const bool aims = kind_ == Proposal::optimal && drawn_ > 0;
  for (int r = 0; aims && r < static_cast<int>(readings.size()); ++r) {
    Responses& told = responses(readings, r);
    space_.response_many(t, span, count, group.x, readings[r].sensor, told.y.data(), told.B.data(), told.good.data());
  }
  for (int i = 0; i < count; ++i) {
    const double* x = group.x + static_cast<std::ptrdiff_t>(i) * stored;
    sums_ = group.sums, weight_ = group.sums ? group.weight[i] : 0;
    guided_ = aims && !readings.empty() && guide(t, {x, span, nullptr}, x, readings, 1, i);
    told_[i] = guided_ || !group.sums || readings.empty();
    Random random = group.random[i];
    random.normal(zeta_.data(), drawn_);
    if (guided_) solve();
    std::copy_n(guided_ ? n_.data() : zeta_.data(), drawn_, normals_.data() + static_cast<std::ptrdiff_t>(i) * drawn_);
    ratio_[i] = guided_ ? log_density_ratio() : 0;
  }
  sums_ = nullptr;
  good_.fill(true);
  if (span > 0) space_.disturb_many(t, span, count, group.x, normals_.data(), good_.data());
  for (int i = 0; i < count; ++i) {
    double e[kMostRows];
    const double* x = group.x + static_cast<std::ptrdiff_t>(i) * stored;
    group.log_weight[i] = good_[i] ? ratio_[i] + weigh(t, x, readings, 1, e) : kNever;
    if (!told_[i] && group.log_weight[i] > kNever) tell(readings.back(), e, nullptr, group.weight[i], *group.sums);
  }
}

double ParticleProposal::aim(double t, const ParticleOrigin& origin, const std::vector<Measurement>& readings,
                             double power) {
  const double* x = origin.x;
  drawn_ = origin.span > 0 ? noises_ : 0;
  if (origin.kernel) {
    const ParticleKernels::Kernel& k = *origin.kernel;
    if (!space_.retract(t, k.origin, *k.chart, k.centre, centre_.data()) || !centre_.allFinite()) return kNever;
    x = centre_.data();
    drawn_ += space_.tangent();
  }
  guided_ = false;
  if (readings.empty() || power == 0) return 0;
  guided_ = guide(t, origin, x, readings, power);
  if (!guided_) {
    double e[kMostRows];
    return weigh(t, x, readings, power, e);
  }
  // N(e; 0, B Bᵀ + R), less the constant of R
  double log_weight = -misfit_;
  for (int i = 0; i < drawn_; ++i) log_weight += 0.5 * mean_[i] * mean_[i] - std::log(A_(i, i));
  return std::isfinite(log_weight) ? log_weight : kNever;
}

double ParticleProposal::draw(double t, const ParticleOrigin& origin, const std::vector<Measurement>& readings,
                              double power, Random random, double* x) {
  random.normal(zeta_.data(), drawn_);
  if (guided_) solve();
  const double* n = guided_ ? n_.data() : zeta_.data();
  const int noises = origin.span > 0 ? noises_ : 0;
  if (origin.kernel) {
    const ParticleKernels::Kernel& k = *origin.kernel;
    const int d = space_.tangent();
    for (int r = 0; r < d; ++r) {
      delta_[r] = k.centre[r];
      for (int c = 0; c <= r; ++c) delta_[r] += (*k.root)(r, c) * n[noises + c];
    }
    if (!space_.retract(t, k.origin, *k.chart, delta_.data(), x)) return kNever;
  } else {
    std::copy_n(origin.x, space_.stored(), x);
  }
  if (noises > 0 && !space_.disturb(t, origin.span, x, n)) return kNever;
  for (int i = 0; i < space_.stored(); ++i) {
    if (!std::isfinite(x[i])) return kNever;
  }
  double e[kMostRows];
  const double log_weight = power == 0 ? 0 : weigh(t, x, readings, power, e);
  return guided_ ? log_weight + log_density_ratio() : log_weight;
}

int ParticleProposal::kept() const { return 2 + static_cast<int>(mean_.size() * (mean_.size() + 3) / 2); }

void ParticleProposal::keep(double* to) const {
  *to++ = drawn_;
  *to++ = guided_;
  for (int c = 0; guided_ && c < drawn_; ++c) {
    *to++ = mean_[c];
    for (int r = c; r < drawn_; ++r) *to++ = A_(r, c);
  }
}

void ParticleProposal::recall(const double* from) {
  drawn_ = static_cast<int>(*from++);
  guided_ = *from++ != 0;
  for (int c = 0; guided_ && c < drawn_; ++c) {
    mean_[c] = *from++;
    for (int r = c; r < drawn_; ++r) A_(r, c) = *from++;
  }
}

/// −½ |y − h(x)|²_R; e: of the last reading.
double ParticleProposal::weigh(double t, const double* x, const std::vector<Measurement>& readings, double power,
                               double* e) {
  double y[kMostRows], log_weight = 0;
  for (const Measurement& reading : readings) {
    const SensorInfo& sensor = space_.sensors()[reading.sensor];
    if (!space_.predict(t, x, reading.sensor, y)) return kNever;
    innovation(sensor, reading.y.data(), y, e);
    for (std::size_t row = 0; row < sensor.channels.size(); ++row) {
      if (!std::isnan(reading.y[row])) {
        log_weight -= 0.5 * power * e[row] * e[row] / variance(reading, static_cast<int>(row));
      }
    }
  }
  return std::isfinite(log_weight) ? log_weight : kNever;
}

// p(n) / q(n) of what was drawn last
double ParticleProposal::log_density_ratio() const {
  double squares = 0, logs = 0;
  for (int i = 0; i < drawn_; ++i) {
    squares += zeta_[i] * zeta_[i] - n_[i] * n_[i];
    logs += std::log(A_(i, i));
  }
  return 0.5 * squares - logs;
}

// n ~ N(A⁻¹ b, A⁻¹), b = Bᵀ R⁻¹ e.
bool ParticleProposal::guide(double t, const ParticleOrigin& origin, const double* x,
                             const std::vector<Measurement>& readings, double power, int of_group) {
  double y[kMostRows], e[kMostRows];
  const int noises = origin.span > 0 ? noises_ : 0;
  misfit_ = 0;
  for (int c = 0; c < drawn_; ++c) {
    mean_[c] = 0;
    for (int r = c; r < drawn_; ++r) A_(r, c) = r == c;
  }
  for (const Measurement& reading : readings) {
    MatrixXd& all = all_[reading.sensor];
    if (origin.kernel) {
      MatrixXd& H = H_[reading.sensor];
      const MatrixXd& S = *origin.kernel->root;
      if (!space_.predict(t, x, *origin.kernel->chart, reading.sensor, y, H)) return false;
      for (int c = 0; c < S.cols(); ++c) {
        for (int row = 0; row < H.rows(); ++row) {
          double sum = 0;
          for (int k = c; k < S.rows(); ++k) sum += H(row, k) * S(k, c);
          all(row, noises + c) = sum;
        }
      }
    }
    const MatrixXd* B = nullptr;
    if (noises > 0) {
      const Responses* known = of_group < 0 ? nullptr : &responses_[answer_[&reading - readings.data()]];
      B = respond(t, origin, x, reading.sensor, known, of_group, y);
      if (!B) return false;
      for (int c = 0; c < noises; ++c) {
        for (int row = 0; row < B->rows(); ++row) all(row, c) = (*B)(row, c);
      }
    } else if (!origin.kernel && !space_.predict(t, x, reading.sensor, y)) {
      return false;
    }
    innovation(space_.sensors()[reading.sensor], reading.y.data(), y, e);
    answer(reading, all, e, power);
    if (sums_ && &reading == &readings.back()) tell(reading, e, B, weight_, *sums_);
  }
  return factor();
}

// y and B of a sensor: asked for, or known already for a whole group. Null: no answer.
const MatrixXd* ParticleProposal::respond(double t, const ParticleOrigin& origin, const double* x, int sensor,
                                          const Responses* known, int of_group, double* y) {
  if (!known) return space_.response(t, origin.span, x, sensor, y, B_[sensor]) ? &B_[sensor] : nullptr;
  if (!known->good[of_group]) return nullptr;
  std::copy_n(known->y.data() + static_cast<std::ptrdiff_t>(of_group) * kMostRows, kMostRows, y);
  return &known->B[of_group];
}

// A += Bᵀ R⁻¹ B, b += Bᵀ R⁻¹ e
void ParticleProposal::answer(const Measurement& reading, const MatrixXd& B, const double* e, double power) {
  for (int row = 0; row < B.rows(); ++row) {
    if (std::isnan(reading.y[row])) continue;
    const double information = power / variance(reading, row);
    misfit_ += 0.5 * information * e[row] * e[row];
    for (int c = 0; c < drawn_; ++c) {
      const double b = B(row, c) * information;
      mean_[c] += b * e[row];
      for (int r = c; r < drawn_; ++r) A_(r, c) += b * B(row, r);
    }
  }
}

// A = L Lᵀ, L m = b
bool ParticleProposal::factor() {
  for (int c = 0; c < drawn_; ++c) {
    double pivot = A_(c, c);
    for (int k = 0; k < c; ++k) pivot -= A_(c, k) * A_(c, k);
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    A_(c, c) = std::sqrt(pivot);
    for (int k = 0; k < c; ++k) mean_[c] -= A_(c, k) * mean_[k];
    mean_[c] /= A_(c, c);
    for (int r = c + 1; r < drawn_; ++r) {
      double sum = A_(r, c);
      for (int k = 0; k < c; ++k) sum -= A_(r, k) * A_(c, k);
      A_(r, c) = sum / A_(c, c);
    }
  }
  return true;
}

// Lᵀ n = m + ζ
void ParticleProposal::solve() {
  for (int r = drawn_ - 1; r >= 0; --r) {
    double sum = mean_[r] + zeta_[r];
    for (int k = r + 1; k < drawn_; ++k) sum -= A_(k, r) * n_[k];
    n_[r] = sum / A_(r, r);
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
