#include "kinegraph/filter/natural_plant.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "kinegraph/filter/natural_machines_test.hpp"
#include "kinegraph/linear/allocations_test.hpp"

namespace kinegraph::filter::natural_plant_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using planar::jacobian;
using planar::largest;
using planar::machines;
using planar::Made;
using planar::make;
using planar::mass;
using planar::open;

constexpr ChartKind kCharts[] = {ChartKind::independent, ChartKind::manifold};

TEST(NaturalPlant, FreedomsAndNames) {
  for (const auto& machine : machines()) {
    const Made made = make(machine.make, ChartKind::independent, "rk4");
    EXPECT_EQ(made.plant->freedoms(), machine.freedoms) << machine.name;
    EXPECT_LT(open(made.plant->system(), 0, made.x.data()), 1e-12) << machine.name;
  }
  const Made made = make(planar::slider_crank, ChartKind::independent, "rk4");
  EXPECT_EQ(made.plant->column_name(0), "P.x");
  EXPECT_TRUE(made.plant->circular(4));
  EXPECT_FALSE(made.plant->circular(5));  // a stroke
  EXPECT_FALSE(made.plant->circular(6));  // a coil counts its turns
  EXPECT_FALSE(made.plant->circular(0));
}

// A long way in one go: the crank turns by two radians and the rocker keeps its side.
void expect_derivatives(NaturalPlant& plant, const std::vector<double>& x, double h, const std::string& what) {
  const int d = plant.tangent(), forces = plant.forces();
  const double t = 0.0, e = 1e-5;
  const VectorXd force = VectorXd::LinSpaced(forces, 0.7, -1.1);
  Chart chart, next_chart;
  ASSERT_TRUE(plant.choose(t, x.data(), chart)) << what;
  std::vector<double> next(x.size()), plain(x.size()), moved(x.size()), ahead(x.size()), behind(x.size());
  MatrixXd by_state, by_force;
  ASSERT_TRUE(plant.advance(t, h, x.data(), force.data(), chart, next.data(), next_chart, by_state, by_force)) << what;
  ASSERT_TRUE(plant.advance(t, h, x.data(), force.data(), plain.data())) << what;
  EXPECT_EQ(next, plain) << what;
  EXPECT_LT(open(plant.system(), t + h, next.data()), 1e-12) << what;

  const auto slope = [&] {
    VectorXd plus(d), minus(d);
    plant.local(next.data(), next_chart, ahead.data(), plus.data());
    plant.local(next.data(), next_chart, behind.data(), minus.data());
    return VectorXd((plus - minus) / (2 * e));
  };
  MatrixXd state(d, d), push(d, forces);
  for (int j = 0; j < d; ++j) {
    VectorXd delta = VectorXd::Zero(d);
    delta[j] = e;
    ASSERT_TRUE(plant.retract(t, x.data(), chart, delta.data(), moved.data())) << what;
    ASSERT_TRUE(plant.advance(t, h, moved.data(), force.data(), ahead.data())) << what;
    delta[j] = -e;
    ASSERT_TRUE(plant.retract(t, x.data(), chart, delta.data(), moved.data())) << what;
    ASSERT_TRUE(plant.advance(t, h, moved.data(), force.data(), behind.data())) << what;
    state.col(j) = slope();
  }
  for (int j = 0; j < forces; ++j) {
    VectorXd f = force;
    f[j] += e;
    ASSERT_TRUE(plant.advance(t, h, x.data(), f.data(), ahead.data())) << what;
    f[j] -= 2 * e;
    ASSERT_TRUE(plant.advance(t, h, x.data(), f.data(), behind.data())) << what;
    push.col(j) = slope();
  }
  ASSERT_EQ(by_state.rows(), d);
  ASSERT_EQ(by_force.cols(), forces);
  const double scale = 1 + largest(state);
  EXPECT_LT(largest(by_state - state), 2e-8 * scale) << what << "\n" << by_state << "\n\n" << state;
  EXPECT_LT(largest(by_force - push), 2e-8 * scale) << what << "\n" << by_force << "\n\n" << push;
}

TEST(NaturalPlant, DerivativesOfAStepAreExact) {
  for (const auto& machine : machines()) {
    for (ChartKind kind : kCharts) {
      for (const char* integrator : {"euler", "midpoint", "heun", "rk4", "dopri5"}) {
        const Made made = make(machine.make, kind, integrator);
        const std::string what =
            std::string(machine.name) + " " + integrator + (kind == ChartKind::manifold ? " M" : "");
        expect_derivatives(*made.plant, made.x, 0.01, what);
      }
    }
  }
}

