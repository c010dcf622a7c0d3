#include "kinegraph/mechanics/maximal/contact.hpp"

#include <algorithm>
#include <array>

#include "kinegraph/base/names.hpp"

namespace kinegraph::maximal {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kMargin = 0.01;    // of the smaller shape: gaps that are watched whatever the speed
constexpr double kFlat = 0.1;       // sine of the angle up to which a rim counts as lying flat
constexpr double kDeep = 0.25;      // of the smaller shape: deeper corners are on another side
constexpr double kOverhang = 1e-6;  // of the face: corners that count as still above it
constexpr double kOutward = 0.1;    // sine of the angle by which edges may dip below a face that a corner stands on
constexpr double kParallel = 0.01;  // sine of the angle below which edges do not cross
constexpr double kSame = 1e-3;      // of the smaller shape: contacts this close are one

Pose<double> place(const Pose<double>& body, const Vector3d& com, const Vector3d& centre, const Matrix3d& axes) {
  return {body.R * axes, body.p + body.R * (centre - com)};
}

/// Edge e of the four along an axis of a box: where it is in the two other directions.
Vector3d edge_sign(int axis, int e) {
  Vector3d sign = Vector3d::Zero();
  sign[(axis + 1) % 3] = e & 1 ? 1 : -1;
  sign[(axis + 2) % 3] = e & 2 ? 1 : -1;
  return sign;
}

bool leads_out(int axis, int e, const Vector3d& direction) {
  const Vector3d out = edge_sign(axis, e).cwiseProduct(direction);
  return out[(axis + 1) % 3] > -kOutward && out[(axis + 2) % 3] > -kOutward;
}

Vector3d corner(int number) { return {number & 1 ? 1.0 : -1.0, number & 2 ? 1.0 : -1.0, number & 4 ? 1.0 : -1.0}; }

}  // namespace

/// One pair of shapes, in the world.
struct ContactFinder::Search {
  const Solid &first, &second;
  Pose<double> first_at, second_at;  // axes and centres
  const Pose<double>&first_body, &second_body;
  const double *first_com, *second_com;
  double reach, size;  // of the smaller shape
  std::uint64_t key;
  std::vector<Contact>& out;
  std::size_t begin;  // of this pair's contacts

  /// Adds the contact if it is near enough; features are told with a on the first shape's body unless `swapped`.
  void add(Feature feature, int number, bool swapped = false) const {
    const Pose<double>&a = swapped ? second_body : first_body, &b = swapped ? first_body : second_body;
    const double *com_a = swapped ? second_com : first_com, *com_b = swapped ? first_com : second_com;
    feature.a = swapped ? second.body : first.body;
    feature.b = swapped ? first.body : second.body;
    Contact contact;
    contact.touch = touch_of<double>(feature, a, b, com_a, com_b);
    if (!(contact.touch.gap < reach)) return;
    for (std::size_t i = begin; i < out.size(); ++i) {
      const Vector3d apart = out[i].touch.point - contact.touch.point;
      const Vector3d& n = contact.touch.normal;
      if ((apart - n * n.dot(apart)).norm() < kSame * size && std::abs(out[i].touch.normal.dot(n)) > 0.99) return;
    }
    contact.feature = feature;
    contact.friction = std::sqrt(std::max(0.0, first.friction) * std::max(0.0, second.friction));
    contact.restitution = std::clamp(std::max(first.restitution, second.restitution), 0.0, 1.0);
    contact.key = key + number;
    out.push_back(contact);
  }
};

ContactFinder::ContactFinder(const Mechanism& mechanism) : poses_(mechanism.bodies().size()) {
  for (const Body& body : mechanism.bodies()) com_.push_back(body.numbers + BodyNumbers::com);
  add_solids(mechanism);
  add_pairs(mechanism);
}

