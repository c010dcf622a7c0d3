#include "kinegraph/identify/reading_tracks.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::identify {
namespace {

constexpr double kMostPoints = 4e6;  // of a grid
constexpr double kGap = 5;           // usual intervals without a reading: nothing is known between
constexpr double kGapSteps = 10;     // … if they are more steps than this, too

struct Series {
  std::vector<double> t, y;
};

/// Straight lines between samples, at increasing times; held beyond the ends.
class Lines {
 public:
  explicit Lines(const Series& series) : series_(series) {}
  double at(double t) {
    const auto& times = series_.t;
    while (i_ + 2 < times.size() && times[i_ + 1] <= t) ++i_;
    if (times.size() == 1) return series_.y.front();
    const double length = times[i_ + 1] - times[i_];
    const double share = length > 0 ? std::clamp((t - times[i_]) / length, 0.0, 1.0) : 1;
    return series_.y[i_] + share * (series_.y[i_ + 1] - series_.y[i_]);
  }

 private:
  const Series& series_;
  std::size_t i_ = 0;
};

Series filtered(const Series& series, double step, double cutoff) {
  const double length = series.t.back() - series.t.front();
  if (series.t.size() < 3 || !(length > 0)) return series;
  const double wanted = std::min(step, length / static_cast<double>(series.t.size() - 1));
  const auto intervals = static_cast<std::size_t>(std::min(std::ceil(length / wanted), kMostPoints));
  const double dt = length / static_cast<double>(intervals);
  Series even;
  Lines lines(series);
  for (std::size_t i = 0; i <= intervals; ++i) {
    even.t.push_back(series.t.front() + static_cast<double>(i) * dt);
    even.y.push_back(lines.at(even.t.back()));
  }
  even.y = smooth_both_ways(even.y, 1 / dt, cutoff);
  return even;
}

void sample(const Series& series, const Run& run, double cutoff, ReadingTrack& track) {
  const double step = run.step(0);
  const Series smooth = filtered(series, step, cutoff);
  const double usual =
      (series.t.back() - series.t.front()) / static_cast<double>(std::max<std::size_t>(series.t.size() - 1, 1));
  const double gap = std::max(kGap * usual, kGapSteps * step);
  Lines lines(smooth);
  std::size_t next = 0;
  for (const double t : run.times) {
    while (next < series.t.size() && series.t[next] < t) ++next;
    const bool after = next > 0, before = next < series.t.size();
    const double back = after ? t - series.t[next - 1] : step, ahead = before ? series.t[next] - t : step;
    track.given.push_back(after && before ? std::min(back, ahead) <= step || back + ahead <= gap
                                          : (after ? back : ahead) <= step);
    track.y.push_back(lines.at(t));
  }
}

enum class Tells { position, rate, force };

Tells tells(const Sensor& sensor, int row) {
  switch (sensor.type) {
    case SensorType::tachometer:
    case SensorType::gyroscope:
      return Tells::rate;
    case SensorType::imu: {
      const std::string& name = sensor.channels[row].name;
      return name[name.rfind('.') + 1] == 'w' ? Tells::rate : Tells::force;
    }
    case SensorType::accelerometer:
    case SensorType::torque:
    case SensorType::load_cell:
      return Tells::force;
    default:
      return Tells::position;
  }
}

}  // namespace

std::vector<ReadingTrack> reading_tracks(const std::vector<Sensor>& sensors, const Run& run, double cutoff) {
  std::vector<ReadingTrack> tracks;
  for (int i = 0; i < static_cast<int>(sensors.size()); ++i) {
    for (int row = 0; row < static_cast<int>(sensors[i].channels.size()); ++row) {
      if (tells(sensors[i], row) == Tells::force) continue;
      Series series;
      for (const Reading& reading : run.readings) {
        if (reading.sensor != i || std::isnan(reading.y[row])) continue;
        series.t.push_back(reading.t), series.y.push_back(reading.y[row]);
      }
      if (series.t.empty()) continue;
      ReadingTrack track;
      track.sensor = i, track.row = row, track.rate = tells(sensors[i], row) == Tells::rate;
      sample(series, run, cutoff, track);
      tracks.push_back(std::move(track));
    }
  }
  return tracks;
}

}  // namespace kinegraph::identify
