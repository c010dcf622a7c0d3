#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "kinegraph/filter/natural_machines_test.hpp"

namespace kinegraph::filter::natural_plant_chart_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using planar::dense;
using planar::jacobian;
using planar::largest;
using planar::machines;
using planar::Made;
using planar::make;
using planar::mass;
using planar::open;
using planar::rows_of;

constexpr ChartKind kCharts[] = {ChartKind::independent, ChartKind::manifold};

TEST(NaturalPlantChart, LiftSatisfiesItsEquations) {
  for (const auto& machine : machines()) {
    for (ChartKind kind : kCharts) {
      const Made made = make(machine.make, kind, "rk4");
      NaturalPlant& plant = *made.plant;
      const natural::System& s = plant.system();
      const int n = plant.velocities(), f = plant.freedoms();
      Chart chart;
      MatrixXd N, D;
      ASSERT_TRUE(plant.choose(0, made.x.data(), chart)) << machine.name;
      ASSERT_TRUE(plant.lift(0, made.x.data(), chart, N, D)) << machine.name;
      const MatrixXd C = rows_of(chart, n), J = jacobian(s, made.x.data());
      std::vector<double> rate_q(s.jacobian_pattern().size());
      s.velocity(made.x.data(), made.x.data() + n, 0, nullptr, rate_q.data(), nullptr);
      const MatrixXd dJ = dense(s.jacobian_pattern(), rate_q, s.constraints(), n);
      EXPECT_EQ(N.cols(), f);
      EXPECT_LT(largest(J * N), 1e-12) << machine.name;
      EXPECT_LT(largest(J * D + dJ * N), 1e-11) << machine.name;
      if (f == 0) continue;
      EXPECT_LT(largest(C * N - MatrixXd::Identity(f, f)), 1e-12) << machine.name;
      EXPECT_LT(largest(C * D), 1e-11) << machine.name;
      if (kind == ChartKind::manifold) {
        EXPECT_LT(largest(N.transpose() * mass(s) * N - MatrixXd::Identity(f, f)), 1e-11) << machine.name;
        EXPECT_LT(largest(C - N.transpose() * mass(s)), 1e-11);
      }
    }
  }
}

TEST(NaturalPlantChart, RetractAndLocalAreInverse) {
  for (const auto& machine : machines()) {
    for (ChartKind kind : kCharts) {
      const Made made = make(machine.make, kind, "rk4");
      NaturalPlant& plant = *made.plant;
      const int d = plant.tangent();
      Chart chart;
      ASSERT_TRUE(plant.choose(0, made.x.data(), chart));
      for (double size : {1e-6, 1e-2, 0.1}) {
        VectorXd delta(d), back(d);
        for (int i = 0; i < d; ++i) delta[i] = size * std::sin(1.3 * i + 0.4);
        std::vector<double> other(made.x.size());
        ASSERT_TRUE(plant.retract(0, made.x.data(), chart, delta.data(), other.data())) << machine.name << size;
        EXPECT_LT(open(plant.system(), 0, other.data()), 1e-12) << machine.name;
        plant.local(made.x.data(), chart, other.data(), back.data());
        EXPECT_LT(largest(back - delta), 1e-13) << machine.name;
        std::vector<double> in_place = made.x;
        ASSERT_TRUE(plant.retract(0, in_place.data(), chart, delta.data(), in_place.data()));
        EXPECT_EQ(in_place, other);
      }
    }
  }
}

TEST(NaturalPlantChart, RetractKeepsTheBranch) {
  const Made made = make(planar::four_bar, ChartKind::independent, "rk4");
  NaturalPlant& plant = *made.plant;
  const Chart chart{{4}, {}};
  std::vector<double> far(10), there = made.x;
  const double delta[] = {2.0, 0.0}, small[] = {0.02, 0.0};
  ASSERT_TRUE(plant.retract(0, made.x.data(), chart, delta, far.data()));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(plant.retract(0, there.data(), chart, small, there.data()));
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(far[i], there[i], 1e-12);
}

TEST(NaturalPlantChart, NoStateBeyondADeadPoint) {
  const Made made = make(planar::four_bar, ChartKind::independent, "rk4");
  std::vector<double> out(10, 7.0);
  const Chart chart{{0}, {}};  // P1.x, 1 m from A: 0.5 m more is out of reach
  const double delta[] = {0.5, 0.0};
  EXPECT_FALSE(made.plant->retract(0, made.x.data(), chart, delta, out.data()));
  EXPECT_FALSE(made.plant->retract(0, made.x.data(), Chart(), delta, out.data()));  // a chart of nothing
  const double nan[] = {std::numeric_limits<double>::quiet_NaN(), 0.0};
  EXPECT_FALSE(made.plant->retract(0, made.x.data(), Chart{{4}, {}}, nan, out.data()));
}

