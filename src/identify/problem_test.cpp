#include "kinegraph/identify/problem.hpp"

#include <gtest/gtest.h>

#include "kinegraph/identify/synthetic_test.hpp"

namespace kinegraph::identify::problem_test {
namespace {

using Eigen::VectorXd;

/// Gradients of the cost against differences: rows and residuals of all kinds at once, at states that do not follow the
/// machine's laws.
void check_gradient(const Model& model, const std::vector<std::string>& names, Synthetic made, const Weights& weights,
                    double disorder, double tolerance) {
  std::vector<FreeParameter> free;
  for (const std::string& name : names) free.emplace_back().name = name;
  const Parameters parameters = free_parameters(model, free);
  Problem problem(model, parameters.shared_mechanism(), made.run, {1e-6, 1e-6, 0.02}, weights);
  const int n = problem.unknowns(), bodies = n / 6, stored = 7 * bodies;
  Random random(5);
  VectorXd move(n);
  for (int k = 2; k < problem.knots(); ++k) {  // the first state keeps its joints closed, as its rows assume
    for (double& x : move) x = disorder * random.normal();
    maximal::retract(bodies, made.poses.data() + k * stored, move.data(), made.poses.data() + k * stored);
  }
  linear::Arrowhead arrow;
  arrow.reset(n, problem.knots(), parameters.size());
  VectorXd x = parameters.start();
  const MachinePoint machine = *parameters.at(x);
  const double cost = problem.linearize(machine, made.poses, arrow);
  EXPECT_NEAR(problem.cost(machine, made.poses), cost, 1e-9 * cost);
  ASSERT_GT(cost, 0);
  const double e = 1e-6;
  double scale = 0;
  for (int k = 0; k < problem.knots(); ++k) scale = std::max(scale, arrow.gradient(k).cwiseAbs().maxCoeff());
  for (int k = 0; k < problem.knots(); ++k) {
    const VectorXd gradient = arrow.gradient(k);
    for (int i = 0; i < n; ++i) {
      const auto at = [&](double by) {
        std::vector<double> poses = made.poses;
        move.setZero();
        move[i] = by;
        maximal::retract(bodies, poses.data() + k * stored, move.data(), poses.data() + k * stored);
        return problem.cost(machine, poses);
      };
      EXPECT_NEAR(gradient[i], (at(e) - at(-e)) / (4 * e), tolerance * scale) << "knot " << k << ", unknown " << i;
    }
  }
  const VectorXd border = arrow.border_gradient();
  for (int i = 0; i < parameters.size(); ++i) {
    const auto at = [&](double by) {
      VectorXd moved = x;
      moved[i] += by;
      return problem.cost(*parameters.at(moved), made.poses);
    };
    EXPECT_NEAR(border[i], (at(e) - at(-e)) / (4 * e), tolerance * (border.cwiseAbs().maxCoeff() + cost))
        << parameters.names()[i];
  }
}

Model furuta_with_all() {
  Model model = with_encoders(furuta());
  for (int j = 0; j < 2; ++j)
    model.sensors.push_back(sensor_of(SensorType::tachometer, "tacho" + std::to_string(j), j));
  model.sensors[0].channels[0].scale = 1.1;
  model.sensors[1].channels[0].bias = 0.2;
  return model;
}

Synthetic short_record(const Model& model, std::vector<double> fractions) {
  SyntheticOptions options;
  options.duration = 0.06;
  options.fractions = std::move(fractions);
  options.control = [](double t, int f) { return f == 0 ? 0.2 + t : 0.1; };
  Synthetic made = record(with_encoders(furuta()), options);
  for (std::size_t i = 0, count = made.run.readings.size(); i < count; ++i) {
    Reading rate = made.run.readings[i];
    if ((rate.sensor += 2) < static_cast<int>(model.sensors.size())) rate.y[0] = 0.3, made.run.readings.push_back(rate);
  }
  std::stable_sort(made.run.readings.begin(), made.run.readings.end(), [](const Reading& a, const Reading& b) {
    return std::pair(a.knot, a.fraction) < std::pair(b.knot, b.fraction);
  });
  return made;
}

const std::vector<std::string> kFurutaFree = {"arm.izz",       "pendulum.ixx",      "pendulum.mass",
                                              "elbow.damping", "shoulder.armature", "pendulum.com_z"};

TEST(Problem, GradientsOfSmoothMotion) {
  const Model model = furuta_with_all();
  check_gradient(model, kFurutaFree, short_record(model, {0, 0.3, 0.75}), {100, {0.5, 0.3, 2, 3}, "none", 3}, 1e-4,
                 1e-5);
}

TEST(Problem, GradientsWithDryFriction) {
  Model model = furuta_with_all();
  model.robot.joints[0].dynamics[0].friction = 1;      // holds
  model.robot.joints[1].dynamics[0].friction = 0.001;  // slips
  check_gradient(model, {"elbow.dry", "elbow.damping", "arm.izz", "pendulum.mass"}, short_record(model, {0.5}),
                 {100, {1, 1, 1, 1}, "none", 3}, 3e-3, 1e-5);
}

TEST(Problem, GradientsWithALoss) {
  const Model model = furuta_with_all();
  for (const char* loss : {"huber", "cauchy", "tukey"}) {
    check_gradient(model, {"arm.izz"}, short_record(model, {0, 0.5}), {100, {2e-4, 2e-4, 0.1, 0.1}, loss, 3}, 1e-4,
                   3e-4);
  }
}

/// The motion follows the model: a change of its start or of a parameter changes all of it.
TEST(Problem, GradientsOfAReplay) {
  const Model model = furuta_with_all();
  const Synthetic made = short_record(model, {0, 0.3, 0.75});
  std::vector<FreeParameter> free;
  for (const std::string& name : kFurutaFree) free.emplace_back().name = name;
  const Parameters parameters = free_parameters(model, free);
  Weights weights{100, {0.5, 0.3, 2, 3}, "none", 3};
  weights.hard = true;
  Problem problem(model, parameters.shared_mechanism(), made.run, {1e-6, 1e-6, 0.02}, weights);
  ASSERT_EQ(problem.knots(), 2);
  const int n = problem.unknowns(), bodies = n / 6, stored = 7 * bodies;
  const MachinePoint machine = *parameters.at(parameters.start());
  const auto cost = [&](const MachinePoint& at, int knot, int i, double by) {
    std::vector<double> poses = made.poses;
    VectorXd move = VectorXd::Zero(n);
    if (i >= 0) move[i] = by;
    maximal::retract(bodies, poses.data() + knot * stored, move.data(), poses.data() + knot * stored);
    problem.follow(at, poses);
    return problem.cost(at, poses);
  };
  std::vector<double> poses = made.poses;
  problem.follow(machine, poses);
  linear::Arrowhead arrow;
  arrow.reset(n, 2, parameters.size());
  const double here = problem.linearize(machine, poses, arrow), e = 1e-6;
  ASSERT_GT(here, 0);
  EXPECT_LT(problem.impulse_cost(), 1e-18 * here);  // it follows the model
  const double scale = std::max(arrow.gradient(0).cwiseAbs().maxCoeff(), arrow.gradient(1).cwiseAbs().maxCoeff());
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < n; ++i) {
      const double difference = (cost(machine, k, i, e) - cost(machine, k, i, -e)) / (4 * e);
      EXPECT_NEAR(arrow.gradient(k)[i], difference, 1e-5 * scale) << "knot " << k << ", unknown " << i;
    }
  }
  const VectorXd border = arrow.border_gradient();
  ASSERT_GT(border.cwiseAbs().maxCoeff(), 0);
  for (int i = 0; i < parameters.size(); ++i) {
    const auto at = [&](double by) {
      VectorXd x = parameters.start();
      x[i] += by;
      return cost(*parameters.at(x), 0, -1, 0);
    };
    EXPECT_NEAR(border[i], (at(e) - at(-e)) / (4 * e), 1e-5 * (border.cwiseAbs().maxCoeff() + here))
        << parameters.names()[i];
  }
}

