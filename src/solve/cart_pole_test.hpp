#pragma once

#include <cmath>
#include <memory>
#include <numbers>

#include "kinegraph/graph/function_factor.hpp"
#include "kinegraph/graph/graph.hpp"

/// The cart-pole of 003: a cart of 20 kg, a pole of 0.3 kg that hangs at θ = 0; least force on the cart, trapezoidal
/// rule.
namespace kinegraph::test {

struct CartPole {
  static constexpr double kCart = 20, kPole = 0.3, kLength = 0.15, kInertia = 0.00225, kGravity = 9.8;

  int knots = 201;
  double dt = 0.01;
  Graph graph;
  Values values;

  static Key q(int k) { return {Kind::position, false, 0, k}; }
  static Key v(int k) { return {Kind::velocity, false, 0, k}; }
  static Key a(int k) { return {Kind::acceleration, false, 0, k}; }
  static Key u(int k) { return {Kind::input, false, 0, k}; }

  /// (M + m) p̈ + m l (cos θ θ̈ − sin θ θ̇²) = F,     m l cos θ p̈ + (I + m l²) θ̈ + m g l sin θ = 0
  static void dynamics(Slots x, double* r, double* j) {
    const double s = std::sin(x[0][1]), c = std::cos(x[0][1]), rate = x[1][1], ml = kPole * kLength;
    const double *acc = x[2], inertia = kInertia + ml * kLength;
    r[0] = (kCart + kPole) * acc[0] + ml * (c * acc[1] - s * rate * rate) - x[3][0];
    r[1] = ml * c * acc[0] + inertia * acc[1] + ml * kGravity * s;
    if (!j) return;
    const double all[14] = {0,
                            0,
                            ml * (-s * acc[1] - c * rate * rate),
                            -ml * s * acc[0] + ml * kGravity * c,  // q
                            0,
                            0,
                            -2 * ml * s * rate,
                            0,  // v
                            kCart + kPole,
                            ml * c,
                            ml * c,
                            inertia,  // a
                            -1,
                            0};
    std::copy(all, all + 14, j);
  }

  /// xₖ₊₁ − xₖ − Δt/2 (ẋₖ + ẋₖ₊₁)
  static std::shared_ptr<const Factor> trapezoidal(double dt, const char* name) {
    return std::make_shared<FunctionFactor>(name, 2, std::vector<int>{2, 2, 2, 2}, [dt](Slots x, double* r, double* j) {
      for (int i = 0; i < 2; ++i) r[i] = x[1][i] - x[0][i] - 0.5 * dt * (x[2][i] + x[3][i]);
      if (!j) return;
      const double d[4] = {-1, 1, -0.5 * dt, -0.5 * dt};
      for (int slot = 0; slot < 4; ++slot) {
        for (int e = 0; e < 4; ++e) j[4 * slot + e] = e == 0 || e == 3 ? d[slot] : 0;
      }
    });
  }

  static std::shared_ptr<const Factor> equals(const char* name, double first, double second) {
    return std::make_shared<FunctionFactor>(name, 2, std::vector<int>{2}, [=](Slots x, double* r, double* j) {
      r[0] = x[0][0] - first, r[1] = x[0][1] - second;
      if (j) j[0] = j[3] = 1, j[1] = j[2] = 0;
    });
  }

  void rest_at(int k, const char* name, double position, double angle) {
    graph.add(equals(name, position, angle), {q(k)}, Role::equality);
    graph.add(equals("rest", 0, 0), {v(k)}, Role::equality);
  }

  explicit CartPole(int count, bool known_start = false, double step = 0.01) : knots(count), dt(step) {
    const auto law = std::make_shared<FunctionFactor>("dynamics", 2, std::vector<int>{2, 2, 2, 1}, dynamics);
    const auto position = trapezoidal(dt, "position"), velocity = trapezoidal(dt, "velocity");
    const auto effort =
        std::make_shared<FunctionFactor>("effort", 1, std::vector<int>{1}, [](Slots x, double* r, double* j) {
          r[0] = x[0][0];
          if (j) j[0] = 1;
        });
    for (int k = 0; k < knots; ++k) {
      const Eigen::VectorXd zero = Eigen::VectorXd::Zero(2);
      values.insert(q(k), zero), values.insert(v(k), zero), values.insert(a(k), zero), values.insert(u(k), 0.0);
      graph.add(law, {q(k), v(k), a(k), u(k)}, Role::equality);
      graph.add(effort, {u(k)}, Role::cost, Noise::isotropic(20));
      if (k == 0) continue;
      graph.add(position, {q(k - 1), q(k), v(k - 1), v(k)}, Role::equality);
      graph.add(velocity, {v(k - 1), v(k), a(k - 1), a(k)}, Role::equality);
    }
    if (known_start) {
      graph.known().insert(q(0));
      graph.known().insert(v(0));
    } else {
      rest_at(0, "start", 0, 0);
    }
  }

  /// Straight from one rest to the next.
  void interpolate(int from, int to, double p0, double t0, double p1, double t1) {
    for (int k = from; k <= to; ++k) {
      const double share = double(k - from) / (to - from);
      values.at(q(k))[0] = p0 + share * (p1 - p0);
      values.at(q(k))[1] = t0 + share * (t1 - t0);
    }
  }

  static CartPole two_seconds(bool known_start = false) {
    CartPole c(201, known_start);
    c.rest_at(200, "goal", 1, std::numbers::pi);
    return c;
  }
  static CartPole six_seconds() {
    CartPole c(601);
    c.rest_at(300, "goal", 1, std::numbers::pi);
    c.rest_at(600, "goal", -1, -std::numbers::pi);
    return c;
  }
};

}  // namespace kinegraph::test