TEST(NaturalPlantChart, ChartIsKeptWhileItServes) {
  const Made made = make(planar::four_bar, ChartKind::independent, "rk4");
  NaturalPlant& plant = *made.plant;
  Chart chart;
  ASSERT_TRUE(plant.choose(0, made.x.data(), chart));
  EXPECT_EQ(chart.columns, std::vector<int>{4});  // theta: declared
  Chart given{{3}, {}};
  std::vector<double> x = made.x;
  const double turn[] = {0.4, 0.0};
  ASSERT_TRUE(plant.retract(0, x.data(), chart, turn, x.data()));
  ASSERT_TRUE(plant.choose(0, x.data(), given));
  EXPECT_EQ(given.columns, std::vector<int>{3});
  // P1.x hardly moves where the crank lies along x
  Chart poor{{0}, {}};
  x = made.x;
  ASSERT_TRUE(plant.choose(0, x.data(), poor));
  EXPECT_NE(poor.columns, std::vector<int>{0});
}

TEST(NaturalPlantChart, PreferredCoordinatesAreChosen) {
  for (int column : {2, 3, 4}) {
    const Model model = planar::four_bar(0);
    auto system = std::make_shared<const natural::System>(model);
    PlantOptions options;
    options.integrator = planar::tableau("rk4");
    options.prefer = {column};
    NaturalPlant plant(model, system, build::mobility(*system, 0, {system->guess()}, 1), options);
    std::vector<double> x(10, 0.0);
    const VectorXd guess = system->guess();
    std::copy(guess.begin(), guess.end(), x.begin());
    const double turn[] = {0.7, 0.0};
    ASSERT_TRUE(plant.retract(0, x.data(), Chart{{4}, {}}, turn, x.data()));
    Chart chart;
    ASSERT_TRUE(plant.choose(0, x.data(), chart));
    EXPECT_EQ(chart.columns, std::vector<int>{column});
  }
}

TEST(NaturalPlantChart, ShiftIsTheSmallestChange) {
  for (const auto& machine : machines()) {
    const Made made = make(machine.make, ChartKind::independent, "rk4");
    NaturalPlant& plant = *made.plant;
    const int n = plant.velocities();
    std::vector<double> x = made.x;
    VectorXd dq(n), dv(n);
    for (int i = 0; i < n; ++i) dq[i] = 1e-5 * std::sin(i + 0.3), dv[i] = 0.1 * std::cos(2 * i);
    ASSERT_TRUE(plant.shift(0, x.data(), dq.data(), dv.data())) << machine.name;
    EXPECT_LT(open(plant.system(), 0, x.data()), 1e-12) << machine.name;
    // what is left of the change after projection is, to first order, K M of it
    Chart chart;
    MatrixXd N, D;
    ASSERT_TRUE(plant.choose(0, made.x.data(), chart) && plant.lift(0, made.x.data(), chart, N, D));
    if (plant.freedoms() == 0) continue;
    const MatrixXd M = mass(plant.system()), G = N.transpose() * M * N;
    const VectorXd expected = N * G.inverse() * N.transpose() * M * dq;
    for (int i = 0; i < n; ++i) EXPECT_NEAR(x[i] - made.x[i], expected[i], 2e-9) << machine.name;
    const double inf = std::numeric_limits<double>::infinity();
    dq.setConstant(inf);
    std::vector<double> kept = x;
    EXPECT_FALSE(plant.shift(0, x.data(), dq.data(), nullptr));
    EXPECT_EQ(x, kept);
  }
}

TEST(NaturalPlantChart, SingularPositionHasNoAnswer) {
  // the parallelogram stretched out: its bars may fold over to the other branch
  const Model model = planar::parallelogram(0.0);
  auto system = std::make_shared<const natural::System>(model);
  const auto mobility = build::mobility(
      *system, 0, {planar::make(planar::parallelogram, ChartKind::independent, "rk4").plant->system().guess()}, 1);
  PlantOptions options;
  options.integrator = planar::tableau("rk4");
  options.noises = {{6, Disturbance::Kind::force}};
  NaturalPlant plant(model, system, mobility, options);
  const int n = system->coordinates();
  std::vector<double> x(2 * n, 0.0), next(2 * n);
  const VectorXd guess = system->guess();
  std::copy(guess.begin(), guess.end(), x.begin());
  Chart chart;
  MatrixXd N, D;
  sensor::Instant out;
  EXPECT_FALSE(plant.choose(0, x.data(), chart));
  EXPECT_FALSE(plant.lift(0, x.data(), Chart{{6}, {}}, N, D));
  EXPECT_FALSE(plant.noise_directions(0, x.data(), N));
  EXPECT_FALSE(plant.instant(0, x.data(), nullptr, true, nullptr, nullptr, out));
  x[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(plant.choose(0, x.data(), chart));
  EXPECT_FALSE(plant.advance(0, 0.01, x.data(), nullptr, next.data()));
}

}  // namespace
}  // namespace kinegraph::filter::natural_plant_chart_test
