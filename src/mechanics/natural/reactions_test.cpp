#include "kinegraph/mechanics/natural/reactions.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "kinegraph/mechanics/natural/models_test.hpp"
#include "test/shared.hpp"

namespace kinegraph::natural::reactions_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Type = RelativeCoordinate::Type;

double cross(const Vector2d& a, const Vector2d& b) { return a.x() * b.y() - a.y() * b.x(); }
Vector2d perpendicular(const Vector2d& d) { return {-d.y(), d.x()}; }

/// A mechanism in a state that obeys its equations, and the forces in it.
class Machine {
 public:
  explicit Machine(Model of)
      : model(std::move(of)),
        system(std::make_shared<System>(model)),
        reactions(model, system),
        n(system->coordinates()),
        m(system->constraints()),
        q(system->guess()),
        v(VectorXd::Zero(n)),
        a(VectorXd::Zero(n)),
        u(VectorXd::Zero(system->motors())),
        lambda(VectorXd::Zero(m)) {}

  MatrixXd jacobian() const {
    std::vector<double> values(system->jacobian_pattern().size());
    system->position(q.data(), t, nullptr, values.data());
    MatrixXd J = MatrixXd::Zero(m, n);
    for (std::size_t k = 0; k < values.size(); ++k)
      J(system->jacobian_pattern()[k].row, system->jacobian_pattern()[k].column) = values[k];
    return J;
  }
  MatrixXd mass() const {
    MatrixXd M = MatrixXd::Zero(n, n);
    for (std::size_t k = 0; k < system->mass_values().size(); ++k)
      M(system->mass_pattern()[k].row, system->mass_pattern()[k].column) = system->mass_values()[k];
    return M;
  }
  VectorXd phi() const {
    VectorXd f(m);
    system->position(q.data(), t, f.data(), nullptr);
    return f;
  }
  VectorXd phi_dot(const VectorXd& rate) const {
    VectorXd f(m);
    system->velocity(q.data(), rate.data(), t, f.data(), nullptr, nullptr);
    return f;
  }
  VectorXd phi_ddot(const VectorXd& acceleration) const {
    VectorXd f(m);
    system->acceleration(q.data(), v.data(), acceleration.data(), t, f.data(), nullptr, nullptr, nullptr);
    return f;
  }
  VectorXd force() const {
    VectorXd Q(n);
    system->force(q.data(), v.data(), t, Q.data(), nullptr, nullptr);
    return Q;
  }

  /// A state near the drawn one: random, then brought to Φ = 0 and Φ̇ = 0 on the shortest way.
  void random_state(unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto random = [&](auto& x, double size) {
      for (auto& element : x) element += size * uniform(generator);
    };
    t = 0.5 + 0.5 * uniform(generator);
    random(q = system->guess(), 0.1);
    for (int i = 0; i < 30; ++i) q -= jacobian().completeOrthogonalDecomposition().solve(phi());
    ASSERT_LT(phi().cwiseAbs().maxCoeff(), 1e-12);
    random(v.setZero(), 3);
    v -= jacobian().completeOrthogonalDecomposition().solve(phi_dot(v));
    random(u.setZero(), 20);
    solve();
  }

  /// Forward dynamics.   [M Φ_qᵀ; Φ_q 0] [q̈; λ] = [Q + B u; −Φ̇_q q̇ − Φ̇_t]
  void solve() {
    MatrixXd A = MatrixXd::Zero(n + m, n + m);
    const MatrixXd J = jacobian();
    A << mass(), J.transpose(), J, MatrixXd::Zero(m, m);
    VectorXd b(n + m);
    b << force(), -phi_ddot(VectorXd::Zero(n));
    for (int j = 0; j < u.size(); ++j) b[system->motor_coordinate()[j]] += u[j];
    const VectorXd x = A.completeOrthogonalDecomposition().solve(b);
    ASSERT_LT((A * x - b).cwiseAbs().maxCoeff(), 1e-9) << "no motion obeys the equations";
    a = x.head(n);
    lambda = x.tail(m);
    evaluate();
  }

