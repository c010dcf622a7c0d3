#include "kinegraph/filter/machine_lanes.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/filter/natural_plant.hpp"

namespace kinegraph::filter {

std::unique_ptr<MachineLanes> MachineLanes::make(MachineSpace& space) {
  auto* plant = dynamic_cast<NaturalPlant*>(&space.plant());
  if (!plant || !plant->packets().code()) return nullptr;
  return std::unique_ptr<MachineLanes>(new MachineLanes(space, plant->packets()));
}

MachineLanes::MachineLanes(MachineSpace& space, NaturalPackets& packets)
    : space_(space),
      packets_(packets),
      moved_(space.plant().stored()),
      extras_(space.extras()),
      noises_(space.plant().noises()) {
  const auto eights = [](int count) { return static_cast<std::size_t>(kLanes) * count; };
  directions_.resize(eights(space.plant().velocities() * noises_));
  kicks_.resize(eights(2 * noises_));
  along_.resize(eights(kMostRows * std::max(2 * noises_, space.plant().tangent())));
  next_.resize(eights(moved_));
}

void MachineLanes::advance(double t, double h, const double* x, double* next, bool* good) {
  const double* force = x + kLanes * (moved_ + static_cast<int>(space_.biases_.size()));
  packets_.code()->step({x, next, good, packets_.work()}, h, packets_.step_times(t, h), force);
  std::copy_n(x + kLanes * moved_, kLanes * extras_, next + kLanes * moved_);
}

void MachineLanes::find_directions(const double* x, bool* good) {
  if (noises_ > 0) packets_.code()->directions({x, nullptr, good, packets_.work()}, directions_.data());
}

// v by d s √h n₁, q by d s h^{3/2} (n₁ / 2 + n₂ / √12): see Plant::noise_directions(). Offsets and forces walk.
void MachineLanes::disturb(double t, double h, double* x, const double* normal, bool* good) {
  const double root = std::sqrt(h);
  for (int j = 0; j < noises_; ++j) {
    const double s = space_.options_.density[j] * root, half = s * h / 2, other = s * h / std::sqrt(12.0);
    const Eight first = eight(normal + kLanes * 2 * j), second = eight(normal + kLanes * (2 * j + 1));
    eight(kicks_.data() + kLanes * 2 * j) = s * first;                            // of v
    eight(kicks_.data() + kLanes * (2 * j + 1)) = half * first + other * second;  // of q
  }
  if (noises_ > 0) {
    packets_.code()->kick({x, next_.data(), good, packets_.work()}, packets_.end_time(t), directions_.data(),
                          kicks_.data());
    std::copy_n(next_.data(), kLanes * moved_, x);
  }
  normal += kLanes * 2 * noises_;
  const auto walk = [&](int number, double density) {
    eight(x + kLanes * (moved_ + number)) += density * root * eight(normal);
    normal += kLanes;
  };
  for (const int i : space_.walking_) walk(i, space_.biases_[i].walk);
  const int biases = static_cast<int>(space_.biases_.size());
  for (int j = 0; j < space_.plant_->forces(); ++j) walk(biases + j, space_.options_.unknowns[j].walk);
}

// y = scale · h(x) + bias
void MachineLanes::add_offsets(const double* x, int sensor, double* y) const {
  const std::vector<SensorChannel>& channels = space_.observer_->sensor(sensor).channels;
  for (std::size_t r = 0; r < channels.size(); ++r) {
    eight(y + kLanes * r) = channels[r].scale * eight(y + kLanes * r) + channels[r].bias;
  }
  for (std::size_t i = 0; i < space_.biases_.size(); ++i) {
    if (space_.biases_[i].sensor != sensor) continue;
    eight(y + kLanes * space_.biases_[i].row) += eight(x + kLanes * (moved_ + static_cast<int>(i)));
  }
}

void MachineLanes::predict(const double* x, int sensor, double* y, bool* good) {
  packets_.code()->see({x, nullptr, good, nullptr}, sensor, y);
  add_offsets(x, sensor, y);
}

void MachineLanes::respond(double h, const double* x, int sensor, double* y, double* B, bool* good) {
  const std::vector<SensorChannel>& channels = space_.observer_->sensor(sensor).channels;
  const int rows = static_cast<int>(channels.size()), columns = space_.noises();
  const double root = std::sqrt(h);
  packets_.code()->respond({x, nullptr, good, nullptr}, sensor, y, along_.data(), directions_.data());
  add_offsets(x, sensor, y);
  for (int j = 0; j < noises_; ++j) {
    const double s = space_.options_.density[j] * root;
    for (int r = 0; r < rows; ++r) {
      const double* along = along_.data() + kLanes * (2 * j * rows + r);
      const Eight by_v = eight(along), by_q = eight(along + kLanes * rows);
      const double factor = channels[r].scale * s, half = h / 2, other = factor * h / std::sqrt(12.0);
      double* to = B + kLanes * (2 * j * rows + r);
      eight(to) = factor * (by_v + half * by_q);
      eight(to + kLanes * rows) = other * by_q;
    }
  }
  std::fill(B + kLanes * 2 * noises_ * rows, B + kLanes * columns * rows, 0.0);
  for (std::size_t k = 0; k < space_.walking_.size(); ++k) {
    const auto& b = space_.biases_[space_.walking_[k]];
    if (b.sensor != sensor) continue;
    std::fill_n(B + kLanes * ((2 * noises_ + static_cast<int>(k)) * rows + b.row), kLanes, b.walk * root);
  }
}

void MachineLanes::predict(const double* x, int sensor, double* y, double* H, bool* good) {
  const std::vector<SensorChannel>& channels = space_.observer_->sensor(sensor).channels;
  const int rows = static_cast<int>(channels.size()), d = space_.plant_->tangent();
  packets_.code()->see_along({x, nullptr, good, nullptr}, sensor, y, H);
  add_offsets(x, sensor, y);
  for (int c = 0; c < d; ++c) {
    for (int r = 0; r < rows; ++r) eight(H + kLanes * (c * rows + r)) *= channels[r].scale;
  }
  std::fill(H + kLanes * d * rows, H + kLanes * (d + extras_) * rows, 0.0);
  for (std::size_t i = 0; i < space_.biases_.size(); ++i) {
    const auto& b = space_.biases_[i];
    if (b.sensor == sensor) std::fill_n(H + kLanes * ((d + static_cast<int>(i)) * rows + b.row), kLanes, 1.0);
  }
}

void MachineLanes::retract(double t, const double* x, const double* delta, double* out, bool* good) {
  const int d = space_.plant_->tangent();
  packets_.code()->retract({x, out, good, packets_.work()}, packets_.end_time(t), delta);
  for (int i = 0; i < kLanes * extras_; ++i) out[kLanes * moved_ + i] = x[kLanes * moved_ + i] + delta[kLanes * d + i];
}

}  // namespace kinegraph::filter
