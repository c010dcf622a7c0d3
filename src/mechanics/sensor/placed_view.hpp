#pragma once

#include <array>
#include <cmath>

#include "kinegraph/mechanics/sensor/machine_observer.hpp"
#include "kinegraph/mechanics/sensor/screw_places.hpp"

namespace kinegraph::sensor {

/// A relative coordinate that no joint has, from the points that define it. With d = p₁ − p₀ and b = p₃ − p₂ (or p₂ −
/// p₀):
///
///     absolute angle    θ = atan2(d_y, d_x),     θ̇ = (d × ḋ) / d²
///     relative angle    θ = atan2(d × b, d · b), θ̇ = (b × ḃ) / b² − (d × ḋ) / d²
///     position          s = d · b / |d|,         ṡ = (ḋ · b + d · ḃ) / |d|
///
/// `body(index, level)`: the state of a body.
template <class T, class Body>
void measure(const MeasuredLine& line, bool rate, const Body& body, View<T>& see) {
  using std::atan2, std::sqrt;
  using Type = RelativeCoordinate::Type;
  std::array<Vector3<T>, 4> p, v;
  for (int k = 0; k < line.points; ++k) {
    const BodyState<T> state = body(line.body[k], rate ? Level::velocity : Level::position);
    p[k] = state.position(line.at[k]);
    v[k] = state.velocity(line.at[k]);
  }
  const auto cross = [](const Vector3<T>& x, const Vector3<T>& y) { return T(x[0] * y[1] - x[1] * y[0]); };
  const Vector3<T> d = p[1] - p[0], d_dot = v[1] - v[0];
  if (line.type == Type::absolute_angle) {
    see.coordinate = atan2(d[1], d[0]);
    see.rate = cross(d, d_dot) / d.squaredNorm();
    return;
  }
  const bool angle = line.type == Type::relative_angle;
  const Vector3<T> b = angle ? p[3] - p[2] : p[2] - p[0], b_dot = angle ? v[3] - v[2] : v[2] - v[0];
  if (angle) {
    see.coordinate = atan2(cross(d, b), d.dot(b));
    see.rate = cross(b, b_dot) / b.squaredNorm() - cross(d, d_dot) / d.squaredNorm();
  } else {
    const T length = sqrt(d.squaredNorm());
    see.coordinate = d.dot(b) / length;
    see.rate = (d_dot.dot(b) + d.dot(b_dot)) / length;
  }
}

/// Σ ± R_C_B R_B_M (m, f), C: the axes in which the cell tells its reading (planar: the world's). `axes(index)`: those
/// of a body in the world.
template <class T, class Axes>
void add_wrenches(const Instant& instant, const ScrewPlace& place, int first, const Axes& axes, View<T>& see) {
  for (const WrenchTerm& term : place.wrenches) {
    Matrix3<T> R = (term.sign * term.R_BM).template cast<T>();
    if (term.body != place.cell) {
      R = axes(term.body) * R;
      if (place.cell >= 0) R = axes(place.cell).transpose() * R;
    }
    Vector3<T> moment, force;
    for (int i = 0; i < 3; ++i) {
      moment[i] = seeded<T>(instant.reaction, instant.dreaction, term.row + i, first);
      force[i] = seeded<T>(instant.reaction, instant.dreaction, term.row + 3 + i, first);
    }
    see.moment += R * moment;
    see.force += R * force;
  }
  const Matrix3<T> R_LB = place.R_BL.transpose().template cast<T>();
  see.moment = (R_LB * see.moment).eval();
  see.force = (R_LB * see.force).eval();
}

}  // namespace kinegraph::sensor
