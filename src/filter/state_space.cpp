#include "kinegraph/filter/state_space.hpp"

#include <cmath>

namespace kinegraph::filter {

void StateSpace::advance_many(double t, double h, int count, const double* x, double* next, bool* good) {
  for (int i = 0; i < count; ++i, x += stored(), next += stored()) good[i] = advance(t, h, x, next);
}

void StateSpace::disturb_many(double t, double h, int count, double* x, const double* normal, bool* good) {
  for (int i = 0; i < count; ++i, x += stored(), normal += noises()) good[i] = disturb(t, h, x, normal);
}

void StateSpace::response_many(double t, double h, int count, const double* x, int sensor, double* y, MatrixXd* B,
                               bool* good) {
  for (int i = 0; i < count; ++i, x += stored(), y += kMostRows) good[i] = response(t, h, x, sensor, y, B[i]);
}

void innovation(const SensorInfo& sensor, const double* y, const double* predicted, double* e) {
  for (std::size_t i = 0; i < sensor.channels.size(); ++i) {
    e[i] = y[i] - predicted[i];
    if (sensor.channels[i].circular) e[i] = std::remainder(e[i], sensor.channels[i].turn);
  }
}

}  // namespace kinegraph::filter