  void evaluate() {
    std::vector<double> out(reactions.names().size());
    reactions.evaluate(q.data(), v.data(), a.data(), lambda.data(), u.data(), t, out.data());
    forces.clear();
    for (std::size_t i = 0; i < out.size(); i += 2) {
      const std::string& name = reactions.names()[i];
      forces[name.substr(0, name.size() - 3)] = {out[i], out[i + 1]};
    }
  }

  Vector2d at(const std::string& point) const { return part(point, q, true); }
  Vector2d operator()(const std::string& reaction) const { return forces.at(reaction); }

  Vector2d part(const std::string& name, const VectorXd& x, bool position) const {
    for (std::size_t i = 0; i < model.points.size(); ++i) {
      if (model.points[i].name != name) continue;
      const int k = system->index_of({CoordinateRef::What::point_x, static_cast<int>(i)});
      if (k >= 0) return x.segment<2>(k);
      return position ? model.points[i].position : Vector2d::Zero();
    }
    throw std::out_of_range(name);
  }

  struct Applied {
    std::string point;
    Vector2d force;
  };
  /// Newton and Euler:   m a_g = m g + Σ F,   I₀ α + m r_g × a₀ = m r_g × g + Σ r × F + τ
  void expect_balance(int body, const std::vector<Applied>& applied, double torque) const {
    const PlanarBody& b = model.bodies[body];
    const std::string &name0 = model.points[b.points[0].value].name, &name1 = model.points[b.points[1].value].name;
    const Vector2d p0 = at(name0), d = at(name1) - p0;
    const Vector2d a0 = part(name0, a, false), ad = part(name1, a, false) - a0;
    const Vector2d along = b.cog / b.length;
    const Vector2d rg = along.x() * d + along.y() * perpendicular(d);
    const Vector2d ag = a0 + along.x() * ad + along.y() * perpendicular(ad);
    const double alpha = cross(d, ad) / d.squaredNorm();
    Vector2d force = b.mass * (model.gravity - ag);
    double moment = torque + b.mass * cross(rg, model.gravity - a0) - b.inertia * alpha;
    double scale = 1 + std::abs(torque);
    for (const Applied& f : applied) {
      force += f.force;
      moment += cross(at(f.point) - p0, f.force);
      scale += f.force.norm();
    }
    EXPECT_LT(force.norm(), 1e-10 * scale) << b.name << ": Newton";
    EXPECT_LT(std::abs(moment), 1e-10 * scale) << b.name << ": Euler";
  }

  Model model;
  std::shared_ptr<const System> system;
  Reactions reactions;
  int n, m;
  VectorXd q, v, a, u, lambda;
  double t = 0;
  std::map<std::string, Vector2d> forces;
};

#define EXPECT_FORCE(actual, x, y) EXPECT_LT(((actual)-Vector2d(x, y)).norm(), 1e-9) << (actual).transpose()

std::vector<std::string> with_axes(const std::vector<std::string>& points) {
  std::vector<std::string> names;
  for (const std::string& p : points) names.insert(names.end(), {p + ".fx", p + ".fy"});
  return names;
}

// ---- statics -----------------------------------------------------------------------------------------------------

TEST(Reactions, HangingBar) {
  Model model;
  const PointIndex a = add_point(model, "A", 1, 3, true), p = add_point(model, "P", 1, 1);
  add_body(model, {a, p}, 5.0);
  Machine bar(model);
  EXPECT_EQ(bar.reactions.names(), with_axes({"A"})) << "the free end is no joint";
  bar.solve();
  EXPECT_FORCE(bar("A"), 0, 5 * kGravity);

  model.loads.push_back({"pull", p, Law(0.0), Law(-30.0), {}});
  Machine pulled(model);
  pulled.solve();
  EXPECT_FORCE(pulled("A"), 0, 5 * kGravity + 30);
}