void ContactFinder::add_solids(const Mechanism& mechanism) {
  const screw::Tree& tree = mechanism.tree();
  bounds_.assign(com_.size(), 0.0);
  for (std::size_t l = 0; l < tree.robot().links.size(); ++l) {
    const screw::LinkPlace& link = tree.links()[l];
    for (const Shape& shape : tree.robot().links[l].collisions) {
      Solid solid;
      solid.type = shape.type;
      solid.body = link.body;
      solid.centre = link.X_BL * shape.X_LG.position();
      solid.axes = link.X_BL.R * shape.X_LG.rotation().matrix();
      solid.size = shape.size;
      solid.friction = shape.friction;
      solid.restitution = shape.restitution;
      solid.link = tree.robot().links[l].name;
      switch (shape.type) {
        case Shape::Type::box:
          solid.size /= 2, solid.bound = solid.size.norm();
          break;
        case Shape::Type::sphere:
          solid.bound = solid.size[0];
          break;
        case Shape::Type::cylinder:
          solid.size[1] /= 2, solid.bound = solid.size.head<2>().norm();
          break;
        case Shape::Type::capsule:
          solid.size[1] /= 2, solid.bound = solid.size[0] + solid.size[1];
          break;
        case Shape::Type::ellipsoid:
          solid.bound = solid.size.maxCoeff();
          break;
        case Shape::Type::plane:
          solid.size = solid.size.norm() > 0 ? solid.size.normalized() : Vector3d(Vector3d::UnitZ());
          solid.bound = INFINITY;
          break;
        case Shape::Type::mesh:
          solid.bound = 0;
          break;
      }
      if (link.body >= 0 && shape.type != Shape::Type::plane) {
        bounds_[link.body] = std::max(bounds_[link.body], solid.centre.norm() + solid.bound);
      }
      solids_.push_back(std::move(solid));
    }
  }
}

bool ContactFinder::known(const Solid& a, const Solid& b) const {
  using Type = Shape::Type;
  const auto round = [](const Solid& s) { return s.type == Type::sphere || s.type == Type::capsule; };
  if (a.type == Type::mesh || b.type == Type::mesh) return false;
  if (a.type == Type::plane) return b.type != Type::plane;
  return (round(a) || a.type == Type::box) && (round(b) || b.type == Type::box);
}

void ContactFinder::add_pairs(const Mechanism& mechanism) {
  const auto tied = [&](int a, int b) {
    if (a < 0 || b < 0) return false;
    return std::any_of(mechanism.joints().begin(), mechanism.joints().end(), [&](const Joint& joint) {
      return joint.type != JointType::floating && ((joint.a == a && joint.b == b) || (joint.a == b && joint.b == a));
    });
  };
  // The plane or the box of a pair comes first
  const auto rank = [](const Solid& s) {
    return s.type == Shape::Type::plane ? 0 : s.type == Shape::Type::box ? 1 : 2;
  };
  for (int i = 0; i < static_cast<int>(solids_.size()); ++i) {
    for (int j = i + 1; j < static_cast<int>(solids_.size()); ++j) {
      const bool swap = rank(solids_[j]) < rank(solids_[i]);
      const Solid &a = solids_[swap ? j : i], &b = solids_[swap ? i : j];
      if (a.body == b.body || tied(a.body, b.body)) continue;
      if (known(a, b)) {
        pairs_.push_back({swap ? j : i, swap ? i : j});
      } else if (a.type != Shape::Type::plane || b.type != Shape::Type::plane) {
        ignored_.push_back(quote(a.link) + " and " + quote(b.link));
      }
    }
  }
  std::sort(ignored_.begin(), ignored_.end());
  ignored_.erase(std::unique(ignored_.begin(), ignored_.end()), ignored_.end());
}

void ContactFinder::find(const Eigen::VectorXd& numbers, const double* q, double reach,
                         std::vector<Contact>& contacts) {
  static constexpr double kZero[3] = {};
  static const Pose<double> kGround;
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    poses_[i].R = SO3::load(q + 7 * i).matrix();
    poses_[i].p = Eigen::Map<const Vector3d>(q + 7 * i + 4);
  }
  contacts.clear();
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const Solid &a = solids_[pairs_[p].first], &b = solids_[pairs_[p].second];
    const Pose<double>&at_a = a.body < 0 ? kGround : poses_[a.body], &at_b = b.body < 0 ? kGround : poses_[b.body];
    const double* com_a = a.body < 0 ? kZero : numbers.data() + com_[a.body];
    const double* com_b = b.body < 0 ? kZero : numbers.data() + com_[b.body];
    const double size = std::min(a.bound, b.bound);
    Search search{a,
                  b,
                  place(at_a, Eigen::Map<const Vector3d>(com_a), a.centre, a.axes),
                  place(at_b, Eigen::Map<const Vector3d>(com_b), b.centre, b.axes),
                  at_a,
                  at_b,
                  com_a,
                  com_b,
                  reach + kMargin * size,
                  size,
                  std::uint64_t{256} * p,
                  contacts,
                  contacts.size()};
    const Vector3d apart = search.second_at.p - search.first_at.p;
    const double distance = a.type == Shape::Type::plane ? (search.first_at.R * a.size).dot(apart) - b.bound
                                                         : apart.norm() - a.bound - b.bound;
    if (!(distance < search.reach)) continue;
    if (a.type == Shape::Type::plane) {
      plane_contacts(search);
    } else if (a.type != Shape::Type::box) {
      ball_ball_contacts(search);
    } else if (b.type != Shape::Type::box) {
      ball_box_contacts(search);
    } else {
      box_box_contacts(search);
    }
  }
}

