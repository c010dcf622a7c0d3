#include "kinegraph/identify/run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/identify/machines_test.hpp"
#include "kinegraph/identify/run_inputs.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::identify::run_test {
namespace {

std::shared_ptr<const maximal::Mechanism> mechanism_of(const Model& model) {
  return *maximal::Mechanism::make(*robot_of(model, PlanarForces::kept));
}

/// Columns as functions of time, with places as a reader of files gives them.
Trajectory table(const std::vector<std::string>& names, const std::vector<double>& times,
                 const std::function<double(int, double)>& value) {
  Trajectory made(names);
  made.file = "log.csv";
  made.header_line = 1;
  for (std::size_t s = 0; s < names.size(); ++s) made.columns.push_back(static_cast<int>(3 + 10 * s));
  for (std::size_t i = 0; i < times.size(); ++i) {
    double* row = made.append(times[i]);
    for (std::size_t s = 0; s < names.size(); ++s) row[s] = value(static_cast<int>(s), times[i]);
    made.lines.push_back(static_cast<int>(i) + 2);
  }
  return made;
}

std::vector<double> even(double step, int count) {
  std::vector<double> times(count);
  for (int i = 0; i < count; ++i) times[i] = i * step;
  return times;
}

Result<Recordings> read(const Model& model, const Trajectory& from, const RunOptions& options = {}) {
  return read_runs(model, *mechanism_of(model), {from}, options);
}

std::string refused(const Model& model, const Trajectory& from, const RunOptions& options = {}) {
  const Result<Recordings> runs = read(model, from, options);
  return runs ? "accepted" : runs.failure().to_string();
}

TEST(ReadRuns, ColumnsAreSensorsJointsAndInputs) {
  const Model model = pendulum();
  const Result<Recordings> runs =
      read(model, table({"encoder.q", "theta.q", "theta.v", "motor.u", "P.x"}, even(0.004, 51),
                        [](int s, double t) { return s == 3 ? 2 * t : s + t; }));
  ASSERT_TRUE(runs.ok()) << runs.failure().to_string();
  ASSERT_EQ(runs->model.sensors.size(), 3u);
  EXPECT_EQ(runs->model.sensors[1].name, "theta");
  EXPECT_EQ(runs->model.sensors[1].type, SensorType::encoder);
  EXPECT_EQ(runs->model.sensors[2].name, "theta_rate");
  EXPECT_EQ(runs->model.sensors[2].channels[0].unit, "rad/s");
  EXPECT_EQ(runs->model.sensors[2].channels[0].noise, 1e-3);
  ASSERT_EQ(runs->warnings.size(), 1u);
  EXPECT_EQ(to_string(runs->warnings[0]),
            "log.csv:1:43: warning: column 'P.x' is neither a reading nor an input: not used");
  const identify::Run& run = runs->runs.at(0);
  EXPECT_EQ(run.knots(), 21);
  EXPECT_EQ(run.readings.size(), 3u * 51);
  EXPECT_NEAR(run.times.back(), 0.2, 1e-12);
  // 2.5 readings per step: at 0, 0.4, 0.8 of the first, 0.2, 0.6 of the second
  const double fractions[] = {0, 0.4, 0.8, 0.2, 0.6};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(run.readings[3 * i].knot, i < 3 ? 0 : 1);
    EXPECT_NEAR(run.readings[3 * i].fraction, fractions[i], 1e-9);
    EXPECT_EQ(run.readings[3 * i].line, i + 2);
  }
  EXPECT_EQ(run.readings.back().knot, 19);
  EXPECT_EQ(run.readings.back().fraction, 1);
  for (int k = 0; k < 20; ++k) {
    EXPECT_NEAR(run.input[k].control[0], k == 0 ? 0.0025 : 2 * k * 0.01, 1e-12);  // before its first value: that
    EXPECT_EQ(run.input[k].torque[0], 0);
    EXPECT_NEAR(run.input[k].h, 0.01, 1e-12);
  }
  EXPECT_NEAR(run.input[4].reference[0], 1 + 0.04, 1e-12);
}

