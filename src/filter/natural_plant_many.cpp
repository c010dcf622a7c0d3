#include <algorithm>

#include "kinegraph/filter/natural_plant.hpp"

// What is regular goes in packets, the rest one by one.
namespace kinegraph::filter {

void NaturalPlant::advance_many(double t, double h, int count, int stride, const double* x, const double* force,
                                double* next, bool* good) {
  packets_->step(t, h, count, stride, x, force, next, good);
  for (int i = 0; i < count; ++i) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * stride;
    if (!good[i]) good[i] = advance(t, h, x + at, force ? force + at : nullptr, next + at);
  }
}

void NaturalPlant::noise_directions_many(double t, int count, int stride, const double* x, double* directions,
                                         bool* good) {
  packets_->directions(count, stride, x, directions, good);
  for (int i = 0; i < count; ++i) {
    const int size = n_ * noises();
    const auto at = static_cast<std::ptrdiff_t>(i);
    if (!good[i]) Plant::noise_directions_many(t, 1, stride, x + at * stride, directions + at * size, good + i);
  }
}

void NaturalPlant::kick_many(double t, int count, int stride, double* x, const double* kicks, bool* good) {
  packets_->kick(t, count, stride, x, kicks, good);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    if (!good[i]) good[i] = kick(t, x + at * stride, kicks + at * 2 * noises());
  }
}

}  // namespace kinegraph::filter
