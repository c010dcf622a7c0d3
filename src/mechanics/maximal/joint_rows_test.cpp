#include "kinegraph/mechanics/maximal/joint_rows.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <functional>
#include <set>

#include "kinegraph/mechanics/maximal/joint_slopes.hpp"
#include "kinegraph/mechanics/maximal/mechanisms_test.hpp"

namespace kinegraph::maximal::joint_rows_test {
namespace {

using Vector = Eigen::VectorXd;
using D12 = Dual<12>;

/// Value and G of every constraint, or every freedom, of a joint.
struct Rows {
  Row<double> row[6];
  int count = 0;
  Rows(const Mechanism& mechanism, const Joint& joint, const double* q, bool freedoms) {
    const JointPlace<double> at = place<double>(mechanism, joint, q);
    const RowMaker<double> make(at.F, at.M);
    count = freedoms ? freedom_rows(joint, make, row) : constraint_rows(joint, make, row);
  }
};

/// Chains of all types of joints, drawn both ways.
void for_all_joints(
    const std::function<void(RandomMechanism&, const Mechanism&, const Joint&, const Vector& q)>& test) {
  for (const bool turned : {false, true}) {
    RandomMechanism r(21);
    r.chain(turned);
    const auto mechanism = r.make();
    const RandomState s(r, *mechanism);
    for (const Joint& joint : mechanism->joints()) {
      SCOPED_TRACE(joint.name + " " + to_string(joint.type) + (turned ? " turned" : ""));
      test(r, *mechanism, joint, s.q);
    }
  }
}

Vector shake(RandomMechanism& r, int size, double by) {
  return Vector::NullaryExpr(size, [&] { return by * r.number(); });
}

TEST(JointRows, VanishWhereTheJointIsTogether) {
  for_all_joints([](RandomMechanism&, const Mechanism& m, const Joint& joint, const Vector& q) {
    const Rows rows(m, joint, q.data(), false);
    EXPECT_EQ(rows.count, constraint_count(joint.type));
    EXPECT_EQ(rows.count, joint.rows);
    EXPECT_EQ(rows.count + m.tree().coordinates()[joint.coordinate].freedoms, 6);
    for (int i = 0; i < rows.count; ++i) EXPECT_NEAR(rows.row[i].value, 0, 1e-13);
  });
}

/// G is the slope of the value along any motion of the bodies, near the joint's poses and away from them. The angle in
/// a screw's row turns as fast as the bodies only where the axes agree.
TEST(JointRows, ConstraintsChangeAsTheySay) {
  for_all_joints([](RandomMechanism& r, const Mechanism& m, const Joint& joint, const Vector& together) {
    const double apart = joint.type == JointType::screw ? 0 : 0.2;
    const Vector q = moved(m, joint, together, shake(r, 12, apart));
    const Rows rows(m, joint, q.data(), false);
    const double h = 1e-5;
    for (int n = 0; n < 4; ++n) {
      const Vector v = shake(r, 12, 1);
      const Rows ahead(m, joint, moved(m, joint, q, h * v).data(), false);
      const Rows behind(m, joint, moved(m, joint, q, -h * v).data(), false);
      Vector world = v;
      if (joint.a < 0) world.head<6>().setZero();
      if (joint.b < 0) world.tail<6>().setZero();
      for (int i = 0; i < rows.count; ++i) {
        EXPECT_NEAR((ahead.row[i].value - behind.row[i].value) / (2 * h), rows.row[i].rate(world.data()), 1e-8) << i;
      }
    }
  });
}

/// The values that are written a second time, without their rows.
TEST(JointRows, ValuesAloneAreThoseOfTheRows) {
  std::set<JointType> known, tested;
  for (int type = 0; type <= static_cast<int>(JointType::floating); ++type) {
    if (JointSlopes::known(static_cast<JointType>(type))) known.insert(static_cast<JointType>(type));
  }
  const auto test = [&](RandomMechanism& r, const Mechanism& m, const Joint& joint, const Vector& together) {
    if (!JointSlopes::known(joint.type)) return;
    tested.insert(joint.type);
    const Vector q = moved(m, joint, together, shake(r, 12, 0.5));
    const Rows rows(m, joint, q.data(), false);
    const JointPlace<double> at = place<double>(m, joint, q.data());
    double g[7];
    std::fill(std::begin(g), std::end(g), 7.0);
    constraint_values(joint, at.F, at.M, g);
    for (int i = 0; i < rows.count; ++i) {
      EXPECT_NEAR(g[i], rows.row[i].value, 1e-14) << i;
      EXPECT_GT(std::abs(g[i]), 1e-6) << i << ": all are the same there";
    }
    for (int i = rows.count; i < 7; ++i) EXPECT_EQ(g[i], 7) << i;
  };
  for_all_joints([&](RandomMechanism& r, const Mechanism& m, const Joint& joint, const Vector& together) {
    test(r, m, joint, together);
    if (joint.type != JointType::revolute) return;
    Joint weld = joint;  // welds close loops only: here, they take the places of hinges
    weld.type = JointType::fixed, weld.rows = 6, weld.freedoms = 0;
    test(r, m, weld, together);
  });
  EXPECT_EQ(tested, known);
}

/// Along motions that keep the joint together.
TEST(JointRows, FreedomsChangeAsTheySay) {
  for_all_joints([](RandomMechanism& r, const Mechanism& m, const Joint& joint, const Vector& q) {
    const Rows constraints(m, joint, q.data(), false), rows(m, joint, q.data(), true);
    EXPECT_EQ(rows.count, joint.freedoms);
    Eigen::MatrixXd G(constraints.count, 12);
    for (int i = 0; i < constraints.count; ++i)
      G.row(i) = Eigen::Map<const Eigen::RowVectorXd>(constraints.row[i].G, 12);
    for (int n = 0; n < 4; ++n) {
      Vector v = shake(r, 12, 1);
      if (joint.a < 0) v.head<6>().setZero(), G.leftCols<6>().setZero();
      v -= G.completeOrthogonalDecomposition().solve(G * v);
      const double h = 1e-5;
      const Rows ahead(m, joint, moved(m, joint, q, h * v).data(), true);
      const Rows behind(m, joint, moved(m, joint, q, -h * v).data(), true);
      for (int i = 0; i < rows.count && joint.type != JointType::ball; ++i) {
        EXPECT_NEAR((ahead.row[i].value - behind.row[i].value) / (2 * h), rows.row[i].rate(v.data()), 1e-8) << i;
      }
    }
  });
}

TEST(JointRows, ARatioAndAnOffsetArePassedOn) {
  RandomMechanism r(3);
  r.grow({JointType::revolute}, true);
  const auto mechanism = r.make();
  const RandomState s(r, *mechanism);
  Joint joint = mechanism->joints()[0];
  const Rows plain(*mechanism, joint, s.q.data(), true);
  joint.ratio = -2.5, joint.offset = 0.3;
  const Rows scaled(*mechanism, joint, s.q.data(), true);
  EXPECT_NEAR(joint.ratio * scaled.row[0].value + joint.offset, plain.row[0].value, 1e-14);
  Vector v = Vector::Zero(12);
  v.tail<6>() = s.v;
  EXPECT_NEAR(joint.ratio * scaled.row[0].rate(v.data()), plain.row[0].rate(v.data()), 1e-14);
}

/// A screw that has made many turns is still together.
TEST(JointRows, AScrewCountsItsTurns) {
  RandomMechanism r(4);
  r.grow({JointType::screw}, true);
  const auto mechanism = r.make();
  RandomState s(r, *mechanism);
  for (const double angle : {-20.0, -3.0, 9.0, 50.0}) {
    poses_of(*mechanism, mechanism->numbers(), &angle, s.q.data());
    const Rows rows(*mechanism, mechanism->joints()[0], s.q.data(), false);
    for (int i = 0; i < 5; ++i) EXPECT_NEAR(rows.row[i].value, 0, 1e-13) << angle;
  }
}

/// Derivatives by dual numbers: of values, and of G (second derivatives), against differences.
TEST(JointRows, DualNumbersGiveTheirDerivatives) {
  for_all_joints([](RandomMechanism& r, const Mechanism& m, const Joint& joint, const Vector& together) {
    const Vector q = moved(m, joint, together, shake(r, 12, 0.05));
    const JointPlace<D12> at = place<D12>(m, joint, q.data());
    const RowMaker<D12> make(at.F, at.M);
    for (const bool freedoms : {false, true}) {
      Row<D12> rows[6];
      const int count = freedoms ? freedom_rows(joint, make, rows) : constraint_rows(joint, make, rows);
      const double h = 1e-5;
      for (int k = joint.a < 0 ? 6 : 0; k < (joint.b < 0 ? 6 : 12); ++k) {
        const Vector step = h * Vector::Unit(12, k);
        const Rows ahead(m, joint, moved(m, joint, q, step).data(), freedoms);
        const Rows behind(m, joint, moved(m, joint, q, -step).data(), freedoms);
        for (int i = 0; i < count; ++i) {
          EXPECT_NEAR(rows[i].value.v[k], (ahead.row[i].value - behind.row[i].value) / (2 * h), 1e-8);
          for (int c = 0; c < 12; ++c)
            EXPECT_NEAR(rows[i].G[c].v[k], (ahead.row[i].G[c] - behind.row[i].G[c]) / (2 * h), 1e-8);
        }
      }
    }
  });
}

}  // namespace
}  // namespace kinegraph::maximal::joint_rows_test