TEST(ReadRuns, AnglesGoOnOverTurnsAndReadingsMayBeMissing) {
  const Model model = furuta();
  const auto wrapped = [](double x) { return std::remainder(x, 2 * std::numbers::pi); };
  const Result<Recordings> runs =
      read(model, table({"shoulder.q", "elbow.q"}, even(0.01, 400), [&](int s, double t) {
             return s == 0 ? wrapped(5 * t) : std::fmod(t, 0.02) < 0.005 || std::fmod(t, 0.02) > 0.015 ? t : kNan;
           }));
  ASSERT_TRUE(runs.ok()) << runs.failure().to_string();
  int of_elbow = 0;
  for (const Reading& reading : runs->runs[0].readings) {
    EXPECT_NEAR(reading.sensor == 0 ? reading.y[0] : 5 * reading.t, 5 * reading.t, 1e-9);
    of_elbow += reading.sensor == 1;
  }
  EXPECT_EQ(of_elbow, 200);
  EXPECT_NEAR(runs->runs[0].input[300].reference[0], 15, 1e-9);
}

TEST(ReadRuns, APartOfAnUnevenRecording) {
  std::vector<double> times;
  for (double t = 0; t < 2; t += 0.003 + 0.002 * std::sin(40 * t)) times.push_back(t);
  RunOptions options;
  options.from = 0.5, options.to = 1.2, options.step = 0.02;
  const Result<Recordings> runs =
      read(pendulum(), table({"encoder.q"}, times, [](int, double t) { return t; }), options);
  ASSERT_TRUE(runs.ok());
  const identify::Run& run = runs->runs[0];
  EXPECT_GE(run.times.front(), 0.5);
  EXPECT_LE(run.times.back(), 1.2);
  for (const Reading& reading : run.readings) {
    EXPECT_NEAR(run.times[reading.knot] + reading.fraction * run.step(reading.knot), reading.t, 1e-7);
    EXPECT_GE(reading.fraction, 0);
    EXPECT_LE(reading.fraction, 1);
  }
}

TEST(ReadRuns, MeansOfStraightLines) {
  // a step at 1 s within 0.5 … 1.5, then held
  const std::vector<double> means = means_over({0, 1, 1, 2}, {0, 0, kNan, 4}, {-1, 0.5, 1.5, 2.5});
  ASSERT_EQ(means.size(), 3u);
  EXPECT_NEAR(means[0], 0, 1e-15);
  EXPECT_NEAR(means[1], 0.5, 1e-15);  // ∫₁^1.5 4 (t − 1) dt
  EXPECT_NEAR(means[2], 1.5 + 2, 1e-15);
}

TEST(ReadRuns, MeansOfStairs) {
  const std::vector<double> means = means_over({0, 1, 2}, {2, 4, 0}, {-1, 0.5, 1.5, 2.5}, true);
  ASSERT_EQ(means.size(), 3u);
  EXPECT_NEAR(means[0], 2, 1e-15);
  EXPECT_NEAR(means[1], 3, 1e-15);
  EXPECT_NEAR(means[2], 2, 1e-15);
}

/// Before their first number and after their last one inputs are taken to stay.
TEST(ReadRuns, InputsThatBeginLateOrEndEarlyAreToldOf) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const auto warnings = [&](double from, double to, double value, bool held = false) {
    RunOptions options;
    options.held = held;
    const Result<Recordings> runs = read(pendulum(),
                                         table({"encoder.q", "motor.tau"}, even(0.01, 101),
                                               [&](int s, double t) {
                                                 return s == 0 ? 0 : t > from - 1e-9 && t < to + 1e-9 ? value : kNone;
                                               }),
                                         options);
    std::string all;
    EXPECT_TRUE(runs.ok());
    for (const Diagnostic& warning : runs->warnings) all += to_string(warning) + "\n";
    return all;
  };
  EXPECT_EQ(warnings(0, 1, 3), "");
  EXPECT_EQ(warnings(0.05, 0.95, 3), "");
  EXPECT_EQ(warnings(0.5, 1, 3),
            "log.csv:1:13: warning: column 'motor.tau' has no number before t = 0.5 s: 3 is taken there; write 0 where "
            "nothing drives it\n");
  EXPECT_EQ(warnings(0, 0.7, 3),
            "log.csv:1:13: warning: column 'motor.tau' has no number after t = 0.7 s: 3 is taken there; write 0 where "
            "nothing drives it\n");
  EXPECT_EQ(warnings(0, 0.7, 3, true), "") << "a command stands until the next";
  EXPECT_EQ(warnings(0.5, 0.7, 0), "");
  EXPECT_EQ(warnings(2, 3, 3), "log.csv:1:13: warning: column 'motor.tau' has no number: it counts as 0\n");
}

