#include "kinegraph/task/sense.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "kinegraph/base/checksum.hpp"
#include "kinegraph/filter/state_space.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {

SensorFaults::SensorFaults(const Sensor& sensor, unsigned long seed)
    : sensor_(sensor), sensor_random_(seed, checksum(sensor.name)), wander_(sensor.channels.size(), 0) {
  for (const SensorChannel& channel : sensor.channels) channel_random_.emplace_back(seed, checksum(channel.name));
}

// As many numbers are drawn for every sample, whatever is switched on: a log with outliers has the noise of the log
// without.
bool SensorFaults::apply(double t, double* y) {
  const double wrong = sensor_random_.uniform(), lost = sensor_random_.uniform();
  for (std::size_t c = 0; c < sensor_.channels.size(); ++c) {
    const SensorChannel& channel = sensor_.channels[c];
    Random& random = channel_random_[c];
    const double walk = random.normal(), noise = random.normal(), outlier = random.normal();
    wander_[c] += begun_ ? channel.bias_walk * std::sqrt(t - last_) * walk : channel.bias_sd * walk;
    y[c] = channel.scale * y[c] + channel.bias + wander_[c] + channel.noise * noise;
    if (wrong < sensor_.outliers) y[c] += sensor_.outlier_size * outlier;
    if (channel.quantum > 0) y[c] = std::round(y[c] / channel.quantum) * channel.quantum;
  }
  begun_ = true;
  last_ = t;
  return lost >= sensor_.dropout;
}

ReadingLog::ReadingLog(std::shared_ptr<const sensor::Observer> observer, unsigned long seed,
                       std::function<bool()> go_on)
    : observer_(std::move(observer)), count_(observer_->sensors(), 0), go_on_(std::move(go_on)) {
  for (int i = 0; i < observer_->sensors(); ++i) faults_.emplace_back(observer_->sensor(i), seed);
}

double ReadingLog::bytes(const std::vector<Sensor>& sensors, double time) {
  std::map<std::pair<double, double>, double> rows;  // sensors of one rate and delay share them
  double channels = 0, bytes = 0;
  for (const Sensor& s : sensors) {
    const auto own = static_cast<double>(s.channels.size());
    const double readings = s.rate * time + 1;
    bytes += readings * (sizeof(Reading) + sizeof(std::size_t) + own * sizeof(double));  // with their order
    rows[{s.rate, s.delay}] = readings;
    channels += own;
  }
  for (const auto& [rate_and_delay, count] : rows) bytes += count * (1 + channels) * sizeof(double);
  return bytes;
}

double ReadingLog::due(int sensor) const {
  return static_cast<double>(count_[sensor]) / observer_->sensor(sensor).rate;
}

double ReadingLog::next() const {
  double t = std::numeric_limits<double>::infinity();
  for (int i = 0; i < observer_->sensors(); ++i) t = std::min(t, due(i));
  return t;
}

int ReadingLog::next_until(double t) const {
  int sensor = -1;
  for (int i = 0; i < observer_->sensors(); ++i) {
    if (due(i) <= t && (sensor < 0 || due(i) < due(sensor))) sensor = i;
  }
  return sensor;
}

void ReadingLog::read(int sensor, double t, const sensor::Instant& instant) {
  constexpr long kBetweenQuestions = 4096;
  if (go_on_ && ++asked_ % kBetweenQuestions == 0 && !go_on_()) stopped_ = true;
  std::array<double, filter::kMostRows> y = {};
  observer_->read(instant, sensor, y.data());
  ++count_[sensor];
  if (!faults_[sensor].apply(t, y.data())) {
    ++lost_;
    return;
  }
  readings_.push_back({t + observer_->sensor(sensor).delay, sensor, values_.size()});
  values_.insert(values_.end(), y.begin(), y.begin() + observer_->rows(sensor));
}

