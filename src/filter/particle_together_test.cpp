// Readings of one time, taken together by lanes or one after the other.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kinegraph/filter/particle_filter.hpp"
#include "kinegraph/filter/state_lanes.hpp"
#include "kinegraph/filter/toy_test.hpp"

namespace kinegraph::filter::particle_together_test {
namespace {

constexpr double kStep = 0.01;

/// A pendulum that answers for eight states at once, state by state. Where `refuses` says so it does not, at that
/// stage.
enum class Stage { advance, respond_first, respond_second, weigh };

class LanePendulum final : public Pendulum, public StateLanes {
 public:
  std::function<bool(Stage, double)> refuses = [](Stage, double) { return false; };

  std::unique_ptr<StateSpace> clone() const override { return std::make_unique<LanePendulum>(*this); }
  StateLanes* lanes() override { return this; }
  bool reads(int) const override { return true; }
  bool charts(const Chart&) const override { return true; }

  using Pendulum::advance;
  using Pendulum::disturb;
  using Pendulum::predict;
  using Pendulum::retract;

  void advance(double t, double h, const double* x, double* next, bool* good) override {
    each(x, good, [&](int s, double* one) {
      double end[2];
      good[s] = Pendulum::advance(t, h, one, end) && !refuses(Stage::advance, end[0]);
      put(end, 2, s, next);
    });
  }
  void find_directions(const double*, bool*) override {}
  void disturb(double t, double h, double* x, const double* normal, bool* good) override {
    each(x, good, [&](int s, double* one) {
      const double n[2] = {normal[s], normal[kLanes + s]};
      good[s] = Pendulum::disturb(t, h, one, n);
      put(one, 2, s, x);
    });
  }
  void predict(const double* x, int sensor, double* y, bool* good) override {
    each(x, good, [&](int s, double* one) {
      good[s] = Pendulum::predict(0, one, sensor, y + s) && !refuses(Stage::weigh, one[0]);
    });
  }
  void respond(double h, const double* x, int sensor, double* y, double* B, bool* good) override {
    each(x, good, [&](int s, double* one) {
      MatrixXd slopes;
      good[s] = Pendulum::response(0, h, one, sensor, y + s, slopes) &&
                !refuses(sensor == 0 ? Stage::respond_first : Stage::respond_second, one[0]);
      put(slopes.data(), 2, s, B);
    });
  }
  void predict(const double* x, int sensor, double* y, double* H, bool* good) override {
    each(x, good, [&](int s, double* one) {
      MatrixXd slopes;
      good[s] = Pendulum::predict(0, one, {}, sensor, y + s, slopes);
      put(slopes.data(), 2, s, H);
    });
  }
  void retract(double t, const double* x, const double* delta, double* out, bool* good) override {
    each(x, good, [&](int s, double* one) {
      const double d[2] = {delta[s], delta[kLanes + s]};
      double end[2];
      good[s] = Pendulum::retract(t, one, {}, d, end);
      put(end, 2, s, out);
    });
  }