// Over a long step the projection counts: it must be differentiated too.
TEST(NaturalPlant, DerivativesOfALongStepAreExact) {
  for (const char* integrator : {"euler", "heun", "rk4"}) {
    const Made made = make(planar::four_bar, ChartKind::independent, integrator, 3);
    expect_derivatives(*made.plant, made.x, 0.05, integrator);
    const Made crank = make(planar::slider_crank, ChartKind::manifold, integrator, 2);
    expect_derivatives(*crank.plant, crank.x, 0.05, integrator);
  }
}

TEST(NaturalPlant, OrderOfTheIntegrator) {
  for (const auto& machine : machines()) {
    const double end = 0.1;
    const auto run = [&](const char* integrator, int steps) {
      const Made made = make(machine.make, ChartKind::independent, integrator);
      std::vector<double> x = made.x, next(x.size());
      for (int k = 0; k < steps; ++k) {
        EXPECT_TRUE(made.plant->advance(k * end / steps, end / steps, x.data(), nullptr, next.data()));
        x = next;
      }
      EXPECT_LT(open(made.plant->system(), end, x.data()), 1e-12) << machine.name;
      return VectorXd(Eigen::Map<const VectorXd>(x.data(), static_cast<int>(x.size())));
    };
    const VectorXd exact = run("dopri5", 400);
    for (const auto& [integrator, order] : {std::pair{"euler", 1}, {"heun", 2}, {"rk4", 4}}) {
      const double coarse = largest(run(integrator, 5) - exact), fine = largest(run(integrator, 10) - exact);
      if (fine < 1e-12) continue;
      EXPECT_NEAR(std::log2(coarse / fine), order, 0.6) << machine.name << " " << integrator;
    }
  }
}

TEST(NaturalPlant, EnergyIsKept) {
  const Made made = make(planar::double_pendulum, ChartKind::independent, "rk4");
  const natural::System& s = made.plant->system();
  const int n = s.coordinates();
  const auto energy = [&](const double* x) { return s.kinetic_energy(x + n) + s.potential_energy(x); };
  std::vector<double> x = made.x, next(x.size());
  const double start = energy(x.data());
  for (int k = 0; k < 1000; ++k) {
    ASSERT_TRUE(made.plant->advance(k * 1e-3, 1e-3, x.data(), nullptr, next.data()));
    x = next;
  }
  EXPECT_NEAR(energy(x.data()), start, 1e-8);
  EXPECT_GT(std::abs(s.potential_energy(x.data()) - s.potential_energy(made.x.data())), 0.1);
}

TEST(NaturalPlant, NoiseDirections) {
  for (const auto& machine : machines()) {
    std::vector<MatrixXd> found;
    for (ChartKind kind : kCharts) {
      const Made made = make(machine.make, kind, "rk4");
      NaturalPlant& plant = *made.plant;
      MatrixXd d, N, D;
      Chart chart;
      ASSERT_TRUE(plant.noise_directions(0, made.x.data(), d)) << machine.name;
      EXPECT_LT(largest(jacobian(plant.system(), made.x.data()) * d), 1e-12) << machine.name;
      found.push_back(d);
      ASSERT_TRUE(plant.choose(0, made.x.data(), chart) && plant.lift(0, made.x.data(), chart, N, D));
      const int n = plant.velocities();
      if (plant.freedoms() == 0) {
        EXPECT_EQ(largest(d), 0);
        continue;
      }
      const MatrixXd K = N * (N.transpose() * mass(plant.system()) * N).inverse() * N.transpose();
      EXPECT_NEAR(d(n - 1, 0), 1, 1e-12) << machine.name;
      EXPECT_LT(largest(d.col(0) * K(n - 1, n - 1) - K.col(n - 1)), 1e-11 * largest(K)) << machine.name;
      EXPECT_LT(largest(d.col(1) - K.col(0)), 1e-11 * largest(K)) << machine.name;
    }
    EXPECT_EQ(found[0], found[1]) << machine.name;
  }
}

