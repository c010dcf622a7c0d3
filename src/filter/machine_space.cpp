#include "kinegraph/filter/machine_space.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kinegraph/filter/machine_lanes.hpp"

namespace kinegraph::filter {
namespace {

/// "imu.wx" → "imu.bias.wx"
std::string bias_name(const std::string& channel) {
  const std::size_t dot = channel.rfind('.');
  return dot == std::string::npos ? channel + ".bias" : channel.substr(0, dot) + ".bias" + channel.substr(dot);
}

/// "P1.x" → "P1.vx"; "theta" → "theta.v"; of joints with several freedoms "j.q1" → "j.v1", "base.rx" → "base.wx"
std::string rate_name(const std::string& column) {
  const std::size_t dot = column.rfind('.');
  if (dot == std::string::npos) return column + ".v";
  const std::string joint = column.substr(0, dot), what = column.substr(dot + 1);
  if (what[0] == 'r') return joint + ".w" + what.substr(1);
  return joint + ".v" + (what[0] == 'q' ? what.substr(1) : what);
}

}  // namespace

MachineSpace::MachineSpace(std::unique_ptr<Plant> plant, std::shared_ptr<const sensor::Observer> observer,
                           MachineOptions options)
    : plant_(std::move(plant)), observer_(std::move(observer)), options_(std::move(options)) {
  for (int s = 0; s < observer_->sensors(); ++s) {
    const Sensor& sensor = observer_->sensor(s);
    SensorInfo info{sensor.name, {}};
    for (int row = 0; row < observer_->rows(s); ++row) {
      const SensorChannel& c = sensor.channels[row];
      // Rounding to multiples of a quantum is, for the estimator, noise spread evenly over it.
      info.channels.push_back({c.name, std::sqrt(c.noise * c.noise + c.quantum * c.quantum / 12), c.circular,
                               2 * M_PI * std::abs(c.scale)});
      if (c.bias_sd <= 0 && c.bias_walk <= 0) continue;
      if (c.bias_walk > 0) walking_.push_back(static_cast<int>(biases_.size()));
      biases_.push_back({s, row, c.bias_sd, c.bias_walk});
    }
    infos_.push_back(std::move(info));
  }
  shift_q_.setZero(plant_->velocities());
  shift_v_.setZero(plant_->velocities());
}

MachineSpace::MachineSpace(const MachineSpace& other)
    : MachineSpace(other.plant_->clone(), other.observer_, other.options_) {}

std::string MachineSpace::extra_name(int i) const {
  const int biases = static_cast<int>(biases_.size());
  if (i >= biases) return options_.unknowns[i - biases].name + ".tau";
  return bias_name(infos_[biases_[i].sensor].channels[biases_[i].row].name);
}

std::string MachineSpace::tangent_name(const Chart& chart, int i) const {
  const int f = plant_->freedoms();
  if (i >= 2 * f) return extra_name(i - 2 * f);
  const bool rate = i >= f;
  int column;
  if (chart.columns.empty()) {
    chart.rows.row(i % f).cwiseAbs().maxCoeff(&column);
  } else {
    column = chart.columns[i % f];
  }
  const std::string& name = plant_->column_name(column);
  return rate ? rate_name(name) : name.find('.') == std::string::npos ? name + ".q" : name;
}

VectorXd MachineSpace::state(const VectorXd& q, const VectorXd& v) const {
  VectorXd x = VectorXd::Zero(stored());
  x.head(q.size()) = q;
  x.segment(q.size(), v.size()) = v;
  return x;
}

VectorXd MachineSpace::extra_sd() const {
  VectorXd sd(extras());
  int i = 0;
  for (const Bias& b : biases_) sd[i++] = b.sd;
  for (const UnknownForce& f : options_.unknowns) sd[i++] = f.sd;
  return sd;
}

bool MachineSpace::retract(double t, const double* x, const Chart& chart, const double* delta, double* out) {
  const int n = plant_->stored(), d = plant_->tangent();
  for (int i = 0; i < extras(); ++i) out[n + i] = x[n + i] + delta[d + i];
  return plant_->retract(t, x, chart, delta, out);
}

void MachineSpace::local(const double* x, const Chart& chart, const double* other, double* delta) {
  const int n = plant_->stored(), d = plant_->tangent();
  plant_->local(x, chart, other, delta);
  for (int i = 0; i < extras(); ++i) delta[d + i] = other[n + i] - x[n + i];
}

void MachineSpace::local_many(const double* x, const Chart& chart, int count, const double* others, double* delta) {
  const int n = plant_->stored(), d = plant_->tangent(), more = extras();
  plant_->local_many(x, chart, {count, n + more, d + more}, others, delta);
  for (int s = 0; s < count && more > 0; ++s, others += n + more, delta += d + more) {
    for (int i = 0; i < more; ++i) delta[d + i] = others[n + i] - x[n + i];
  }
}

// (δq, δv) = (N δz, D δz + N δż) in the one chart, C' of both in the other.
bool MachineSpace::transition(double t, const double* x, const Chart& from, const Chart& to, MatrixXd& T) {
  const int f = plant_->freedoms();
  T.setIdentity(tangent(), tangent());
  if (from == to) return true;
  if (!plant_->lift(t, x, from, N_, D_)) return false;
  in_chart_.resize(f, f);
  to_chart(to, N_, in_chart_);
  T.topLeftCorner(f, f) = in_chart_;
  T.block(f, f, f, f) = in_chart_;
  to_chart(to, D_, in_chart_);
  T.block(f, 0, f, f) = in_chart_;
  return true;
}

bool MachineSpace::advance(double t, double h, const double* x, double* next) {
  std::copy(bias(x), bias(x) + extras(), next + plant_->stored());
  return plant_->advance(t, h, x, force(x), next);
}

// White noise w of density s, along d(x) at the start of the step and d(x⁺) at its end: what it did early has moved on
// with F, g₁ = F (0, C d(x)), what it did late has not, g₀ = (0, C d(x⁺)); between them by straight lines,
//
//     Q = s² ∫ g gᵀ dτ = s² h ((g₀ g₀ᵀ + g₁ g₁ᵀ) / 3 + (g₀ g₁ᵀ + g₁ g₀ᵀ) / 6)
//
// which is [h³/3  h²/2; h²/2  h] for a body that nothing else moves, and the same in every chart.
bool MachineSpace::advance(double t, double h, const double* x, const Chart& chart, double* next, Chart& next_chart,
                           MatrixXd& F, MatrixXd& Q) {
  const int d = plant_->tangent(), n = tangent();
  std::copy(bias(x), bias(x) + extras(), next + plant_->stored());
  if (!plant_->advance(t, h, x, force(x), chart, next, next_chart, by_state_, by_force_)) return false;
  F.setIdentity(n, n);
  F.topLeftCorner(d, d) = by_state_;
  if (plant_->forces() > 0) F.topRightCorner(d, plant_->forces()) = by_force_;

  Q.setZero(n, n);
  if (plant_->noises() > 0 && !add_noise(t, h, x, chart, next, next_chart, Q)) return false;
  add_walks(h, Q);
  return true;
}

bool MachineSpace::add_noise(double t, double h, const double* x, const Chart& chart, const double* next,
                             const Chart& next_chart, MatrixXd& Q) {
  const int f = plant_->freedoms(), d = plant_->tangent(), noises = plant_->noises();
  in_chart_.resize(f, noises);
  early_.resize(d, noises);
  late_.setZero(d, noises);
  if (!plant_->noise_directions(t, x, directions_)) return false;
  to_chart(chart, directions_, in_chart_);
  early_.noalias() = by_state_.rightCols(f) * in_chart_;
  if (!plant_->noise_directions(t + h, next, directions_)) return false;
  to_chart(next_chart, directions_, in_chart_);
  late_.bottomRows(f) = in_chart_;
  for (int j = 0; j < noises; ++j) {
    const double s2h = options_.density[j] * options_.density[j] * h;
    for (int c = 0; c < d; ++c) {
      for (int r = 0; r < d; ++r) {
        Q(r, c) += s2h * ((late_(r, j) * late_(c, j) + early_(r, j) * early_(c, j)) / 3 +
                          (late_(r, j) * early_(c, j) + early_(r, j) * late_(c, j)) / 6);
      }
    }
  }
  return true;
}

// A force that wanders, f = w ∫ dW, moves the machine by g = ∂δ⁺/∂f = (k h²/2, k h) within the step already:
//
//     cov(ż, f) = w² g_ż h/2     cov(z, f) = w² g_z h/3     cov(ż, ż) = w² g_ż g_żᵀ h/3
//     cov(z, ż) = w² g_z g_żᵀ h/4     cov(z, z) = w² g_z g_zᵀ h/5     cov(f, f) = w² h
void MachineSpace::add_walks(double h, MatrixXd& Q) const {
  const int f = plant_->freedoms(), d = plant_->tangent();
  for (const int i : walking_) Q(d + i, d + i) += biases_[i].walk * biases_[i].walk * h;
  for (int j = 0; j < plant_->forces(); ++j) {
    const double w2h = options_.unknowns[j].walk * options_.unknowns[j].walk * h;
    if (w2h == 0) continue;
    const int at = d + static_cast<int>(biases_.size()) + j;
    Q(at, at) += w2h;
    for (int r = 0; r < d; ++r) {
      const double g = by_force_(r, j);
      Q(r, at) += w2h * g / (r < f ? 3 : 2);
      Q(at, r) = Q(r, at);
      for (int c = 0; c < d; ++c) {
        const int slow = (r < f) + (c < f);
        Q(r, c) += w2h * g * by_force_(c, j) / (3 + slow);
      }
    }
  }
}

bool MachineSpace::disturb(double t, double h, double* x, const double* normal) {
  const double root = std::sqrt(h);
  const int noises = plant_->noises();
  if (noises > 0) {
    if (!plant_->noise_directions(t, x, directions_)) return false;
    shift_q_.setZero();
    shift_v_.setZero();
    for (int j = 0; j < noises; ++j) {
      const double s = options_.density[j] * root, n1 = normal[2 * j], n2 = normal[2 * j + 1];
      shift_v_ += s * n1 * directions_.col(j);
      shift_q_ += s * h * (n1 / 2 + n2 / std::sqrt(12.0)) * directions_.col(j);
    }
    if (!plant_->shift(t, x, shift_q_.data(), shift_v_.data())) return false;
  }
  walk(h, x, normal + 2 * noises);
  return true;
}

// Offsets and unknown forces.
void MachineSpace::walk(double h, double* x, const double* normal) const {
  const double root = std::sqrt(h);
  double* extra = x + plant_->stored();
  for (const int i : walking_) extra[i] += biases_[i].walk * root * *normal++;
  for (int j = 0; j < plant_->forces(); ++j) extra[biases_.size() + j] += options_.unknowns[j].walk * root * *normal++;
}

void MachineSpace::advance_many(double t, double h, int count, const double* x, double* next, bool* good) {
  const int size = stored(), first = plant_->stored();
  for (int i = 0; i < count && extras() > 0; ++i) {
    std::copy_n(x + static_cast<std::ptrdiff_t>(i) * size + first, extras(),
                next + static_cast<std::ptrdiff_t>(i) * size + first);
  }
  plant_->advance_many(t, h, count, size, x, force(x), next, good);
}

void MachineSpace::disturb_many(double t, double h, int count, double* x, const double* normal, bool* good) {
  const int kicks = plant_->noises(), size = stored();
  many_.resize(std::max<std::size_t>(many_.size(), static_cast<std::size_t>(count) * 2 * kicks));
  std::fill_n(good, count, true);
  for (int i = 0; i < count; ++i) {
    const double* n = normal + static_cast<std::ptrdiff_t>(i) * noises();
    double* kick = many_.data() + static_cast<std::ptrdiff_t>(i) * 2 * kicks;
    for (int j = 0; j < kicks; ++j) {
      const double s = options_.density[j] * std::sqrt(h);
      kick[2 * j] = s * n[2 * j];
      kick[2 * j + 1] = s * h * (n[2 * j] / 2 + n[2 * j + 1] / std::sqrt(12.0));
    }
    walk(h, x + static_cast<std::ptrdiff_t>(i) * size, n + 2 * kicks);
  }
  if (kicks > 0) plant_->kick_many(t, count, size, x, many_.data(), good);
}

void MachineSpace::scale_rows(int sensor, MatrixXd& derivatives) const {
  const std::vector<SensorChannel>& channels = observer_->sensor(sensor).channels;
  for (Eigen::Index row = 0; row < derivatives.rows(); ++row) derivatives.row(row) *= channels[row].scale;
}

// y = scale · h(x) + bias
void MachineSpace::add_offsets(const double* x, int sensor, double* y) const {
  const std::vector<SensorChannel>& channels = observer_->sensor(sensor).channels;
  for (std::size_t row = 0; row < channels.size(); ++row) y[row] = channels[row].scale * y[row] + channels[row].bias;
  for (std::size_t i = 0; i < biases_.size(); ++i) {
    if (biases_[i].sensor == sensor) y[biases_[i].row] += bias(x)[i];
  }
}

bool MachineSpace::look(double t, const double* x, const Chart* chart, bool accelerations) {
  Seen& seen = seen_at_;
  if (seen.valid && seen.t == t && seen.accelerations >= accelerations && seen.along >= (chart != nullptr) &&
      std::memcmp(seen.x.data(), x, sizeof(double) * stored()) == 0 && (!chart || *chart == seen.chart)) {
    return true;
  }
  seen.valid = false;
  if (chart ? !instant(t, x, *chart, accelerations, instant_)
            : !plant_->instant(t, x, force(x), accelerations, nullptr, nullptr, instant_)) {
    return false;
  }
  seen.valid = true;
  seen.along = chart != nullptr;
  seen.accelerations = accelerations;
  seen.t = t;
  seen.x = Eigen::Map<const VectorXd>(x, stored());
  if (chart) seen.chart = *chart;
  return true;
}

bool MachineSpace::predict(double t, const double* x, int sensor, double* y) {
  if (!look(t, x, nullptr, observer_->needs_acceleration(sensor))) return false;
  observer_->read(instant_, sensor, y);
  add_offsets(x, sensor, y);
  return true;
}

bool MachineSpace::instant(double t, const double* x, const Chart& chart, bool accelerations, sensor::Instant& out) {
  const int f = plant_->freedoms(), m = plant_->velocities();
  if (!plant_->lift(t, x, chart, N_, D_)) return false;
  dq_.setZero(m, 2 * f);
  dv_.resize(m, 2 * f);
  dq_.leftCols(f) = N_;
  dv_.leftCols(f) = D_;
  dv_.rightCols(f) = N_;
  return plant_->instant(t, x, force(x), accelerations, &dq_, &dv_, out);
}

bool MachineSpace::predict(double t, const double* x, const Chart& chart, int sensor, double* y, MatrixXd& H) {
  const int rows = observer_->rows(sensor), d = plant_->tangent(), biases = static_cast<int>(biases_.size());
  const bool accelerations = observer_->needs_acceleration(sensor);
  if (!look(t, x, &chart, accelerations)) return false;
  seen_.resize(rows, instant_.directions());
  observer_->read(instant_, sensor, y, seen_);
  scale_rows(sensor, seen_);
  add_offsets(x, sensor, y);
  H.setZero(rows, tangent());
  H.leftCols(d) = seen_.leftCols(d);
  for (int i = 0; i < biases; ++i) {
    if (biases_[i].sensor == sensor) H(biases_[i].row, d + i) = 1;
  }
  if (accelerations && plant_->forces() > 0) H.rightCols(plant_->forces()) = seen_.rightCols(plant_->forces());
  return true;
}

bool MachineSpace::response(double t, double h, const double* x, int sensor, double* y, MatrixXd& B) {
  directions_.resize(plant_->velocities(), plant_->noises());
  if (plant_->noises() > 0 && !plant_->noise_directions(t, x, directions_)) return false;
  return respond(t, h, x, sensor, {directions_.data(), directions_.rows(), directions_.cols()}, y, B);
}

void MachineSpace::response_many(double t, double h, int count, const double* x, int sensor, double* y, MatrixXd* B,
                                 bool* good) {
  if (respond_by_code(t, h, count, x, sensor, y, B, good)) return;
  const int rows = plant_->velocities(), columns = plant_->noises(), each = rows * columns;
  many_.resize(std::max<std::size_t>(many_.size(), static_cast<std::size_t>(count) * each));
  std::fill_n(good, count, true);
  if (columns > 0) plant_->noise_directions_many(t, count, stored(), x, many_.data(), good);
  for (int i = 0; i < count; ++i, x += stored(), y += kMostRows) {
    const double* directions = many_.data() + static_cast<std::ptrdiff_t>(i) * each;
    good[i] = good[i] && respond(t, h, x, sensor, {directions, rows, columns}, y, B[i]);
  }
}

bool MachineSpace::respond(double t, double h, const double* x, int sensor,
                           const Eigen::Map<const MatrixXd>& directions, double* y, MatrixXd& B) {
  const int rows = observer_->rows(sensor), noises = plant_->noises();
  const bool accelerations = observer_->needs_acceleration(sensor);
  const double root = std::sqrt(h);
  dq_.resize(plant_->velocities(), 2 * noises);
  dv_.setZero(plant_->velocities(), 2 * noises);
  for (int j = 0; j < noises; ++j) {
    const double s = options_.density[j] * root;
    dv_.col(2 * j) = s * directions.col(j);
    dq_.col(2 * j) = s * h / 2 * directions.col(j);
    dq_.col(2 * j + 1) = s * h / std::sqrt(12.0) * directions.col(j);
  }
  seen_at_.valid = false;
  if (!plant_->instant(t, x, force(x), accelerations, &dq_, &dv_, instant_)) return false;
  seen_.resize(rows, instant_.directions());
  observer_->read(instant_, sensor, y, seen_);
  scale_rows(sensor, seen_);
  add_offsets(x, sensor, y);
  B.setZero(rows, this->noises());
  B.leftCols(2 * noises) = seen_.leftCols(2 * noises);
  int column = 2 * noises;
  for (const int i : walking_) {
    if (biases_[i].sensor == sensor) B(biases_[i].row, column) = biases_[i].walk * root;
    ++column;
  }
  for (int j = 0; j < plant_->forces(); ++j, ++column) {
    if (accelerations) B.col(column) = options_.unknowns[j].walk * root * seen_.col(2 * noises + j);
  }
  return true;
}

}  // namespace kinegraph::filter
