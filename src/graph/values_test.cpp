#include "kinegraph/graph/values.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kinegraph::values_test {
namespace {

constexpr Key kPoint{Kind::position, false, 0, 0}, kAngle{Kind::user, false, 1, 0}, kRotation{Kind::user, false, 2, 0},
    kPose{Kind::user, false, 3, 0};

Values sample(unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  const auto random = [&] { return normal(engine); };
  Values values;
  values.insert(kPoint, Eigen::VectorXd(Eigen::Vector3d::NullaryExpr(random)));
  values.insert(kAngle, SO2(random()));
  values.insert(kRotation, SO3::exp(Eigen::Vector3d::NullaryExpr(random)));
  values.insert(kPose, SE3::exp(SE3::Tangent::NullaryExpr(random)));
  return values;
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(Values, AreOneBufferInTheOrderOfInsertion) {
  const Values values = sample(1);
  EXPECT_EQ(values.count(), 4);
  EXPECT_EQ(values.tangent_size(), 3 + 1 + 3 + 6);
  EXPECT_EQ(values.buffer().size(), 3u + 1 + 4 + 7);
  EXPECT_EQ(values.data(2), values.buffer().data() + 4);
  EXPECT_EQ(values.at(kPose).data(), values.buffer().data() + 8);
  EXPECT_EQ(values.find(Key{}), -1);
}

TEST(Values, LocalInvertsRetract) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Values a = sample(seed);
    std::mt19937 engine(seed + 100);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const Eigen::VectorXd delta = Eigen::VectorXd::NullaryExpr(13, [&] { return uniform(engine); });
    Values b = a;
    b.retract(delta);
    EXPECT_LT((a.local(b) - delta).norm(), 1e-14);
  }
}

TEST(Values, RetractByColumnsLeavesTheOthersAlone) {
  Values values = sample(3);
  const Values before = values;
  const std::vector<int> column = {-1, 6, -1, 0};
  Eigen::VectorXd delta = Eigen::VectorXd::Constant(7, 0.1);
  values.retract(delta, column);
  const Eigen::VectorXd moved = before.local(values);
  EXPECT_EQ(moved.head<3>().norm(), 0);
  EXPECT_NEAR(moved[3], 0.1, 1e-15);
  EXPECT_EQ(moved.segment<3>(4).norm(), 0);
  EXPECT_LT((moved.tail<6>() - Eigen::VectorXd::Constant(6, 0.1)).norm(), 1e-15);
}

TEST(Values, LocalJacobianMatchesDifferences) {
  const Values a = sample(5), b = sample(6);
  for (int i = 0; i < a.count(); ++i) {
    const Manifold& m = a.manifold(i);
    Eigen::MatrixXd jacobian(m.tangent(), m.tangent());
    m.local_jacobian(a.data(i), b.data(i), jacobian.data());
    for (int j = 0; j < m.tangent(); ++j) {
      const double h = 1e-6;
      Eigen::VectorXd plus(m.tangent()), minus(m.tangent());
      Eigen::VectorXd moved(m.stored());
      Eigen::VectorXd delta = Eigen::VectorXd::Unit(m.tangent(), j) * h;
      m.retract(b.data(i), delta.data(), moved.data());
      m.local(a.data(i), moved.data(), plus.data());
      delta = -delta;
      m.retract(b.data(i), delta.data(), moved.data());
      m.local(a.data(i), moved.data(), minus.data());
      EXPECT_LT(((plus - minus) / (2 * h) - jacobian.col(j)).norm(), 1e-8) << m.to_string();
    }
  }
}

TEST(Values, AnglesDifferByTheShortWay) {
  Values a, b;
  a.insert(kAngle, SO2(3.1));
  b.insert(kAngle, SO2(-3.1));
  EXPECT_NEAR(a.local(b)[0], 2 * (std::numbers::pi - 3.1), 1e-15);
}

TEST(Values, FaultsNameTheKey) {
  Values values = sample(1);
  EXPECT_EQ(message([&] { values.insert(kAngle, 1.0); }), "user1@0: is there already");
  EXPECT_EQ(message([&] {
              values.insert(Key{.step = 9}, Manifold::so3(), std::vector<double>{1, 0, 0});
            }),
            "user0@9: a variable of SO3 is stored as 4 numbers, got 3");
  EXPECT_EQ(message([&] { values.at(Key{Kind::velocity, true, 0, 3}); }), "v3.5: no such variable");
  EXPECT_EQ(message([&] { values.at<SE3>(kPoint); }), "q0: is a variable of R3");
  EXPECT_EQ(message([&] { values.local(Values()); }), "local: the two hold different variables");
  EXPECT_EQ(message([&] { Manifold::real(-1); }), "size: must be >= 0, is -1");
}

TEST(Key, HasAShortName) {
  EXPECT_EQ(to_string(Key{Kind::position, false, 0, 3}), "q3");
  EXPECT_EQ(to_string(Key{Kind::velocity, true, 0, 3}), "v3.5");
  EXPECT_EQ(to_string(Key{Kind::multiplier, false, 2, 3}), "lambda2@3");
  EXPECT_EQ(to_string(Key{Kind::user, false, 7, 3}), "user7@3");
}

}  // namespace
}  // namespace kinegraph::values_test
