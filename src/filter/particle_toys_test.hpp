#pragma once

// Systems for the tests of the particle filter.

#include <cmath>

#include "kinegraph/filter/toy_test.hpp"

namespace kinegraph::filter {

/// Branches that differ by gravity: a state with three numbers would do, but the branch is enough for a test.
class TwoPendulums final : public StateSpace {
 public:
  Pendulum a;
  double other = 4;
  std::unique_ptr<StateSpace> clone() const override { return std::make_unique<TwoPendulums>(*this); }
  int stored() const override { return 3; }  // θ, ω and the k of the branch
  int tangent() const override { return 2; }
  std::string tangent_name(const Chart& chart, int i) const override { return a.tangent_name(chart, i); }
  bool choose(double t, const double* x, Chart& chart) override { return a.choose(t, x, chart); }
  bool retract(double t, const double* x, const Chart& chart, const double* d, double* out) override {
    out[2] = x[2];
    return a.retract(t, x, chart, d, out);
  }
  void local(const double* x, const Chart& chart, const double* o, double* d) override { a.local(x, chart, o, d); }
  bool transition(double t, const double* x, const Chart& from, const Chart& to, MatrixXd& T) override {
    return a.transition(t, x, from, to, T);
  }
  bool advance(double t, double h, const double* x, double* next) override {
    a.k = next[2] = x[2];
    return a.advance(t, h, x, next);
  }
  bool advance(double, double, const double*, const Chart&, double*, Chart&, MatrixXd&, MatrixXd&) override {
    return false;
  }
  int noises() const override { return 2; }
  bool disturb(double t, double h, double* x, const double* n) override { return a.disturb(t, h, x, n); }
  const std::vector<SensorInfo>& sensors() const override { return a.sensors(); }
  bool predict(double t, const double* x, int sensor, double* y) override { return a.predict(t, x, sensor, y); }
  bool predict(double, const double*, const Chart&, int, double*, MatrixXd&) override { return false; }
  bool response(double t, double h, const double* x, int sensor, double* y, MatrixXd& B) override {
    return a.response(t, h, x, sensor, y, B);
  }
};

/// A pendulum that allocates nothing.
class Quiet final : public StateSpace {
 public:
  std::vector<SensorInfo> infos = {{"rate", {{"rate.v", 0.05, false}}}};
  std::unique_ptr<StateSpace> clone() const override { return std::make_unique<Quiet>(*this); }
  int stored() const override { return 2; }
  int tangent() const override { return 2; }
  std::string tangent_name(const Chart&, int) const override { return ""; }
  bool choose(double, const double*, Chart& chart) override {
    chart.columns.assign(1, 0);
    return true;
  }
  bool retract(double, const double* x, const Chart&, const double* d, double* out) override {
    out[0] = x[0] + d[0], out[1] = x[1] + d[1];
    return true;
  }
  void local(const double* x, const Chart&, const double* o, double* d) override {
    d[0] = o[0] - x[0], d[1] = o[1] - x[1];
  }
  bool transition(double, const double*, const Chart&, const Chart&, MatrixXd&) override { return false; }
  bool advance(double, double h, const double* x, double* next) override {
    next[0] = x[0] + h * x[1], next[1] = x[1] - h * 9.81 * std::sin(next[0]);
    return true;
  }
  bool advance(double, double, const double*, const Chart&, double*, Chart&, MatrixXd&, MatrixXd&) override {
    return false;
  }
  int noises() const override { return 1; }
  bool disturb(double, double h, double* x, const double* n) override {
    x[1] += std::sqrt(h) * n[0];
    return true;
  }
  const std::vector<SensorInfo>& sensors() const override { return infos; }
  bool predict(double, const double* x, int, double* y) override {
    *y = x[1];
    return true;
  }
  bool predict(double, const double*, const Chart&, int, double*, MatrixXd&) override { return false; }
  bool response(double, double h, const double* x, int, double* y, MatrixXd& B) override {
    *y = x[1];
    B(0, 0) = std::sqrt(h);
    return true;
  }
};

}  // namespace kinegraph::filter
