#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/filter/machine_space.hpp"
#include "kinegraph/filter/natural_machines_test.hpp"
#include "kinegraph/filter/particle_filter.hpp"

// The particles of a machine, which are moved in packets.
namespace kinegraph::filter::particle_packets_test {
namespace {

constexpr double kStep = 4e-3;
constexpr int kReadings = 40;

struct Seen {
  std::unique_ptr<MachineSpace> space;
  std::vector<Particle> start;
  std::vector<Measurement> readings;
};

/// A four-bar with a gyroscope on its coupler whose offset wanders, and an unknown force.
Seen four_bar(int particles) {
  Model model = planar::four_bar(0);
  Sensor gyro;
  gyro.name = "gyro";
  gyro.type = SensorType::gyroscope;
  gyro.on.body = 1;
  gyro.channels.resize(1);
  gyro.channels[0].name = "gyro.w";
  gyro.channels[0].noise = 0.02;
  gyro.channels[0].bias_walk = 0.01;
  model.sensors.push_back(gyro);
  auto system = std::make_shared<const natural::System>(model);
  const int n = system->coordinates();
  const auto mobility = build::mobility(*system, 0, {system->guess()}, static_cast<int>(model.relative.size()));
  PlantOptions options;
  options.integrator = planar::tableau("rk4");
  options.noises = {{n - 1, Disturbance::Kind::acceleration}};
  options.forces = {n - 1};
  MachineOptions machine;
  machine.density = {0.3};
  machine.unknowns = {{"load", {}, 0.1, 0.1, {}}};
  Seen seen;
  seen.space = std::make_unique<MachineSpace>(std::make_unique<NaturalPlant>(model, system, mobility, options),
                                              sensor::make_observer(model, system), machine);
  VectorXd x = seen.space->state(system->guess(), VectorXd::Zero(n)), next = x;
  EXPECT_TRUE(seen.space->plant().shift(0, x.data(), nullptr, nullptr));
  Chart chart;
  EXPECT_TRUE(seen.space->choose(0, x.data(), chart));
  Random random(3);
  for (int i = 0; i < particles; ++i) {
    VectorXd delta = VectorXd::Zero(seen.space->tangent());
    delta[0] = 0.3 * random.normal(), delta[1] = 0.3 * random.normal(), delta[3] = 0.1 * random.normal();
    if (!seen.space->retract(0, x.data(), chart, delta.data(), next.data())) next = x;
    seen.start.push_back({next, i % 2, 0});
  }
  for (int k = 1; k <= kReadings; ++k) {
    for (int half = 0; half < 2; ++half) {
      const double t = (2 * (k - 1) + half) * kStep;
      EXPECT_TRUE(seen.space->advance(t, kStep, x.data(), next.data()));
      x.swap(next);
    }
    Measurement m{2 * k * kStep, 0, {}};
    EXPECT_TRUE(seen.space->predict(m.t, x.data(), 0, m.y.data()));
    m.y[0] += 0.02 * random.normal();
    seen.readings.push_back(m);
  }
  return seen;
}

std::vector<double> run(const Seen& seen, int threads, Proposal proposal) {
  ParticleOptions options;
  options.step = kStep;
  options.noise_steps = 1;  // so that some noise is drawn on the way
  options.proposal = proposal;
  options.threads = threads;
  auto filter = ParticleFilter::create(*seen.space, 0, seen.start, 2, options);
  EXPECT_TRUE(filter);
  double told = 0;
  (*filter)->on_innovation = [&](const Innovation& i) { told += i.e[0] + i.nis; };
  for (const Measurement& m : seen.readings) EXPECT_TRUE((*filter)->push(m));
  std::vector<double> all = {told, (*filter)->log_evidence()};
  (*filter)->visit([&](const double* x, double weight, int branch) {
    all.insert(all.end(), x, x + seen.space->stored());
    all.push_back(weight);
    all.push_back(branch);
  });
  return all;
}

TEST(ParticlePackets, SameBitsWithAnyNumberOfThreads) {
  const Seen seen = four_bar(203);  // no block is a multiple of a packet
  for (Proposal proposal : {Proposal::optimal, Proposal::prior}) {
    const std::vector<double> one = run(seen, 1, proposal);
    for (int threads : {2, 3}) EXPECT_EQ(run(seen, threads, proposal), one) << threads;
  }
}

// A particle that cannot move is given up; the others do not notice.
TEST(ParticlePackets, ABrokenParticleIsGivenUp) {
  Seen seen = four_bar(20);
  seen.start[7].x[seen.space->plant().positions()] = 1e300;
  ParticleOptions options;
  options.step = kStep;
  options.resample = 0;
  auto filter = ParticleFilter::create(*seen.space, 0, seen.start, 2, options);
  ASSERT_TRUE(filter);
  for (int k = 0; k < 3; ++k) ASSERT_TRUE((*filter)->push(seen.readings[k]));
  int living = 0;
  (*filter)->visit([&](const double* x, double, int) {
    ++living;
    EXPECT_LT(std::abs(x[0]), 10);
  });
  EXPECT_EQ(living, 19);
}

// The space's own forms for many states against those for one: walks and unknown forces too.
TEST(ParticlePackets, ManyStatesAsOneByOne) {
  const Seen seen = four_bar(13);
  MachineSpace& space = *seen.space;
  const int stored = space.stored(), noises = space.noises(), count = static_cast<int>(seen.start.size());
  std::vector<double> x, next, normal(static_cast<std::size_t>(count) * noises);
  for (const Particle& p : seen.start) x.insert(x.end(), p.x.begin(), p.x.end());
  next = x;
  for (std::size_t i = 0; i < normal.size(); ++i) normal[i] = std::sin(7.0 * i);
  std::vector<double> y(static_cast<std::size_t>(count) * kMostRows);
  std::vector<MatrixXd> B(count);
  bool good[13], answered[13], kicked[13];
  space.advance_many(0, kStep, count, x.data(), next.data(), good);
  space.response_many(kStep, kStep, count, next.data(), 0, y.data(), B.data(), answered);
  std::vector<double> end = next;
  space.disturb_many(kStep, kStep, count, end.data(), normal.data(), kicked);
  for (int i = 0; i < count; ++i) {
    VectorXd one(stored);
    double reading[kMostRows];
    MatrixXd answer;
    ASSERT_TRUE(good[i] && answered[i] && kicked[i]);
    ASSERT_TRUE(space.advance(0, kStep, seen.start[i].x.data(), one.data()));
    ASSERT_TRUE(space.response(kStep, kStep, one.data(), 0, reading, answer));
    EXPECT_NEAR(y[static_cast<std::size_t>(i) * kMostRows], reading[0], 1e-12);
    EXPECT_LT((B[i] - answer).cwiseAbs().maxCoeff(), 1e-12);
    ASSERT_TRUE(space.disturb(kStep, kStep, one.data(), &normal[static_cast<std::size_t>(i) * noises]));
    for (int k = 0; k < stored; ++k) EXPECT_NEAR(end[static_cast<std::size_t>(i) * stored + k], one[k], 1e-12);
  }
}

}  // namespace
}  // namespace kinegraph::filter::particle_packets_test
