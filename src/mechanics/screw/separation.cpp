#include "kinegraph/mechanics/screw/separation.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::screw {
namespace {

using Eigen::Vector3d;
using Type = Solid::Type;

/// A point and a direction from a to b of two sets without extent, then made thick.
struct Nearest {
  double distance = 0;
  Vector3d on_a, on_b, normal;
};

Nearest between(const Vector3d& a, const Vector3d& b) {
  const Vector3d d = b - a;
  const double length = d.norm();
  return {length, a, b, length > 1e-12 ? Vector3d(d / length) : Vector3d::UnitZ()};
}

/// Nearest points of two segments (Ericson, Real-time collision detection, section 5.1.9).
Nearest segments(const Vector3d& p1, const Vector3d& q1, const Vector3d& p2, const Vector3d& q2) {
  const Vector3d d1 = q1 - p1, d2 = q2 - p2, r = p1 - p2;
  const double a = d1.squaredNorm(), e = d2.squaredNorm(), f = d2.dot(r), tiny = 1e-18;
  double s = 0, t = 0;
  if (a <= tiny && e > tiny) {
    t = std::clamp(f / e, 0.0, 1.0);
  } else if (a > tiny) {
    const double c = d1.dot(r);
    if (e <= tiny) {
      s = std::clamp(-c / a, 0.0, 1.0);
    } else {
      const double b = d1.dot(d2), denominator = a * e - b * b;
      s = denominator > tiny * a * e ? std::clamp((b * f - c * e) / denominator, 0.0, 1.0) : 0.5;
      t = (b * s + f) / e;
      if (t < 0 || t > 1) {
        t = std::clamp(t, 0.0, 1.0);
        s = std::clamp((b * t - c) / a, 0.0, 1.0);
      }
    }
  }
  return between(p1 + s * d1, p2 + t * d2);
}

/// The signed distance of a point from a box around the origin, its gradient, and the nearest point of the surface.
double box_distance(const Vector3d& half, const Vector3d& p, Vector3d& gradient, Vector3d& on_box) {
  const Vector3d inside = p.cwiseMax(-half).cwiseMin(half);
  const Vector3d out = p - inside;
  const double distance = out.norm();
  if (distance > 0) {
    gradient = out / distance;
    on_box = inside;
    return distance;
  }
  int axis = 0;
  const double depth = (half - p.cwiseAbs()).minCoeff(&axis);
  gradient.setZero();
  gradient[axis] = p[axis] < 0 ? -1 : 1;
  on_box = p + depth * gradient;
  return -depth;
}

/// The point of a segment that is nearest to a box: the signed distance is convex along it, so its slope is bisected.
/// Inside the box it may have a kink there, between two faces: the gradient is then the mean of theirs that is level
/// along the segment, and shorter than one.
Nearest segment_and_box(const Vector3d& from, const Vector3d& to, const Vector3d& half) {
  double low = 0, high = 1;
  Vector3d gradient, on_box, falling, rising;
  double fall = 0, rise = 0;  // slopes at low and high, once they were looked at
  for (int i = 0; i < 55 && from != to; ++i) {
    const double t = 0.5 * (low + high);
    box_distance(half, from + t * (to - from), gradient, on_box);
    const double slope = gradient.dot(to - from);
    if (slope > 0) {
      high = t, rise = slope, rising = gradient;
    } else {
      low = t, fall = slope, falling = gradient;
    }
  }
  const Vector3d p = from + 0.5 * (low + high) * (to - from);
  const double distance = box_distance(half, p, gradient, on_box);
  if (rise > 0 && fall < 0) gradient = (rise * falling - fall * rising) / (rise - fall);
  return {distance, p, on_box, -gradient};
}

Separation thick(const Nearest& n, double radius_a, double radius_b) {
  return {n.distance - radius_a - radius_b, n.on_a + radius_a * n.normal, n.on_b - radius_b * n.normal, n.normal};
}

Separation reversed(const Separation& s) { return {s.distance, s.on_b, s.on_a, -s.normal}; }

void ends(const Solid& solid, const Transform<double>& X, Vector3d& from, Vector3d& to) {
  const Vector3d half = solid.half_length * X.R.col(2);
  from = X.p - half;
  to = X.p + half;
}

Separation swept_and_halfspace(const Solid& a, const Transform<double>& X, const Transform<double>& plane) {
  Vector3d from, to;
  ends(a, X, from, to);
  const Vector3d up = plane.R.col(2);
  const double h1 = up.dot(from - plane.p), h2 = up.dot(to - plane.p);
  const Vector3d lowest = h1 < h2 ? from : to;
  const double height = std::min(h1, h2);
  return thick({height, lowest, lowest - height * up, -up}, a.radius, 0);
}

Separation box_and_halfspace(const Solid& a, const Transform<double>& X, const Transform<double>& plane) {
  const Vector3d up = plane.R.col(2), own = X.R.transpose() * up;
  Vector3d corner;
  for (int i = 0; i < 3; ++i) corner[i] = own[i] > 0 ? -a.half_size[i] : a.half_size[i];
  const Vector3d lowest = X * corner;
  const double height = up.dot(lowest - plane.p);
  return {height, lowest, lowest - height * up, -up};
}

}  // namespace

std::optional<Solid> solid_of(const Shape& shape) {
  Solid solid;
  solid.X = Transform<double>(shape.X_LG);
  switch (shape.type) {
    case Shape::Type::sphere:
      solid.radius = shape.size[0];
      return solid;
    case Shape::Type::cylinder:
    case Shape::Type::capsule:
      solid.radius = shape.size[0];
      solid.half_length = shape.size[1] / 2;
      return solid;
    case Shape::Type::box:
      solid.type = Type::box;
      solid.half_size = shape.size / 2;
      return solid;
    case Shape::Type::plane:
      solid.type = Type::halfspace;
      solid.X.R = solid.X.R * Eigen::Quaterniond::FromTwoVectors(Vector3d::UnitZ(), shape.size).toRotationMatrix();
      return solid;
    default:
      return {};
  }
}

bool can_separate(Type a, Type b) { return a == Type::swept || b == Type::swept || a != b; }

Separation separation(const Solid& a, const Transform<double>& X_WA, const Solid& b, const Transform<double>& X_WB) {
  if (b.type == Type::swept && a.type != Type::swept) return reversed(separation(b, X_WB, a, X_WA));
  if (a.type == Type::halfspace) return reversed(separation(b, X_WB, a, X_WA));
  const Transform<double> A = X_WA * a.X, B = X_WB * b.X;
  if (b.type == Type::halfspace) {
    return a.type == Type::box ? box_and_halfspace(a, A, B) : swept_and_halfspace(a, A, B);
  }
  Vector3d from, to;
  ends(a, A, from, to);
  if (b.type == Type::box) {
    const Transform<double> back = B.inverse();
    const Nearest n = segment_and_box(back * from, back * to, b.half_size);
    return thick({n.distance, B * n.on_a, B * n.on_b, B.R * n.normal}, a.radius, 0);
  }
  Vector3d other_from, other_to;
  ends(b, B, other_from, other_to);
  return thick(segments(from, to, other_from, other_to), a.radius, b.radius);
}

}  // namespace kinegraph::screw
