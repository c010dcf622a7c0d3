#include "kinegraph/identify/control_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace kinegraph::identify::control_loop_test {
namespace {

/// cᵢ = 3 (y − w)ᵢ − 2 (y − w)ᵢ₋₁ + ½ cᵢ₋₁ + 0.25, uᵢ = cᵢ + fᵢ within ± limit, every 10 ms.
ControlLaw law() {
  ControlLaw out;
  out.command = "motor.u";
  out.terms = {{"motor.q", "target"}};
  out.limit = 4;
  return out;
}

ControlRecord record(int ticks, double limit = 4) {
  ControlRecord out;
  out.terms.resize(1);
  double c = 0, error = 0;
  for (int i = 0; i < ticks; ++i) {
    const double y = std::sin(0.7 * i), w = 0.3 * std::cos(0.31 * i), f = 0.2 * std::sin(1.9 * i);
    const double before = i > 0 ? error : y - w;
    error = y - w;
    if (i > 0) c = 3 * error - 2 * before + 0.5 * c + 0.25;
    out.t.push_back(0.01 * i);
    out.u.push_back(std::clamp(c + f, -limit, limit));
    out.added.push_back(f);
    out.terms[0].y.push_back(y), out.terms[0].target.push_back(w);
  }
  return out;
}

TEST(ControlLoop, GainsAreFoundExactlyPastCommandsAtTheLimit) {
  const ControlRecord free = record(200);
  const double most = *std::max_element(free.u.begin(), free.u.end());
  for (const double limit : {4.0, 0.8 * most}) {
    const ControlRecord given = record(200, limit);
    ControlLaw found = law();
    found.limit = limit;
    ASSERT_FALSE(find_gains({&given}, found));
    ASSERT_EQ(found.gains.size(), found.numbers());
    EXPECT_LT((found.gains - Eigen::Vector4d(3, -2, 0.5, 0.25)).norm(), 1e-12) << limit;
    EXPECT_NEAR(found.explained, 1, 1e-14);
  }
}

/// Whatever drove the machine before.
TEST(ControlLoop, TicksBeforeTheRunTellNothingOfGains) {
  ControlRecord given = record(200);
  given.before = 3;
  for (int i = 0; i < 3; ++i) given.u[i] = 3.5 - i;
  ControlLaw found = law();
  ASSERT_FALSE(find_gains({&given}, found));
  EXPECT_LT((found.gains - Eigen::Vector4d(3, -2, 0.5, 0.25)).norm(), 1e-12);
}

TEST(ControlLoop, ReadingsThatDoNotChangeGetTheSmallestGains) {
  ControlRecord still = record(100);
  ControlLaw found = law();
  found.terms.push_back({"other.q", ""});
  still.terms.push_back({0, 0, 0, 0, std::vector<double>(100, 0.0), std::vector<double>(100, 0.0)});
  ASSERT_FALSE(find_gains({&still}, found));
  EXPECT_LT((found.gains - (Eigen::VectorXd(6) << 3, -2, 0, 0, 0.5, 0.25).finished()).norm(), 1e-12);
}

TEST(ControlLoop, TooFewCommandsAreNoAnswer) {
  const ControlRecord few = record(8);
  ControlLaw found = law();
  const auto failure = find_gains({&few}, found);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::no_answer);
  EXPECT_EQ(failure->diagnostics.front().message,
            "controller of 'motor.u': 7 commands within its limit are too few to find the 4 numbers of its law");
}

/// Commands of a loop that reads what was recorded are those recorded; from its start on the recorded ones are not
/// used.
TEST(ControlLoop, WhatWasReadGivesWhatWasCommanded) {
  const ControlRecord given = record(100);
  ControlLaw known = law();
  known.gains = Eigen::Vector4d(3, -2, 0.5, 0.25);
  ControlRecord changed = given;
  for (int i = 41; i < 100; ++i) changed.u[i] = 100, changed.terms[0].y[i] = 100;
  ControlLoop loop(known, changed);
  const auto read = [&](int, int, double t) { return given.terms[0].y[std::lround(t / 0.01)]; };
  for (int again = 0; again < 2; ++again) {
    loop.start(0.4);
    for (int i = 40; i < 99; ++i) {
      // half of the tick before, half of this one
      const double t = given.t[i];
      EXPECT_NEAR(loop.mean(t - 0.005, t + 0.005, read), 0.5 * (given.u[i - 1] + given.u[i]), 1e-12) << i;
      loop.pass(t + 0.01 - 1e-9, read);
    }
  }
}

TEST(ControlLoop, AGuessOfWhatIsAheadIsForgotten) {
  const ControlRecord given = record(100);
  ControlLaw known = law();
  known.gains = Eigen::Vector4d(3, -2, 0.5, 0.25);
  ControlLoop loop(known, given);
  const auto wrong = [](int, int, double) { return -7.0; };
  const auto right = [&](int, int, double t) { return given.terms[0].y[std::lround(t / 0.01)]; };
  loop.start(0.4);
  EXPECT_NE(loop.mean(0.4, 0.43, wrong), loop.mean(0.4, 0.43, right));
  loop.mean(0.4, 0.43, wrong);
  loop.pass(0.43 - 1e-9, right);
  EXPECT_NEAR(loop.mean(0.4, 0.43, wrong), (given.u[40] + given.u[41] + given.u[42]) / 3, 1e-12);
}

TEST(ControlLoop, AnglesGoOnOverTurns) {
  const ControlRecord plain = record(60);
  ControlRecord turning = plain;
  turning.terms[0].turn = 2;
  ControlLaw known = law();
  known.gains = Eigen::Vector4d(3, -2, 0.5, 0.25);
  ControlLoop loop(known, turning);
  loop.start(0.3);
  const auto read = [&](int, int, double t) { return plain.terms[0].y[std::lround(t / 0.01)] + 6; };
  loop.pass(0.5 - 1e-9, read);
  EXPECT_NEAR(loop.mean(0.49, 0.5 - 1e-9, read), plain.u[49], 1e-6);
}

}  // namespace
}  // namespace kinegraph::identify::control_loop_test
