#pragma once

// One state of a planar machine, in natural coordinates and as that of a robot, for tests.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <vector>

#include "kinegraph/mechanics/natural/system.hpp"
#include "kinegraph/mechanics/sensor/sensors_test.hpp"

namespace kinegraph::sensor {

inline Eigen::MatrixXd jacobian(const natural::System& system, const Eigen::VectorXd& q) {
  std::vector<double> values(system.jacobian_pattern().size());
  system.position(q.data(), 0, nullptr, values.data());
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(system.constraints(), system.coordinates());
  for (std::size_t k = 0; k < values.size(); ++k)
    J(system.jacobian_pattern()[k].row, system.jacobian_pattern()[k].column) = values[k];
  return J;
}

/// A state of a planar machine: somewhere near the drawing, on its constraints at all three levels.
inline Instant planar_instant(const natural::System& system, unsigned seed) {
  const int n = system.coordinates(), m = system.constraints();
  RandomInstant random(seed);
  Instant x = random.at(system.guess() + 0.1 * random.vector(n), n, m, system.motors(), 0);
  Eigen::VectorXd f(m);
  const auto least = [&] { return Eigen::VectorXd(jacobian(system, x.q).completeOrthogonalDecomposition().solve(f)); };
  for (int i = 0; i < 30; ++i) {
    system.position(x.q.data(), 0, f.data(), nullptr);
    x.q -= least();
  }
  EXPECT_LT(f.norm(), 1e-12);
  system.velocity(x.q.data(), x.v.data(), 0, f.data(), nullptr, nullptr);
  x.v -= least();
  system.acceleration(x.q.data(), x.v.data(), x.a.data(), 0, f.data(), nullptr, nullptr, nullptr);
  x.a -= least();
  return x;
}

/// x, y and the angle of a link in the plane, with two derivatives.
struct LinkMotion {
  Eigen::Vector3d at = Eigen::Vector3d::Zero(), rate = at, change = at;
};

/// Of the links of robot_of(model): bodies, then the blocks of sliders on fixed lines.
inline std::vector<LinkMotion> link_motions(const Model& model, const natural::System& system, const Instant& x) {
  const auto point = [&](PointIndex p, const Eigen::VectorXd& of, bool position) -> Vector2d {
    const int i = system.index_of({CoordinateRef::What::point_x, p.value});
    if (i >= 0) return of.segment<2>(i);
    return position ? model.points[p.value].position : Vector2d::Zero();
  };
  std::vector<LinkMotion> links;
  for (const PlanarBody& body : model.bodies) {
    LinkMotion link;
    const PointIndex a = body.points[0], b = body.points[1];
    const Vector2d d = point(b, x.q, true) - point(a, x.q, true);
    const auto turn = [&](const Vector2d& r) { return (d.x() * r.y() - d.y() * r.x()) / d.squaredNorm(); };
    link.at << point(a, x.q, true), std::atan2(d.y(), d.x());
    link.rate << point(a, x.v, false), turn(point(b, x.v, false) - point(a, x.v, false));
    link.change << point(a, x.a, false), turn(point(b, x.a, false) - point(a, x.a, false));
    links.push_back(link);
  }
  for (const Slider& s : model.sliders) {
    LinkMotion link;
    const Vector2d d = model.points[s.b.value].position - model.points[s.a.value].position;
    link.at << point(s.point, x.q, true), std::atan2(d.y(), d.x());
    link.rate << point(s.point, x.v, false), 0;
    link.change << point(s.point, x.a, false), 0;
    links.push_back(link);
  }
  return links;
}

/// The same state as a robot's. Sliding joints stand on the world here.
inline Instant robot_instant(const screw::Tree& tree, const std::vector<LinkMotion>& links, const Instant& planar) {
  Instant x;
  x.t = planar.t;
  x.q = tree.start_position();
  x.v = x.a = x.tau = Eigen::VectorXd::Zero(tree.freedoms());
  const auto of = [&](LinkIndex i) { return i.valid() ? links[i.value] : LinkMotion{}; };
  for (const screw::Coordinate& c : tree.coordinates()) {
    const Joint& joint = tree.robot().joints[c.joint];
    const LinkMotion parent = of(joint.parent), child = of(joint.child);
    if (c.type == JointType::prismatic) {
      EXPECT_FALSE(joint.parent.valid());
      const Eigen::Vector3d axis = joint.X_PF.rotation() * joint.axis;
      x.q[c.q] = axis.head<2>().dot(child.at.head<2>() - joint.X_PF.position().head<2>());
      x.v[c.v] = axis.head<2>().dot(child.rate.head<2>());
      x.a[c.v] = axis.head<2>().dot(child.change.head<2>());
    } else {
      const double sign = joint.axis.z();
      const double mounted = joint.X_CM.rotation().log().z() - joint.X_PF.rotation().log().z();
      x.q[c.q] = sign * std::remainder(child.at[2] - parent.at[2] + mounted, 2 * std::numbers::pi);
      x.v[c.v] = sign * (child.rate[2] - parent.rate[2]);
      x.a[c.v] = sign * (child.change[2] - parent.change[2]);
    }
  }
  return x;
}

}  // namespace kinegraph::sensor
