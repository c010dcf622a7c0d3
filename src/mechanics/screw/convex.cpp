#include "kinegraph/mechanics/screw/convex.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::screw {

using Eigen::Vector3d;

Vector3d ConvexCore::support(const Vector3d& along) const {
  const Vector3d own = X.R.transpose() * along;
  switch (type) {
    case Type::box:
      return X * Vector3d(own.array().sign() * half.array());
    case Type::cylinder: {
      const double across = std::hypot(own[0], own[1]), share = across > 0 ? half[0] / across : 0;
      return X * Vector3d(share * own[0], share * own[1], own[2] < 0 ? -half[2] : half[2]);
    }
    case Type::ellipsoid: {
      const Vector3d scaled = half.cwiseProduct(own);
      const double length = scaled.norm();
      return length > 0 ? X * Vector3d(half.cwiseProduct(scaled) / length) : X.p;
    }
    case Type::points:
      break;
  }
  std::size_t best = 0;
  double farthest = own.dot(points[0]);
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double d = own.dot(points[i]);
    if (d > farthest) farthest = d, best = i;
  }
  return X * points[best];
}

Vector3d ConvexCore::centre() const {
  if (type != Type::points) return X.p;
  Vector3d sum = Vector3d::Zero();
  for (const Vector3d& p : points) sum += p;
  return X * Vector3d(sum / static_cast<double>(points.size()));
}

double ConvexCore::size() const {
  if (type != Type::points) return half.norm();
  double square = 0;
  for (const Vector3d& p : points) square = std::max(square, p.squaredNorm());
  return std::sqrt(square);
}