/// A beam from A to B, 3 m of 6 kg, 100 N down at 1 m, B on a line through itself at an angle.
Model beam(double angle, bool swap_ends) {
  Model model;
  const PointIndex a = add_point(model, "A", 0, 0, true), b = add_point(model, "B", 3, 0);
  const PointIndex c = add_point(model, "C", 1, 0);
  const double x = std::cos(angle), y = std::sin(angle);
  const PointIndex r1 = add_point(model, "R1", 3 - x, -y, true), r2 = add_point(model, "R2", 3 + 2 * x, 2 * y, true);
  PlanarBody& body = add_body(model, swap_ends ? std::vector{c, b, a} : std::vector{a, b, c}, 6.0);
  body.cog = {swap_ends ? 0.5 : 1.5, 0};
  body.inertia = 6.0 * 9 / 12 + 6.0 * body.cog.squaredNorm();
  model.sliders.push_back({"rail", b, r1, r2, {}});
  model.loads.push_back({"load", c, Law(0.0), Law(-100.0), {}});
  return model;
}

TEST(Reactions, BeamOnPinAndRoller) {
  for (const bool swap_ends : {false, true}) {  // A is a point of the body's basis, or a further one
    Machine m(beam(0, swap_ends));
    EXPECT_EQ(m.reactions.names(), with_axes({"A", "B"}));
    m.solve();
    EXPECT_FORCE(m("A"), 0, 200.0 / 3 + 3 * kGravity);
    EXPECT_FORCE(m("B"), 0, 100.0 / 3 + 3 * kGravity);
  }
}

TEST(Reactions, BeamOnInclinedRoller) {
  const double angle = 0.4, up = 100.0 / 3 + 3 * kGravity;
  for (const bool swap_ends : {false, true}) {
    Machine m(beam(angle, swap_ends));
    m.solve();
    EXPECT_FORCE(m("B"), -up * std::tan(angle), up);
    EXPECT_FORCE(m("A"), up * std::tan(angle), 200.0 / 3 + 3 * kGravity);
  }
}

// The rail is a bar between fixed points: it has no row in Φ, and passes on to the ground what the beam gives it.
TEST(Reactions, BeamOnABarBetweenFixedPoints) {
  Model model = beam(0, false);
  add_body(model, {PointIndex(3), PointIndex(4)}, 1.2);
  std::swap(model.bodies[0], model.bodies[1]);
  Machine m(model);
  ASSERT_EQ(m.reactions.names(), with_axes({"A", "B", "R1", "R2"}));
  ASSERT_EQ(m.system->constraint_name(0), "distance A-B");
  m.solve();
  const double roller = 100.0 / 3 + 3 * kGravity;
  EXPECT_FORCE(m("B"), 0, roller);
  EXPECT_FORCE(m("R1"), 0, 0.6 * kGravity + 2 * roller / 3);
  EXPECT_FORCE(m("R2"), 0, 0.6 * kGravity + roller / 3);
}

// A lever about A lies on the fixed pin P: the pin carries it.
TEST(Reactions, LineOnAFixedPoint) {
  Model model;
  const PointIndex a = add_point(model, "A", 0, 0, true), b = add_point(model, "B", 4, 0);
  const PointIndex p = add_point(model, "P", 3, 0, true);
  add_body(model, {a, b}, 6.0);
  model.sliders.push_back({"rest", p, a, b, {}});
  Machine m(model);
  ASSERT_EQ(m.reactions.names(), with_axes({"A", "P"}));
  m.solve();
  EXPECT_FORCE(m("P"), 0, 4 * kGravity);
  EXPECT_FORCE(m("A"), 0, 2 * kGravity);
}

// ---- names -------------------------------------------------------------------------------------------------------

