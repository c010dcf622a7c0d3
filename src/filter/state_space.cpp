#include "kinegraph/filter/state_space.hpp"

#include <cmath>

namespace kinegraph::filter {

void StateSpace::local_many(const double* x, const Chart& chart, int count, const double* others, double* delta) {
  for (int i = 0; i < count; ++i, others += stored(), delta += tangent()) local(x, chart, others, delta);
}

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

void StateSpace::retract_many(double t, int count, const Retraction* from, double* out, bool* good) {
  for (int i = 0; i < count; ++i, ++from, out += stored()) {
    good[i] = retract(t, from->x, *from->chart, from->delta, out);
  }
}

void StateSpace::predict_many(double t, int count, const double* x, int sensor, double* y, bool* good) {
  for (int i = 0; i < count; ++i, x += stored(), y += kMostRows) good[i] = predict(t, x, sensor, y);
}

void StateSpace::predict_many(double t, int count, const double* x, const Chart* const* chart, int sensor, double* y,
                              MatrixXd* H, bool* good) {
  for (int i = 0; i < count; ++i, x += stored(), y += kMostRows) good[i] = predict(t, x, *chart[i], sensor, y, H[i]);
}

void innovation(const SensorInfo& sensor, const double* y, const double* predicted, double* e) {
  for (std::size_t i = 0; i < sensor.channels.size(); ++i) {
    e[i] = y[i] - predicted[i];
    if (sensor.channels[i].circular) e[i] = std::remainder(e[i], sensor.channels[i].turn);
  }
}

}  // namespace kinegraph::filter