TEST(Problem, ReadingsThatAreMissingDoNotCount) {
  const Model model = furuta_with_all();
  Synthetic made = short_record(model, {0});
  const Parameters parameters = free_parameters(model, {{.name = "arm.izz", .prior = {}}});
  Problem problem(model, parameters.shared_mechanism(), made.run, {}, {});
  const MachinePoint machine = *parameters.at(parameters.start());
  EXPECT_TRUE(std::isfinite(problem.cost(machine, made.poses)));
  const long rows = problem.reading_rows();
  made.run.readings[3].y[0] = std::numeric_limits<double>::quiet_NaN();
  Problem fewer(model, parameters.shared_mechanism(), made.run, {}, {});
  EXPECT_TRUE(std::isfinite(fewer.cost(machine, made.poses)));
  EXPECT_EQ(fewer.reading_rows(), rows - 1);
}

TEST(Problem, AnglesAreComparedTheShorterWayRound) {
  const Model model = with_encoders(furuta());
  Synthetic made = short_record(model, {0});
  const Parameters parameters = free_parameters(model, {{.name = "arm.izz", .prior = {}}});
  const MachinePoint machine = *parameters.at(parameters.start());
  Problem plain(model, parameters.shared_mechanism(), made.run, {}, {});
  const double cost = plain.cost(machine, made.poses);
  for (Reading& reading : made.run.readings) reading.y[0] += 2 * std::numbers::pi * (reading.knot % 3 - 1);
  Problem turned(model, parameters.shared_mechanism(), made.run, {}, {});
  EXPECT_NEAR(turned.cost(machine, made.poses), cost, 1e-9 * cost);
}