TEST(Reactions, Names) {
  EXPECT_EQ(Machine(fourbar()).reactions.names(), with_axes({"A", "P1", "P2", "B"}));
  EXPECT_EQ(Machine(zoo()).reactions.names(),
            with_axes({"A.body0", "A.body3", "A.body4", "P1", "P2.body2", "P2.body3", "B.body2", "B.body4", "D", "S"}));
  Model two_rails = beam(0, false);
  two_rails.sliders.push_back({"", PointIndex(1), PointIndex(0), PointIndex(4), {}});
  EXPECT_EQ(Machine(two_rails).reactions.names(), with_axes({"A", "B.rail", "B.A-R2"}));
}

TEST(Reactions, RefusesTheSystemOfAnotherModel) {
  const auto other = std::make_shared<System>(fourbar_with_motor());
  EXPECT_THROW(Reactions(fourbar(), other), std::logic_error);
}

// ---- the four-bar of 000, inverse dynamics -----------------------------------------------------------------------

/// θ = 1.2 (1 − cos 2t): the exact state, and λ and u from   Φ_qᵀ λ − B u = Q − M q̈
void follow(Machine& m, double t) {
  const int n = m.n;
  m.t = t;
  const auto solve = [&](const VectorXd& rows, double last) {
    MatrixXd A(n, n);
    A << m.jacobian(), VectorXd::Unit(n, n - 1).transpose();
    VectorXd b(n);
    b << rows, last;
    return VectorXd(A.fullPivLu().solve(b));
  };
  const double theta = 1.2 * (1 - std::cos(2 * t));
  for (int i = 0; i < 6; ++i) m.q -= solve(m.phi(), m.q[n - 1] - theta);
  m.v = solve(VectorXd::Zero(m.m), 2.4 * std::sin(2 * t));
  m.a = solve(-m.phi_ddot(VectorXd::Zero(n)), 4.8 * std::cos(2 * t));
  MatrixXd A(n, m.m + 1);
  A << m.jacobian().transpose(), -VectorXd::Unit(n, n - 1);
  const VectorXd x = A.completeOrthogonalDecomposition().solve(m.force() - m.mass() * m.a);
  m.lambda = x.head(m.m);
  m.u = x.tail(1);
  m.evaluate();
}

TEST(Reactions, FourBarInverseDynamicsMatchesTheExactForces) {
  const auto file = shared("data/fourbar_inverse_exact.csv");
  if (!file) GTEST_SKIP() << "no shared data";
  std::ifstream in(*file);
  std::string line;
  std::getline(in, line);
  ASSERT_EQ(line, "t,theta,dtheta,ddtheta,torque,Ax,Ay,P1x,P1y,P2x,P2y,Dx,Dy");
  Machine m(fourbar_with_motor());
  int rows = 0;
  double worst = 0;
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::vector<double> exact;
    for (std::string cell; std::getline(cells, cell, ',');) exact.push_back(std::stod(cell));
    ASSERT_EQ(exact.size(), 13u);
    follow(m, exact[0]);
    worst = std::max(worst, std::abs(m.u[0] - exact[4]) / std::abs(exact[4]));
    int column = 5;
    for (const char* joint : {"A", "P1", "P2", "B"}) {
      const Vector2d f(exact[column], exact[column + 1]);
      worst = std::max(worst, (m(joint) - f).norm() / f.norm());
      column += 2;
    }
    ++rows;
  }
  EXPECT_GE(rows, 2000);
  EXPECT_LT(worst, 1e-9);
}

// At rest in the drawn position by hand: θ̈ = 4.8, θ̇ = 0. P1 at (1, 0) rises with 4.8 m/s²; the crank (1 kg) needs the
// moment I₀ θ̈ = 1.6 and carries at its tip what the coupler takes.
TEST(Reactions, FourBarAtRestByHand) {
  Machine m(fourbar_with_motor());
  follow(m, 0);
  EXPECT_NEAR(m.u[0], 1.6 + 0.5 * kGravity + m("P1").y(), 1e-10);
  EXPECT_FORCE(m("A"), m("P1").x(), 2.4 + kGravity + m("P1").y());
}

// ---- Newton and Euler of every body, in motion -------------------------------------------------------------------

