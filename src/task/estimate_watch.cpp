#include "kinegraph/task/estimate_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kinegraph::task {
namespace {

constexpr long kEnough = 20;        // readings, before anything is said about them
constexpr double kCertain = 0.001;  // what has this probability or less by chance is told

/// The standard deviation of normal numbers by the median of their sizes.
double usual_size(std::vector<double> sizes) {
  constexpr double kMedian = 0.6745;
  if (sizes.empty()) return 0;
  const auto middle = sizes.begin() + static_cast<long>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return *middle / kMedian;
}

}  // namespace

InnovationWatch::InnovationWatch(const std::vector<filter::SensorInfo>& sensors, bool keep, bool of_filter)
    : sensors_(sensors),
      consistency_(sensors),
      used_(sensors.size(), 0),
      refused_(sensors.size(), 0),
      keep_(keep),
      of_filter_(of_filter) {
  for (const filter::SensorInfo& sensor : sensors_) largest_.emplace_back(sensor.channels.size());
}

void InnovationWatch::add(const filter::Innovation& innovation) {
  if (keep_) all_.push_back(innovation);
  consistency_.add(innovation);
  const int s = innovation.sensor;
  ++(innovation.accepted ? used_ : refused_)[s];
  for (std::size_t row = 0; row < largest_[s].size(); ++row) {
    const double scaled = std::abs(innovation.e[row] / innovation.sd[row]);
    Largest& largest = largest_[s][row];
    if (scaled > largest.e) largest.e = scaled, largest.t = innovation.t;
    if (!std::isfinite(scaled) || !innovation.accepted) continue;
    largest.scaled.push_back(scaled);
    largest.offset.push_back(std::abs(innovation.e[row]));
  }
}

void InnovationWatch::tell(EstimateSummary& summary) const {
  const filter::ChiSquaredAverage nis = consistency_.nis();
  summary.nis_mean = nis.mean;
  summary.nis_low = nis.low;
  summary.nis_high = nis.high;
  summary.objections = consistency_.verdict(of_filter_);
  const std::vector<filter::ChannelConsistency> channels = consistency_.channels();
  std::size_t next = 0;
  for (std::size_t s = 0; s < sensors_.size(); ++s) {
    const std::size_t first = next;
    next += sensors_[s].channels.size();
    if (used_[s] + refused_[s] == 0) continue;
    summary.sensors.push_back({sensors_[s].name, used_[s], refused_[s]});
    for (std::size_t row = 0; row < sensors_[s].channels.size(); ++row) {
      const filter::ChannelConsistency& c = channels[first + row];
      EstimateSummary::ChannelUse use{sensors_[s].channels[row].name};
      use.correlation = c.correlation.empty() ? 0 : c.correlation.front();
      use.rms = c.rms;
      use.judged = of_filter_ && c.count >= kEnough;
      use.white = !use.judged || c.p_value > kCertain;
      use.typical = usual_size(largest_[s][row].scaled);
      use.off = usual_size(largest_[s][row].offset);
      use.largest = largest_[s][row].e;
      use.largest_t = largest_[s][row].t;
      summary.channels.push_back(use);
    }
  }
}

Trajectory InnovationWatch::table() const {
  std::vector<std::string> names;
  std::vector<int> first;
  for (const filter::SensorInfo& sensor : sensors_) {
    first.push_back(static_cast<int>(names.size()));
    for (const auto& channel : sensor.channels) {
      names.push_back(channel.name);
      names.push_back(channel.name + ".sd");
    }
    names.push_back(sensor.name + ".nis");
    names.push_back(sensor.name + ".used");
  }
  Trajectory table(names);
  for (const filter::Innovation& innovation : all_) {
    double* row = table.append(innovation.t);
    std::fill_n(row, names.size(), std::numeric_limits<double>::quiet_NaN());
    double* out = row + first[innovation.sensor];
    for (std::size_t i = 0; i < sensors_[innovation.sensor].channels.size(); ++i) {
      *out++ = innovation.e[i];
      *out++ = innovation.sd[i];
    }
    *out++ = innovation.nis;
    *out = innovation.accepted ? 1 : 0;
  }
  return table;
}

}  // namespace kinegraph::task
