#include "kinegraph/filter/consistency.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kinegraph/base/chi_squared.hpp"
#include "kinegraph/base/whiteness.hpp"

namespace kinegraph::filter {

namespace {

constexpr double kChance = 1e-3, kMatters = 0.05;

// By what factor the numbers are larger (smaller) than expected; 1 if that may be chance or does not matter.
double objection(const ChiSquaredAverage& a) {
  if (a.count < 10) return 1;
  const double sum = a.mean * a.count, factor = std::sqrt(a.mean);
  const bool chance = chi_squared_below(sum, a.count) > kChance / 2 && chi_squared_above(sum, a.count) > kChance / 2;
  return chance || std::abs(factor - 1) < kMatters ? 1 : factor;
}

void judge_size(const std::string& what, double factor, const std::string& cause, std::vector<std::string>& out) {
  if (factor > 1) {
    out.push_back(fmt::format("{} are {:.2g} × larger than expected: {} is set too small", what, factor, cause));
  } else if (factor < 1) {
    out.push_back(fmt::format("{} are {:.2g} × smaller than expected: {} is set too large", what, 1 / factor, cause));
  }
}

void judge_channel(const ChannelConsistency& c, bool white, std::vector<std::string>& out) {
  if (c.count < 30) return;
  const double z = c.mean / c.rms * std::sqrt(static_cast<double>(c.count));
  if (std::abs(c.mean) > kMatters && std::erfc(std::abs(z) / std::sqrt(2.0)) < kChance) {
    out.push_back(
        fmt::format("innovations of '{}' are {:+.2g} standard deviations off on average: the sensor has an "
                    "offset or the model a systematic error",
                    c.name, c.mean));
  }
  const auto largest = std::max_element(c.correlation.begin(), c.correlation.end(),
                                        [](double a, double b) { return std::abs(a) < std::abs(b); });
  if (white && c.p_value < kChance && largest != c.correlation.end() && std::abs(*largest) > 2 * kMatters) {
    out.push_back(fmt::format("innovations of '{}' are correlated in time ({:+.2f} over {} readings): {}", c.name,
                              *largest, largest - c.correlation.begin() + 1,
                              c.correlation[0] > 0 ? "the process noise is set too small, or the model lacks something"
                                                   : "the process noise is set too large"));
  }
}

}  // namespace

ChiSquaredAverage chi_squared_average(double sum, double count) {
  if (!(count > 0)) return {};
  return {count, sum / count, chi_squared_quantile(0.025, count) / count, chi_squared_quantile(0.975, count) / count};
}

Consistency::Consistency(std::vector<SensorInfo> sensors, int lags)
    : sensors_(std::move(sensors)), lags_(std::max(lags, 1)) {
  for (const SensorInfo& s : sensors_) {
    channels_.emplace_back(s.channels.size());
    for (Channel& c : channels_.back()) c.products.assign(lags_, 0), c.recent.assign(lags_, 0);
  }
  nis_.assign(sensors_.size(), 0), rows_.assign(sensors_.size(), 0);
}

void Consistency::add(const Innovation& i) {
  ++readings_;
  if (!i.accepted) {
    ++rejected_;
    return;
  }
  const auto unknown = [](double sd) { return std::isinf(sd); };
  if (std::any_of(i.sd.begin(), i.sd.end(), unknown)) return;  // nothing was expected: no surprise either
  nis_[i.sensor] += i.nis, rows_[i.sensor] += i.rows;
  for (std::size_t row = 0; row < channels_[i.sensor].size(); ++row) {
    const double u = i.e[row] / i.sd[row];
    if (!std::isfinite(u)) continue;
    Channel& c = channels_[i.sensor][row];
    for (int lag = 1; lag <= std::min<long>(lags_, c.count); ++lag) {
      c.products[lag - 1] += u * c.recent[(c.count - lag) % lags_];
    }
    c.recent[c.count % lags_] = u;
    c.sum += u, c.squares += u * u, ++c.count;
  }
}

void Consistency::add_error(const VectorXd& delta, const MatrixXd& P) {
  const Eigen::LLT<MatrixXd> llt(P);
  if (llt.info() != Eigen::Success) return;
  const double e = llt.matrixL().solve(delta).squaredNorm();
  if (!std::isfinite(e)) return;
  nees_ += e, errors_ += static_cast<double>(delta.size());
}

ChiSquaredAverage Consistency::nis() const {
  return chi_squared_average(std::accumulate(nis_.begin(), nis_.end(), 0.0),
                             std::accumulate(rows_.begin(), rows_.end(), 0.0));
}

ChiSquaredAverage Consistency::nis(int sensor) const { return chi_squared_average(nis_[sensor], rows_[sensor]); }

ChannelConsistency Consistency::summary(int sensor, int row) const {
  const Channel& c = channels_[sensor][row];
  ChannelConsistency s;
  s.name = sensors_[sensor].channels[row].name;
  s.count = c.count;
  if (c.count == 0) return s;
  const double n = static_cast<double>(c.count);
  s.mean = c.sum / n, s.rms = std::sqrt(c.squares / n);
  s.bound = 1.96 / std::sqrt(n);
  const double variance = c.squares / n - s.mean * s.mean;
  if (!(variance > 0)) return s;
  for (long lag = 1; lag <= lags_ && 2 * lag < c.count; ++lag) {
    const double pairs = n - static_cast<double>(lag);
    const double r = (c.products[lag - 1] / n - s.mean * s.mean * pairs / n) / variance;
    s.correlation.push_back(r);
  }
  const LjungBox test = ljung_box(s.correlation, c.count);
  s.ljung_box = test.statistic, s.p_value = test.p_value;
  return s;
}

std::vector<ChannelConsistency> Consistency::channels() const {
  std::vector<ChannelConsistency> all;
  for (std::size_t s = 0; s < sensors_.size(); ++s) {
    for (std::size_t row = 0; row < channels_[s].size(); ++row) {
      all.push_back(summary(static_cast<int>(s), static_cast<int>(row)));
    }
  }
  return all;
}

std::vector<std::string> Consistency::verdict(bool white) const {
  std::vector<std::string> out;
  if (nis().count < 10 && readings_ < 10) {
    out.push_back(fmt::format("{} readings are too few to judge by", readings_));
    return out;
  }
  for (std::size_t s = 0; s < sensors_.size(); ++s) {
    judge_size(fmt::format("innovations of '{}'", sensors_[s].name), objection(nis(static_cast<int>(s))),
               "its noise or the process noise", out);
  }
  judge_size("errors of the state", objection(nees()), "noise or process noise", out);
  for (const ChannelConsistency& c : channels()) judge_channel(c, white, out);
  if (rejected_ > kMatters * static_cast<double>(readings_)) {
    out.push_back(fmt::format("{:.0f} % of the readings were gated out",
                              100 * static_cast<double>(rejected_) / static_cast<double>(readings_)));
  }
  return out;
}

}  // namespace kinegraph::filter
