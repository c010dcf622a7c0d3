#include "kinegraph/identify/prediction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kinegraph/identify/expected_reading.hpp"
#include "kinegraph/identify/machines_test.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::identify::prediction_test {
namespace {

using Eigen::VectorXd;

std::shared_ptr<const maximal::Mechanism> mechanism_of(const Model& model) {
  return *maximal::Mechanism::make(*robot_of(model, PlanarForces::kept));
}

MachinePoint point_of(const Model& model, const maximal::Mechanism& mechanism) {
  MachinePoint point;
  point.model = model;
  point.numbers = *mechanism.numbers(*robot_of(model, PlanarForces::kept));
  point.sensors = model.sensors;
  return point;
}

Model with(const Model& model, const Settings& settings) { return *model.with(settings); }

const maximal::Regularization kStiff{1e-8, 1e-8, 0.02};

/// A recording of the machine itself: `fine` steps between knots, readings of sensor 0 at knots and at `fractions`.
struct Recorded {
  std::shared_ptr<const maximal::Mechanism> mechanism;
  MachinePoint machine;
  Run run;
  std::vector<double> poses;

  Recorded(const Model& model, double h, int knots, int fine, const std::vector<double>& fractions, double torque = 0,
           double rate = 0)
      : mechanism(mechanism_of(model)), machine(point_of(model, *mechanism)) {
    const screw::Tree& tree = mechanism->tree();
    const int bodies = static_cast<int>(mechanism->bodies().size());
    VectorXd q(mechanism->stored()), v(mechanism->tangent()), after(v), back(v), q_tree = tree.start_position();
    VectorXd v_tree = VectorXd::Constant(tree.freedoms(), rate);
    maximal::poses_of(*mechanism, machine.numbers, q_tree.data(), q.data());
    maximal::velocities_of(*mechanism, machine.numbers, q_tree.data(), v_tree.data(), v.data());
    step::RegularizedStep stepper(mechanism, kStiff);
    stepper.set_numbers(machine.numbers);
    step::StepInput input(*mechanism, h / fine);
    input.torque.setConstant(torque);
    input.reference = q_tree.head(input.reference.size());
    std::vector<maximal::Grip> grips(mechanism->freedoms().size(), maximal::Grip::none);
    ExpectedReading expected(machine, mechanism);
    VectorXd before_knot = q;
    back = -h * v;
    maximal::retract(bodies, q.data(), back.data(), before_knot.data());
    poses.assign(before_knot.data(), before_knot.data() + q.size());
    for (int k = 0; k < knots; ++k) {
      poses.insert(poses.end(), q.data(), q.data() + q.size());
      run.times.push_back(h * k);
      if (k + 1 == knots) break;
      run.input.emplace_back(*mechanism, h);
      run.input.back().torque.setConstant(torque);
      run.input.back().reference = input.reference;
      for (int sub = 0; sub < fine; ++sub) {
        EXPECT_TRUE(stepper.advance(q.data(), v.data(), input, grips.data(), after.data()));
        input.reference = stepper.position();
        for (const double fraction : fractions) {
          const double s = fraction * fine - sub;
          if (s < 0 || s >= 1) continue;
          Reading reading;
          reading.knot = k;
          reading.fraction = fraction;
          reading.t = h * (k + fraction);
          reading.y.fill(std::nan(""));
          reading.y[0] = expected.read(q.data(), v.data(), after.data(), input.h, s, 0)[0];
          run.readings.push_back(reading);
        }
        v = after;
        after *= input.h;
        maximal::retract(bodies, q.data(), after.data(), q.data());
      }
    }
  }

  /// Forgets the first knot, so that the velocity before the first one is that of the recording.
  Recorded& cut() {
    poses.erase(poses.begin(), poses.begin() + mechanism->stored());
    run.times.erase(run.times.begin());
    run.input.erase(run.input.begin());
    std::erase_if(run.readings, [](const Reading& reading) { return reading.knot == 0; });
    for (Reading& reading : run.readings) --reading.knot;
    return *this;
  }

