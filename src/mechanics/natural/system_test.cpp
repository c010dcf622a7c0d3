#include "kinegraph/mechanics/natural/system.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>
#include <set>

#include "kinegraph/mechanics/natural/models_test.hpp"

namespace kinegraph::natural::system_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd dense(std::span<const Entry> pattern, std::span<const double> values, int rows, int columns) {
  MatrixXd A = MatrixXd::Zero(rows, columns);
  for (std::size_t k = 0; k < pattern.size(); ++k) A(pattern[k].row, pattern[k].column) += values[k];
  return A;
}

/// A system with buffers, as dense matrices: what the tests reason about.
struct Dense {
  explicit Dense(const Model& model) : s(model), n(s.coordinates()), m(s.constraints()) {}
  System s;
  int n, m;

  MatrixXd jacobian_like(const std::vector<double>& values) const { return dense(s.jacobian_pattern(), values, m, n); }
  MatrixXd mass() const { return dense(s.mass_pattern(), s.mass_values(), n, n); }

  VectorXd phi(const VectorXd& q, double t) const {
    VectorXd f(m);
    s.position(q.data(), t, f.data(), nullptr);
    return f;
  }
  MatrixXd phi_q(const VectorXd& q, double t) const {
    std::vector<double> values(s.jacobian_pattern().size());
    s.position(q.data(), t, nullptr, values.data());
    return jacobian_like(values);
  }
  VectorXd rate(const VectorXd& q, const VectorXd& v, double t) const {
    VectorXd f(m);
    s.velocity(q.data(), v.data(), t, f.data(), nullptr, nullptr);
    return f;
  }
  VectorXd acceleration(const VectorXd& q, const VectorXd& v, const VectorXd& a, double t) const {
    VectorXd f(m);
    s.acceleration(q.data(), v.data(), a.data(), t, f.data(), nullptr, nullptr, nullptr);
    return f;
  }
  VectorXd force(const VectorXd& q, const VectorXd& v, double t) const {
    VectorXd Q(n);
    s.force(q.data(), v.data(), t, Q.data(), nullptr, nullptr);
    return Q;
  }
};

VectorXd random_vector(int size, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  return VectorXd::NullaryExpr(size, [&](Eigen::Index) { return uniform(generator); });
}

/// Central differences of a vector function, fourth order.
template <class F>
MatrixXd differences(const VectorXd& x, const F& f) {
  const double h = 1e-3;
  const auto shifted = [&](int k, double by) {
    VectorXd y = x;
    y[k] += by;
    return VectorXd(f(y));
  };
  MatrixXd J(f(x).size(), x.size());
  for (int k = 0; k < x.size(); ++k)
    J.col(k) = (8 * (shifted(k, h) - shifted(k, -h)) - shifted(k, 2 * h) + shifted(k, -2 * h)) / (12 * h);
  return J;
}

#define EXPECT_CLOSE(a, b, tolerance) EXPECT_LE(((a) - (b)).cwiseAbs().maxCoeff(), tolerance) << #a " − " #b

// ---- structure ---------------------------------------------------------------------------------------------------

TEST(System, FourBarHasTheCoordinatesAndConstraintsOfThePaper) {
  const System s(fourbar());
  ASSERT_EQ(s.coordinates(), 4);
  ASSERT_EQ(s.constraints(), 3);
  EXPECT_EQ(s.motors(), 0);
  EXPECT_EQ(s.coordinate_name(0), "P1.x");
  EXPECT_EQ(s.coordinate_name(3), "P2.y");
  EXPECT_EQ(s.constraint_name(0), "distance A-P1");
  EXPECT_EQ(s.constraint_name(2), "distance P2-B");
  EXPECT_EQ(s.jacobian_pattern().size(), 8u);
  EXPECT_EQ(s.force_pattern().size(), 0u);
  EXPECT_EQ(s.guess(), (VectorXd(4) << 1, 0, 1, 2).finished());
  EXPECT_NEAR(s.typical_length(), (3 + std::sqrt(13.0)) / 3, 1e-15);
  EXPECT_EQ(s.index_of({CoordinateRef::What::point_x, 0}), -1);
  EXPECT_EQ(s.index_of({CoordinateRef::What::point_y, 2}), 3);
  const System with_angle(fourbar_with_motor());
  EXPECT_EQ(with_angle.index_of({CoordinateRef::What::relative, 0}), 4);
  EXPECT_EQ(with_angle.constraint_name(3), "angle theta");
  EXPECT_EQ(with_angle.motor_coordinate()[0], 4);
  EXPECT_NEAR(with_angle.motor_law(0, 0.5), 3 * std::sin(0.5), 1e-15);
}

