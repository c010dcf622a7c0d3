#pragma once

// Planar machines in code, and plants of them, for the tests of NaturalPlant.

#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "kinegraph/filter/natural_plant.hpp"
#include "kinegraph/mechanics/natural/models_test.hpp"

namespace kinegraph::filter::planar {

using Eigen::MatrixXd;
using Type = RelativeCoordinate::Type;

inline Model four_bar(double) { return natural::fourbar_with_motor(); }

inline Model slider_crank(double angle) {
  Model m;
  const auto a = natural::add_point(m, "A", 0, 0, true);
  const auto p = natural::add_point(m, "P", std::cos(angle), std::sin(angle));
  const auto s = natural::add_point(m, "S", std::cos(angle) + std::sqrt(6.25 - std::pow(std::sin(angle), 2)), 0);
  const auto e = natural::add_point(m, "E", 5, 0, true);
  natural::add_body(m, {a, p}, 1.0);
  natural::add_body(m, {p, s}, 2.0);
  m.sliders.push_back({"rail", s, a, e, {}});
  natural::add_relative(m, "theta", Type::absolute_angle, {a, p});
  natural::add_relative(m, "stroke", Type::relative_position, {a, e, s});
  natural::add_relative(m, "knee", Type::relative_angle, {a, p, p, s});
  m.coordinate_springs.push_back({"coil", RelativeIndex(2), 3.0, 0.4, 0.6, {}});
  m.torques.push_back({"fan", BodyIndex(0), natural::law_of_t("2*t + 1"), {}});
  return m;
}

inline Model double_pendulum(double angle) {
  Model m;
  const auto a = natural::add_point(m, "A", 0, 0, true);
  const auto p = natural::add_point(m, "P", std::cos(angle), std::sin(angle));
  const auto r = natural::add_point(m, "R", std::cos(angle) + 0.7, std::sin(angle) - 0.2);
  natural::add_body(m, {a, p}, 1.0);
  natural::add_body(m, {p, r}, 0.5);
  natural::add_relative(m, "one", Type::absolute_angle, {a, p});
  natural::add_relative(m, "two", Type::relative_angle, {a, p, p, r});
  return m;
}

/// With a third parallel bar: one constraint is redundant.
inline Model parallelogram(double angle) {
  Model m;
  const double c = std::cos(angle), s = std::sin(angle);
  const auto a = natural::add_point(m, "A", 0, 0, true), p1 = natural::add_point(m, "P1", c, s);
  const auto p2 = natural::add_point(m, "P2", c + 2, s), d = natural::add_point(m, "D", 2, 0, true);
  const auto mid = natural::add_point(m, "M", c + 1, s), e = natural::add_point(m, "E", 1, 0, true);
  natural::add_body(m, {a, p1}, 1.0);
  natural::add_body(m, {p1, p2, mid}, 1.0);
  natural::add_body(m, {d, p2}, 1.0);
  natural::add_body(m, {e, mid}, 1.0);
  natural::add_relative(m, "theta", Type::absolute_angle, {a, p1});
  return m;
}

/// Two arms carry a platform that never tilts, by two chains of parallelograms: one of them is redundant.
inline Model pick_and_place(double angle) {
  Model m;
  const double gap = 0.1, up = 0.4, low = 0.8, plate = 0.12;
  std::vector<PointIndex> knee, drop, foot, end;
  const double a1 = angle + 3.1, a2 = 5.3;
  const double k1x = -0.08 + up * std::cos(a1), k1y = up * std::sin(a1);
  const double k2x = 0.08 + up * std::cos(a2), k2y = up * std::sin(a2);
  // the middle of the platform is `low` away from both knees, moved inwards by half its width
  const double ax = k1x + plate, bx = k2x - plate, dx = bx - ax, dy = k2y - k1y, l = std::hypot(dx, dy);
  const double height = std::sqrt(low * low - l * l / 4);
  const double cx = (ax + bx) / 2 + height * dy / l, cy = (k1y + k2y) / 2 - height * dx / l;
  const auto side = [&](const std::string& name, double sign, double mx, double kx, double ky) {
    const auto base = natural::add_point(m, "M" + name, mx, 0, true);
    const auto beside = natural::add_point(m, "B" + name, mx + sign * gap, gap, true);
    const auto k = natural::add_point(m, "K" + name, kx, ky);
    const auto j = natural::add_point(m, "J" + name, kx + sign * gap, ky + gap);
    const auto h = natural::add_point(m, "H" + name, kx + sign * gap, ky - gap);
    const auto e = natural::add_point(m, "E" + name, cx + sign * plate, cy);
    const auto f = natural::add_point(m, "F" + name, cx + sign * (plate + gap), cy - gap);
    natural::add_body(m, {base, k}, 0.8);
    natural::add_body(m, {beside, j}, 0.3);
    natural::add_body(m, {j, k, h}, 0.2);
    natural::add_body(m, {k, e}, 0.4);
    natural::add_body(m, {h, f}, 0.2);
    knee.push_back(k), drop.push_back(base), end.push_back(e), foot.push_back(f);
  };
  side("1", -1, -0.08, k1x, k1y);
  side("2", 1, 0.08, k2x, k2y);
  natural::add_body(m, {end[0], end[1], foot[0], foot[1]}, 0.6);
  for (int i = 0; i < 2; ++i) {
    const auto coordinate =
        natural::add_relative(m, "theta" + std::to_string(i), Type::absolute_angle, {drop[i], knee[i]});
    m.motors.push_back({"motor", coordinate, Law(2.0 - 3 * i), 1, 0, {}});
  }
  return m;
}

/// A five-bar, one of whose cranks follows a law of time, with a spring, dampers and a load that swings.
inline Model driven_five_bar(double) {
  Model m;
  const auto a = natural::add_point(m, "A", 0, 0, true), p = natural::add_point(m, "P", std::cos(2.0), std::sin(2.0));
  const auto r = natural::add_point(m, "R", 0.9, 2.1), s = natural::add_point(m, "S", 2.2, 0.9);
  const auto b = natural::add_point(m, "B", 1.8, 0.1, true);
  natural::add_body(m, {a, p}, 1.0);
  natural::add_body(m, {p, r}, 1.5);
  natural::add_body(m, {r, s}, 0.7);
  natural::add_body(m, {b, s}, 1.0);
  natural::add_relative(m, "left", Type::absolute_angle, {a, p});
  natural::add_relative(m, "right", Type::absolute_angle, {b, s});
  m.drivers.push_back({"crank", {CoordinateRef::What::relative, 0}, natural::law_of_t("2 + 0.3*t + 0.2*sin(2*t)"), {}});
  m.springs.push_back({"tie", a, r, 20.0, 1.7, 4.0, {}});
  m.loads.push_back({"push", s, natural::law_of_t("5*cos(3*t)"), Law(-2.0), {}});
  return m;
}

inline Model driven_four_bar(double) {
  Model m = natural::fourbar_with_motor();
  m.drivers.push_back({"crank", {CoordinateRef::What::relative, 0}, natural::law_of_t("0.5*t^2 + 0.3*t"), {}});
  return m;
}

using Machine = Model (*)(double angle);
struct NamedMachine {
  const char* name;
  Machine make;
  int freedoms;
};
inline const std::vector<NamedMachine>& machines() {
  static const std::vector<NamedMachine> list = {{"four-bar", four_bar, 1},
                                                 {"slider-crank", slider_crank, 1},
                                                 {"double pendulum", double_pendulum, 2},
                                                 {"parallelogram", parallelogram, 1},
                                                 {"pick and place", pick_and_place, 2},
                                                 {"driven five-bar", driven_five_bar, 1},
                                                 {"driven four-bar", driven_four_bar, 0}};
  return list;
}

inline step::Tableau tableau(const std::string& name) { return *step::find_tableau(name); }

struct Made {
  std::unique_ptr<NaturalPlant> plant;
  std::vector<double> x;  ///< a state, on the constraints at t = 0
};

/// A plant with unknown forces on the first and the last coordinate, and a generic state of it.
inline Made make(Machine machine, ChartKind chart, const std::string& integrator, unsigned seed = 1,
                 double angle = 0.9) {
  const Model model = machine(angle);
  auto system = std::make_shared<const natural::System>(model);
  const int n = system->coordinates(), relative = static_cast<int>(model.relative.size());
  const auto mobility =
      build::mobility(*system, 0, {system->guess(), natural::System(machine(angle + 0.2)).guess()}, relative);
  PlantOptions options;
  options.integrator = tableau(integrator);
  options.chart = chart;
  options.forces = {0, n - 1};
  options.noises = {{n - 1, Disturbance::Kind::acceleration}, {0, Disturbance::Kind::force}};
  Made made{std::make_unique<NaturalPlant>(model, system, mobility, options), std::vector<double>(2 * n, 0.0)};
  const Eigen::VectorXd guess = system->guess();
  std::copy(guess.begin(), guess.end(), made.x.begin());
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  std::vector<double> dv(n);
  for (double& value : dv) value = uniform(generator);
  if (!made.plant->shift(0, made.x.data(), nullptr, dv.data())) throw std::runtime_error("shift");
  return made;
}

/// The largest of |Φ| and |Φ̇|.
inline double open(const natural::System& system, double t, const double* x) {
  std::vector<double> phi(system.constraints()), rate(system.constraints());
  system.closure(x, x + system.coordinates(), t, phi.data(), rate.data());
  double most = 0;
  for (std::size_t i = 0; i < phi.size(); ++i) {
    for (double value : {phi[i], rate[i]}) most = std::abs(value) <= most ? most : std::abs(value);
  }
  return most;
}

// ---- as dense matrices
inline MatrixXd dense(std::span<const Entry> pattern, const std::vector<double>& values, int rows, int columns) {
  MatrixXd result = MatrixXd::Zero(rows, columns);
  for (std::size_t i = 0; i < values.size(); ++i) result(pattern[i].row, pattern[i].column) += values[i];
  return result;
}

inline MatrixXd jacobian(const natural::System& s, const double* q) {
  std::vector<double> values(s.jacobian_pattern().size());
  s.position(q, 0, nullptr, values.data());
  return dense(s.jacobian_pattern(), values, s.constraints(), s.coordinates());
}

inline MatrixXd mass(const natural::System& s) {
  return dense(s.mass_pattern(), {s.mass_values().begin(), s.mass_values().end()}, s.coordinates(), s.coordinates());
}

inline MatrixXd rows_of(const Chart& chart, int n) {
  if (chart.columns.empty()) return chart.rows;
  MatrixXd C = MatrixXd::Zero(chart.columns.size(), n);
  for (std::size_t i = 0; i < chart.columns.size(); ++i) C(i, chart.columns[i]) = 1;
  return C;
}

inline double largest(const MatrixXd& m) { return m.size() == 0 ? 0 : m.cwiseAbs().maxCoeff(); }

}  // namespace kinegraph::filter::planar