  Predictor predictor(const MachinePoint& of, int substeps = 1) const {
    return Predictor(of, mechanism, run, poses, {kStiff, substeps});
  }
};

TEST(Prediction, ARecordingOfTheMachineItselfIsReplayedExactly) {
  const Recorded recorded(pendulum(), 0.01, 300, 1, {0, 0.3, 0.8}, 0.1);
  const Replay replay = recorded.predictor(recorded.machine).replay();
  EXPECT_TRUE(replay.complete);
  EXPECT_EQ(replay.knots, 300);
  ASSERT_EQ(replay.channels.size(), 1u);
  EXPECT_EQ(replay.channels[0].count, 3 * 299);
  EXPECT_LT(replay.channels[0].rmse, 1e-7);
  EXPECT_GT(replay.channels[0].r_squared, 1 - 1e-9);
  ASSERT_EQ(replay.poses.size(), recorded.poses.size());
}

TEST(Prediction, AnotherFrictionIsSeen) {
  const Recorded recorded(pendulum(), 0.01, 300, 1, {0}, 0.0);
  const MachinePoint wrong = point_of(with(pendulum(), {{"A.viscous", 0.02}}), *recorded.mechanism);
  const Replay replay = recorded.predictor(wrong).replay();
  EXPECT_GT(replay.channels[0].rmse, 1e-2);
  // one step ahead from good states it hardly matters, further ahead more
  const auto one = recorded.predictor(wrong).ahead(0.01), far = recorded.predictor(wrong).ahead(0.2);
  EXPECT_LT(one[0].rmse, 0.1 * far[0].rmse);
  EXPECT_LT(far[0].rmse, replay.channels[0].rmse);
  EXPECT_GT(one[0].r_squared, 0.9999);
}

TEST(Prediction, ForecastsAreOneHorizonAheadAndComparedWithNoChange) {
  // no gravity, no friction: θ grows by 0.5 rad/s, whatever the forecast starts from
  const Model model = with(pendulum(), {{"gravity", 0}, {"A.viscous", 0}, {"A.dry", 0}});
  const Recorded recorded(model, 0.01, 101, 1, {0}, 0.0, 0.5);
  Predictor predictor = recorded.predictor(recorded.machine);
  for (const double horizon : {0.01, 0.2}) {
    const auto errors = predictor.ahead(horizon);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_LT(errors[0].rmse, 1e-8) << horizon;
    EXPECT_NEAR(errors[0].persistence, 1, 1e-9) << horizon;
    EXPECT_EQ(errors[0].count, 100 - std::lround(horizon / 0.01));
  }
  // a machine that brakes at once: what is left is the change over the horizon, as of "no change"
  const MachinePoint stuck = point_of(with(model, {{"A.dry", 1e3}}), *recorded.mechanism);
  const auto errors = recorded.predictor(stuck).ahead(0.2);
  EXPECT_NEAR(errors[0].rmse, 0.1, 1e-4);
  EXPECT_NEAR(errors[0].persistence, 0, 1e-3);
}

TEST(Prediction, FinerStepsComeNearerToAFineRecording) {
  Recorded recorded(with(pendulum(), {{"A.dry", 0}}), 0.01, 200, 50, {0});
  recorded.cut();
  const double coarse = recorded.predictor(recorded.machine).replay().channels[0].rmse;
  const double fine = recorded.predictor(recorded.machine, 50).replay().channels[0].rmse;
  EXPECT_GT(coarse, 1e-4);
  EXPECT_LT(fine, 0.1 * coarse);
}

TEST(Prediction, ATurnTooManyCounts) {
  const Model model = with(pendulum(), {{"gravity", 0}, {"A.viscous", 0}, {"A.dry", 0}});
  Recorded recorded(model, 0.01, 101, 1, {0}, 0.0, 2 * std::numbers::pi);
  const double still = recorded.run.readings[0].y[0];
  for (Reading& reading : recorded.run.readings) reading.y[0] = still;  // says that it does not move
  const Replay replay = recorded.predictor(recorded.machine).replay();
  EXPECT_GT(replay.channels[0].rmse, 3);
  EXPECT_TRUE(std::isnan(replay.channels[0].r_squared));
}

}  // namespace
}  // namespace kinegraph::identify::prediction_test
