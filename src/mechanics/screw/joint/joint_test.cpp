#include <gtest/gtest.h>

#include <random>

#include "kinegraph/mechanics/screw/joint/list.hpp"

namespace kinegraph::screw::joint_test {
namespace {

constexpr JointType kTypes[] = {JointType::fixed, JointType::revolute,  JointType::continuous,  JointType::prismatic,
                                JointType::screw, JointType::universal, JointType::cylindrical, JointType::planar,
                                JointType::ball,  JointType::floating};

std::mt19937 generator(11);
double random_number() { return std::uniform_real_distribution<double>(-1, 1)(generator); }

Eigen::Matrix4d matrix(const Transform<double>& x) { return SE3(SO3(x.R), x.p).matrix(); }

/// One suite for every type of joint: a new one is tested by standing in the list.
class EveryJoint : public testing::TestWithParam<JointType> {
 protected:
  void SetUp() override {
    shape_.pitch = 0.13;
    shape_.axis2 = Eigen::Vector3d(0.3, -0.8, 0.4).normalized();
    q_ = Eigen::VectorXd::NullaryExpr(stored_numbers(GetParam()), [] { return random_number(); });
    v_ = Eigen::VectorXd::NullaryExpr(freedoms(GetParam()), [] { return random_number(); });
    if (q_.size() >= 4) q_.head<4>().normalize();
  }
  JointShape shape_;
  Eigen::VectorXd q_, v_;
};

TEST_P(EveryJoint, CountsAsTheModelSays) {
  visit_joint(GetParam(), [&](auto joint) {
    EXPECT_EQ(joint.kStored, stored_numbers(GetParam()));
    EXPECT_EQ(joint.kFreedoms, freedoms(GetParam()));
  });
}

TEST_P(EveryJoint, ItsTwistIsTheRateOfItsTransform) {
  visit_joint(GetParam(), [&](auto joint) {
    using Kind = decltype(joint);
    const double h = 1e-5;
    const auto moved = [&](double t) {
      Eigen::VectorXd q = q_;
      const Eigen::VectorXd step = t * v_;
      Kind::template retract<double>(q_.data(), step.data(), q.data());
      return matrix(Kind::template transform<double>(shape_, q.data()));
    };
    const Eigen::Matrix4d rate = (moved(h) - moved(-h)) / (2 * h);
    const Vector6d twist = Kind::template subspace<double>(shape_, q_.data()) * v_;
    EXPECT_LT((rate - moved(0) * SE3::hat(twist)).norm(), 1e-9);
  });
}

TEST_P(EveryJoint, ItsBiasIsTheRateOfItsSubspace) {
  visit_joint(GetParam(), [&](auto joint) {
    using Kind = decltype(joint);
    const double h = 1e-5;
    const auto twist = [&](double t) -> Vector6d {
      Eigen::VectorXd q = q_;
      const Eigen::VectorXd step = t * v_;
      Kind::template retract<double>(q_.data(), step.data(), q.data());
      return Kind::template subspace<double>(shape_, q.data()) * v_;
    };
    const Vector6d bias = Kind::template bias<double>(shape_, q_.data(), v_.data());
    EXPECT_LT(((twist(h) - twist(-h)) / (2 * h) - bias).norm(), 1e-9);
    if (Kind::kConstant) {
      EXPECT_EQ(bias.norm(), 0);
    }
  });
}

TEST_P(EveryJoint, PowerBalances) {
  visit_joint(GetParam(), [&](auto joint) {
    const Eigen::MatrixXd S = decltype(joint)::template subspace<double>(shape_, q_.data());
    const Vector6d wrench = Vector6d::NullaryExpr([] { return random_number(); });
    const Eigen::VectorXd tau = S.transpose() * wrench;
    EXPECT_NEAR(wrench.dot(Vector6d(S * v_)), tau.dot(v_), 1e-14);
  });
}

INSTANTIATE_TEST_SUITE_P(Types, EveryJoint, testing::ValuesIn(kTypes),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace kinegraph::screw::joint_test