TEST(Problem, RowsThatAreKeptMeasureTheSame) {
  const Model model = furuta_with_all();
  const Synthetic made = short_record(model, {0, 0.3, 0.75});
  std::vector<FreeParameter> free;
  for (const std::string& name : kFurutaFree) free.emplace_back().name = name;
  const Parameters parameters = free_parameters(model, free);
  const MachinePoint machine = *parameters.at(parameters.start());
  const int p = parameters.size();
  for (const bool hard : {false, true}) {
    Weights weights{100, {0.5, 0.3, 2, 3}, "none", 3};
    weights.hard = hard;
    Eigen::MatrixXd information[2], scatter[2];
    linear::Arrowhead arrow, other;
    for (const bool keep : {false, true}) {
      information[keep] = scatter[keep] = Eigen::MatrixXd::Zero(p, p);
      Problem problem(model, parameters.shared_mechanism(), made.run, {1e-6, 1e-6, 0.02}, weights);
      // The search for a step starts where it ended before. Rows that are not kept are found in a second evaluation:
      // those that are kept are of a second one, too.
      for (linear::Arrowhead* one : {&arrow, &other}) one->reset(problem.unknowns(), problem.knots(), p);
      ASSERT_TRUE(std::isfinite(problem.linearize(machine, made.poses, arrow)));
      problem.keep_rows(keep);
      if (keep) ASSERT_TRUE(std::isfinite(problem.linearize(machine, made.poses, other)));
      ASSERT_TRUE(arrow.eliminate(1e-13));
      arrow.find_border_response();
      problem.measure(machine, made.poses, arrow, 2, information[keep], scatter[keep]);
    }
    EXPECT_GT(information[0].norm(), 0);
    EXPECT_EQ(information[0], information[1]);
    EXPECT_EQ(scatter[0], scatter[1]);
  }
}