namespace convex {
namespace {

void keep(Simplex& s, std::initializer_list<int> which, std::initializer_list<double> weights) {
  int n = 0;
  auto w = weights.begin();
  Corner kept[3];
  for (const int i : which) kept[n++] = s.corner[i];
  for (int i = 0; i < n; ++i) s.corner[i] = kept[i], s.weight[i] = *w++;
  s.size = n;
}

void nearest_of_two(Simplex& s) {
  const Vector3d &a = s.corner[0].w, ab = s.corner[1].w - a;
  const double length = ab.squaredNorm(), t = length > 0 ? -a.dot(ab) / length : 0;
  if (t <= 0) return keep(s, {0}, {1});
  if (t >= 1) return keep(s, {1}, {1});
  keep(s, {0, 1}, {1 - t, t});
}

/// Which corner, edge or the face itself is nearest (Ericson, Real-time collision detection, section 5.1.5).
void nearest_of_three(Simplex& s) {
  const Vector3d &a = s.corner[0].w, &b = s.corner[1].w, &c = s.corner[2].w;
  const Vector3d ab = b - a, ac = c - a;
  const double d1 = -ab.dot(a), d2 = -ac.dot(a);
  if (d1 <= 0 && d2 <= 0) return keep(s, {0}, {1});
  const double d3 = -ab.dot(b), d4 = -ac.dot(b);
  if (d3 >= 0 && d4 <= d3) return keep(s, {1}, {1});
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return keep(s, {0, 1}, {1 - d1 / (d1 - d3), d1 / (d1 - d3)});
  const double d5 = -ab.dot(c), d6 = -ac.dot(c);
  if (d6 >= 0 && d5 <= d6) return keep(s, {2}, {1});
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return keep(s, {0, 2}, {1 - d2 / (d2 - d6), d2 / (d2 - d6)});
  const double va = d3 * d6 - d5 * d4, e = d4 - d3, f = d5 - d6;
  if (va <= 0 && e >= 0 && f >= 0) return keep(s, {1, 2}, {1 - e / (e + f), e / (e + f)});
  const double sum = va + vb + vc;
  keep(s, {0, 1, 2}, {va / sum, vb / sum, vc / sum});
}

Vector3d nearest_point(const Simplex& s) {
  Vector3d v = Vector3d::Zero();
  for (int i = 0; i < s.size; ++i) v += s.weight[i] * s.corner[i].w;
  return v;
}

/// The nearest of the faces that see the origin; none does: the origin is inside, and all four stay.
void nearest_of_four(Simplex& s) {
  constexpr int faces[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
  Simplex best;
  double least = -1;
  for (const auto& f : faces) {
    const Vector3d& a = s.corner[f[0]].w;
    const Vector3d normal = (s.corner[f[1]].w - a).cross(s.corner[f[2]].w - a);
    const double origin = -normal.dot(a), inner = normal.dot(s.corner[f[3]].w - a);
    const bool flat = std::abs(inner) <= 1e-12 * normal.norm() * (s.corner[f[3]].w - a).norm();
    if (!flat && origin * inner > 0) continue;
    Simplex face;
    face.size = 3;
    for (int i = 0; i < 3; ++i) face.corner[i] = s.corner[f[i]];
    nearest_of_three(face);
    const double square = nearest_point(face).squaredNorm();
    if (least < 0 || square < least) least = square, best = face;
  }
  if (least >= 0) s = best;
}

void reduce(Simplex& s) {
  if (s.size == 2) nearest_of_two(s);
  if (s.size == 3) nearest_of_three(s);
  if (s.size == 4) nearest_of_four(s);
}

}  // namespace

Corner corner_along(const ConvexCore& a, const ConvexCore& b, const Vector3d& along) {
  Corner c{{}, a.support(along), b.support(-along)};
  c.w = c.a - c.b;
  return c;
}

}  // namespace convex

CoreDistance nearest(const ConvexCore& a, const ConvexCore& b) {
  using namespace convex;
  constexpr int kMost = 100;
  constexpr double kGap = 1e-15, kTouch = 1e-10;  // of the squared distance; of the sets' sizes
  const double touching = kTouch * (a.size() + b.size());
  Simplex s;
  Vector3d v = a.centre() - b.centre();
  if (v.squaredNorm() == 0) v = Vector3d::UnitX();
  s.corner[0] = corner_along(a, b, -v);
  s.size = 1;
  v = s.corner[0].w;
  for (int i = 0; i < kMost; ++i) {
    const double square = v.squaredNorm();
    if (s.size == 4 || square <= touching * touching) return depth(a, b, s);
    const Corner next = corner_along(a, b, -v);
    // v·w is a lower bound of |v|·distance: no corner is nearer along v
    if (square - v.dot(next.w) <= kGap * square) break;
    const bool known = std::any_of(s.corner, s.corner + s.size, [&](const Corner& c) { return c.w == next.w; });
    if (known) break;
    const Simplex before = s;
    s.corner[s.size++] = next;
    reduce(s);
    const Vector3d now = nearest_point(s);
    if (s.size < 4 && now.squaredNorm() >= square) {  // rounding: as near as it gets
      s = before;
      break;
    }
    v = now;
  }
  CoreDistance result{v.norm(), Vector3d::Zero(), Vector3d::Zero(), {}};
  result.normal = -v / result.distance;
  for (int i = 0; i < s.size; ++i) {
    result.on_a += s.weight[i] * s.corner[i].a;
    result.on_b += s.weight[i] * s.corner[i].b;
  }
  return result;
}

std::vector<Vector3d> hull_corners(std::span<const Vector3d> points, double tolerance) {
  std::vector<Vector3d> corners;
  if (points.empty()) return corners;
  const ConvexCore all{ConvexCore::Type::points, {}, {}, points};
  const auto add = [&](const Vector3d& along) {
    const Vector3d p = all.support(along);
    if (std::find(corners.begin(), corners.end(), p) != corners.end()) return false;
    corners.push_back(p);
    return true;
  };
  for (int axis = 0; axis < 3; ++axis) {
    add(Vector3d::Unit(axis));
    add(-Vector3d::Unit(axis));
  }
  // What stands out of the hull so far shows in which direction it has to grow.
  for (const Vector3d& p : points) {
    while (true) {
      const ConvexCore hull{ConvexCore::Type::points, {}, {}, corners};
      const ConvexCore point{ConvexCore::Type::points, {}, {}, {&p, 1}};
      const CoreDistance d = nearest(hull, point);
      if (d.distance <= tolerance || !add(d.normal)) break;
    }
  }
  return corners;
}

}  // namespace kinegraph::screw