 private:
  template <class Do>
  static void each(const double* x, const bool* good, const Do& run) {
    for (int s = 0; s < kLanes; ++s) {
      if (!good[s]) continue;
      double one[2] = {x[s], x[kLanes + s]};
      run(s, one);
    }
  }
  static void put(const double* from, int count, int s, double* to) {
    for (int k = 0; k < count; ++k) to[kLanes * k + s] = from[k];
  }
};

struct Seen {
  std::vector<double> told, particles;
  Eigen::Vector2d mean;
  Eigen::Matrix2d P;
};

/// Both sensors at each of some times, which see a swing with noise of `noises`.
Seen filtered(const StateSpace& space, int count, const ParticleOptions& options, bool together,
              std::uint64_t noises = 5) {
  Random random(options.seed, 77), noise(noises, 78);
  std::vector<Particle> start(count);
  for (Particle& p : start) p.x = Eigen::Vector2d(0.5 + 0.1 * random.normal(), 0.2 * random.normal());
  auto filter = ParticleFilter::create(space, 0, start, 1, options);
  EXPECT_TRUE(filter);
  Seen seen;
  (*filter)->on_innovation = [&](const Innovation& i) {
    seen.told.insert(seen.told.end(), {i.t, double(i.sensor), i.e[0], i.sd[0], i.nis});
  };
  Pendulum truth;
  Eigen::Vector2d x(0.5, 0), next;
  for (int k = 1; k <= 20; ++k) {
    truth.advance(0, kStep, x.data(), next.data());
    x = next;
    std::vector<Measurement> readings;
    for (const int sensor : {0, 1}) {
      Measurement m{k * kStep, sensor, {}};
      m.y.fill(std::numeric_limits<double>::quiet_NaN());
      m.y[0] = x[sensor] + truth.sensors()[sensor].channels[0].noise * noise.normal();
      readings.push_back(m);
    }
    if (together) {
      EXPECT_TRUE((*filter)->push_together(readings));
    } else {
      for (const Measurement& m : readings) EXPECT_TRUE((*filter)->push(m));
    }
  }
  (*filter)->visit([&](const double* state, double weight, int) {
    seen.particles.insert(seen.particles.end(), {count * weight, state[0], state[1]});
  });
  seen.mean = (*filter)->belief().x;
  seen.P = (*filter)->belief().P;
  EXPECT_EQ((*filter)->resamplings() > 0, options.resample > 0);
  return seen;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-9 * (1 + std::abs(b[i]))) << i;
}

// Who falls out of the lanes, at whatever stage, tells of every reading, and of each once.
TEST(ReadingsTogether, ParticlesThatLeaveTheLanesTellOfEveryReading) {
  ParticleOptions options;
  options.step = kStep;
  options.resample = options.kernel = 0;  // then it is the same particles, to rounding
  const Seen alone = filtered(Pendulum(), 300, options, false);
  ASSERT_EQ(alone.told.size(), 5U * 2 * 20);
  for (const Stage stage : {Stage::advance, Stage::respond_first, Stage::respond_second, Stage::weigh}) {
    LanePendulum space;
    int refused = 0;
    space.refuses = [&](Stage at, double angle) {
      const bool here = at == stage && std::fmod(std::abs(angle), 0.01) < 0.003;
      refused += here;
      return here;
    };
    for (const bool together : {false, true}) {
      const Seen seen = filtered(space, 300, options, together);
      expect_near(seen.particles, alone.particles);
      expect_near(seen.told, alone.told);
    }
    EXPECT_GT(refused, 100);
  }
}

// With resampling and kernels the two draw different particles of the same belief: the means of many runs agree as far
// as their spread lets one tell (4 standard errors), and so do the deviations that they say.
TEST(ReadingsTogether, IsTheSameBeliefWhereParticlesAreDrawnAnew) {
  constexpr int kRuns = 40;
  Eigen::Array4d sum[2], squares[2];
  for (const int together : {0, 1}) {
    sum[together].setZero(), squares[together].setZero();
    for (int run = 0; run < kRuns; ++run) {
      ParticleOptions options;
      options.step = kStep;
      options.seed = 1000 * together + run;
      const Seen seen = filtered(LanePendulum(), 400, options, together != 0);
      const Eigen::Array4d value(seen.mean[0], seen.mean[1], std::sqrt(seen.P(0, 0)), std::sqrt(seen.P(1, 1)));
      sum[together] += value;
      squares[together] += value.square();
    }
  }
  for (int k = 0; k < 4; ++k) {
    double mean[2], variance = 0;
    for (const int i : {0, 1}) {
      mean[i] = sum[i][k] / kRuns;
      variance += (squares[i][k] / kRuns - mean[i] * mean[i]) / (kRuns - 1);
    }
    EXPECT_NEAR(mean[0], mean[1], 4 * std::sqrt(variance)) << k;
    EXPECT_LT(std::sqrt(variance), 0.05 * sum[0][2 + k % 2] / kRuns) << k;  // narrow enough to tell
  }
}

}  // namespace
}  // namespace kinegraph::filter::particle_together_test
