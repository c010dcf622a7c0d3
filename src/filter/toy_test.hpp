#pragma once

#include <cmath>

#include "kinegraph/filter/state_space.hpp"

namespace kinegraph::filter {

/// A pendulum, x = (θ, ω), for tests of estimators:   θ̈ = −k sin θ + white noise of density s.
/// Sensor 0 reads the angle, sensor 1 the rate. With `linear`, sin θ is θ.
class Pendulum : public StateSpace {
 public:
  double k = 9.81, density = 0.5;
  bool linear = false;

  Pendulum() { sensors_ = {{"angle", {{"angle.q", 0.02, true}}}, {"rate", {{"rate.v", 0.05, false}}}}; }
  std::vector<SensorInfo>& mutable_sensors() { return sensors_; }

  std::unique_ptr<StateSpace> clone() const override { return std::make_unique<Pendulum>(*this); }
  int stored() const override { return 2; }
  int tangent() const override { return 2; }
  std::string tangent_name(const Chart&, int i) const override { return i == 0 ? "theta.q" : "theta.v"; }
  bool choose(double, const double*, Chart& chart) override {
    chart.columns = {0};
    return true;
  }
  bool retract(double, const double* x, const Chart&, const double* d, double* out) override {
    for (int i = 0; i < 2; ++i) out[i] = x[i] + d[i];
    return true;
  }
  void local(const double* x, const Chart&, const double* other, double* d) override {
    for (int i = 0; i < 2; ++i) d[i] = other[i] - x[i];
  }
  bool transition(double, const double*, const Chart&, const Chart&, MatrixXd& T) override {
    T.setIdentity(2, 2);
    return true;
  }
  bool advance(double t, double h, const double* x, double* next) override {
    Chart c;
    MatrixXd F, Q;
    return advance(t, h, x, c, next, c, F, Q);
  }
  // RK4 on the state and its derivative.
  bool advance(double, double h, const double* x, const Chart&, double* next, Chart& chart, MatrixXd& F,
               MatrixXd& Q) override {
    using M = Eigen::Matrix<double, 2, 3>;  // state, then its derivatives by θ and ω
    M y, k1, k2, k3, k4;
    y << x[0], 1, 0, x[1], 0, 1;
    const auto rate = [&](const M& s) {
      M r;
      const double f = linear ? s(0, 0) : std::sin(s(0, 0)), g = linear ? 1 : std::cos(s(0, 0));
      r.row(0) = s.row(1);
      r.row(1) << -k * f, -k * g * s(0, 1), -k * g * s(0, 2);
      return r;
    };
    k1 = rate(y);
    k2 = rate(y + h / 2 * k1);
    k3 = rate(y + h / 2 * k2);
    k4 = rate(y + h * k3);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    next[0] = y(0, 0), next[1] = y(1, 0);
    chart.columns = {0};
    F = y.rightCols<2>();
    Q.resize(2, 2);
    const double q = density * density;
    Q << q * h * h * h / 3, q * h * h / 2, q * h * h / 2, q * h;
    return true;
  }
  int noises() const override { return 2; }
  bool disturb(double, double h, double* x, const double* n) override {
    x[0] += density * h * std::sqrt(h) * (n[0] / 2 + n[1] / std::sqrt(12.0));
    x[1] += density * std::sqrt(h) * n[0];
    return true;
  }
  const std::vector<SensorInfo>& sensors() const override { return sensors_; }
  bool predict(double, const double* x, int sensor, double* y) override {
    *y = x[sensor];
    return true;
  }
  bool predict(double t, const double* x, const Chart&, int sensor, double* y, MatrixXd& H) override {
    H.setZero(1, 2);
    H(0, sensor) = 1;
    return predict(t, x, sensor, y);
  }
  bool response(double t, double h, const double* x, int sensor, double* y, MatrixXd& B) override {
    B.resize(1, 2);
    if (sensor == 0) {
      B << density * h * std::sqrt(h) / 2, density * h * std::sqrt(h) / std::sqrt(12.0);
    } else {
      B << density * std::sqrt(h), 0;
    }
    return predict(t, x, sensor, y);
  }

 private:
  std::vector<SensorInfo> sensors_;
};

}  // namespace kinegraph::filter