int ContactFinder::balls(const Solid& solid, Ball* out) {
  if (solid.type == Shape::Type::sphere) {
    out[0] = {solid.centre, solid.size[0]};
    return 1;
  }
  const Vector3d end = solid.axes.col(2) * solid.size[1];
  out[0] = {solid.centre + end, solid.size[0]};
  out[1] = {solid.centre - end, solid.size[0]};
  return 2;
}

void ContactFinder::plane_contacts(Search& search) const {
  const Solid &plane = search.first, &solid = search.second;
  Feature feature;
  feature.at_a = plane.centre;
  feature.along_a = plane.axes * plane.size;
  switch (solid.type) {
    case Shape::Type::box:
      for (int i = 0; i < 8; ++i) {
        feature.at_b = solid.centre + solid.axes * corner(i).cwiseProduct(solid.size);
        search.add(feature, i);
      }
      break;
    case Shape::Type::cylinder: {
      feature.kind = Feature::Kind::rim_plane;
      feature.along_b = solid.axes.col(2);
      feature.axes = solid.axes;
      feature.radius_b = solid.size[0];
      const double cosine = (search.first_at.R * plane.size).dot(search.second_at.R.col(2));
      const bool flat = 1 - cosine * cosine < kFlat * kFlat;
      for (int end = 0; end < 2; ++end) {
        feature.at_b = solid.centre + (end == 0 ? 1 : -1) * solid.size[1] * solid.axes.col(2);
        for (int k = 0; k < (flat ? 4 : 1); ++k) {
          feature.angle = k * M_PI / 2;
          search.add(feature, 4 * end + k);
        }
      }
      break;
    }
    case Shape::Type::ellipsoid:
      feature.kind = Feature::Kind::ellipsoid_plane;
      feature.at_b = solid.centre;
      feature.axes = solid.axes;
      feature.size = solid.size;
      search.add(feature, 0);
      break;
    default: {
      Ball ends[2];
      const int count = balls(solid, ends);
      for (int i = 0; i < count; ++i) {
        feature.at_b = ends[i].centre;
        feature.radius_b = ends[i].radius;
        search.add(feature, i);
      }
    }
  }
}

void ContactFinder::ball_ball_contacts(Search& search) const {
  Ball a[2], b[2];
  const int count_a = balls(search.first, a), count_b = balls(search.second, b);
  Feature feature;
  feature.kind = Feature::Kind::ball_ball;
  for (int i = 0; i < count_a; ++i) {
    for (int j = 0; j < count_b; ++j) {
      feature.at_a = a[i].centre, feature.radius_a = a[i].radius;
      feature.at_b = b[j].centre, feature.radius_b = b[j].radius;
      search.add(feature, 2 * i + j);
    }
  }
}

void ContactFinder::ball_box_contacts(Search& search) const {
  const Solid& box = search.first;
  Ball ends[2];
  const int count = balls(search.second, ends);
  Feature feature;
  feature.kind = Feature::Kind::ball_box;
  feature.at_a = box.centre;
  feature.axes = box.axes;
  feature.size = box.size;
  for (int i = 0; i < count; ++i) {
    feature.at_b = ends[i].centre;
    feature.radius_b = ends[i].radius;
    const Vector3d com = Eigen::Map<const Vector3d>(search.second_com);
    const Vector3d centre = search.second_body.p + search.second_body.R * (ends[i].centre - com);
    const Vector3d local = search.first_at.R.transpose() * (centre - search.first_at.p);
    int nearest = 0;
    for (int k = 0; k < 3; ++k) {
      feature.side[k] = local[k] > box.size[k] ? 1 : local[k] < -box.size[k] ? -1 : 0;
      if (std::abs(local[k]) - box.size[k] > std::abs(local[nearest]) - box.size[nearest]) nearest = k;
    }
    if (feature.side.isZero()) feature.side[nearest] = local[nearest] < 0 ? -1 : 1;
    const Eigen::Vector3i part = feature.side + Eigen::Vector3i::Ones();
    search.add(feature, 27 * i + part[0] + 3 * part[1] + 9 * part[2]);
  }
}