// A driven crank does not answer to noise on it.
TEST(NaturalPlant, NoiseOnADrivenCoordinateIsNothing) {
  const Model model = planar::driven_five_bar(0);
  auto system = std::make_shared<const natural::System>(model);
  PlantOptions options;
  options.integrator = planar::tableau("rk4");
  options.noises = {{6, Disturbance::Kind::acceleration}, {7, Disturbance::Kind::acceleration}};
  NaturalPlant plant(model, system, build::mobility(*system, 0, {system->guess()}, 2), options);
  std::vector<double> x(16, 0.0);
  const VectorXd guess = system->guess();
  std::copy(guess.begin(), guess.end(), x.begin());
  MatrixXd d;
  ASSERT_TRUE(plant.noise_directions(0, x.data(), d));
  EXPECT_EQ(largest(d.col(0)), 0);
  EXPECT_DOUBLE_EQ(d(7, 1), 1);
}

TEST(NaturalPlant, InstantAndItsDerivatives) {
  for (const auto& machine : machines()) {
    const Made made = make(machine.make, ChartKind::independent, "rk4");
    NaturalPlant& plant = *made.plant;
    const int n = plant.velocities(), d = plant.tangent(), f = plant.freedoms();
    const VectorXd force = VectorXd::LinSpaced(plant.forces(), 0.7, -1.1);
    const double t = 0.0;
    Chart chart;
    MatrixXd N, D;
    ASSERT_TRUE(plant.choose(t, made.x.data(), chart) && plant.lift(t, made.x.data(), chart, N, D));
    MatrixXd dq = MatrixXd::Zero(n, d), dv = MatrixXd::Zero(n, d);
    dq.leftCols(f) = N, dv.leftCols(f) = D, dv.rightCols(f) = N;
    sensor::Instant at, ahead, behind, bare;
    ASSERT_TRUE(plant.instant(t, made.x.data(), force.data(), true, &dq, &dv, at)) << machine.name;
    ASSERT_EQ(at.directions(), d + plant.forces());

    // the equations hold
    const natural::System& s = plant.system();
    VectorXd r(n);
    s.motion(at.q.data(), at.v.data(), at.a.data(), at.reaction.data(), at.tau.data(), t, r.data(), nullptr, nullptr,
             nullptr);
    r[0] -= force[0], r[n - 1] -= force[1];
    EXPECT_LT(largest(r), 1e-9) << machine.name;
    VectorXd acc(s.constraints());
    s.acceleration(at.q.data(), at.v.data(), at.a.data(), t, acc.data(), nullptr, nullptr, nullptr);
    EXPECT_LT(largest(acc), 1e-10) << machine.name;

    const double e = 1e-5;
    std::vector<double> moved(2 * n);
    const auto compare = [&](int column) {
      const VectorXd da = (ahead.a - behind.a) / (2 * e), dl = (ahead.reaction - behind.reaction) / (2 * e);
      EXPECT_LT(largest(at.da.col(column) - da), 1e-7 * (1 + largest(da))) << machine.name << column;
      EXPECT_LT(largest(at.dreaction.col(column) - dl), 1e-7 * (1 + largest(dl))) << machine.name << column;
      EXPECT_LT(largest(at.dq.col(column) - (ahead.q - behind.q) / (2 * e)), 1e-8) << machine.name;
      EXPECT_LT(largest(at.dv.col(column) - (ahead.v - behind.v) / (2 * e)), 1e-7) << machine.name;
    };
    for (int j = 0; j < d; ++j) {
      for (double sign : {1.0, -1.0}) {
        VectorXd delta = VectorXd::Zero(d);
        delta[j] = sign * e;
        ASSERT_TRUE(plant.retract(t, made.x.data(), chart, delta.data(), moved.data()));
        ASSERT_TRUE(plant.instant(t, moved.data(), force.data(), true, nullptr, nullptr, sign > 0 ? ahead : behind));
      }
      compare(j);
    }
    for (int j = 0; j < plant.forces(); ++j) {
      for (double sign : {1.0, -1.0}) {
        VectorXd pushed = force;
        pushed[j] += sign * e;
        ASSERT_TRUE(plant.instant(t, made.x.data(), pushed.data(), true, nullptr, nullptr, sign > 0 ? ahead : behind));
      }
      compare(d + j);
    }
    ASSERT_TRUE(plant.instant(t, made.x.data(), nullptr, false, &dq, &dv, bare));
    EXPECT_EQ(bare.directions(), d);
  }
}

