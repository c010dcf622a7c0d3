#include "kinegraph/filter/plant.hpp"

namespace kinegraph::filter {

void Plant::local_many(const double* x, const Chart& chart, Many many, const double* others, double* delta) const {
  for (int i = 0; i < many.count; ++i, others += many.stride, delta += many.delta_stride)
    local(x, chart, others, delta);
}

void Plant::advance_many(double t, double h, int count, int stride, const double* x, const double* force, double* next,
                         bool* good) {
  for (int i = 0; i < count; ++i, x += stride, next += stride) {
    good[i] = advance(t, h, x, force, next);
    if (force) force += stride;
  }
}

void Plant::noise_directions_many(double t, int count, int stride, const double* x, double* directions, bool* good) {
  for (int i = 0; i < count; ++i, x += stride, directions += velocities_ * noises()) {
    good[i] = noise_directions(t, x, directions_);
    if (good[i]) Eigen::Map<Eigen::MatrixXd>(directions, velocities_, noises()) = directions_;
  }
}

void Plant::kick_many(double t, int count, int stride, double* x, const double* kicks, bool* good) {
  for (int i = 0; i < count; ++i, x += stride, kicks += 2 * noises()) good[i] = kick(t, x, kicks);
}

bool Plant::kick(double t, double* x, const double* kicks) {
  if (!noise_directions(t, x, directions_)) return false;
  kick_q_.setZero(velocities_);
  kick_v_.setZero(velocities_);
  for (int j = 0; j < noises(); ++j) {
    kick_v_ += kicks[2 * j] * directions_.col(j);
    kick_q_ += kicks[2 * j + 1] * directions_.col(j);
  }
  return shift(t, x, kick_q_.data(), kick_v_.data());
}

}  // namespace kinegraph::filter
