#pragma once

#include <Eigen/LU>
#include <random>

#include "kinegraph/filter/smoother.hpp"
#include "kinegraph/filter/toy_test.hpp"

namespace kinegraph::filter::smoother_cases {

/// A pendulum that moved, and what was read of it: the angle every `every` steps, the rate at all (as asked).
struct Log {
  std::vector<double> t;
  std::vector<VectorXd> truth;
  std::vector<Measurement> measurements;
  Belief prior;
};

struct LogOptions {
  double duration = 2, h = 0.02;
  int every = 1;
  bool angle = true, rate = true;
  double outliers = 0;  ///< share of readings that are anything
  double start_angle = 0.5;
  MatrixXd P = Eigen::Vector2d(0.04, 0.09).asDiagonal();
};

inline Log simulate(Pendulum& pendulum, int seed, const LogOptions& o = {}) {
  std::mt19937_64 engine(seed);
  std::mt19937_64 spikes(seed + 1000);  // apart, so that the rest of the log is the same with and without
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-1, 1);
  Log log;
  log.prior.x = Eigen::Vector2d(o.start_angle, 0);
  log.prior.chart.columns = {0};
  log.prior.P = o.P;
  VectorXd x = log.prior.x, next(2);
  for (int i = 0; i < 2; ++i) x[i] += std::sqrt(o.P(i, i)) * normal(engine);
  const int steps = static_cast<int>(std::lround(o.duration / o.h));
  for (int k = 0; k <= steps; ++k) {
    const double t = k * o.h;
    log.t.push_back(t);
    log.truth.push_back(x);
    for (int sensor = 0; sensor < 2; ++sensor) {
      if (sensor == 0 ? !o.angle || k % o.every != 0 : !o.rate) continue;
      Measurement m{t, sensor, {}};
      m.y.fill(std::numeric_limits<double>::quiet_NaN());
      m.y[0] = x[sensor] + pendulum.sensors()[sensor].channels[0].noise * normal(engine);
      if (0.5 + 0.5 * uniform(spikes) < o.outliers) m.y[0] += (sensor == 0 ? 1.0 : 10.0) * uniform(spikes);
      log.measurements.push_back(m);
    }
    pendulum.advance(t, o.h, x.data(), next.data());
    const double noise[2] = {normal(engine), normal(engine)};
    pendulum.disturb(t, o.h, next.data(), noise);
    x = next;
  }
  return log;
}

/// Kalman filter and Rauch-Tung-Striebel smoother, as in the books, for a linear pendulum.
struct Rts {
  std::vector<double> t;
  std::vector<VectorXd> filtered, smoothed;
  std::vector<MatrixXd> filtered_P, smoothed_P;
  double log_likelihood = 0;

  Rts(Pendulum& pendulum, const Belief& prior, const std::vector<Measurement>& measurements) {
    std::vector<VectorXd> predicted;
    std::vector<MatrixXd> predicted_P, Fs;
    VectorXd x = prior.x, next(2);
    MatrixXd P = prior.P, F, Q;
    Chart chart;
    t = {prior.t};
    predicted = {x}, predicted_P = {P};
    for (const Measurement& m : measurements) {
      if (m.t > t.back() + 1e-12) {
        filtered.push_back(x), filtered_P.push_back(P);
        pendulum.advance(t.back(), m.t - t.back(), x.data(), chart, next.data(), chart, F, Q);
        x = next;
        P = F * P * F.transpose() + Q;
        Fs.push_back(F), predicted.push_back(x), predicted_P.push_back(P), t.push_back(m.t);
      }
      if (std::isnan(m.y[0])) continue;
      const double sigma = pendulum.sensors()[m.sensor].channels[0].noise;
      const double S = P(m.sensor, m.sensor) + sigma * sigma, e = m.y[0] - x[m.sensor];
      const VectorXd K = P.col(m.sensor) / S;
      log_likelihood -= 0.5 * (e * e / S + std::log(2 * M_PI * S));
      x += K * e;
      P -= (K * S * K.transpose()).eval();
    }
    filtered.push_back(x), filtered_P.push_back(P);
    smoothed = filtered, smoothed_P = filtered_P;
    for (int k = static_cast<int>(t.size()) - 2; k >= 0; --k) {
      const MatrixXd G = filtered_P[k] * Fs[k].transpose() * predicted_P[k + 1].inverse();
      smoothed[k] += G * (smoothed[k + 1] - predicted[k + 1]);
      smoothed_P[k] += G * (smoothed_P[k + 1] - predicted_P[k + 1]) * G.transpose();
    }
  }
};

/// (estimate − truth)ᵀ P⁻¹ (estimate − truth).
inline double nees(const VectorXd& x, const MatrixXd& P, const VectorXd& truth) {
  return (x - truth).dot(P.inverse() * (x - truth));
}

}  // namespace kinegraph::filter::smoother_cases