TEST(Reactions, BalanceInAFourBarWithLoads) {
  Model model = fourbar_with_motor();
  model.gravity = {1.5, -8.0};
  const PointIndex p1(1), p2(2), b(3);
  const PointIndex e = add_point(model, "E", 1.8, 1.1);
  model.bodies.erase(model.bodies.begin() + 1);
  PlanarBody& coupler = add_body(model, {e, p1, p2}, 3.0);  // body2: its basis is not its joints
  coupler.cog = {0.4, -0.3};
  coupler.inertia = 2.1;
  model.bodies[1].cog = {1.2, 0.5};
  model.bodies[1].inertia = 12;
  model.loads.push_back({"pin", p1, Law(7.0), law_of_t("4*t"), {}});
  model.loads.push_back({"tip", e, law_of_t("sin(3*t)"), Law(-11.0), {}});
  model.springs.push_back({"tie", p2, b, 40.0, 1.0, 0.0, {}});
  model.torques.push_back({"fan", BodyIndex(1), law_of_t("2+t"), {}});
  model.torques.push_back({"drag", BodyIndex(2), Law(-6.0), {}});
  Machine m(model);
  // body1 is the rocker {P2, B}, body2 the coupler: at P1 and P2 the forces on the coupler are told.
  ASSERT_EQ(m.reactions.names(), with_axes({"A", "P1", "P2", "B"}));
  for (unsigned seed = 1; seed <= 20; ++seed) {
    m.random_state(seed);
    const Vector2d pin(7, 4 * m.t), tip(std::sin(3 * m.t), -11), d = m.at("B") - m.at("P2");
    const Vector2d tie = 40 * (1 - 1 / d.norm()) * d;
    m.expect_balance(0, {{"A", m("A")}, {"P1", pin - m("P1")}}, m.u[0]);
    m.expect_balance(1, {{"P2", tie - m("P2")}, {"B", m("B")}}, 2 + m.t);
    m.expect_balance(2, {{"P1", m("P1")}, {"P2", m("P2")}, {"E", tip}}, -6);
  }
}

/// Two rods on one crank pin, one to a piston with a link hanging from it, the other to the ground point of the crank.
TEST(Reactions, BalanceWithManyBodiesAtAPoint) {
  Model model;
  const PointIndex o = add_point(model, "O", 0, 0, true), p = add_point(model, "P", 0.6, 0.8);
  const PointIndex s = add_point(model, "S", 3, 0.2), h = add_point(model, "H", 3.1, -1);
  const PointIndex r1 = add_point(model, "R1", -1, 0.2, true), r2 = add_point(model, "R2", 4, 0.2, true);
  const PointIndex k = add_point(model, "K", -0.5, 1.5);
  add_body(model, {o, p}, 1.0);
  add_body(model, {p, s}, 2.0);
  add_body(model, {p, k}, 0.7);
  const PointIndex l = add_point(model, "L", -1.5, 0.9);
  add_body(model, {l, o}, 1.3);
  add_body(model, {k, l}, 0.4);
  add_body(model, {h, s}, 0.9);
  model.sliders.push_back({"bore", s, r1, r2, {}});
  model.loads.push_back({"gas", s, law_of_t("-50*t"), Law(3.0), {}});
  Machine m(model);
  ASSERT_EQ(m.reactions.names(), with_axes({"O.body0", "O.body3", "P.body1", "P.body2", "S.body5", "S", "K", "L"}));
  for (unsigned seed = 1; seed <= 20; ++seed) {
    m.random_state(seed);
    const Vector2d gas(-50 * m.t, 3);
    EXPECT_NEAR(m("S").x(), 0, 1e-10) << "the bore is smooth";
    m.expect_balance(0, {{"O", m("O.body0")}, {"P", -m("P.body1") - m("P.body2")}}, 0);
    m.expect_balance(1, {{"P", m("P.body1")}, {"S", m("S") + gas - m("S.body5")}}, 0);
    m.expect_balance(2, {{"P", m("P.body2")}, {"K", -m("K")}}, 0);
    m.expect_balance(3, {{"O", m("O.body3")}, {"L", -m("L")}}, 0);
    m.expect_balance(4, {{"K", m("K")}, {"L", m("L")}}, 0);
    m.expect_balance(5, {{"S", m("S.body5")}}, 0);
  }
}