TEST(System, NamesEveryConstraint) {
  const System s(zoo());
  std::set<std::string> names;
  for (int i = 0; i < s.constraints(); ++i) names.insert(s.constraint_name(i));
  for (const char* name :
       {"distance P2-C", "rigid D.x on body3", "rigid A.y on body3", "slider rail", "slider D on P1-C", "angle theta",
        "relative angle knee", "relative position stroke", "driver lift"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_FALSE(names.contains("distance A-B")) << "both points are fixed";
  EXPECT_EQ(static_cast<int>(names.size()), s.constraints());
}

TEST(System, PatternsAreSortedWithoutDuplicatesAndInRange) {
  const System s(zoo());
  const auto check = [&](std::span<const Entry> pattern, int rows) {
    for (std::size_t k = 0; k < pattern.size(); ++k) {
      EXPECT_TRUE(pattern[k].row >= 0 && pattern[k].row < rows);
      EXPECT_TRUE(pattern[k].column >= 0 && pattern[k].column < s.coordinates());
      if (k == 0) continue;
      const Entry a = pattern[k - 1], b = pattern[k];
      EXPECT_TRUE(a.row < b.row || (a.row == b.row && a.column < b.column));
    }
  };
  check(s.jacobian_pattern(), s.constraints());
  for (const auto pattern : {s.hessian_pattern(), s.mass_pattern(), s.force_pattern(), s.stiffness_pattern()})
    check(pattern, s.coordinates());
}

TEST(System, DrawnGuessSatisfiesEveryConstraintThatIsDrawnTrue) {
  Model model = zoo();
  model.sliders.clear();
  model.drivers.clear();
  const Dense d(model);
  EXPECT_CLOSE(d.phi(d.s.guess(), 0), VectorXd::Zero(d.m), 1e-14);
}

// ---- the four-bar of 000 against independent formulas ------------------------------------------------------------

TEST(System, FourBarConstraintsAreThoseOfThePaper) {
  const Dense d(fourbar());
  const VectorXd q = random_vector(4, 3), v = random_vector(4, 4);
  const double x1 = q[0], y1 = q[1], x2 = q[2], y2 = q[3];
  EXPECT_CLOSE(d.phi(q, 0),
               Eigen::Vector3d(x1 * x1 + y1 * y1 - 1, (x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1) - 4,
                               (4 - x2) * (4 - x2) + y2 * y2 - 13),
               1e-14);
  MatrixXd J(3, 4);
  J << 2 * x1, 2 * y1, 0, 0, -2 * (x2 - x1), -2 * (y2 - y1), 2 * (x2 - x1), 2 * (y2 - y1), 0, 0, 2 * (x2 - 4), 2 * y2;
  EXPECT_CLOSE(d.phi_q(q, 0), J, 1e-14);
  EXPECT_CLOSE(d.rate(q, v, 0), J * v, 1e-14);
}

TEST(System, FourBarMassMatrixIsThatOfThreeBars) {
  // A slender bar: m/3 at either end, m/6 between them.
  MatrixXd M = MatrixXd::Zero(4, 4);
  for (int k = 0; k < 2; ++k) {
    M(k, k) = (1.0 + 2.0) / 3;
    M(2 + k, 2 + k) = (2.0 + 4.0) / 3;
    M(k, 2 + k) = M(2 + k, k) = 2.0 / 6;
  }
  const Dense d(fourbar());
  EXPECT_CLOSE(d.mass(), M, 1e-15);
  EXPECT_EQ(d.s.mass_pattern().size(), 8u) << "x and y do not couple";
  const Eigen::Vector4d Q(0, -9.81 * 1.5, 0, -9.81 * 3);
  EXPECT_CLOSE(d.force(random_vector(4, 1), random_vector(4, 2), 0), Q, 1e-13);
}

TEST(System, FourBarExactPositionAfterFiveSeconds) {
  const Dense d(fourbar());
  const Eigen::Vector4d q(-.892548408007, .450951593150, .758745574422, 1.579325725958);
  EXPECT_CLOSE(d.phi(q, 5), Eigen::Vector3d::Zero(), 1e-11);
  // Released at rest: the potential energy has become kinetic. v follows from θ̇ = −1.76107128828.
  MatrixXd A(4, 4);
  A << d.phi_q(q, 5), -q[1], q[0], 0, 0;
  const VectorXd v = A.fullPivLu().solve(Eigen::Vector4d(0, 0, 0, -1.76107128828));
  const double energy = d.s.kinetic_energy(v.data()) + d.s.potential_energy(q.data());
  EXPECT_NEAR(energy, d.s.potential_energy(d.s.guess().data()), 1e-9);
}

/// Newton on Φ(q, t) = 0 with the angle given, from q.
VectorXd assemble_at(const Dense& d, VectorXd q, double theta, double t) {
  for (int i = 0; i < 30; ++i) {
    MatrixXd A = MatrixXd::Zero(d.m + 1, d.n);
    VectorXd r(d.m + 1);
    A.topRows(d.m) = d.phi_q(q, t);
    A(d.m, d.n - 1) = 1;
    r << d.phi(q, t), q[d.n - 1] - theta;
    q -= A.colPivHouseholderQr().solve(r);
  }
  return q;
}

struct Golden {
  double t, torque;
};
constexpr Golden kInverse[] = {{0, 66.01166667}, {1, -16.87515386}, {2, -36.11414253}, {5, -49.46537382}};

VectorXd pose_at(const Dense& d, double t) {
  VectorXd q = d.s.guess();
  for (double tau = 0; tau < t; tau += 0.02) q = assemble_at(d, q, 1.2 * (1 - std::cos(2 * tau)), tau);
  return assemble_at(d, q, 1.2 * (1 - std::cos(2 * t)), t);
}

// The torque for θ = 1.2 (1 − cos 2t), checked independently (papers/notes.md): with the motor's u as unknown …
TEST(System, InverseDynamicsOfTheFourBarWithAMotor) {
  const Dense d(fourbar_with_motor());
  for (const Golden& golden : kInverse) {
    const double t = golden.t, rate = 2.4 * std::sin(2 * t), acceleration = 4.8 * std::cos(2 * t);
    const VectorXd q = pose_at(d, t);
    MatrixXd A(d.n, d.n);
    A << d.phi_q(q, t), VectorXd::Unit(d.n, d.n - 1).transpose();
    VectorXd b = VectorXd::Zero(d.n);
    b[d.n - 1] = rate;
    const VectorXd v = A.fullPivLu().solve(b);
    b << -d.acceleration(q, v, VectorXd::Zero(d.n), t), acceleration;
    const VectorXd a = A.fullPivLu().solve(b);
    // M q̈ − Q = −Φ_qᵀ λ + B u
    const VectorXd x = A.transpose().fullPivLu().solve(d.mass() * a - d.force(q, v, t));
    EXPECT_NEAR(x[d.n - 1], golden.torque, 1e-7) << "t = " << t;
    VectorXd residual(d.n);
    const VectorXd lambda = -x.head(d.m);
    d.s.motion(q.data(), v.data(), a.data(), lambda.data(), &x[d.n - 1], t, residual.data(), nullptr, nullptr, nullptr);
    EXPECT_CLOSE(residual, VectorXd::Zero(d.n), 1e-11);
  }
}

// … and with a driver, whose Φ_t and Φ̇_t make the motion and whose multiplier is minus the torque.
TEST(System, InverseDynamicsOfTheFourBarWithADriver) {
  Model model = fourbar_with_motor();
  model.drivers.push_back({"crank", {CoordinateRef::What::relative, 0}, law_of_t("1.2*(1-cos(2*t))"), {}});
  const Dense d(model);
  ASSERT_EQ(d.n, d.m);
  for (const Golden& golden : kInverse) {
    const double t = golden.t;
    const VectorXd q = pose_at(Dense(fourbar_with_motor()), t), zero = VectorXd::Zero(d.n);
    EXPECT_CLOSE(d.phi(q, t), zero, 1e-12);
    const Eigen::FullPivLU<MatrixXd> J(d.phi_q(q, t));
    const VectorXd v = J.solve(-d.rate(q, zero, t));
    const VectorXd a = J.solve(-d.acceleration(q, v, zero, t));
    const VectorXd lambda = d.phi_q(q, t).transpose().fullPivLu().solve(d.force(q, v, t) - d.mass() * a);
    EXPECT_NEAR(-lambda[d.m - 1], golden.torque, 1e-7) << "t = " << t;
  }
}

// ---- derivatives, with everything in one mechanism ---------------------------------------------------------------

TEST(System, LevelsAreTimeDerivativesOfEachOther) {
  const Dense d(zoo());
  const VectorXd q = random_vector(d.n, 1), v = random_vector(d.n, 2), a = random_vector(d.n, 3);
  // Along q(s) = q + s v + ½ s² a, the law's time running with it.
  const auto at = [&](double s) { return VectorXd(q + s * v + 0.5 * s * s * a); };
  const auto rate_at = [&](double s) { return VectorXd(v + s * a); };
  const double t = 0.4;
  const VectorXd zero = VectorXd::Zero(1);
  const VectorXd phi_dot = differences(zero, [&](const VectorXd& s) { return d.phi(at(s[0]), t + s[0]); });
  EXPECT_CLOSE(d.rate(q, v, t), phi_dot, 1e-9);
  const VectorXd phi_ddot =
      differences(zero, [&](const VectorXd& s) { return d.rate(at(s[0]), rate_at(s[0]), t + s[0]); });
  EXPECT_CLOSE(d.acceleration(q, v, a, t), phi_ddot, 1e-9);
}

TEST(System, ConstraintDerivativesMatchDifferences) {
  const Dense d(zoo());
  const VectorXd q = random_vector(d.n, 1), v = random_vector(d.n, 2), a = random_vector(d.n, 3);
  const double t = 0.4;
  std::vector<double> A(d.s.jacobian_pattern().size()), B(A.size()), C(A.size());
  VectorXd f(d.m);
  d.s.position(q.data(), t, f.data(), A.data());
  EXPECT_CLOSE(d.jacobian_like(A), differences(q, [&](const VectorXd& x) { return d.phi(x, t); }), 1e-9);
  EXPECT_CLOSE(f, d.phi(q, t), 0);
  d.s.velocity(q.data(), v.data(), t, f.data(), A.data(), B.data());
  EXPECT_CLOSE(d.jacobian_like(A), differences(q, [&](const VectorXd& x) { return d.rate(x, v, t); }), 1e-9);
  EXPECT_CLOSE(d.jacobian_like(B), differences(v, [&](const VectorXd& x) { return d.rate(q, x, t); }), 1e-9);
  d.s.acceleration(q.data(), v.data(), a.data(), t, f.data(), A.data(), B.data(), C.data());
  EXPECT_CLOSE(d.jacobian_like(A), differences(q, [&](const VectorXd& x) { return d.acceleration(x, v, a, t); }), 1e-8);
  EXPECT_CLOSE(d.jacobian_like(B), differences(v, [&](const VectorXd& x) { return d.acceleration(q, x, a, t); }), 1e-9);
  EXPECT_CLOSE(d.jacobian_like(C), differences(a, [&](const VectorXd& x) { return d.acceleration(q, v, x, t); }), 1e-9);
}

TEST(System, HessianIsTheDerivativeOfTheConstraintForce) {
  const Dense d(zoo());
  const VectorXd q = random_vector(d.n, 1), lambda = random_vector(d.m, 5);
  std::vector<double> values(d.s.hessian_pattern().size());
  d.s.hessian(q.data(), 0.4, lambda.data(), values.data());
  const MatrixXd H = dense(d.s.hessian_pattern(), values, d.n, d.n);
  EXPECT_CLOSE(H, H.transpose(), 1e-15);
  EXPECT_CLOSE(H, differences(q, [&](const VectorXd& x) { return VectorXd(d.phi_q(x, 0.4).transpose() * lambda); }),
               1e-9);
}

TEST(System, ForceDerivativesMatchDifferences) {
  const Dense d(zoo());
  const VectorXd q = random_vector(d.n, 1), v = random_vector(d.n, 2);
  std::vector<double> by_q(d.s.force_pattern().size()), by_v(by_q.size());
  VectorXd Q(d.n);
  d.s.force(q.data(), v.data(), 0.4, Q.data(), by_q.data(), by_v.data());
  EXPECT_CLOSE(Q, d.force(q, v, 0.4), 0);
  EXPECT_CLOSE(dense(d.s.force_pattern(), by_q, d.n, d.n),
               differences(q, [&](const VectorXd& x) { return d.force(x, v, 0.4); }), 1e-6);
  EXPECT_CLOSE(dense(d.s.force_pattern(), by_v, d.n, d.n),
               differences(v, [&](const VectorXd& x) { return d.force(q, x, 0.4); }), 1e-8);
}

TEST(System, MotionIsTheSumOfItsParts) {
  const Dense d(zoo());
  const VectorXd q = random_vector(d.n, 1), v = random_vector(d.n, 2), a = random_vector(d.n, 3);
  const VectorXd lambda = random_vector(d.m, 5), u = random_vector(d.s.motors(), 6);
  const double t = 0.4;
  VectorXd r(d.n);
  std::vector<double> by_q(d.s.stiffness_pattern().size()), by_v(d.s.force_pattern().size());
  std::vector<double> phi_q(d.s.jacobian_pattern().size());
  d.s.motion(q.data(), v.data(), a.data(), lambda.data(), u.data(), t, r.data(), by_q.data(), by_v.data(),
             phi_q.data());

  VectorXd expected = d.mass() * a + d.phi_q(q, t).transpose() * lambda - d.force(q, v, t);
  ASSERT_EQ(d.s.motors(), 2);
  for (int j = 0; j < 2; ++j) expected[d.s.motor_coordinate()[j]] -= u[j];
  EXPECT_CLOSE(r, expected, 1e-12);

  std::vector<double> H(d.s.hessian_pattern().size()), Q_q(d.s.force_pattern().size()), Q_v(Q_q.size());
  d.s.hessian(q.data(), t, lambda.data(), H.data());
  d.s.force(q.data(), v.data(), t, nullptr, Q_q.data(), Q_v.data());
  EXPECT_CLOSE(dense(d.s.stiffness_pattern(), by_q, d.n, d.n),
               dense(d.s.hessian_pattern(), H, d.n, d.n) - dense(d.s.force_pattern(), Q_q, d.n, d.n), 1e-12);
  EXPECT_CLOSE(dense(d.s.force_pattern(), by_v, d.n, d.n), -dense(d.s.force_pattern(), Q_v, d.n, d.n), 1e-12);
  EXPECT_CLOSE(d.jacobian_like(phi_q), d.phi_q(q, t), 0);
}

// ---- energy ------------------------------------------------------------------------------------------------------

// d/dt (T + V) = q̇ · (M q̈ − Q) + the power of what has no potential: dampers, laws of time, torques
TEST(System, PowerBalance) {
  Model model = zoo();
  model.loads.clear();
  model.torques.clear();
  const Dense d(model);
  const VectorXd q = random_vector(d.n, 1), v = random_vector(d.n, 2), a = random_vector(d.n, 3);
  const auto energy = [&](const VectorXd& s) {
    const VectorXd x = q + s[0] * v, w = v + s[0] * a;
    return VectorXd(VectorXd::Constant(1, d.s.kinetic_energy(w.data()) + d.s.potential_energy(x.data())));
  };
  const double power = differences(VectorXd::Zero(1), energy)(0, 0);
  const double dissipated = -v.dot(d.force(q, v, 0) - d.force(q, VectorXd::Zero(d.n), 0));
  EXPECT_GT(dissipated, 0.1);
  EXPECT_NEAR(power, v.dot(d.mass() * a - d.force(q, v, 0)) - dissipated, 1e-7);
}

TEST(System, LoadsAndTorquesDoTheWorkTheyShould) {
  Model model = zoo();
  const Dense with(model);
  model.loads.clear();
  model.torques.clear();
  const Dense without(model);
  // Bar P1-P2 turns at ω with its length kept, P1 turns about A, S and D move at will.
  VectorXd q = with.s.guess(), v = VectorXd::Zero(with.n);
  const double omega = 0.8, crank = -1.1, t = 0.4;
  v[1] = crank;       // P1 at (1, 0)
  v[2] = -2 * omega;  // P2 at (1, 2): v = v₁ + ω (−2, 0)
  v[3] = crank;
  v[6] = 0.3, v[7] = -0.9;  // D
  v[8] = 1.3, v[9] = 0.6;   // S
  const double power = v.dot(with.force(q, v, t) - without.force(q, v, t));
  const double expected = 5 * std::cos(t) * 1.3 - 2 * 0.6       // push
                          + 1.5 * 0.3 + 0.5 * 0.9               // steady
                          + (2 * t + 1) * omega - 0.7 * crank;  // fan, brake
  EXPECT_NEAR(power, expected, 1e-12);
}

TEST(System, PotentialCountsWeightOnFixedPoints) {
  Model model = fourbar();
  model.points[0].position = {0, 5};  // raising the pivot of the crank lifts half of it
  const VectorXd q = System(fourbar()).guess();
  EXPECT_NEAR(System(model).potential_energy(q.data()) - System(fourbar()).potential_energy(q.data()),
              0.5 * 1.0 * 9.81 * 5, 1e-12);
}

TEST(System, GravityIsTheModels) {
  Model model = fourbar();
  model.gravity = {1.0, -2.0};
  const Dense d(model);
  EXPECT_CLOSE(d.force(VectorXd::Zero(4), VectorXd::Zero(4), 0), Eigen::Vector4d(1.5, -3, 3, -6), 1e-14);
}

}  // namespace
}  // namespace kinegraph::natural::system_test
