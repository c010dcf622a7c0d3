#include "kinegraph/graph/check_jacobians.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace kinegraph::check_jacobians_test {
namespace {

/// e = (sin(x₀) y, x₁²), with faults to be found.
enum class Fault { none, value, missing, surplus, twice, range, nan, constant, residual };

class Example final : public Factor {
 public:
  explicit Example(Fault fault) : Factor("example", 2, {2, 1}, pattern_of(fault)), fault_(fault) {}

  void evaluate(Slots x, double* e, double* J) const override {
    e[0] = std::sin(x[0][0]) * x[1][0];
    e[1] = x[0][1] * x[0][1];
    if (fault_ == Fault::residual && J) e[1] += 1e-6;
    if (!J) return;
    J[0] = std::cos(x[0][0]) * x[1][0] * (fault_ == Fault::value ? 1 + 1e-6 : 1.0);
    J[1] = 2 * x[0][1];
    if (fault_ != Fault::missing) J[2] = std::sin(x[0][0]);
    if (fault_ == Fault::surplus || fault_ == Fault::twice || fault_ == Fault::range) J[3] = 1e-3;
    if (fault_ == Fault::nan) J[0] = std::nan("");
  }
  bool constant_jacobian() const override { return fault_ == Fault::constant; }

 private:
  static std::vector<JacobianEntry> pattern_of(Fault fault) {
    std::vector<JacobianEntry> pattern{{0, 0, 0}, {1, 0, 1}, {0, 1, 0}};
    if (fault == Fault::missing) pattern.pop_back();
    if (fault == Fault::surplus) pattern.push_back({1, 1, 0});
    if (fault == Fault::twice) pattern.push_back({0, 0, 0});
    if (fault == Fault::range) pattern.push_back({0, 1, 1});
    return pattern;
  }
  Fault fault_;
};

const SlotValues kValues{{0.4, -1.3}, {2.1}};

TEST(CheckJacobians, AcceptsAnExactJacobian) {
  const JacobianCheck check = check_jacobians(Example(Fault::none), kValues);
  EXPECT_TRUE(check.ok()) << check.message;
  EXPECT_LT(check.worst, 1e-11);
}

TEST(CheckJacobians, FindsFaults) {
  const auto message = [](Fault fault) { return check_jacobians(Example(fault), kValues).message; };
  EXPECT_EQ(message(Fault::value),
            "example: example[0]: by slot 0, column 0: stated 1.93423002163, measured 1.93422808741\n");
  EXPECT_EQ(message(Fault::missing),
            "example: example[0]: by slot 1, column 0: stated 0 (outside the pattern), measured 0.389418342309\n");
  EXPECT_NE(message(Fault::surplus).find("example[1]: by slot 1, column 0: stated 0.001, measured"), std::string::npos);
  EXPECT_EQ(message(Fault::twice), "example: entry (row 0, slot 0, column 0) is there twice\n");
  EXPECT_EQ(message(Fault::range), "example: entry (row 0, slot 1, column 1) is out of range\n");
  EXPECT_NE(message(Fault::nan).find("stated nan"), std::string::npos);
  EXPECT_EQ(message(Fault::constant), "example: the Jacobian is called constant but depends on the values\n");
  EXPECT_NE(message(Fault::residual).find("with the Jacobian"), std::string::npos);
}

TEST(CheckJacobians, MeasuresTheError) {
  EXPECT_NEAR(check_jacobians(Example(Fault::value), kValues).worst, 1e-6, 1e-9);
  EXPECT_TRUE(check_jacobians(Example(Fault::value), kValues, {.tolerance = 2e-6}).ok());
  EXPECT_TRUE(std::isinf(check_jacobians(Example(Fault::nan), kValues).worst));
}

TEST(CheckJacobians, LeavesKnownSlotsOut) {
  EXPECT_TRUE(check_jacobians(Example(Fault::missing), kValues, {.known_slots = {1}}).ok());
}

TEST(CheckJacobians, RefusesValuesThatDoNotFit) {
  EXPECT_EQ(check_jacobians(Example(Fault::none), {{0.4, -1.3}}).message, "example: 1 slots given, the factor has 2\n");
  EXPECT_EQ(check_jacobians(Example(Fault::none), {{0.4}, {2.1}}).message,
            "example: slot 0: 1 numbers given, the factor wants 2\n");
}

/// e = R p: by R ⊕ δ = R exp(δ) it changes by −R [p]ₓ δ.
class Rotated final : public Factor {
 public:
  Rotated() : Factor("rotated", 3, {4}, dense(3, {3})) {}
  void evaluate(Slots x, double* e, double* J) const override {
    const Eigen::Matrix3d R = Eigen::Quaterniond(x[0][0], x[0][1], x[0][2], x[0][3]).toRotationMatrix();
    const Eigen::Vector3d p(0.3, -0.8, 1.1);
    const Eigen::Vector3d rotated = R * p;
    std::copy_n(rotated.data(), 3, e);
    Eigen::Matrix3d cross;
    cross << 0, -p.z(), p.y(), p.z(), 0, -p.x(), -p.y(), p.x(), 0;
    const Eigen::Matrix3d by_R = -R * cross;
    if (J) std::copy_n(by_R.data(), 9, J);
  }
};

TEST(CheckJacobians, MovesOnManifolds) {
  const Eigen::Quaterniond r = Eigen::Quaterniond(0.5, -0.2, 0.7, 0.4).normalized();
  const SlotValues x{{r.w(), r.x(), r.y(), r.z()}};
  const JacobianCheck check = check_jacobians(Rotated(), x, {.manifolds = {Manifold::so3()}});
  EXPECT_TRUE(check.ok()) << check.message;
}

}  // namespace
}  // namespace kinegraph::check_jacobians_test
