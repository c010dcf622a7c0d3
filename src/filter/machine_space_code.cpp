#include <algorithm>
#include <cmath>

#include "kinegraph/filter/machine_lanes.hpp"
#include "kinegraph/filter/machine_space.hpp"
#include "kinegraph/filter/natural_plant.hpp"

// Many states of a planar machine whose packets have code of their own (PacketCode). What that leaves is done one by
// one.
namespace kinegraph::filter {
namespace {

/// Null: no planar machine.
NaturalPackets* packets_of(Plant& plant) {
  auto* natural = dynamic_cast<NaturalPlant*>(&plant);
  return natural ? &natural->packets() : nullptr;
}

}  // namespace

MachineSpace::~MachineSpace() = default;

StateLanes* MachineSpace::lanes() {
  if (!lanes_) lanes_ = MachineLanes::make(*this);
  return lanes_.get();
}

// Of a planar machine whose packets have code for the sensor: y, and its change along each noise in v and in q.
bool MachineSpace::respond_by_code(double t, double h, int count, const double* x, int sensor, double* y, MatrixXd* B,
                                   bool* good) {
  NaturalPackets* packets = packets_of(*plant_);
  const int rows = observer_->rows(sensor), kicks = plant_->noises(), slopes = 2 * kicks * rows;
  if (!packets) return false;
  many_.resize(std::max<std::size_t>(many_.size(), static_cast<std::size_t>(count) * (rows + slopes)));
  double *read = many_.data(), *along = read + static_cast<std::ptrdiff_t>(count) * rows;
  if (!packets->see(sensor, rows, count, stored(), x, read, along, good)) return false;
  const std::vector<SensorChannel>& channels = observer_->sensor(sensor).channels;
  const double root = std::sqrt(h);
  for (int i = 0; i < count; ++i, x += stored(), y += kMostRows, read += rows, along += slopes) {
    if (!good[i]) {
      good[i] = response(t, h, x, sensor, y, B[i]);
      continue;
    }
    std::copy_n(read, rows, y);
    add_offsets(x, sensor, y);
    B[i].setZero(rows, noises());
    for (int j = 0; j < kicks; ++j) {
      const double s = options_.density[j] * root, *by_v = along + 2 * j * rows, *by_q = by_v + rows;
      for (int r = 0; r < rows; ++r) {
        B[i](r, 2 * j) = channels[r].scale * s * (by_v[r] + h / 2 * by_q[r]);
        B[i](r, 2 * j + 1) = channels[r].scale * s * h / std::sqrt(12.0) * by_q[r];
      }
    }
    for (std::size_t k = 0; k < walking_.size(); ++k) {
      const Bias& b = biases_[walking_[k]];
      if (b.sensor == sensor) B[i](b.row, 2 * kicks + static_cast<int>(k)) = b.walk * root;
    }
  }
  return true;
}

void MachineSpace::predict_many(double t, int count, const double* x, int sensor, double* y, bool* good) {
  NaturalPackets* packets = packets_of(*plant_);
  const int rows = observer_->rows(sensor);
  many_.resize(std::max<std::size_t>(many_.size(), static_cast<std::size_t>(count) * rows));
  if (!packets || !packets->see(sensor, rows, count, stored(), x, many_.data(), nullptr, good)) {
    return StateSpace::predict_many(t, count, x, sensor, y, good);
  }
  for (int i = 0; i < count; ++i, x += stored(), y += kMostRows) {
    if (!good[i]) {
      good[i] = predict(t, x, sensor, y);
      continue;
    }
    std::copy_n(many_.data() + static_cast<std::ptrdiff_t>(i) * rows, rows, y);
    add_offsets(x, sensor, y);
  }
}

void MachineSpace::predict_many(double t, int count, const double* x, const Chart* const* chart, int sensor, double* y,
                                MatrixXd* H, bool* good) {
  NaturalPackets* packets = packets_of(*plant_);
  const int rows = observer_->rows(sensor), d = plant_->tangent();
  const auto known = [&](const Chart* c) { return packets && packets->charts(*c); };
  many_.resize(std::max<std::size_t>(many_.size(), static_cast<std::size_t>(count) * rows * (d + 1)));
  double *read = many_.data(), *along = read + static_cast<std::ptrdiff_t>(count) * rows;
  if (!std::all_of(chart, chart + count, known) ||
      !packets->see_along(sensor, rows, count, stored(), x, read, along, d, good)) {
    return StateSpace::predict_many(t, count, x, chart, sensor, y, H, good);
  }
  const std::vector<SensorChannel>& channels = observer_->sensor(sensor).channels;
  for (int i = 0; i < count; ++i, x += stored(), y += kMostRows, read += rows, along += rows * d) {
    if (!good[i]) {
      good[i] = predict(t, x, *chart[i], sensor, y, H[i]);
      continue;
    }
    std::copy_n(read, rows, y);
    add_offsets(x, sensor, y);
    H[i].setZero(rows, tangent());
    for (int c = 0; c < d; ++c) {
      for (int r = 0; r < rows; ++r) H[i](r, c) = channels[r].scale * along[c * rows + r];
    }
    for (int b = 0; b < static_cast<int>(biases_.size()); ++b) {
      if (biases_[b].sensor == sensor) H[i](biases_[b].row, d + b) = 1;
    }
  }
}

void MachineSpace::retract_many(double t, int count, const Retraction* from, double* out, bool* good) {
  NaturalPackets* packets = packets_of(*plant_);
  const auto known = [&](const Retraction& r) { return packets && packets->charts(*r.chart); };
  if (!std::all_of(from, from + count, known)) return StateSpace::retract_many(t, count, from, out, good);
  const int size = stored(), n = plant_->stored(), d = plant_->tangent();
  many_.resize(std::max<std::size_t>(many_.size(), static_cast<std::size_t>(count) * d));
  for (int i = 0; i < count; ++i) {
    std::copy_n(from[i].x, size, out + static_cast<std::ptrdiff_t>(i) * size);
    std::copy_n(from[i].delta, d, many_.data() + static_cast<std::ptrdiff_t>(i) * d);
  }
  packets->retract(t, count, size, out, many_.data(), d, good);
  for (int i = 0; i < count; ++i) {
    double* x = out + static_cast<std::ptrdiff_t>(i) * size;
    if (!good[i]) good[i] = retract(t, from[i].x, *from[i].chart, from[i].delta, x);
    for (int k = 0; k < extras(); ++k) x[n + k] = from[i].x[n + k] + from[i].delta[d + k];
  }
}

}  // namespace kinegraph::filter
