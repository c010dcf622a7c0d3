#include "test/acceptance/fourbar_reference.hpp"

#include <cmath>

namespace kinegraph::acceptance {
namespace {

using Real = FourbarReference::Real;
using Point = FourbarReference::Point;

constexpr Real kCrank = 1, kCoupler = 2, kSpan = 4, kRockerSquared = 13;
constexpr Real kCrankMass = 1, kCouplerMass = 2, kRockerMass = 4;

Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Point operator*(Real s, Point a) { return {s * a.x, s * a.y}; }
Real dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
Real cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }

/// x with a·x = r, b·x = s.
Point solve(Point a, Point b, Real r, Real s) {
  const Real d = cross(a, b);
  return {(r * b.y - s * a.y) / d, (a.x * s - b.x * r) / d};
}

}  // namespace

// P₂ = P₁ + a e + h e⊥ on both circles;  (P₂−P₁)·(v₂−v₁) = 0, P₂D·v₂ = 0 and their derivatives.
FourbarReference::Pose FourbarReference::pose(Real theta, Real rate, Real acceleration) {
  Pose p;
  const Real c = std::cos(theta), s = std::sin(theta);
  const Point end{kSpan, 0};
  p.p1 = {kCrank * c, kCrank * s};
  p.v1 = rate * Point{-p.p1.y, p.p1.x};
  p.a1 = acceleration * Point{-p.p1.y, p.p1.x} - rate * rate * p.p1;

  const Point d = end - p.p1;
  const Real length = std::sqrt(dot(d, d));
  const Point e = (1 / length) * d;
  const Real along = (length * length + kCoupler * kCoupler - kRockerSquared) / (2 * length);
  const Real above = std::sqrt(kCoupler * kCoupler - along * along);
  p.p2 = p.p1 + along * e + above * Point{-e.y, e.x};

  const Point coupler = p.p2 - p.p1, rocker = p.p2 - end;
  p.v2 = solve(coupler, rocker, dot(coupler, p.v1), 0);
  const Point relative = p.v2 - p.v1;
  p.a2 = solve(coupler, rocker, dot(coupler, p.a1) - dot(relative, relative), -dot(p.v2, p.v2));

  p.crank[0] = rate, p.crank[1] = acceleration;
  p.coupler[0] = cross(coupler, relative) / (kCoupler * kCoupler);
  p.coupler[1] = cross(coupler, p.a2 - p.a1) / (kCoupler * kCoupler);
  p.rocker[0] = cross(rocker, p.v2) / kRockerSquared;
  p.rocker[1] = cross(rocker, p.a2) / kRockerSquared;
  return p;
}

// Σ m (a_g − g)·∂v_g/∂θ̇ + I α ∂ω/∂θ̇ = τ
FourbarReference::Real FourbarReference::torque_for(Real theta, Real rate, Real acceleration) const {
  const Pose now = pose(theta, rate, acceleration), unit = pose(theta, 1, 0);
  const Point g{0, -gravity};
  const auto bar = [&](Real mass, Real length_squared, Point a, Point unit_v, Real alpha, Real unit_w) {
    return mass * dot(a - g, unit_v) + mass * (length_squared + width * width) / 12 * alpha * unit_w;
  };
  const Real half = 0.5L;
  return bar(kCrankMass, kCrank * kCrank, half * now.a1, half * unit.v1, now.crank[1], 1) +
         bar(kCouplerMass, kCoupler * kCoupler, half * (now.a1 + now.a2), half * (unit.v1 + unit.v2), now.coupler[1],
             unit.coupler[0]) +
         bar(kRockerMass, kRockerSquared, half * now.a2, half * unit.v2, now.rocker[1], unit.rocker[0]);
}

// The torque is affine in θ̈.
FourbarReference::Real FourbarReference::acceleration(Real theta, Real rate, Real torque) const {
  const Real without = torque_for(theta, rate, 0);
  return (torque - without) / (torque_for(theta, rate, 1) - without);
}

FourbarReference::Real FourbarReference::energy(Real theta, Real rate) const {
  const Pose p = pose(theta, rate, 0);
  const auto kinetic = [&](Real mass, Real length_squared, Point v, Real w) {
    return mass * dot(v, v) / 2 + mass * (length_squared + width * width) / 24 * w * w;
  };
  const Real half = 0.5L;
  return kinetic(kCrankMass, kCrank * kCrank, half * p.v1, p.crank[0]) +
         kinetic(kCouplerMass, kCoupler * kCoupler, half * (p.v1 + p.v2), p.coupler[0]) +
         kinetic(kRockerMass, kRockerSquared, half * p.v2, p.rocker[0]) +
         gravity * half * (kCrankMass * p.p1.y + kCouplerMass * (p.p1.y + p.p2.y) + kRockerMass * p.p2.y);
}

Trajectory FourbarReference::motion(double time, double step, double theta, double rate, int substeps) const {
  Trajectory result({"theta.q", "theta.v", "theta.a", "P1.x", "P1.y", "P2.x", "P2.y", "P1.vx", "P1.vy", "P2.vx",
                     "P2.vy"});
  Real q = theta, v = rate;
  const long steps = std::lround(time / step);
  const Real h = static_cast<Real>(time) / steps / substeps;
  const auto rhs = [&](Real t, Real at, Real with) { return acceleration(at, with, torque ? torque(t) : 0); };
  for (long k = 0; k <= steps; ++k) {
    const Real start = k * substeps * h, a = rhs(start, q, v);
    const Pose p = pose(q, v, a);
    double* row = result.append(k * step);
    for (Real x : {q, v, a, p.p1.x, p.p1.y, p.p2.x, p.p2.y, p.v1.x, p.v1.y, p.v2.x, p.v2.y}) {
      *row++ = static_cast<double>(x);
    }
    for (int i = 0; i < substeps; ++i) {
      const Real t = start + i * h;
      const Real a1 = rhs(t, q, v);
      const Real a2 = rhs(t + h / 2, q + h / 2 * v, v + h / 2 * a1);
      const Real a3 = rhs(t + h / 2, q + h / 2 * (v + h / 2 * a1), v + h / 2 * a2);
      const Real a4 = rhs(t + h, q + h * (v + h / 2 * a2), v + h * a3);
      q += h * v + h * h / 6 * (a1 + a2 + a3);
      v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
  }
  return result;
}

}  // namespace kinegraph::acceptance
