#include "kinegraph/filter/observability.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/filter/toy_test.hpp"

namespace kinegraph::filter::observability_test {
namespace {

std::vector<ScheduledReading> every(double h, int count, int sensor) {
  std::vector<ScheduledReading> s;
  for (int k = 1; k <= count; ++k) s.push_back({h * k, sensor});
  return s;
}

ObservabilityReport look(Pendulum p, double angle, double rate, const std::vector<ScheduledReading>& schedule,
                         const ObservabilityOptions& options = {}) {
  auto r = observability(p, Eigen::Vector2d(angle, rate), 0, schedule, options);
  EXPECT_TRUE(r) << r.failure().to_string();
  return *r;
}

TEST(Observability, NamesTheAngleThatARateDoesNotShow) {
  Pendulum p;
  p.k = 0;
  const auto r = look(p, 0.5, 1, every(0.01, 100, 1));
  EXPECT_FALSE(r.observable());
  EXPECT_EQ(r.rank, 1);
  ASSERT_EQ(r.unobservable.size(), 1u);
  EXPECT_EQ(r.unobservable[0].name, "theta.q");
  EXPECT_NEAR(r.unobservable[0].shares.at(0).share, 1, 1e-12);
  EXPECT_TRUE(std::isinf(r.sd[0]));
  EXPECT_NEAR(r.sd[1], 0.05 / std::sqrt(100), 1e-12);
  EXPECT_EQ(r.sentences(), (std::vector<std::string>{"theta.q cannot be observed: no reading depends on it"}));
}

TEST(Observability, FindsItSeenUnderGravity) {
  Pendulum p;
  const auto r = look(p, 0.5, 1, every(0.01, 100, 1));
  EXPECT_TRUE(r.observable());
  EXPECT_EQ(r.rank, 2);
  EXPECT_LT(r.sd[0], 0.05);
  EXPECT_TRUE(r.sentences().empty());
}

// The bound is that of least squares: an angle read 100 times at a known rate.
TEST(Observability, GivesTheCramerRaoBound) {
  Pendulum p;
  p.k = 0;
  const auto both = look(p, 0, 0, every(0.01, 100, 0));
  double s1 = 0, st = 0, stt = 0;
  for (int k = 1; k <= 100; ++k) s1 += 1, st += 0.01 * k, stt += 1e-4 * k * k;
  const double det = s1 * stt - st * st;
  EXPECT_NEAR(both.sd[0], 0.02 * std::sqrt(stt / det), 1e-10);
  EXPECT_NEAR(both.sd[1], 0.02 * std::sqrt(s1 / det), 1e-10);
  const auto known = look(p, 0, 0, every(0.01, 100, 0), {.known = {{1, 1e-9}}});
  EXPECT_NEAR(known.sd[0], 0.002, 1e-8);
}

TEST(Observability, CountsWhatIsKnown) {
  Pendulum p;
  p.k = 0;
  const auto r = look(p, 0.5, 1, every(0.01, 100, 1), {.known = {{0, 0.1}}});
  EXPECT_TRUE(r.observable());
  EXPECT_NEAR(r.sd[0], 0.1, 1e-9);
}

/// The rate is read through cos θ: at a standstill, θ does not show.
class Foreshortened : public Pendulum {
 public:
  std::unique_ptr<StateSpace> clone() const override { return std::make_unique<Foreshortened>(*this); }
  bool predict(double, const double* x, int, double* y) override {
    *y = x[1] * std::cos(x[0]);
    return true;
  }
  bool predict(double t, const double* x, const Chart&, int sensor, double* y, MatrixXd& H) override {
    H.resize(1, 2);
    H << -x[1] * std::sin(x[0]), std::cos(x[0]);
    return predict(t, x, sensor, y);
  }
};

TEST(Observability, IsNotFooledByAStandstill) {
  Foreshortened p;
  p.k = 0;
  const auto schedule = every(0.01, 100, 1);
  const Eigen::Vector2d rest(0.4, 0);
  const auto alone = observability(p, rest, 0, schedule, {.trials = 0}), all = observability(p, rest, 0, schedule);
  ASSERT_TRUE(alone && all);
  EXPECT_EQ(alone->rank, 1);
  EXPECT_EQ(all->rank_at_start, 1);
  EXPECT_EQ(all->rank, 2);
  EXPECT_TRUE(all->observable());
}

// Two unknowns that only appear as a sum.
TEST(Observability, NamesWhatOnlyShowsTogether) {
  class Sum : public Pendulum {
   public:
    std::unique_ptr<StateSpace> clone() const override { return std::make_unique<Sum>(*this); }
    bool predict(double, const double* x, int, double* y) override {
      *y = x[0] + x[1];
      return true;
    }
    bool predict(double t, const double* x, const Chart&, int sensor, double* y, MatrixXd& H) override {
      H.setOnes(1, 2);
      return predict(t, x, sensor, y);
    }
  } p;
  p.k = 0;
  const std::vector<ScheduledReading> at_once(5, {0.0, 0});
  const auto r = observability(p, Eigen::Vector2d(0, 0), 0, at_once);
  ASSERT_TRUE(r);
  ASSERT_EQ(r->unobservable.size(), 1u);
  EXPECT_NEAR(r->unobservable[0].shares.at(1).share, 0.5, 1e-12);
  EXPECT_EQ(r->sentences()[0],
            r->unobservable[0].name + " cannot be observed: changed together, they leave every reading as it is");
  EXPECT_TRUE(r->unobservable[0].name == "theta.q together with theta.v" ||
              r->unobservable[0].name == "theta.v together with theta.q");
}

TEST(Observability, TellsWhatIsSeenTooBadlyToBeOfUse) {
  Pendulum p;
  p.k = 1e-3;
  const auto r = look(p, 0.5, 1, every(0.01, 50, 1));
  EXPECT_TRUE(r.unobservable.empty());
  ASSERT_EQ(r.practically.size(), 1u);
  EXPECT_EQ(r.practically[0].name, "theta.q");
  EXPECT_GT(r.sd[0], 2 * M_PI);
  EXPECT_TRUE(std::isfinite(r.sd[0]));
  EXPECT_TRUE(
      r.sentences()[0].starts_with("theta.q can hardly be observed: the readings leave a standard deviation of "))
      << r.sentences()[0];
}

// Upright, changes grow by e³ per second: what is seen early is not drowned.
TEST(Observability, BearsGrowth) {
  Pendulum p;
  p.k = -25;
  EXPECT_TRUE(look(p, 0, 0, every(0.01, 2000, 1)).observable());
  EXPECT_TRUE(look(p, 0, 0, every(0.01, 2000, 0)).observable());
}

TEST(Observability, WithoutReadings) {
  Pendulum p;
  const auto r = look(p, 0, 0, {});
  EXPECT_EQ(r.rank, 0);
  EXPECT_EQ(r.unobservable.size(), 2u);
  EXPECT_EQ(observability(p, Eigen::Vector2d(0, 0), 0, every(0.1, 2, 9)).failure().to_string(),
            "error: there is no sensor 9");
}

}  // namespace
}  // namespace kinegraph::filter::observability_test