Sensing::Sensing(std::unique_ptr<filter::Plant> plant, std::shared_ptr<const sensor::Observer> observer,
                 unsigned long seed, std::function<bool()> go_on)
    : plant_(std::move(plant)),
      log_(std::move(observer), seed, std::move(go_on)),
      x_(plant_->stored()),
      v_(plant_->velocities()),
      a_(plant_->velocities()),
      between_(plant_->stored()),
      dq_(plant_->velocities()),
      dv_(plant_->velocities()) {}

bool Sensing::add(double t, const double* q, const double* v, const double* a) {
  const int n = plant_->positions(), f = plant_->velocities();
  interval_ = t - t_;
  for (int sensor; (sensor = log_.next_until(t + kSameTime)) >= 0;) {
    const double at = log_.due(sensor);
    if (std::abs(at - t) <= kSameTime || !begun_) {
      std::copy_n(q, n, between_.data());
      std::copy_n(v, f, between_.data() + n);
    } else if (!between((at - t_) / interval_, v, a)) {
      return false;
    }
    if (!read(sensor, at, between_.data(), nullptr)) return false;
  }
  std::copy_n(q, n, x_.data());
  std::copy_n(v, f, x_.data() + n);
  std::copy_n(a, f, a_.data());
  t_ = t;
  begun_ = true;
  return true;
}

bool Sensing::at(double t, const double* x, const double* force) {
  for (int i = 0; i < log_.observer().sensors(); ++i) {
    if (std::abs(log_.due(i) - t) <= kSameTime && !read(i, log_.due(i), x, force)) return false;
  }
  return true;
}

// v(s) = (1 − 3s² + 2s³) v₀ + (3s² − 2s³) v₁ + h (s − 2s² + s³) a₀ + h (s³ − s²) a₁, and its integral over the time.
bool Sensing::between(double s, const double* v, const double* a) {
  const int n = plant_->positions(), f = plant_->velocities();
  const double h = interval_, s2 = s * s, s3 = s2 * s, s4 = s3 * s;
  const Eigen::Map<const Eigen::VectorXd> v1(v, f), a1(a, f);
  const auto v0 = x_.segment(n, f);
  dv_ = (3 * s2 - 2 * s3) * (v1 - v0) + h * (s - 2 * s2 + s3) * a_ + h * (s3 - s2) * a1;
  dq_ = h * (s * v0 + (s3 - s4 / 2) * (v1 - v0) + h * (s2 / 2 - 2 * s3 / 3 + s4 / 4) * a_ + h * (s4 / 4 - s3 / 3) * a1);
  between_ = x_;
  return plant_->shift(t_ + s * h, between_.data(), dq_.data(), dv_.data());
}

bool Sensing::read(int sensor, double t, const double* x, const double* force) {
  const bool accelerating = log_.observer().needs_acceleration(sensor);
  if (!plant_->instant(t, x, force, accelerating, nullptr, nullptr, instant_)) return false;
  log_.read(sensor, t, instant_);
  return !log_.stopped();
}

Trajectory ReadingLog::table() const {
  std::vector<std::string> names;
  std::vector<int> column;
  for (int i = 0; i < observer_->sensors(); ++i) {
    column.push_back(static_cast<int>(names.size()));
    for (const SensorChannel& channel : observer_->sensor(i).channels) names.push_back(channel.name);
  }
  std::vector<std::size_t> order(readings_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return readings_[i].t < readings_[j].t; });
  double last = -std::numeric_limits<double>::infinity();
  const auto begins_row = [&](const Reading& reading) {
    const bool begins = reading.t > last + kSameTime;
    if (begins) last = reading.t;
    return begins;
  };
  Trajectory table(names);
  table.reserve(static_cast<int>(
      std::count_if(order.begin(), order.end(), [&](std::size_t i) { return begins_row(readings_[i]); })));
  last = -std::numeric_limits<double>::infinity();
  double* row = nullptr;
  for (const std::size_t i : order) {
    const Reading& reading = readings_[i];
    if (begins_row(reading)) {
      row = table.append(reading.t);
      std::fill_n(row, names.size(), std::numeric_limits<double>::quiet_NaN());
    }
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(reading.first), observer_->rows(reading.sensor), row + column[reading.sensor]);
  }
  return table;
}

}  // namespace kinegraph::task