void ContactFinder::box_box_contacts(Search& search) const {
  corners_on_faces(search, search.second, search.first, 0);
  corners_on_faces(search, search.first, search.second, 8);
  crossing_edges(search);
}

/// A corner stands on a face if it is above it, and all its edges lead away from it.
void ContactFinder::corners_on_faces(Search& search, const Solid& corners, const Solid& faces, int first) const {
  const bool swapped = first > 0;
  const Pose<double>&at = swapped ? search.first_at : search.second_at,
        &face_at = swapped ? search.second_at : search.first_at;
  const Matrix3d between = face_at.R.transpose() * at.R;
  const double deep = kDeep * std::min(corners.size.minCoeff(), faces.size.minCoeff());
  for (int c = 0; c < 8; ++c) {
    const Vector3d sign = corner(c);
    const Vector3d local = face_at.R.transpose() * (at.p + at.R * sign.cwiseProduct(corners.size) - face_at.p);
    int best = -1;
    double highest = -deep;
    for (int k = 0; k < 3; ++k) {
      const double side = local[k] < 0 ? -1 : 1;
      const double height = std::abs(local[k]) - faces.size[k];
      bool stands = height > highest;
      for (int j = 0; j < 3; ++j) {
        stands = stands && (j == k || std::abs(local[j]) <= faces.size[j] * (1 + kOverhang));
        stands = stands && -side * sign[j] * between(k, j) >= -kOutward;
      }
      if (stands) best = k, highest = height;
    }
    if (best < 0) continue;
    const double side = local[best] < 0 ? -1 : 1;
    Feature feature;
    feature.along_a = side * faces.axes.col(best);
    feature.at_a = faces.centre + faces.size[best] * feature.along_a;
    feature.at_b = corners.centre + corners.axes * sign.cwiseProduct(corners.size);
    search.add(feature, first + c, swapped);
  }
}

/// Edges i of the first box and j of the second cross if the direction normal to both leads out of both boxes there,
/// and the places nearest to each other are within the edges.
void ContactFinder::crossing_edges(Search& search) const {
  const Matrix3d &A = search.first_at.R, &B = search.second_at.R;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const Vector3d cross = A.col(i).cross(B.col(j));
      if (cross.squaredNorm() < kParallel * kParallel) continue;
      for (const double turn : {1.0, -1.0}) {
        const Vector3d normal = turn * cross.normalized();
        for (int e = 0; e < 4; ++e) {
          if (!leads_out(i, e, A.transpose() * normal)) continue;
          for (int f = 0; f < 4; ++f) {
            if (leads_out(j, f, -B.transpose() * normal)) cross_edges(search, i, e, j, f, turn);
          }
        }
      }
    }
  }
}

void ContactFinder::cross_edges(Search& search, int i, int e, int j, int f, double turn) const {
  const Solid &a = search.first, &b = search.second;
  const Vector3d from_a = edge_sign(i, e).cwiseProduct(a.size), from_b = edge_sign(j, f).cwiseProduct(b.size);
  const Vector3d along_a = search.first_at.R.col(i), along_b = search.second_at.R.col(j),
                 cross = along_a.cross(along_b);
  const Vector3d apart =
      search.second_at.p + search.second_at.R * from_b - search.first_at.p - search.first_at.R * from_a;
  const double square = cross.squaredNorm();
  const double deep = kDeep * std::min(a.size.minCoeff(), b.size.minCoeff());
  if (std::abs(apart.cross(along_b).dot(cross)) > a.size[i] * square ||
      std::abs(apart.cross(along_a).dot(cross)) > b.size[j] * square ||
      turn * apart.dot(cross) < -deep * cross.norm()) {
    return;
  }
  Feature feature;
  feature.kind = Feature::Kind::edge_edge;
  feature.along_a = turn * a.axes.col(i);
  feature.along_b = b.axes.col(j);
  feature.at_a = a.centre + a.axes * from_a;
  feature.at_b = b.centre + b.axes * from_b;
  search.add(feature, 16 + ((3 * i + j) * 4 + e) * 4 + f);
}

}  // namespace kinegraph::maximal