TEST(ReadRuns, ControllersKnowTheTicksBeforeTheirTime) {
  RunOptions options;
  options.from = 0.5, options.to = 0.9;
  options.controllers.resize(1);
  options.controllers[0].command = "motor.tau";
  options.controllers[0].terms = {{"encoder.q", ""}};
  for (const int order : {0, 1, 3}) {
    options.controllers[0].order = order;
    const Result<Recordings> runs = read(
        pendulum(), table({"encoder.q", "motor.tau"}, even(0.01, 101), [](int s, double t) { return s + t; }), options);
    ASSERT_TRUE(runs.ok()) << runs.failure().to_string();
    const ControlRecord& record = runs->runs[0].control[0];
    EXPECT_EQ(record.before, order + 1);
    ASSERT_EQ(record.t.size(), 41u + order + 1);
    EXPECT_NEAR(record.t[order + 1], 0.5, 1e-12);
    EXPECT_NEAR(record.u[0], 1.5 - 0.01 * (order + 1), 1e-12);
    ASSERT_EQ(record.rest.size(), runs->runs[0].input.size());
    EXPECT_EQ(record.rest[3], 0);
  }
}

/// Two motors on one joint: what the controller of one does not command drives it all the same.
TEST(ReadRuns, ControllersLeaveOtherMotorsOnTheirJoint) {
  const Model model = pendulum("encoder", {"motor", "second"});
  RunOptions options;
  options.controllers.resize(1);
  options.controllers[0].command = "motor.tau";
  options.controllers[0].terms = {{"encoder.q", ""}};
  const Result<Recordings> runs = read(
      model, table({"encoder.q", "motor.tau", "second.tau"}, even(0.01, 101), [](int s, double) { return 1.0 * s; }),
      options);
  ASSERT_TRUE(runs.ok()) << runs.failure().to_string();
  for (std::size_t k = 0; k < runs->runs[0].input.size(); ++k) {
    EXPECT_NEAR(runs->runs[0].input[k].torque[0], 3, 1e-12);
    EXPECT_NEAR(runs->runs[0].control[0].rest[k], 2, 1e-12);
  }
}

/// What a search takes grows with its steps: it is refused before it takes more memory than there is.
TEST(ReadRuns, StepsAreLimitedByTheMemoryTheyTake) {
  const auto zero = [](int, double) { return 0.0; };
  const Trajectory log = table({"encoder.q"}, even(0.01, 1001), zero);
  RunOptions options;
  options.step = 1e-6;
  EXPECT_EQ(
      refused(pendulum(), log, options),
      "log.csv: error: the motion must take at most 4 GB of memory, takes 71.8 GB in 1e+07 steps; choose a longer "
      "--step, or less of the recordings (--from, --to)");
  options.step = 1e-4;
  EXPECT_TRUE(read(pendulum(), log, options));
}

TEST(ReadRuns, FaultsAreToldWithTheirPlace) {
  const auto zero = [](int, double) { return 0.0; };
  EXPECT_EQ(
      refused(pendulum(), table({"encodr.q", "theta.q [deg]"}, even(0.01, 50), zero)),
      "log.csv:1:3: error: column 'encodr.q' is neither a reading nor an input; did you mean 'encoder.q'?\n"
      "log.csv:1:13: error: column 'theta.q [deg]': units are not converted; expected 'theta.q' in SI units\n"
      "log.csv:1: error: no column is a reading of a sensor or joint; expected some of encoder.q, theta.q, theta.v");
  EXPECT_EQ(refused(pendulum(), table({"encoder.q"}, even(0.01, 3), zero)),
            "log.csv: error: the readings cover 0.02 s: fewer than 3 steps of 0.01 s");
  EXPECT_EQ(refused(pendulum(), table({"encoder.q"}, {0, 0.01, 0.005, 0.1}, zero)),
            "log.csv:4:1: error: time goes backwards: 0.005 after 0.01");
  EXPECT_EQ(
      refused(pendulum(), table({"motor.tau"}, even(0.01, 50), zero)),
      "log.csv:1: error: no column is a reading of a sensor or joint; expected some of encoder.q, theta.q, theta.v");
  RunOptions late;
  late.from = 7, late.to = 8;
  EXPECT_EQ(refused(pendulum(), table({"encoder.q"}, even(0.01, 50), zero), late),
            "log.csv: error: no readings between 7 and 8 s");
}

}  // namespace
}  // namespace kinegraph::identify::run_test
