#include "kinegraph/filter/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/bank.hpp"
#include "kinegraph/filter/ekf.hpp"
#include "kinegraph/filter/toy_test.hpp"
#include "kinegraph/filter/ukf.hpp"
#include "kinegraph/linear/allocations_test.hpp"

namespace kinegraph::filter::replay_test {
namespace {

Belief start(double angle = 0.5, int branch = 0) {
  Belief b;
  b.x = Eigen::Vector2d(angle, 0);
  b.P = Eigen::Vector2d(0.01, 0.01).asDiagonal();
  b.branch = branch;
  return b;
}

std::unique_ptr<Rewindable> make(const std::string& kind, const Pendulum& p = {}) {
  if (kind == "ekf") return std::move(*Ekf::make(p.clone(), start()));
  if (kind == "ukf") return std::move(*Ukf::make(p.clone(), start()));
  std::vector<std::unique_ptr<Kalman>> filters;
  for (int i = 0; i < 6; ++i) filters.push_back(std::move(*Ekf::make(p.clone(), start(0.3 + 0.1 * i, i % 2))));
  return std::move(*Bank::make(std::move(filters)));
}

/// Readings in the order in which they come: the angle's 0 … 0.15 s late, at odd times.
struct Arrivals {
  std::vector<Measurement> as_they_come, in_order;
};
Arrivals arrivals(int count) {
  std::mt19937_64 bits(9);
  std::uniform_real_distribution<double> uniform;
  std::vector<std::pair<double, Measurement>> all;
  for (int k = 1; k <= count; ++k) {
    const double t = 0.01 * k;
    all.push_back({t, {t, 1, {-std::sin(3 * t), kNan, kNan, kNan, kNan, kNan}}});
    if (k % 3 == 0) {
      const double s = t - 0.004 * uniform(bits);
      all.push_back({s + 0.15 * uniform(bits), {s, 0, {0.5 * std::cos(3 * s), kNan, kNan, kNan, kNan, kNan}}});
    }
  }
  Arrivals a;
  const auto fill = [&](auto before, auto& out) {
    std::stable_sort(all.begin(), all.end(), before);
    for (const auto& [came, m] : all) out.push_back(m);
  };
  fill([](const auto& a, const auto& b) { return a.second.t < b.second.t; }, a.in_order);
  fill([](const auto& a, const auto& b) { return a.first < b.first; }, a.as_they_come);
  return a;
}

class Replays : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Replays, ::testing::Values("ekf", "ukf", "bank"));

TEST_P(Replays, EqualReadingsInOrderToTheBit) {
  const Arrivals a = arrivals(200);
  for (const double spacing : {-1.0, 0.0, 0.5}) {
    auto plain = make(GetParam());
    Replay replay(make(GetParam()), {.lag = 0.2, .spacing = spacing});
    int told = 0;
    replay.on_innovation = [&](const Innovation&) { ++told; };
    for (const Measurement& m : a.in_order) ASSERT_TRUE(plain->push(m));
    for (const Measurement& m : a.as_they_come) ASSERT_TRUE(replay.push(m));
    EXPECT_EQ(told, static_cast<int>(a.in_order.size()));
    EXPECT_GT(replay.replayed(), 100);
    // The last ones to come may lie before the end.
    ASSERT_TRUE(plain->advance(2.5) && replay.advance(2.5));
    EXPECT_EQ(replay.t(), plain->t());
    EXPECT_EQ(replay.belief().x, plain->belief().x);
    EXPECT_EQ(replay.belief().P, plain->belief().P);
    EXPECT_EQ(replay.branches(), plain->branches());
  }
}

TEST(Replay, CountsAdvancesAsEvents) {
  auto plain = make("ekf");
  Replay replay(make("ekf"), {.lag = 0.2});
  const Measurement first{0.1, 1, {-0.3, kNan, kNan, kNan, kNan, kNan}},
      late{0.13, 0, {0.4, kNan, kNan, kNan, kNan, kNan}};
  ASSERT_TRUE(plain->push(first) && plain->push(late) && plain->advance(0.147) && plain->advance(0.2));
  ASSERT_TRUE(replay.push(first) && replay.advance(0.147) && replay.advance(0.2) && replay.push(late));
  EXPECT_EQ(replay.t(), 0.2);
  EXPECT_EQ(replay.belief().x, plain->belief().x);
  EXPECT_EQ(replay.belief().P, plain->belief().P);
}

TEST(Replay, RefusesWhatIsTooLate) {
  Replay replay(make("ekf"), {.lag = 0.2});
  const auto at = [](double t) { return Measurement{t, 1, {0.1, kNan, kNan, kNan, kNan, kNan}}; };
  EXPECT_EQ(replay.push(at(-0.1)).failure().to_string(),
            "error: the reading of 'rate' at t = -0.1 s is from before the start, 0 s");
  ASSERT_TRUE(replay.push(at(1)));
  const Belief before = replay.belief();
  EXPECT_EQ(replay.push(at(0.65)).failure().to_string(),
            "error: the reading of 'rate' at t = 0.65 s came 0.35 s late; readings are kept for 0.2 s");
  EXPECT_EQ(replay.belief().x, before.x);
  EXPECT_TRUE(replay.push(at(0.8)));
  EXPECT_NE(replay.belief().x, before.x);
}

/// A pendulum whose motion ends where it turns too fast.
class Fragile : public Pendulum {
 public:
  using Pendulum::advance;
  std::unique_ptr<StateSpace> clone() const override { return std::make_unique<Fragile>(*this); }
  bool advance(double t, double h, const double* x, const Chart& c, double* next, Chart& n, MatrixXd& F,
               MatrixXd& Q) override {
    return std::abs(x[1]) < 10 && Pendulum::advance(t, h, x, c, next, n, F, Q);
  }
};

TEST(Replay, UndoesALateReadingThatLeadsNowhere) {
  Fragile p;
  Replay replay(make("ekf", p), {.lag = 0.5});
  const auto at = [](double t, double y) { return Measurement{t, 1, {y, kNan, kNan, kNan, kNan, kNan}}; };
  int told = 0;
  for (int k = 1; k < 20; ++k) ASSERT_TRUE(replay.push(at(0.01 * k, -0.1)));
  replay.on_innovation = [&](const Innovation&) { ++told; };
  const Belief before = replay.belief();
  EXPECT_EQ(replay.push(at(0.105, 1e4)).failure().to_string(),
            "error: the motion cannot be followed beyond t = 0.105 s");
  EXPECT_EQ(told, 1);
  EXPECT_EQ(replay.t(), 0.19);
  EXPECT_EQ(replay.belief().x, before.x);
  EXPECT_EQ(replay.belief().P, before.P);
  EXPECT_TRUE(replay.push(at(0.105, -0.1)));
}

TEST(Replay, KeepsABoundedPastWithoutAllocating) {
  Replay replay(make("ekf"), {.lag = 0.1});
  const auto run = [&](int from, int to) {
    for (int k = from; k < to; ++k) {
      const double t = 0.01 * k;
      if (!replay.push({t, 1, {0.1, kNan, kNan, kNan, kNan, kNan}})) return false;
      if (k % 5 == 0 && !replay.push({t - 0.045, 0, {0.1, kNan, kNan, kNan, kNan, kNan}})) return false;
    }
    return true;
  };
  ASSERT_TRUE(run(10, 1000));
  EXPECT_LT(replay.events(), 16u);
  const long before = linear::test::allocations();
  ASSERT_TRUE(run(1000, 2000));
  if (linear::test::allocations_are_counted()) {
    EXPECT_EQ(linear::test::allocations(), before);
  }
  EXPECT_LT(replay.events(), 16u);
}

}  // namespace
}  // namespace kinegraph::filter::replay_test
