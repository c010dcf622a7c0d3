#include "kinegraph/filter/state_space.hpp"

#include <cmath>

namespace kinegraph::filter {

void innovation(const SensorInfo& sensor, const double* y, const double* predicted, double* e) {
  for (std::size_t i = 0; i < sensor.channels.size(); ++i) {
    e[i] = y[i] - predicted[i];
    if (sensor.channels[i].circular) e[i] = std::remainder(e[i], 2 * M_PI);
  }
}

}  // namespace kinegraph::filter
