#include "kinegraph/filter/bank.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/ekf.hpp"
#include "kinegraph/filter/toy_test.hpp"
#include "kinegraph/filter/ukf.hpp"

namespace kinegraph::filter::bank_test {
namespace {

Measurement rate(double t, double y) { return {t, 1, {y, kNan, kNan, kNan, kNan, kNan}}; }
Measurement angle(double y) { return {0, 0, {y, kNan, kNan, kNan, kNan, kNan}}; }

std::unique_ptr<Kalman> hypothesis(const Pendulum& p, double angle, double sd, int branch) {
  Belief b;
  b.x = Eigen::Vector2d(angle, 0);
  b.P = Eigen::Vector2d(sd * sd, 0.01).asDiagonal();
  b.branch = branch;
  return std::move(*Ekf::make(p.clone(), b));
}

std::unique_ptr<Bank> bank(std::vector<std::unique_ptr<Kalman>> filters, const BankOptions& options = {}) {
  auto made = Bank::make(std::move(filters), {}, options);
  EXPECT_TRUE(made) << made.failure().to_string();
  return std::move(*made);
}

/// Readings of the rate, every 10 ms, of a pendulum let go at an angle.
std::vector<Measurement> swing(Pendulum p, double angle, int count, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  std::vector<Measurement> readings;
  Eigen::Vector2d x(angle, 0), next;
  for (int k = 1; k <= count; ++k) {
    p.advance(0, 0.01, x.data(), next.data());
    x = next;
    readings.push_back(rate(0.01 * k, x[1] + 0.05 * normal(bits)));
  }
  return readings;
}

// Near the top it falls, near the bottom it swings: from the rate alone both look alike only at first.
TEST(Bank, FindsTheRightOfTwoHypotheses) {
  Pendulum p;
  for (int truth = 0; truth < 2; ++truth) {
    const double angle[2] = {0.2, M_PI - 0.2};
    auto both = [&] {
      std::vector<std::unique_ptr<Kalman>> f;
      for (int i = 0; i < 2; ++i) f.push_back(hypothesis(p, angle[i], 0.05, i));
      return bank(std::move(f));
    }();
    EXPECT_EQ(both->branches(), (std::vector<double>{0.5, 0.5}));
    for (const Measurement& m : swing(p, angle[truth], 100, 3 + truth)) ASSERT_TRUE(both->push(m));
    EXPECT_GT(both->branches()[truth], 0.999);
    EXPECT_EQ(both->belief().branch, truth);
    EXPECT_NEAR(both->branches()[0] + both->branches()[1], 1, 1e-12);
  }
}

TEST(Bank, WeighsAsBayesSays) {
  Pendulum p;
  std::vector<std::unique_ptr<Kalman>> filters;
  filters.push_back(hypothesis(p, 0, 0.1, 4));
  filters.push_back(hypothesis(p, 0, 0.3, 2));
  auto made = Bank::make(std::move(filters), {std::log(0.3), std::log(0.9)});
  ASSERT_TRUE(made);
  Bank& b = **made;
  EXPECT_EQ(b.branch_numbers(), (std::vector<int>{4, 2}));
  EXPECT_NEAR(b.branches()[0], 0.25, 1e-15);
  ASSERT_TRUE(b.push({0, 0, {0.05, kNan, kNan, kNan, kNan, kNan}}));
  const auto density = [](double sd) {
    const double s = sd * sd + 4e-4;
    return std::exp(-0.5 * 0.0025 / s) / std::sqrt(2 * M_PI * s);
  };
  EXPECT_NEAR(b.branches()[0], density(0.1) / (density(0.1) + 3 * density(0.3)), 1e-12);
}

// A grid of 2 × 24 angles, two "branches" (the halves of the circle): it comes down to the true one.
TEST(Bank, ComesDownFromAGridOfAngles) {
  Pendulum p;
  std::vector<std::unique_ptr<Kalman>> filters;
  for (int i = 0; i < 48; ++i) {
    const double angle = -M_PI + (i + 0.5) * 2 * M_PI / 48;
    filters.push_back(hypothesis(p, angle, 0.08, angle > 0));
  }
  auto b = bank(std::move(filters));
  int told = 0;
  b->on_innovation = [&](const Innovation&) { ++told; };
  for (const Measurement& m : swing(p, 1.1, 150, 5)) ASSERT_TRUE(b->push(m));
  EXPECT_EQ(told, 150);
  EXPECT_LT(b->alive(), 12);
  EXPECT_GT(b->branches()[1], 0.999);
  const double sd = std::sqrt(b->belief().P(0, 0));
  Eigen::Vector2d x(1.1, 0), next;
  for (int k = 0; k < 150; ++k) {
    p.advance(0, 0.01, x.data(), next.data());
    x = next;
  }
  EXPECT_LT(std::abs(b->belief().x[0] - x[0]), 3 * sd);
  // Together the neighbours know less than each of them pretends to.
  EXPECT_GT(sd, 1.1 * std::sqrt(b->filter(b->best()).belief().P(0, 0)));
}

// A branch that is 1e4 times less probable than one that fits is kept, and comes back when the readings speak for it.
TEST(Bank, DoesNotLetABranchDieTooEarly) {
  Pendulum p;
  p.k = 0;
  const auto run = [&](double abandon) {
    std::vector<std::unique_ptr<Kalman>> filters;
    filters.push_back(hypothesis(p, 0, 0.01, 0));
    filters.push_back(hypothesis(p, 0.2, 0.01, 1));
    auto b = bank(std::move(filters), {.prune = 0.1, .abandon = abandon});
    EXPECT_TRUE(b->push(angle(0.05)));
    EXPECT_LT(b->branches()[1], 1e-4);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(b->push(angle(0.18)));
    return b->branches()[1];
  };
  EXPECT_GT(run(1e-12), 0.9);
  EXPECT_EQ(run(1e-2), 0);
}

// Beside one that does not fit itself nothing is given up: the first reading is far from both.
TEST(Bank, GivesUpOnlyBesideWhatFits) {
  Pendulum p;
  p.k = 0;
  const auto alive = [&](double first) {
    std::vector<std::unique_ptr<Kalman>> filters;
    filters.push_back(hypothesis(p, 0, 0.01, 0));
    filters.push_back(hypothesis(p, 0.4, 0.01, 0));
    auto b = bank(std::move(filters));
    EXPECT_TRUE(b->push(angle(first)));
    EXPECT_LT(b->log_weight(1), std::log(1e-6));
    return b->alive();
  };
  EXPECT_EQ(alive(0.02), 1);
  EXPECT_EQ(alive(-0.5), 2);
}

TEST(Bank, GivesNothingUpBeforeItsPatienceEnds) {
  Pendulum p;
  p.k = 0;
  std::vector<std::unique_ptr<Kalman>> filters;
  filters.push_back(hypothesis(p, 0, 0.01, 0));
  filters.push_back(hypothesis(p, 0.4, 0.01, 1));
  auto b = bank(std::move(filters), {.patience = 2});
  for (const int alive : {2, 2, 1}) {
    ASSERT_TRUE(b->push(angle(0.0)));
    EXPECT_EQ(b->alive(), alive);
  }
}

TEST(Bank, MergesWhatAgrees) {
  Pendulum p;
  const auto make = [&](int second_branch, double merge) {
    std::vector<std::unique_ptr<Kalman>> filters;
    filters.push_back(hypothesis(p, 0.5, 0.1, 0));
    filters.push_back(hypothesis(p, 0.51, 0.1, second_branch));
    return bank(std::move(filters), {.merge = merge});
  };
  auto same = make(0, 0.02), never = make(0, 0), other = make(1, 0.02);
  for (Bank* b : {same.get(), never.get(), other.get()})
    ASSERT_TRUE(b->push({0, 0, {0.5, kNan, kNan, kNan, kNan, kNan}}));
  EXPECT_EQ(same->alive(), 1);
  EXPECT_EQ(never->alive(), 2);
  EXPECT_EQ(other->alive(), 2);
  // Mean and covariance of the mixture.
  const Belief &a = never->filter(0).belief(), &b = never->filter(1).belief();
  const double w = std::exp(never->log_weight(1));
  const VectorXd d = b.x - a.x, mean = a.x + w * d;
  const MatrixXd P = (1 - w) * a.P + w * b.P + w * (1 - w) * d * d.transpose();
  EXPECT_LT((same->belief().x - mean).norm(), 1e-14);
  EXPECT_LT((same->belief().P - P).norm(), 1e-14);
  EXPECT_LT((never->belief().P - P).norm(), 1e-14);
  EXPECT_EQ(other->belief().x, other->filter(other->best()).belief().x);
}

TEST(Bank, RefusesWhatItCannotTake) {
  Pendulum p;
  EXPECT_EQ(Bank::make({}).failure().to_string(), "error: a bank needs at least one hypothesis");
  std::vector<std::unique_ptr<Kalman>> filters;
  filters.push_back(hypothesis(p, 0, 0.1, 0));
  auto b = bank(std::move(filters));
  ASSERT_TRUE(b->push(rate(1, 0)));
  EXPECT_EQ(b->push(rate(0.5, 0)).failure().to_string(),
            "error: the reading of 'rate' at t = 0.5 s came 0.5 s late; none are kept");
  EXPECT_EQ(b->advance(1e9).failure().to_string(),
            "error: from t = 1 s to 1000000000 s there is no reading: 1e+11 steps would be needed");
  EXPECT_EQ(b->alive(), 1);
  EXPECT_TRUE(b->push(rate(1.1, 0)));
}

/// Its motion cannot be followed beyond t = 0.5 s.
class Stopping final : public Pendulum {
 public:
  using Pendulum::advance;
  std::unique_ptr<StateSpace> clone() const override { return std::make_unique<Stopping>(*this); }
  bool advance(double t, double h, const double* x, const Chart& chart, double* next, Chart& next_chart, MatrixXd& F,
               MatrixXd& Q) override {
    return t + h < 0.505 && Pendulum::advance(t, h, x, chart, next, next_chart, F, Q);
  }
};

TEST(Bank, SaysSoWhenNoHypothesisIsLeft) {
  std::vector<std::unique_ptr<Kalman>> filters;
  for (const double angle : {0.1, 0.2}) filters.push_back(hypothesis(Stopping(), angle, 0.1, 0));
  auto b = bank(std::move(filters));
  ASSERT_TRUE(b->push(rate(0.4, 0)));
  EXPECT_EQ(b->push(rate(1, 0)).failure().to_string(),
            "error: no hypothesis can follow the motion from t = 0.4 s to 1 s");
  for (const double t : {0.4, 0.45, 2.0}) {
    EXPECT_EQ(b->push(rate(t, 0)).failure().to_string(), "error: no hypothesis is left since t = 0.4 s");
    EXPECT_EQ(b->advance(t).failure().to_string(), "error: no hypothesis is left since t = 0.4 s");
  }
  EXPECT_TRUE(b->belief().x.allFinite());
}

}  // namespace
}  // namespace kinegraph::filter::bank_test
