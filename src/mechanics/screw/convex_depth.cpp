#include <array>
#include <cmath>
#include <limits>

#include "kinegraph/mechanics/screw/convex.hpp"

namespace kinegraph::screw::convex {
namespace {

using Eigen::Vector3d;

constexpr int kMostCorners = 160, kMostFaces = 1000, kMostEdges = 300;
constexpr double kGap = 1e-11;  // of the size: how far the surface may be beyond the nearest face

/// A polytope within a − b that holds the origin. The nearest face is pushed outwards until it is the surface.
class Polytope {
 public:
  Polytope(const ConvexCore& a, const ConvexCore& b) : a_(a), b_(b), size_(a.size() + b.size()) {}

  CoreDistance expand(const Simplex& simplex) {
    for (int i = 0; i < simplex.size; ++i) corners_[corner_count_++] = simplex.corner[i];
    if (!complete()) return flat();
    start_faces();
    int best = nearest_face();
    while (best >= 0) {
      const Corner next = corner_along(a_, b_, faces_[best].normal);
      const double gap = faces_[best].normal.dot(next.w) - faces_[best].distance;
      if (gap <= kGap * size_ || !add(next)) break;
      best = nearest_face();
    }
    return best >= 0 ? of_face(faces_[best]) : flat();
  }

 private:
  struct Face {
    int corner[3];
    Vector3d normal;  // outwards
    double distance;  // of the plane from the origin; infinite: no area
    bool alive;
  };
  struct Edge {
    int from, to;
  };

  /// The volume of a tetrahedron over the size cubed shows whether it has one.
  double volume(int i, int j, int k, int l) const {
    const Vector3d& o = corners_[i].w;
    return (corners_[j].w - o).cross(corners_[k].w - o).dot(corners_[l].w - o);
  }

  /// Corners until there are four that span space; false: the set has no volume, and `normal_` is across it.
  bool complete() {
    const double least = 1e-10 * size_;
    for (int axis = 0; axis < 3 && corner_count_ < 2; ++axis) {
      for (const double sign : {1.0, -1.0}) try_corner(sign * Vector3d::Unit(axis), least);
    }
    if (corner_count_ < 2) return false;
    if (corner_count_ == 2) {
      const Vector3d along = (corners_[1].w - corners_[0].w).normalized();
      const Vector3d one = along.unitOrthogonal(), other = along.cross(one);
      for (int turn = 0; turn < 6 && corner_count_ == 2; ++turn) {
        const double angle = turn * M_PI / 3;
        const Corner c = corner_along(a_, b_, std::cos(angle) * one + std::sin(angle) * other);
        const Vector3d from = c.w - corners_[0].w;
        if ((from - from.dot(along) * along).norm() > least) corners_[corner_count_++] = c;
      }
      if (corner_count_ == 2) {
        normal_ = one;
        return false;
      }
    }
    if (corner_count_ == 3) {
      normal_ = (corners_[1].w - corners_[0].w).cross(corners_[2].w - corners_[0].w).normalized();
      for (const double sign : {1.0, -1.0}) {
        const Corner c = corner_along(a_, b_, sign * normal_);
        if (std::abs(normal_.dot(c.w - corners_[0].w)) > least) {
          corners_[corner_count_++] = c;
          return true;
        }
      }
      return false;
    }
    return std::abs(volume(0, 1, 2, 3)) > 0;
  }

  void try_corner(const Vector3d& along, double least) {
    const Corner c = corner_along(a_, b_, along);
    if (corner_count_ < 2 && (corner_count_ == 0 || (c.w - corners_[0].w).norm() > least))
      corners_[corner_count_++] = c;
  }

  void start_faces() {
    const bool turned = volume(0, 1, 2, 3) > 0;  // the fourth must lie behind the first face
    constexpr int faces[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
    for (const auto& f : faces) add_face(f[0], turned ? f[2] : f[1], turned ? f[1] : f[2]);
  }

  void add_face(int i, int j, int k) {
    Face& f = faces_[face_count_++];
    f = {{i, j, k}, (corners_[j].w - corners_[i].w).cross(corners_[k].w - corners_[i].w), 0, true};
    const double length = f.normal.norm();
    if (length > 1e-14 * size_ * size_) {
      f.normal /= length;
      f.distance = f.normal.dot(corners_[i].w);
    } else {
      f.distance = std::numeric_limits<double>::infinity();
    }
  }

  int nearest_face() const {
    int best = -1;
    for (int f = 0; f < face_count_; ++f) {
      if (!faces_[f].alive || !std::isfinite(faces_[f].distance)) continue;
      if (best < 0 || faces_[f].distance < faces_[best].distance) best = f;
    }
    return best;
  }

  /// Faces that see the new corner go; the edges around the hole are joined with it.
  bool add(const Corner& next) {
    if (corner_count_ == kMostCorners) return false;
    int edges = 0;
    for (int f = 0; f < face_count_; ++f) {
      Face& face = faces_[f];
      if (!face.alive || !(face.normal.dot(next.w - corners_[face.corner[0]].w) > 1e-13 * size_)) continue;
      for (int i = 0; i < 3; ++i) {
        const Edge edge{face.corner[i], face.corner[(i + 1) % 3]};
        int same = 0;
        while (same < edges && !(edges_[same].from == edge.to && edges_[same].to == edge.from)) ++same;
        if (same < edges) {
          edges_[same] = edges_[--edges];
        } else if (edges < kMostEdges) {
          edges_[edges++] = edge;
        } else {
          return false;
        }
      }
      seen_[f] = true;
    }
    if (edges == 0 || face_count_ + edges > kMostFaces) {
      seen_.fill(false);
      return false;
    }
    for (int f = 0; f < face_count_; ++f) {
      if (seen_[f]) faces_[f].alive = false, seen_[f] = false;
    }
    corners_[corner_count_] = next;
    for (int e = 0; e < edges; ++e) add_face(edges_[e].from, edges_[e].to, corner_count_);
    ++corner_count_;
    return true;
  }

  /// Where the origin's foot on a face is from.
  CoreDistance of_face(const Face& f) const {
    const Corner &i = corners_[f.corner[0]], &j = corners_[f.corner[1]], &k = corners_[f.corner[2]];
    const Vector3d foot = f.distance * f.normal, e1 = j.w - i.w, e2 = k.w - i.w, r = foot - i.w;
    const double a = e1.dot(e1), b = e1.dot(e2), c = e2.dot(e2), det = a * c - b * b;
    const double s = det > 0 ? (c * r.dot(e1) - b * r.dot(e2)) / det : 0;
    const double t = det > 0 ? (a * r.dot(e2) - b * r.dot(e1)) / det : 0;
    CoreDistance out{-f.distance, i.a + s * (j.a - i.a) + t * (k.a - i.a), i.b + s * (j.b - i.b) + t * (k.b - i.b),
                     f.normal};
    return out;
  }

  /// a − b is flat and holds the origin: they touch.
  CoreDistance flat() const { return {0, corners_[0].a, corners_[0].a, normal_}; }

  const ConvexCore &a_, &b_;
  double size_;
  std::array<Corner, kMostCorners> corners_;
  std::array<Face, kMostFaces> faces_;
  std::array<Edge, kMostEdges> edges_;
  std::array<bool, kMostFaces> seen_{};
  int corner_count_ = 0, face_count_ = 0;
  Vector3d normal_ = Vector3d::UnitZ();
};

}  // namespace

CoreDistance depth(const ConvexCore& a, const ConvexCore& b, const Simplex& simplex) {
  return Polytope(a, b).expand(simplex);
}

}  // namespace kinegraph::screw::convex
