#include "kinegraph/mechanics/screw/separation.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/mechanics/screw/convex.hpp"

namespace kinegraph::screw {
namespace {

using Eigen::Vector3d;
using Type = Solid::Type;

constexpr double kSmoothing = 1e-2;  // ε of smooth_segments

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

/// Where segments are nearly parallel, the nearest point runs from end to end as they tilt, and the distance has a
/// kink. Without one, and never larger than the distance d (a, e: squared lengths, s, t in [0, 1]):
///
///     δ² = min |p(s) − q(t)|² + ε a (s − ½)² + ε e (t − ½)²  −  ε (a + e)/4  ≤  d²
///
/// a strictly convex problem: its inner solution, or the best of those on the four edges.
Nearest smooth_segments(const Vector3d& p1, const Vector3d& q1, const Vector3d& p2, const Vector3d& q2) {
  const Vector3d d1 = q1 - p1, d2 = q2 - p2, r = p1 - p2;
  const double a = d1.squaredNorm(), e = d2.squaredNorm(), b = d1.dot(d2), tiny = 1e-12;
  const double A = (1 + kSmoothing) * a + tiny, E = (1 + kSmoothing) * e + tiny;
  const double fs = d1.dot(r) - 0.5 * kSmoothing * a, ft = -d2.dot(r) - 0.5 * kSmoothing * e;  // gradient at 0, halved
  const auto value = [&](double s, double t) {
    return (r + s * d1 - t * d2).squaredNorm() + kSmoothing * (a * (s - 0.5) * (s - 0.5) + e * (t - 0.5) * (t - 0.5));
  };
  const double determinant = A * E - b * b;
  double s = -(E * fs + b * ft) / determinant, t = -(A * ft + b * fs) / determinant;
  if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) {
    double least = -1;
    for (const double end : {0.0, 1.0}) {
      const double along_t = std::clamp((b * end - ft) / E, 0.0, 1.0);
      const double along_s = std::clamp((b * end - fs) / A, 0.0, 1.0);
      for (const auto& [x, y] : {std::pair{end, along_t}, std::pair{along_s, end}}) {
        const double v = value(x, y);
        if (least < 0 || v < least) least = v, s = x, t = y;
      }
    }
  }
  Nearest n = between(p1 + s * d1, p2 + t * d2);
  const double square = value(s, t) - kSmoothing * (a + e) / 4;
  if (square <= 0.25 * n.distance * n.distance) return n;  // they nearly touch: as it is
  const double distance = std::sqrt(square);
  n.normal *= n.distance / distance;  // ∂δ = (p − q)·∂(p − q)/δ
  n.distance = distance;
  return n;
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

/// What its surface is round by its radius: the rest.
ConvexCore core_of(const Solid& solid, const Transform<double>& X) {
  switch (solid.type) {
    case Type::cylinder:
      return {ConvexCore::Type::cylinder, X, solid.half_size, {}};
    case Type::ellipsoid:
      return {ConvexCore::Type::ellipsoid, X, solid.half_size, {}};
    case Type::hull:
      return {ConvexCore::Type::points, X, {}, *solid.points};
    case Type::box:
      return {ConvexCore::Type::box, X, solid.half_size, {}};
    default:
      return {ConvexCore::Type::box, X, {0, 0, solid.half_length}, {}};
  }
}

Separation core_and_halfspace(const ConvexCore& a, double radius, const Transform<double>& plane) {
  const Vector3d up = plane.R.col(2), lowest = a.support(-up);
  const double height = up.dot(lowest - plane.p);
  return thick({height, lowest, lowest - height * up, -up}, radius, 0);
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
      solid.type = Type::cylinder;
      solid.half_size = {shape.size[0], shape.size[0], shape.size[1] / 2};
      return solid;
    case Shape::Type::ellipsoid:
      solid.type = Type::ellipsoid;
      solid.half_size = shape.size;
      return solid;
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

std::optional<Solid> hull_of(const Shape& shape, const std::vector<Vector3d>& corners) {
  if (corners.empty()) return {};
  std::vector<Vector3d> scaled;
  scaled.reserve(corners.size());
  for (const Vector3d& c : corners) scaled.push_back(shape.size.cwiseProduct(c));
  std::sort(scaled.begin(), scaled.end(), [](const Vector3d& a, const Vector3d& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  });
  scaled.erase(std::unique(scaled.begin(), scaled.end()), scaled.end());
  Vector3d low = scaled[0], high = scaled[0];
  for (const Vector3d& c : scaled) low = low.cwiseMin(c), high = high.cwiseMax(c);
  Solid solid;
  solid.type = Type::hull;
  solid.X = Transform<double>(shape.X_LG);
  solid.radius = 1e-3 * (high - low).norm();
  solid.points = std::make_shared<const std::vector<Vector3d>>(hull_corners(scaled, solid.radius));
  return solid;
}

bool can_separate(Type a, Type b) { return a != Type::halfspace || b != Type::halfspace; }

Separation separation(const Solid& a, const Transform<double>& X_WA, const Solid& b, const Transform<double>& X_WB,
                      bool smooth) {
  if (a.type == Type::halfspace) return reversed(separation(b, X_WB, a, X_WA));
  if (b.type == Type::swept && a.type != Type::swept) return reversed(separation(b, X_WB, a, X_WA));
  const Transform<double> A = X_WA * a.X, B = X_WB * b.X;
  if (b.type == Type::halfspace) return core_and_halfspace(core_of(a, A), a.radius, B);
  if (a.type == Type::swept && b.type == Type::swept) {
    Vector3d from, to, other_from, other_to;
    ends(a, A, from, to);
    ends(b, B, other_from, other_to);
    return thick((smooth ? smooth_segments : segments)(from, to, other_from, other_to), a.radius, b.radius);
  }
  const CoreDistance n = nearest(core_of(a, A), core_of(b, B));
  return thick({n.distance, n.on_a, n.on_b, n.normal}, a.radius, b.radius);
}

}  // namespace kinegraph::screw
