#include "kinegraph/task/identify.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/task/identify_compare.hpp"
#include "kinegraph/task/identify_recording_test.hpp"
#include "kinegraph/task/identify_residuals.hpp"

namespace kinegraph::task::identify_test {
namespace {

TEST(Identify, FindsFrictionAndInertia) {
  const Trajectory log = record(with({{"A.viscous", 0.004}, {"A.dry", 0.01}}), 6, 1e-3, pushes);
  const auto result = identify(with({{"rod.I0", 0.04}}), {log}, {}, options_of({"A.viscous", "A.dry", "rod.I0"}));
  ASSERT_TRUE(result) << result.failure().to_string();
  const IdentifySummary& summary = result->summary;
  EXPECT_TRUE(summary.converged) << summary.why_stopped;
  EXPECT_NEAR(found(summary, "A.viscous").value, 0.004, 4e-4);
  EXPECT_NEAR(found(summary, "A.dry").value, 0.01, 1e-3);
  EXPECT_NEAR(found(summary, "rod.I0").value, 0.025, 1.2e-3);  // m L²/3
  for (const IdentifySummary::Quantity& q : summary.quantities) {
    EXPECT_TRUE(q.identifiable) << q.name;
    EXPECT_GT(q.sandwich, 0) << q.name;
    EXPECT_LT(q.sandwich, 0.2 * q.value) << q.name;
  }
  ASSERT_EQ(summary.checks.size(), 1u);
  EXPECT_TRUE(summary.checks[0].complete);
  EXPECT_LT(summary.checks[0].replay[0].rmse, 0.02);
  ASSERT_EQ(summary.channels.size(), 1u);
  EXPECT_NEAR(summary.channels[0].rms, 1e-3, 2e-4);
  // the cost is what readings and the model miss, and the search ends at the answer
  const IdentifySummary::Channel& read = summary.channels[0];
  const double missed = summary.kappa * summary.impulse_square * static_cast<double>(summary.knots);
  EXPECT_GT(missed, 0);
  EXPECT_NEAR(summary.cost * read.noise * read.noise, static_cast<double>(read.count) * read.rms * read.rms + missed,
              1e-6 * summary.cost * read.noise * read.noise);
  ASSERT_GE(summary.path.size(), summary.costs.size());
  EXPECT_EQ(summary.path.front().at("rod.I0"), 0.04);
  EXPECT_EQ(summary.path.back(), result->fitted);
  ASSERT_EQ(result->motions.size(), 1u);
  EXPECT_GE(result->motions[0].find("theta.q"), 0);
  EXPECT_GE(result->motions[0].find("encoder.q"), 0);
  EXPECT_EQ(result->fitted.at("A.dry"), found(summary, "A.dry").value);
  EXPECT_NEAR(result->start.at("theta.q"), -1, 5e-3);
  EXPECT_NEAR(result->start.at("theta.v"), 0, 5e-2);
}

/// A swing of many periods: the simulation with the fitted numbers stays as near as the noise lets it.
TEST(Identify, AReplayIsFittedOverAWholeRecording) {
  const Trajectory log = record(with({{"A.viscous", 0.004}, {"A.dry", 0.004}, {"theta.q", 0.4}}), 20, 1e-3, nothing);
  IdentifyOptions options = options_of({"A.viscous", "A.dry", "rod.I0"});
  options.step = 0.005;
  const Model start = with({{"rod.I0", 0.03}, {"theta.q", 0.4}, {"A.viscous", 0.001}});
  const auto states = identify(start, {log}, {}, options);
  options.fit = "replay";
  const auto replay = identify(start, {log}, {}, options);
  ASSERT_TRUE(states) << states.failure().to_string();
  ASSERT_TRUE(replay) << replay.failure().to_string();
  EXPECT_TRUE(replay->summary.converged) << replay->summary.why_stopped;
  const double error = replay->summary.checks[0].replay[0].rmse;
  EXPECT_LT(error, 1.1e-3);
  EXPECT_LE(error, states->summary.checks[0].replay[0].rmse);
  EXPECT_TRUE(std::isnan(replay->summary.impulse_square));
  EXPECT_NEAR(found(replay->summary, "A.dry").value, 0.004, 4e-5);
  EXPECT_NEAR(found(replay->summary, "A.viscous").value, 0.004, 4e-5);
  EXPECT_NEAR(found(replay->summary, "rod.I0").value, 0.025, 5e-5);
  // the way begins at the start, goes on where the motion was free, and ends at the answer
  const std::vector<Settings>& path = replay->summary.path;
  ASSERT_GT(path.size(), replay->summary.costs.size() + 1);
  EXPECT_EQ(path.front().at("rod.I0"), 0.03);
  EXPECT_EQ(path[1], states->summary.path[1]);
  EXPECT_EQ(path.back(), replay->fitted);
  EXPECT_EQ(replay->summary.costs.back(), replay->summary.cost);
  EXPECT_EQ(replay->summary.costs.front(), replay->summary.first_cost);
  for (std::size_t i = 1; i < path.size(); ++i) EXPECT_NE(path[i], path[i - 1]) << i;
}

TEST(Identify, ExtrapolatesTheStepsBias) {
  const Trajectory log = record(with({{"A.viscous", 0.004}, {"A.dry", 0.01}}), 6, 1e-4, pushes);
  IdentifyOptions options = options_of({"A.dry", "rod.I0"});
  options.richardson = true;
  const auto result = identify(with({{"A.viscous", 0.004}, {"rod.I0", 0.03}}), {log}, {}, options);
  ASSERT_TRUE(result) << result.failure().to_string();
  const auto& q = found(result->summary, "A.dry");
  const double coarse = std::abs(q.at_step - 0.01), fine = std::abs(q.at_half_step - 0.01);
  EXPECT_LT(fine, 0.7 * coarse) << coarse;
  EXPECT_LT(std::abs(q.value - 0.01), 0.5 * coarse) << coarse;
  EXPECT_NEAR(q.value, (4 * q.at_half_step - q.at_step) / 3, 1e-9);
  EXPECT_NEAR(found(result->summary, "rod.I0").value, 0.025, 1e-4);
  EXPECT_EQ(result->summary.path.front().at("rod.I0"), 0.03);
  EXPECT_EQ(result->summary.path.back(), result->fitted);
}

/// With a step that is too long for the motion, the truth is still within what is told.
TEST(Identify, DeviationsCountTheStepsBias) {
  const auto hard = [](double t) { return 4 * pushes(t); };
  const Trajectory log = record(with({{"A.viscous", 0.004}, {"A.dry", 0.01}}), 6, 1e-4, hard);
  IdentifyOptions options = options_of({"A.dry", "rod.I0"});
  options.step = 0.02;
  const auto result = identify(with({{"A.viscous", 0.004}, {"rod.I0", 0.03}}), {log}, {}, options);
  ASSERT_TRUE(result) << result.failure().to_string();
  for (const auto& [name, truth] : {std::pair{"A.dry", 0.01}, std::pair{"rod.I0", 0.025}}) {
    const auto& q = found(result->summary, name);
    EXPECT_LT(std::abs(q.value - truth), 3 * q.sandwich) << name << ' ' << q.value << ' ' << q.sd << ' ' << q.step_bias;
  }
  const auto& inertia = found(result->summary, "rod.I0");
  EXPECT_GT(std::abs(inertia.value - 0.025), 3 * inertia.sd) << inertia.value << ' ' << inertia.step_bias;
  const auto told = [](const std::string& warning) {
    return warning.starts_with("the step of 0.02 s moves some values by more than noise does: ");
  };
  EXPECT_EQ(std::count_if(result->summary.warnings.begin(), result->summary.warnings.end(), told), 1);
}

/// It turns so fast that with twice the step there is none.
TEST(Identify, TellsWhereTheStepsBiasIsNotKnown) {
  const auto spun = [](double t) { return t < 2 ? 0.8 : 0.0; };
  const Trajectory log = record(with({{"A.viscous", 0.004}, {"A.dry", 0.01}}), 4, 1e-3, spun);
  IdentifyOptions options = options_of({"A.viscous", "rod.I0"});
  options.step = 0.025;
  const auto result = identify(with({{"A.viscous", 0.003}, {"A.dry", 0.01}}), {log}, {}, options);
  ASSERT_TRUE(result) << result.failure().to_string();
  for (const auto& q : result->summary.quantities) EXPECT_EQ(q.step_bias, 0) << q.name;
  const auto told = [](const std::string& warning) {
    return warning.starts_with(
               "how much the step of 0.025 s moves the values cannot be told, and deviations do not count it: with "
               "twice that step ") &&
           warning.ends_with("; take a shorter --step, or --richardson");
  };
  EXPECT_EQ(std::count_if(result->summary.warnings.begin(), result->summary.warnings.end(), told), 1)
      << fmt::format("{}", fmt::join(result->summary.warnings, "\n"));
}

TEST(Identify, TellsWhatBoundsHoldBack) {
  const Trajectory log = record(with({{"A.viscous", 0.004}, {"A.dry", 0.01}}), 6, 1e-3, pushes);
  IdentifyOptions options = options_of({"A.dry"});
  options.free[0].lower = 0;
  options.free[0].upper = 0.005;
  const auto result = identify(with({{"A.viscous", 0.004}}), {log}, {}, options);
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_TRUE(found(result->summary, "A.dry").at_bound);
  const auto& warnings = result->summary.warnings;
  EXPECT_NE(std::find(warnings.begin(), warnings.end(),
                      "held back by bounds: A.dry; the recordings ask for values beyond them, and deviations do not "
                      "count that"),
            warnings.end());
}

TEST(Identify, CtrlCIsHeededWhileItWeighs) {
  const Trajectory log = record(with({{"A.viscous", 0.004}}), 6, 1e-3, pushes);
  IdentifyOptions options = options_of({"A.viscous"});
  double last = 0;
  options.progress = [&](double share) {
    EXPECT_GE(share, last);
    last = share;
    return share < 0.35;  // half of the fit: the first of its rounds is over
  };
  const auto result = identify(with({{"rod.I0", 0.03}}), {log}, {}, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().kind, Failure::Kind::interrupted);
  EXPECT_LT(last, 0.7) << "it was never weighed again";
}

/// The step's bias and motions of what is held out are searches of their own.
TEST(Identify, CtrlCIsHeededAfterTheFit) {
  const Trajectory log = record(with({{"A.viscous", 0.004}}), 6, 1e-3, pushes);
  IdentifyOptions options = options_of({"A.viscous"});
  options.validate_from = 4;
  std::vector<double> shares;
  options.progress = [&](double share) {
    shares.push_back(share);
    return true;
  };
  ASSERT_TRUE(identify(with({}), {log}, {}, options));
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  const auto calls = [&](double from, double to) {
    return std::count_if(shares.begin(), shares.end(), [&](double share) { return share >= from && share < to; });
  };
  EXPECT_GE(calls(0.7, 0.85), 1) << "the bias";
  EXPECT_GE(calls(0.924, 0.926), 2) << "what is held out, after the check of the one that is fitted";
  for (const double stop : {0.7, 0.925}) {
    options.progress = [stop](double share) { return share < stop; };
    const auto stopped = identify(with({}), {log}, {}, options);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.failure().kind, Failure::Kind::interrupted);
  }
}

TEST(Identify, AMachineAtRestTellsNothing) {
  const Trajectory log = record(with({{"theta.q", -M_PI / 2}}), 3, 1e-3, nothing);
  const auto result = identify(with({{"theta.q", -M_PI / 2}}), {log}, {}, options_of({"A.viscous", "A.dry", "rod.I0"}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().kind, Failure::Kind::no_answer);
  EXPECT_EQ(result.failure().to_string(),
            "error: not identifiable: A.viscous, A.dry, rod.I0: the machine stands still in the recordings, no reading "
            "changes by more than its noise");
}

TEST(Identify, NamesWhatAFreeSwingCannotTell) {
  // m g a/J, c/J and τ/J are all that it tells: mass, inertia and friction can grow together
  const Trajectory log = record(with({{"A.viscous", 0.004}}), 6, 1e-3, nothing);
  const auto result = identify(with({{"m", 0.35}}), {log}, {}, options_of({"m", "A.viscous", "A.dry"}));
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_FALSE(found(result->summary, "m").identifiable);
  EXPECT_TRUE(std::isnan(found(result->summary, "m").sandwich));
  EXPECT_FALSE(result->summary.unknown.empty());
  EXPECT_FALSE(result->summary.known.empty());
}

TEST(Identify, ForetellsWhatIsHeldOut) {
  const Trajectory log = record(with({}), 6, 1e-3, pushes, 1), other = record(with({}), 4, 1e-3, pushes, 2);
  IdentifyOptions options = options_of({"A.viscous"});
  options.validate_from = 4;
  options.horizons = {0.2};
  const auto result = identify(with({{"A.viscous", 0.01}}), {log}, {other}, options);
  ASSERT_TRUE(result) << result.failure().to_string();
  ASSERT_EQ(result->summary.checks.size(), 3u);
  EXPECT_FALSE(result->summary.checks[0].held_out);
  EXPECT_NEAR(result->summary.checks[0].to, 4, 0.02);
  EXPECT_TRUE(result->summary.checks[1].held_out);
  EXPECT_NEAR(result->summary.checks[1].from, 4, 0.02);
  EXPECT_TRUE(result->summary.checks[2].held_out);
  for (const IdentifySummary::Check& check : result->summary.checks) {
    EXPECT_LT(check.replay[0].rmse, 0.03) << check.file;
    ASSERT_EQ(check.ahead.size(), 2u);
    EXPECT_GT(check.ahead[1][0].r_squared, 0.99);
  }
}

TEST(Identify, ComparesModelsOfFriction) {
  const Trajectory log = record(with({{"A.viscous", 0}, {"A.dry", 0.02}}), 6, 1e-3, pushes);
  IdentifyOptions options = options_of({});
  options.compare = {"viscous", "dry"};
  const auto result = identify(identify::pendulum(), {log}, {}, options);
  ASSERT_TRUE(result) << result.failure().to_string();
  ASSERT_EQ(result->summary.comparisons.size(), 2u);
  const auto &viscous = result->summary.comparisons[0], &dry = result->summary.comparisons[1];
  EXPECT_EQ(viscous.failure, "");
  EXPECT_LT(dry.bic, viscous.bic);
  EXPECT_LT(dry.replay[0].rmse, viscous.replay[0].rmse);
  EXPECT_LT(dry.held_out[0].rmse, viscous.held_out[0].rmse);
  ASSERT_EQ(result->summary.quantities.size(), 1u);  // the best one is the answer
  EXPECT_NEAR(found(result->summary, "A.dry").value, 0.02, 2e-3);
}

TEST(Identify, FrictionVariants) {
  const auto choice = read_friction_choice("stribeck+viscous");
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->keys, (std::vector<std::string>{"dry", "stribeck", "stribeck_speed", "viscous"}));
  EXPECT_EQ(
      read_friction_choice("viscos").failure().to_string(),
      "error: compare: must be made of none, viscous, dry, quadratic, stribeck, load, joined by +, is 'viscos'; did "
      "you mean 'viscous'?");
  const auto variant =
      friction_variant(identify::pendulum(), options_of({"m", "A.dry"}).free, *read_friction_choice("viscous"));
  ASSERT_TRUE(variant);
  ASSERT_EQ(variant->free.size(), 2u);
  EXPECT_EQ(variant->free[0].name, "m");
  EXPECT_EQ(variant->free[1].name, "A.viscous");
  EXPECT_EQ(variant->free[1].lower, 0);
  EXPECT_EQ(variant->model.frictions[0].dynamics.friction, 0);
  EXPECT_EQ(variant->model.frictions[0].dynamics.damping, 0.001);  // as the file has it
}

TEST(Identify, WhitenessTellsNoiseFromAWave) {
  Random random(3);
  std::vector<double> noise, wave;
  for (int i = 0; i < 1000; ++i) {
    noise.push_back(random.normal());
    wave.push_back(noise.back() + std::sin(0.1 * i));
  }
  EXPECT_GT(whiteness(noise).p_value, 0.01);
  EXPECT_LT(whiteness(wave).p_value, 1e-10);
  EXPECT_EQ(whiteness(noise).correlation.size(), 20u);
  EXPECT_EQ(whiteness({1, 2, 3}).p_value, 1);
}

TEST(Identify, RefusesOptionsOutOfRange) {
  IdentifyOptions options;
  options.kappa = 0;
  options.loss = "hubert";
  options.validate_from = 5;
  options.to = 4;
  options.compare = {"damp"};
  EXPECT_EQ(check_options(options).to_string(),
            "error: kappa: must be > 0, is 0\n"
            "error: loss: must be one of none, huber, cauchy, tukey, is 'hubert'; did you mean 'huber'?\n"
            "error: validate-from: must be before --to, 4 s, is 5\n"
            "error: compare: must be made of none, viscous, dry, quadratic, stribeck, load, joined by +, is 'damp'");
}

/// The last row of a motion goes on from those before it.
TEST(Identify, MotionsEndAsTheyWentOn) {
  const Trajectory log = record(with({{"A.viscous", 0.004}}), 2, 1e-5, pushes);
  IdentifyOptions options = options_of({"A.viscous"});
  options.noise = 1e-5;
  const auto result = identify(with({{"A.viscous", 0.002}}), {log}, {}, options);
  ASSERT_TRUE(result) << result.failure().to_string();
  const Trajectory& motion = result->motions.at(0);
  const int last = motion.samples() - 1, v = motion.find("theta.v"), a = motion.find("theta.a");
  ASSERT_TRUE(v >= 0 && a >= 0);
  const double h = motion.times()[last] - motion.times()[last - 1];
  const double jerk = (motion.at(last - 1, a) - motion.at(last - 3, a)) / 2;
  EXPECT_NEAR(motion.at(last, a), motion.at(last - 1, a) + jerk, 2 * std::abs(jerk) + 0.1);
  EXPECT_NEAR(motion.at(last, v), motion.at(last - 1, v) + h * motion.at(last - 1, a), 0.01);
}

const std::vector<std::string> kFriction = {"A.viscous", "A.dry", "A.stribeck", "A.stribeck_speed"};

TEST(Identify, StribecksCoordinatesAreKnownByTheirNames) {
  const auto parameters = identify::Parameters::make(with({{"A.dry", 0.01}}), options_of(kFriction).free);
  ASSERT_TRUE(parameters) << parameters.failure().to_string();
  EXPECT_EQ(stribeck_coordinates(*parameters), (std::vector<bool>{false, false, true, true}));
}

/// Swinging freely from 1 rad to rest, from a start without Stribeck's friction and with a speed far too low.
TEST(Identify, AReplayFindsStribecksSpeedFromAfar) {
  const Trajectory log =
      record(with({{"A.viscous", 1e-3}, {"A.dry", 0.006}, {"A.stribeck", 0.006}, {"A.stribeck_speed", 1.5}}), 12, 1e-4,
             nothing);
  const Model start = with({{"A.viscous", 1e-3}, {"A.dry", 0.003}, {"A.stribeck", 0}, {"A.stribeck_speed", 0.1}});
  IdentifyOptions options = options_of(kFriction);
  options.fit = "replay";
  options.step = 0.005;
  options.noise = 1e-4;
  const auto result = identify(start, {log}, {}, options);
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_NEAR(found(result->summary, "A.stribeck_speed").value, 1.5, 0.15);
  EXPECT_LT(result->summary.checks[0].replay[0].rmse, 1.2e-3);  // of a swing of 1 rad
}

}  // namespace
}  // namespace kinegraph::task::identify_test