TEST(Problem, RowsOfStepsAreTakenFromAProblemThatKeptThem) {
  const Model model = furuta_with_all();
  const Synthetic made = short_record(model, {0, 0.3, 0.75});
  std::vector<FreeParameter> free;
  for (const std::string& name : kFurutaFree) free.emplace_back().name = name;
  const Parameters parameters = free_parameters(model, free);
  const MachinePoint machine = *parameters.at(parameters.start());
  const Weights kept_weights{100, {0.5, 0.3, 2, 3}, "none", 3}, weights{700, {0.4, 0.2, 1, 5}, "huber", 3};
  const auto make = [&](const Weights& w) {
    return Problem(model, parameters.shared_mechanism(), made.run, {1e-6, 1e-6, 0.02}, w);
  };
  Problem keeper = make(kept_weights), borrower = make(weights), own = make(weights);
  linear::Arrowhead arrows[2];
  for (linear::Arrowhead& arrow : arrows) arrow.reset(own.unknowns(), own.knots(), parameters.size());
  keeper.keep_rows(true);
  ASSERT_TRUE(std::isfinite(keeper.linearize(machine, made.poses, arrows[0])));
  borrower.expect_as(keeper);
  const auto compare = [&](const MachinePoint& at, const std::vector<double>& poses) {
    const double cost = own.linearize(at, poses, arrows[1]);
    EXPECT_NEAR(borrower.linearize(at, poses, arrows[0]), cost, 1e-9 * cost);
    EXPECT_NEAR(borrower.impulse_cost(), own.impulse_cost(), 1e-9 * own.impulse_cost());
    const Eigen::MatrixXd C = arrows[1].border_information();
    EXPECT_LT((arrows[0].border_information() - C).norm(), 1e-9 * C.norm());
    for (int k = 0; k < own.knots(); ++k) {
      const VectorXd gradient = arrows[1].gradient(k);
      EXPECT_LT((arrows[0].gradient(k) - gradient).norm(), 1e-8 * gradient.norm()) << "knot " << k;
    }
  };
  compare(machine, made.poses);
  // elsewhere they are not those that were kept
  std::vector<double> moved = made.poses;
  moved[moved.size() - 1] += 1e-3;
  compare(machine, moved);
  VectorXd x = parameters.start();
  x[0] += 0.1;
  compare(*parameters.at(x), made.poses);
}

/// They are seen to be taken where the problem that kept them is of other joints: impulses are its own then.
TEST(Problem, RowsAreTakenOnlyFromTheSameMachineAtTheSamePoses) {
  const Model model = furuta_with_all();
  const Synthetic made = short_record(model, {0, 0.3, 0.75});
  const auto parameters_of = [&](std::size_t count) {
    std::vector<FreeParameter> free;
    for (std::size_t i = 0; i < count; ++i) free.emplace_back().name = kFurutaFree[i];
    return free_parameters(model, free);
  };
  const Parameters parameters = parameters_of(4), fewer = parameters_of(3), none = parameters_of(0);
  const MachinePoint machine = *parameters.at(parameters.start());
  std::vector<double> bent = made.poses;  // the motion misses the model, by how much depends on the joints
  bent[bent.size() / 2] += 1e-3;
  linear::Arrowhead arrow;
  const auto problem = [&](double compliance, const Parameters& of) {
    arrow.reset(2 * 6, made.run.knots() + 1, of.size());
    return Problem(model, of.shared_mechanism(), made.run, {compliance, compliance, 0.02}, {100, {}, "none", 3});
  };
  const auto impulses = [&](Problem& of, const std::vector<double>& poses) {
    EXPECT_TRUE(std::isfinite(of.linearize(machine, poses, arrow)));
    return of.impulse_cost();
  };
  Problem keeper = problem(1e-2, parameters), own = problem(1e-6, parameters);
  const double kept = impulses(keeper, bent), found = impulses(own, bent);
  ASSERT_GT(std::abs(kept - found), 1e-3 * found);
  const auto borrowed = [&](const std::vector<double>& poses) {
    Problem borrower = problem(1e-6, parameters);
    borrower.expect_as(keeper);
    return impulses(borrower, poses);
  };
  EXPECT_NEAR(borrowed(bent), found, 1e-6 * found) << "none were kept";
  keeper.keep_rows(true);
  impulses(keeper, bent);
  EXPECT_NEAR(borrowed(bent), kept, 1e-9 * kept);
  // elsewhere, or where other parameters are free, they are its own
  EXPECT_NEAR(borrowed(made.poses), impulses(own, made.poses), 1e-6 * found);
  for (const Parameters* of : {&fewer, &none}) {
    const MachinePoint other = *of->at(of->start());
    Problem borrower = problem(1e-6, *of);
    borrower.expect_as(keeper);
    EXPECT_TRUE(std::isfinite(borrower.linearize(other, bent, arrow)));
    EXPECT_NEAR(borrower.impulse_cost(), found, 1e-6 * found) << of->size();
  }
  arrow.reset(2 * 6, made.run.knots() + 1, parameters.size());
  keeper.keep_rows(false);
  EXPECT_NEAR(borrowed(bent), found, 1e-6 * found) << "they are freed";
}

