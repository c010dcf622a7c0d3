#include "kinegraph/filter/cell_particles.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/base/random.hpp"
#include "kinegraph/filter/ekf.hpp"
#include "kinegraph/filter/toy_test.hpp"

namespace kinegraph::filter::cell_particles_test {
namespace {

constexpr double kStep = 0.01, kGravity[2] = {9.81, 6};

/// A pendulum whose branches differ by gravity: x = (θ, ω, k).
class Forked final : public Pendulum {
 public:
  std::unique_ptr<StateSpace> clone() const override { return std::make_unique<Forked>(*this); }
  int stored() const override { return 3; }
  bool retract(double t, const double* x, const Chart& chart, const double* d, double* out) override {
    out[2] = x[2];
    return Pendulum::retract(t, x, chart, d, out);
  }
  using Pendulum::advance;
  bool advance(double t, double h, const double* x, const Chart& from, double* next, Chart& to, MatrixXd& F,
               MatrixXd& Q) override {
    k = next[2] = x[2];
    return Pendulum::advance(t, h, x, from, next, to, F, Q);
  }
};

VectorXd state(double angle, int branch) { return Eigen::Vector3d(angle, 0, kGravity[branch]); }

/// Angles of the whole circle in both branches, at rest.
std::vector<Belief> circle(int each) {
  std::vector<Belief> cells;
  for (int branch = 0; branch < 2; ++branch) {
    for (int i = 0; i < each; ++i) {
      const double sd = M_PI / each;
      Belief cell{0, state(2 * M_PI * (i + 0.5) / each - M_PI, branch), {{0}, {}}, MatrixXd::Zero(2, 2), branch};
      cell.P(0, 0) = sd * sd;
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

struct Swing {
  std::vector<Measurement> readings;
  std::vector<double> angle;
};

/// Readings of the rate of a pendulum let go, moved by its process noise.
Swing swing(double angle, int branch, int count, Random& random) {
  Forked space;
  VectorXd x = state(angle, branch), next = x;
  Swing out;
  for (int k = 1; k <= count; ++k) {
    space.advance(0, kStep, x.data(), next.data());
    const double normal[2] = {random.normal(), random.normal()};
    space.disturb(0, kStep, next.data(), normal);
    x = next;
    out.angle.push_back(x[0]);
    out.readings.push_back({k * kStep, 1, {x[1] + space.sensors()[1].channels[0].noise * random.normal()}});
  }
  return out;
}

ParticleOptions options_of(std::uint64_t seed, int threads = 1) {
  ParticleOptions options;
  options.step = kStep;
  options.seed = seed;
  options.threads = threads;
  return options;
}

std::unique_ptr<CellParticles> filter_of(int particles, const ParticleOptions& options) {
  auto made = CellParticles::create(Forked(), circle(particles / 2), particles, 2, options);
  EXPECT_TRUE(made) << made.failure().to_string();
  return *std::move(made);
}

// When the particles take over, the branch is right and the error such as they say.
TEST(CellParticles, FindAngleAndBranchFromFewCells) {
  for (int seed = 0; seed < 20; ++seed) {
    Random random(seed, 3);
    const int branch = seed % 2;
    Swing truth = swing((random.below(2) == 0 ? 1 : -1) * random.uniform(0.5, 2.5), branch, 300, random);
    const auto filter = filter_of(50, options_of(seed));
    std::size_t k = 0;
    while (k < truth.readings.size() && !filter->drawn()) ASSERT_TRUE(filter->push(truth.readings[k++]));
    ASSERT_TRUE(filter->drawn()) << "seed " << seed;
    const Belief& belief = filter->belief();
    EXPECT_EQ(belief.branch, branch) << "seed " << seed;
    EXPECT_GT(filter->branches()[branch], 0.99) << "seed " << seed;
    const double error = std::remainder(belief.x[0] - truth.angle[k - 1], 2 * M_PI);
    EXPECT_LT(std::abs(error), 5 * std::sqrt(belief.P(0, 0))) << "seed " << seed;
    EXPECT_LT(std::sqrt(belief.P(0, 0)), 0.5) << "seed " << seed;
    while (k < truth.readings.size()) ASSERT_TRUE(filter->push(truth.readings[k++]));
    EXPECT_GT(filter->branches()[branch], 0.99) << "seed " << seed;
  }
}

// Where the readings do not decide, the filter must not: what it calls so probable is right so often.
TEST(CellParticles, AreAsSureOfTheBranchAsTheyMayBe) {
  constexpr int kRuns = 300;
  double claimed = 0, right = 0, variance = 0;
  for (int seed = 0; seed < kRuns; ++seed) {
    Random random(seed, 4);
    const int branch = random.below(2);
    const Swing truth = swing(random.uniform(-M_PI, M_PI), branch, 25, random);
    const auto filter = filter_of(24, options_of(seed));
    for (const Measurement& m : truth.readings) ASSERT_TRUE(filter->push(m));
    const std::vector<double>& p = filter->branches();
    const int best = p[1] > p[0];
    claimed += p[best], right += best == branch, variance += p[0] * p[1];
  }
  EXPECT_GT(variance, 10) << "the readings decide: not a test";
  EXPECT_NEAR(claimed, right, 3 * std::sqrt(variance));
}

// One cell, linear: nothing but a Kalman filter, until particles take over.
TEST(CellParticles, StartAsKalmanFilters) {
  Pendulum space;
  space.linear = true;
  Belief start;
  start.x = Eigen::Vector2d(0.3, 0);
  start.P = Eigen::Vector2d(0.25, 0.04).asDiagonal();
  KalmanOptions kalman;
  kalman.step = kStep;
  const auto ekf = *Ekf::make(space.clone(), start, kalman);
  const auto cells = *CellParticles::create(space, {start}, 2000, 1, options_of(1));
  bool compared = false;
  for (int k = 1; k <= 40; ++k) {
    const Measurement m{k * kStep, k % 2, {k % 2 == 0 ? 0.4 : 0.1}};
    ASSERT_TRUE(ekf->push(m) && cells->push(m));
    if (!cells->drawn()) {
      EXPECT_LT((ekf->belief().x - cells->belief().x).norm(), 1e-9);
      EXPECT_LT((ekf->belief().P - cells->belief().P).norm(), 1e-9);
      compared = true;
    }
  }
  EXPECT_TRUE(compared && cells->drawn());
  const VectorXd off = ekf->belief().x - cells->belief().x;
  for (int i = 0; i < 2; ++i) EXPECT_LT(std::abs(off[i]), 0.3 * std::sqrt(ekf->belief().P(i, i)));
}

TEST(CellParticles, GiveTheSameBitsForAnyNumberOfThreads) {
  Random random(5, 5);
  const Swing truth = swing(1.2, 1, 300, random);
  const auto one = filter_of(300, options_of(9, 1)), two = filter_of(300, options_of(9, 2));
  for (const Measurement& m : truth.readings) {
    ASSERT_TRUE(one->push(m) && two->push(m));
    ASSERT_EQ(one->branches(), two->branches());
    ASSERT_EQ(one->belief().x, two->belief().x);
  }
  EXPECT_TRUE(one->drawn());
}

// Put aside before the particles were drawn and after.
TEST(CellParticles, GoBackToWhereTheyWere) {
  Random random(6, 6);
  const Swing truth = swing(1.2, 0, 150, random);
  const auto filter = filter_of(24, options_of(2));
  std::vector<std::unique_ptr<Snapshot>> kept;
  std::vector<VectorXd> believed;
  for (const Measurement& m : truth.readings) {
    kept.push_back(filter->snapshot());
    filter->save(*kept.back());
    ASSERT_TRUE(filter->push(m));
    believed.push_back(filter->belief().x);
  }
  ASSERT_TRUE(filter->drawn());
  for (const std::size_t from : {140, 2}) {
    filter->restore(*kept[from]);
    EXPECT_EQ(filter->drawn(), from == 140);
    for (std::size_t i = from; i < truth.readings.size(); ++i) {
      ASSERT_TRUE(filter->push(truth.readings[i]));
      ASSERT_EQ(filter->belief().x, believed[i]) << from << " " << i;
    }
  }
}

TEST(CellParticles, RefuseWhatIsNoStart) {
  const auto message = [](const std::vector<Belief>& cells, int particles) {
    return CellParticles::create(Forked(), cells, particles, 1, options_of(0)).failure().to_string();
  };
  EXPECT_EQ(message({}, 10), "error: particles: there is no cell to start from");
  EXPECT_EQ(message(circle(2), 0), "error: particles: must be ≥ 1, are 0");
  EXPECT_NE(message(circle(2), 10).find("branch 1 of 1"), std::string::npos);
}

}  // namespace
}  // namespace kinegraph::filter::cell_particles_test
