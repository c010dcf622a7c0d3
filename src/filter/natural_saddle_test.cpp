#include "kinegraph/filter/natural_saddle.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "kinegraph/filter/natural_machines_test.hpp"

namespace kinegraph::filter::natural_saddle_test {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Against the dense matrix, for small mechanisms (in registers) and larger ones (sparse), every width alike.
TEST(NaturalSaddle, SolvesTheAugmentedSystem) {
  for (const auto& machine : planar::machines()) {
    const Model model = machine.make(0.9);
    const natural::System s(model);
    const int n = s.coordinates(), m = s.constraints(), relative = static_cast<int>(model.relative.size());
    const Eigen::VectorXd q = s.guess();
    const auto redundant = build::mobility(s, 0, {q, natural::System(machine.make(1.1)).guess()}, relative).redundant;
    NaturalSaddle saddle(s, relative, redundant);
    s.position(q.data(), 0, nullptr, saddle.jacobian());

    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n + m, n + m);
    for (std::size_t i = 0; i < s.mass_pattern().size(); ++i)
      A(s.mass_pattern()[i].row, s.mass_pattern()[i].column) = s.mass_values()[i];
    for (std::size_t i = 0; i < s.jacobian_pattern().size(); ++i) {
      const auto [r, c] = s.jacobian_pattern()[i];
      A(n + r, c) = A(c, n + r) = saddle.jacobian()[i];
    }
    for (int r : redundant) {
      A.row(n + r).setZero();
      A.col(n + r).setZero();
      A(n + r, n + r) = 1;  // λ = 0 below
    }
    ASSERT_TRUE(saddle.factor()) << machine.name;
    EXPECT_FALSE(saddle.singular());
    for (int width = 1; width <= 6; ++width) {
      Rows B(n + m, width);
      for (int i = 0; i < B.size(); ++i) B.data()[i] = std::sin(1.7 * i + width);
      for (int r : redundant) B.row(n + r).setZero();
      Rows X = B, d = B;
      saddle.solve(X.data(), width, true);
      saddle.solve(d.data(), width, false);
      const Eigen::MatrixXd exact = A.colPivHouseholderQr().solve(Eigen::MatrixXd(B));
      EXPECT_LT((X - exact).cwiseAbs().maxCoeff(), 1e-10 * (1 + exact.cwiseAbs().maxCoeff())) << machine.name << width;
      EXPECT_EQ(Rows(d.topRows(n)), Rows(X.topRows(n))) << machine.name << width;
      if (width > 1) continue;
      Rows at_once = B;
      s.position(q.data(), 0, nullptr, saddle.jacobian());
      ASSERT_TRUE(saddle.factor_and_solve(at_once.data()));
      EXPECT_EQ(Rows(at_once.topRows(n)), Rows(X.topRows(n))) << machine.name;
    }
  }
}

// A parallelogram stretched out: one row depends on the others, and is passed over.
TEST(NaturalSaddle, PassesOverAtASingularPosition) {
  Model model = planar::parallelogram(0.0);
  model.bodies.resize(3);  // without the third bar
  const natural::System s(model);
  const int n = s.coordinates();
  const Eigen::VectorXd q = s.guess();
  NaturalSaddle saddle(s, 1, {});
  s.position(q.data(), 0, nullptr, saddle.jacobian());
  ASSERT_TRUE(saddle.factor());
  EXPECT_TRUE(saddle.singular());
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n + s.constraints());
  x[1] = 1;
  saddle.solve(x.data(), 1, true);
  EXPECT_TRUE(x.allFinite());
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(s.constraints(), n);
  for (std::size_t i = 0; i < s.jacobian_pattern().size(); ++i)
    J(s.jacobian_pattern()[i].row, s.jacobian_pattern()[i].column) = saddle.jacobian()[i];
  EXPECT_LT((J * x.head(n)).cwiseAbs().maxCoeff(), 1e-12);
}

// Two bars without mass: nothing says how they accelerate.
TEST(NaturalSaddle, RefusesPartsWithoutMass) {
  Model model = planar::double_pendulum(0.4);
  for (PlanarBody& body : model.bodies) body.mass = body.inertia = 0;
  const natural::System s(model);
  const Eigen::VectorXd q = s.guess();
  NaturalSaddle saddle(s, 2, {});
  s.position(q.data(), 0, nullptr, saddle.jacobian());
  EXPECT_FALSE(saddle.factor());
}

}  // namespace
}  // namespace kinegraph::filter::natural_saddle_test
