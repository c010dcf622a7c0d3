#include "test/acceptance/fourbar_reference.hpp"

#include <algorithm>
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

// The same, solved for θ̈:  ∂v_g/∂θ̇ gives the inertia at the crank, a_g at θ̈ = 0 the rest.
FourbarReference::Real FourbarReference::acceleration(Real theta, Real rate, Real torque) const {
  const Pose now = pose(theta, rate, 0), unit = pose(theta, 1, 0);
  const Point g{0, -gravity};
  Real inertia = 0;
  const auto bar = [&](Real mass, Real length_squared, Point a, Point unit_v, Real alpha, Real unit_w) {
    const Real own = mass * (length_squared + width * width) / 12;
    inertia += mass * dot(unit_v, unit_v) + own * unit_w * unit_w;
    torque -= mass * dot(a - g, unit_v) + own * alpha * unit_w;
  };
  const Real half = 0.5L;
  bar(kCrankMass, kCrank * kCrank, half * now.a1, half * unit.v1, 0, 1);
  bar(kCouplerMass, kCoupler * kCoupler, half * (now.a1 + now.a2), half * (unit.v1 + unit.v2), now.coupler[1],
      unit.coupler[0]);
  bar(kRockerMass, kRockerSquared, half * now.a2, half * unit.v2, now.rocker[1], unit.rocker[0]);
  return torque / inertia;
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

// Gauss-Legendre, three stages, order 6:  kᵢ = f(t + cᵢ h, x + h Σⱼ aᵢⱼ kⱼ),  x ← x + h Σ bᵢ kᵢ
Trajectory FourbarReference::motion(double time, double step, double theta, double rate, int substeps) const {
  Trajectory result(
      {"theta.q", "theta.v", "theta.a", "P1.x", "P1.y", "P2.x", "P2.y", "P1.vx", "P1.vy", "P2.vx", "P2.vy"});
  const Real root = std::sqrt(15.0L);
  const Real c[3] = {0.5L - root / 10, 0.5L, 0.5L + root / 10}, b[3] = {5 / 18.0L, 4 / 9.0L, 5 / 18.0L};
  const Real a[3][3] = {{5 / 36.0L, 2 / 9.0L - root / 15, 5 / 36.0L - root / 30},
                        {5 / 36.0L + root / 24, 2 / 9.0L, 5 / 36.0L - root / 24},
                        {5 / 36.0L + root / 30, 2 / 9.0L + root / 15, 5 / 36.0L}};
  Real q = theta, v = rate;
  const long steps = std::lround(time / step);
  const Real h = static_cast<Real>(time) / steps / substeps;
  const auto rhs = [&](Real t, Real at, Real with) { return acceleration(at, with, torque ? torque(t) : 0); };
  const auto stages = [&](Real t, Real(&kq)[3], Real(&kv)[3]) {
    Real change = 1;
    for (int sweep = 0; sweep < 30 && change > 1e-17L; ++sweep) {
      change = 0;
      for (int i = 0; i < 3; ++i) {
        Real dq = 0, dv = 0;
        for (int j = 0; j < 3; ++j) dq += h * a[i][j] * kq[j], dv += h * a[i][j] * kv[j];
        const Real slope = rhs(t + c[i] * h, q + dq, v + dv);
        change = std::max({change, h * std::abs(slope - kv[i]), h * std::abs(v + dv - kq[i])});
        kq[i] = v + dv, kv[i] = slope;
      }
    }
  };
  for (long k = 0; k <= steps; ++k) {
    const Real start = k * substeps * h, now = rhs(start, q, v);
    const Pose p = pose(q, v, now);
    double* row = result.append(k * step);
    for (Real x : {q, v, now, p.p1.x, p.p1.y, p.p2.x, p.p2.y, p.v1.x, p.v1.y, p.v2.x, p.v2.y}) {
      *row++ = static_cast<double>(x);
    }
    Real kq[3] = {v, v, v}, kv[3] = {now, now, now};
    for (int i = 0; i < substeps && k < steps; ++i) {
      stages(start + i * h, kq, kv);
      for (int j = 0; j < 3; ++j) q += h * b[j] * kq[j], v += h * b[j] * kv[j];
    }
  }
  return result;
}

}  // namespace kinegraph::acceptance