/// A tilt of a link in a loop of stiff joints pushes with its square over their compliance: steps must not feel it, or
/// they follow what rounding leaves of it.
TEST(Problem, PlanarMachinesStayInTheirPlane) {
  const Model model = four_bar();
  SyntheticOptions options;
  options.duration = 0.3;
  options.control = [](double t, int f) { return f == 0 ? 5 * std::sin(9 * t) : 0; };
  Synthetic made = record(model, options);
  const Parameters parameters = free_parameters(model, {{.name = "D.dry", .prior = {}}});
  const maximal::Mechanism& mechanism = *parameters.shared_mechanism();
  Problem problem(model, parameters.shared_mechanism(), made.run, {1e-8, 1e-8, 0.02}, {100, {}, "none", 3});
  const int n = problem.unknowns(), bodies = n / 6;
  const auto normal = [&](int body) {  // in the body's own axes
    return Eigen::Vector3d(SO3::load(made.poses.data() + 7 * body).matrix().row(2).transpose());
  };
  VectorXd move = VectorXd::Zero(n);
  for (int b = 0; b < bodies; ++b) move.segment<3>(6 * b) = 1e-5 * normal(b).unitOrthogonal();
  std::vector<double> tilted = made.poses;
  double* middle = tilted.data() + static_cast<std::size_t>(problem.knots() / 2) * mechanism.stored();
  maximal::retract(bodies, middle, move.data(), middle);
  linear::Arrowhead arrow;
  arrow.reset(n, problem.knots(), parameters.size());
  const MachinePoint machine = *parameters.at(parameters.start());
  ASSERT_TRUE(std::isfinite(problem.linearize(machine, tilted, arrow)));
  ASSERT_TRUE(arrow.eliminate(1e-12));
  arrow.substitute(VectorXd::Constant(1, 0.1));
  double across = 0, within = 0;
  for (int k = 0; k < problem.knots(); ++k) {
    for (int b = 0; b < bodies; ++b) {
      const Eigen::Vector3d turn = arrow.step(k).segment<3>(6 * b);
      across = std::max({across, normal(b).cross(turn).norm(), std::abs(arrow.step(k)[6 * b + 5])});
      within = std::max(within, std::abs(normal(b).dot(turn)));
    }
  }
  EXPECT_GT(within, 1e-9);
  EXPECT_LT(across, 1e-9 * within);
}

TEST(Problem, CostsAreFollowedUpToALimit) {
  const Model model = furuta_with_all();
  const Synthetic made = short_record(model, {0});
  const Parameters parameters = free_parameters(model, {{.name = "arm.izz", .prior = {}}});
  const MachinePoint machine = *parameters.at(parameters.start() + VectorXd::Constant(1, 0.5));
  Problem problem(model, parameters.shared_mechanism(), made.run, {}, {});
  const double cost = problem.cost(machine, made.poses), part = problem.cost_up_to(0.2 * cost, machine, made.poses);
  EXPECT_GT(part, 0.2 * cost);
  EXPECT_LT(part, 0.9 * cost);
  EXPECT_NEAR(problem.cost_up_to(2 * cost, machine, made.poses), cost, 1e-9 * cost);
}

}  // namespace
}  // namespace kinegraph::identify::problem_test