// Whatever an object was asked before, and wherever it was copied from, it gives the same bits.
TEST(NaturalPlant, SameBitsWhateverCameBefore) {
  for (const auto& machine : machines()) {
    const Made made = make(machine.make, ChartKind::independent, "rk4");
    auto other = made.plant->clone();
    std::vector<double> x = made.x, a(x.size()), b(x.size()), far = made.x;
    for (int k = 0; k < 200; ++k) {  // `other` has been elsewhere
      ASSERT_TRUE(other->advance(k * 5e-3, 5e-3, far.data(), nullptr, a.data())) << machine.name;
      far = a;
    }
    MatrixXd one, two;
    for (int k = 0; k < 20; ++k) {
      const double t = k * 5e-3;
      ASSERT_TRUE(made.plant->noise_directions(t, x.data(), one));
      ASSERT_TRUE(made.plant->advance(t, 5e-3, x.data(), nullptr, a.data()));
      ASSERT_TRUE(other->advance(t, 5e-3, x.data(), nullptr, b.data()));
      ASSERT_TRUE(other->noise_directions(t, x.data(), two));
      ASSERT_EQ(a, b) << machine.name;
      ASSERT_EQ(one, two) << machine.name;
      x = a;
    }
  }
}

// The redundant parallelogram turns through both of its flat positions, where the rows that were kept lose rank.
TEST(NaturalPlant, MotionGoesThroughFlatPositions) {
  const Made made = make(planar::parallelogram, ChartKind::independent, "rk4");
  NaturalPlant& plant = *made.plant;
  const int n = plant.velocities();
  std::vector<double> x = made.x, next(x.size()), push(n, 0.0);
  push[n - 1] = 9;
  for (int c = 0; c < n; ++c) x[n + c] = 0;
  ASSERT_TRUE(plant.shift(0, x.data(), nullptr, push.data()));
  MatrixXd d;
  ASSERT_TRUE(plant.noise_directions(0, x.data(), d));
  for (int c = 0; c < n; ++c) push[c] = 9 * d(c, 0);
  ASSERT_TRUE(plant.shift(0, x.data(), nullptr, push.data()));
  for (int k = 0; k < 2000; ++k) {
    ASSERT_TRUE(plant.advance(k * 1e-3, 1e-3, x.data(), nullptr, next.data())) << k;
    x = next;
    ASSERT_LT(open(plant.system(), 0, x.data()), 1e-12);
  }
  EXPECT_GT(x[n - 1], 7);             // more than a turn
  EXPECT_NEAR(x[2] - x[0], 2, 1e-9);  // still a parallelogram
  EXPECT_NEAR(x[3], x[1], 1e-9);
}

TEST(NaturalPlant, NothingAllocatesAfterTheFirstCall) {
  if (!linear::test::allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  for (ChartKind kind : kCharts) {
    const Made made = make(planar::pick_and_place, kind, "rk4");
    NaturalPlant& plant = *made.plant;
    const int n = plant.velocities();
    std::vector<double> next(made.x.size()), small(n, 1e-6), delta(plant.tangent(), 1e-3);
    const double force[] = {0.3, -0.2};
    Chart chart, next_chart;
    MatrixXd N, D, by_state, by_force, noise;
    sensor::Instant out;
    bool good = true;
    const auto all = [&](double t) {
      next = made.x;
      good &= plant.choose(t, made.x.data(), chart) && plant.lift(t, made.x.data(), chart, N, D);
      good &= plant.retract(t, made.x.data(), chart, delta.data(), next.data());
      plant.local(made.x.data(), chart, next.data(), delta.data());
      good &= plant.shift(t, next.data(), small.data(), small.data());
      good &= plant.advance(t, 1e-3, made.x.data(), force, next.data());
      good &= plant.advance(t, 1e-3, made.x.data(), force, chart, next.data(), next_chart, by_state, by_force);
      good &= plant.noise_directions(t, next.data(), noise);
      good &= plant.instant(t, made.x.data(), force, true, &N, &D, out);
    };
    all(0);
    const long before = linear::test::allocations();
    for (int k = 1; k < 20; ++k) all(0.01 * k);
    EXPECT_EQ(linear::test::allocations(), before);
    EXPECT_TRUE(good);
  }
}

}  // namespace
}  // namespace kinegraph::filter::natural_plant_test