/// A quick return: the crank's pin P slides along the rocker A-B, which has a flap B-F; motors turn the flap against
/// the rocker and push the pin along the rocker.
TEST(Reactions, BalanceWithAMovingLine) {
  Model model;
  const PointIndex a = add_point(model, "A", 0, -2, true), b = add_point(model, "B", 0.9, 1.6);
  const PointIndex o = add_point(model, "O", 0, 0, true), p = add_point(model, "P", 0.5, 0.0);
  const PointIndex f = add_point(model, "F", 2.0, 1.9);
  add_body(model, {o, p}, 1.0);
  PlanarBody& rocker = add_body(model, {a, b}, 2.5);
  rocker.cog = {1.7, 0.3};
  rocker.inertia = 9;
  add_body(model, {b, f}, 0.8);
  model.sliders.push_back({"slot", p, a, b, {}});
  model.motors.push_back({"flap", add_relative(model, "flap", Type::relative_angle, {a, b, b, f}), Law(0.0), 1, 0, {}});
  model.motors.push_back({"ram", add_relative(model, "ram", Type::relative_position, {a, b, p}), Law(0.0), 1, 0, {}});
  model.coordinate_springs.push_back({"coil", RelativeIndex(0), 5.0, 0.2, 1.5, {}});
  Machine m(model);
  ASSERT_EQ(m.reactions.names(), with_axes({"A", "B", "O", "P"}));
  for (unsigned seed = 1; seed <= 20; ++seed) {
    m.random_state(seed);
    const Vector2d along = (m.at("B") - m.at("A")).normalized();
    EXPECT_NEAR(m("P").dot(along), 0, 1e-9) << "the slot is smooth";
    const Vector2d ram = m.u[1] * along;
    const int flap = m.system->index_of({CoordinateRef::What::relative, 0});
    const double coil = m.u[0] - 5 * (m.q[flap] - 0.2) - 1.5 * m.v[flap];
    m.expect_balance(0, {{"O", m("O")}, {"P", m("P") + ram}}, 0);
    m.expect_balance(1, {{"A", m("A")}, {"B", -m("B")}, {"P", -m("P") - ram}}, -coil);
    m.expect_balance(2, {{"B", m("B")}}, coil);
  }
}

// One bar too many: the forces are one choice of many, and each body is in balance all the same.
TEST(Reactions, BalanceWithARedundantBar) {
  Model model;
  const PointIndex a = add_point(model, "A", 0, 0, true), d = add_point(model, "D", 2, 0, true);
  const PointIndex e = add_point(model, "E", 1, 0, true), p1 = add_point(model, "P1", 0.5, 0.8);
  const PointIndex p2 = add_point(model, "P2", 2.5, 0.8), k = add_point(model, "K", 1.5, 0.8);
  add_body(model, {a, p1}, 1.0);
  add_body(model, {p1, p2, k}, 1.5);
  add_body(model, {d, p2}, 0.6);
  add_body(model, {e, k}, 0.9);
  Machine m(model);
  m.v << 0.8, -0.5, 0.8, -0.5, 0.8, -0.5;  // across the bars: Φ̇ = 0 as drawn
  m.solve();
  m.expect_balance(0, {{"A", m("A")}, {"P1", -m("P1")}}, 0);
  m.expect_balance(1, {{"P1", m("P1")}, {"P2", -m("P2")}, {"K", -m("K")}}, 0);
  m.expect_balance(2, {{"D", m("D")}, {"P2", m("P2")}}, 0);
  m.expect_balance(3, {{"E", m("E")}, {"K", m("K")}}, 0);
}

}  // namespace
}  // namespace kinegraph::natural::reactions_test
