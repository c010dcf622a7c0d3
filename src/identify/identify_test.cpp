#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "kinegraph/identify/synthetic_test.hpp"

namespace kinegraph::identify::identify_test {
namespace {

using Eigen::VectorXd;

/// A search from the true poses: those a smoothed recording is near to.
struct Search {
  Parameters parameters;
  std::vector<Problem> problems;
  std::vector<std::vector<double>> poses;
  VectorXd x;
  SolverReport report;

  Search(const Model& model, const std::vector<FreeParameter>& free, const std::vector<Synthetic>& runs,
         const maximal::Regularization& regularization, double kappa, SolverOptions options = {})
      : parameters(free_parameters(model, free)), x(parameters.start()) {
    Weights weights;
    weights.kappa = kappa;
    for (const Synthetic& run : runs) {
      problems.emplace_back(model, parameters.shared_mechanism(), run.run, regularization, weights);
      poses.push_back(run.poses);
    }
    Result<SolverReport> done = solve(parameters, problems, x, poses, options);
    if (!done) throw std::runtime_error(done.failure().to_string());
    report = *done;
  }
  double value(const std::string& name) const { return value_of(parameters, x, name); }
};

const std::vector<FreeParameter> kMoment = {{.name = "rod.ixx", .prior = {}}};

TEST(Identify, AMomentOfInertiaWhateverTheStiffness) {
  const Synthetic made = record(rod_in_space(0.0039), {});
  std::vector<double> found;
  for (const double compliance : {1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}) {
    const Search search(rod_in_space(0.01), kMoment, {made}, {compliance, compliance, 0.02}, 100);
    EXPECT_TRUE(search.report.converged) << search.report.why_stopped;
    EXPECT_LE(search.report.iterations, 6);
    found.push_back(search.value("rod.ixx"));
    EXPECT_NEAR(found.back(), 0.0039, 0.03 * 0.0039);
    EXPECT_NEAR(found.back(), found.front(), 1e-3 * found.front()) << compliance;
    EXPECT_TRUE(search.report.information.allFinite());
    EXPECT_GT(search.report.scatter(0, 0), 0);
  }
}

TEST(Identify, FrozenCoordinatesStay) {
  const Synthetic made = record(rod_in_space(0.0039), {});
  const std::vector<FreeParameter> free = {{.name = "rod.ixx", .prior = {}}, {.name = "rod.mass", .prior = {}}};
  SolverOptions options;
  options.frozen = {false, true};
  const Search search(rod_in_space(0.01), free, {made}, {1e-6, 1e-6, 0.02}, 100, options);
  EXPECT_TRUE(search.report.converged) << search.report.why_stopped;
  EXPECT_EQ(search.x[1], search.parameters.start()[1]);
  EXPECT_NEAR(search.value("rod.ixx"), 0.0039, 0.03 * 0.0039);
}

/// At second order: constraints bend within the step. (In 002, where they do not, at first.)
TEST(Identify, TheBiasFallsWithTheStep) {
  std::vector<double> off;
  for (const double h : {0.02, 0.01, 0.005}) {
    SyntheticOptions options;
    options.h = h, options.fine = static_cast<int>(std::lround(h / 5e-4)), options.noise = 0;
    const Search search(rod_in_space(0.01), kMoment, {record(rod_in_space(0.0039), options)}, {1e-8, 1e-8, 0.02}, 100);
    off.push_back(0.0039 - search.value("rod.ixx"));
  }
  EXPECT_NEAR(off[1] / off[0], 0.25, 0.05);
  EXPECT_NEAR(off[2] / off[1], 0.25, 0.05);
}

TEST(Identify, DryFrictionOfAFreeSwing) {
  Model truth = rod_in_space(0.0039), start = rod_in_space(0.006);
  truth.robot.joints[0].dynamics[0].friction = 0.02;
  truth.robot.joints[0].dynamics[0].damping = 0.0005;
  start.robot.joints[0].dynamics[0].friction = 0.005;
  SyntheticOptions options;
  options.h = 0.005, options.fine = 10;
  const Search search(
      start,
      {{.name = "rod.ixx", .prior = {}}, {.name = "hinge.dry", .prior = {}}, {.name = "hinge.damping", .prior = {}}},
      {record(truth, options)}, {1e-8, 1e-8, 0.02}, 100);
  EXPECT_TRUE(search.report.converged);
  EXPECT_LE(search.report.iterations, 20);
  EXPECT_NEAR(search.value("hinge.dry"), 0.02, 0.002);
  EXPECT_NEAR(search.value("rod.ixx"), 0.0039, 0.03 * 0.0039);
}

TEST(Identify, TwoRunsAtOnce) {
  SyntheticOptions options;
  options.duration = 4;
  const Synthetic one = record(rod_in_space(0.0039, 2), options);
  options.seed = 2;
  const Synthetic two = record(rod_in_space(0.0039, 1), options);
  const maximal::Regularization stiff{1e-8, 1e-8, 0.02};
  const Search both(rod_in_space(0.01), kMoment, {one, two}, stiff, 100);
  const Search first(rod_in_space(0.01), kMoment, {one}, stiff, 100),
      second(rod_in_space(0.01), kMoment, {two}, stiff, 100);
  EXPECT_TRUE(both.report.converged);
  const double low = std::min(first.value("rod.ixx"), second.value("rod.ixx"));
  const double high = std::max(first.value("rod.ixx"), second.value("rod.ixx"));
  EXPECT_GE(both.value("rod.ixx"), low - 1e-6);
  EXPECT_LE(both.value("rod.ixx"), high + 1e-6);
  EXPECT_NEAR(both.report.information(0, 0), first.report.information(0, 0) + second.report.information(0, 0),
              0.05 * both.report.information(0, 0));
}

TEST(Identify, ABoundHolds) {
  std::vector<FreeParameter> free = {{.name = "rod.ixx", .lower = 0.005, .upper = 0.02, .prior = {}}};
  const Search search(rod_in_space(0.01), free, {record(rod_in_space(0.0039), {})}, {1e-8, 1e-8, 0.02}, 100);
  EXPECT_TRUE(search.report.converged);
  EXPECT_TRUE(search.report.at_bound[0]);
  EXPECT_GE(search.value("rod.ixx"), 0.005);
  EXPECT_NEAR(search.value("rod.ixx"), 0.005, 1e-5);
}

/// The start is free: trust in the model, which a short recording does not contradict, makes it no better known.
TEST(Identify, TrustInTheModelDoesNotHoldTheStart) {
  SyntheticOptions options;
  options.duration = 0.5;
  const Synthetic made = record(rod_in_space(0.0039), options);
  const auto information = [&](double kappa) {
    return Search(rod_in_space(0.0039), kMoment, {made}, {1e-8, 1e-8, 0.02}, kappa).report.information(0, 0);
  };
  const double usual = information(1e10);
  EXPECT_NEAR(information(1e14), usual, 0.05 * usual);
  EXPECT_NEAR(information(1e16), usual, 0.05 * usual);
}

TEST(Identify, APriorHolds) {
  const Synthetic made = record(rod_in_space(0.0039), {});
  std::vector<FreeParameter> free = {{.name = "rod.ixx", .prior = 1e-9}};
  const Search search(rod_in_space(0.01), free, {made}, {1e-8, 1e-8, 0.02}, 100);
  EXPECT_NEAR(search.value("rod.ixx"), 0.01, 1e-5);
}

TEST(Identify, StopsWhenAsked) {
  const Synthetic made = record(rod_in_space(0.0039), {});
  const Model model = rod_in_space(0.01);
  const Parameters parameters = free_parameters(model, kMoment);
  std::vector<Problem> problems;
  problems.emplace_back(model, parameters.shared_mechanism(), made.run, maximal::Regularization{}, Weights{});
  VectorXd x = parameters.start();
  std::vector<std::vector<double>> poses = {made.poses};
  SolverOptions options;
  options.progress = [](double) { return false; };
  const Result<SolverReport> done = solve(parameters, problems, x, poses, options);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.failure().kind, Failure::Kind::interrupted);
}

/// Rows are kept for others if that is asked for, and if those of all recordings together are not too many. That they
/// are there is seen by a problem of softer joints, which takes the impulses of the stiff ones.
TEST(Identify, RowsAreKeptForOthersWithinABudgetOfAllRecordings) {
  SyntheticOptions record_options;
  record_options.duration = 1;
  const Synthetic made = record(rod_in_space(0.0039), record_options);
  const Model model = rod_in_space(0.01);
  const Parameters parameters = free_parameters(model, kMoment);
  const auto make = [&](double compliance) {
    return Problem(model, parameters.shared_mechanism(), made.run, {compliance, compliance, 0.02}, Weights{});
  };
  const std::size_t numbers = make(1e-8).row_numbers(1);
  const auto lends = [&](const SolverOptions& options) {
    std::vector<Problem> problems;
    std::vector<std::vector<double>> poses;
    for (int i = 0; i < 2; ++i) problems.push_back(make(1e-8)), poses.push_back(made.poses);
    VectorXd x = parameters.start();
    const Result<SolverReport> done = solve(parameters, problems, x, poses, options);
    EXPECT_TRUE(done.ok());
    const MachinePoint machine = *parameters.at(x);
    linear::Arrowhead arrow;
    arrow.reset(problems[0].unknowns(), problems[0].knots(), parameters.size());
    int lent = 0;
    for (int i = 0; i < 2; ++i) {
      Problem soft = make(1e-1);
      soft.expect_as(problems[i]);
      EXPECT_TRUE(std::isfinite(soft.linearize(machine, poses[i], arrow)));
      const double stiff = problems[i].impulse_cost();
      lent += std::abs(soft.impulse_cost() - stiff) < 1e-6 * stiff ? 1 : 0;
    }
    return lent;
  };
  SolverOptions options;
  EXPECT_EQ(lends(options), 0) << "nobody wants them after they were measured";
  options.lend = true;
  EXPECT_EQ(lends(options), 2);
  options.measure = false;
  EXPECT_EQ(lends(options), 2);
  options.most_kept = 2 * numbers;
  EXPECT_EQ(lends(options), 2);
  options.most_kept = 2 * numbers - 1;
  EXPECT_EQ(lends(options), 0) << "each alone would not be too many";
}

/// Random readings, of which no machine is the source.
TEST(Identify, NoDataMakesAnImpossibleSolid) {
  const Model model = rod_in_space(0.0039);
  SyntheticOptions short_run;
  short_run.duration = 0.2, short_run.fine = 2;
  const Synthetic made = record(model, short_run);
  int solved = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    Random random(77, trial);
    Synthetic noisy = made;
    const double size = std::pow(10.0, random.uniform(-3, 1));
    for (Reading& reading : noisy.run.readings) reading.y[0] += size * random.normal();
    std::vector<FreeParameter> free;
    if (trial % 2 == 0) {
      free = {{.name = "rod.inertia", .prior = {}}};
    } else {
      for (const char* name : {"rod.mass", "rod.ixx", "rod.iyy", "rod.izz"})
        free.push_back({.name = name, .prior = {}});
    }
    const Parameters parameters = free_parameters(model, free);
    std::vector<Problem> problems;
    Weights weights;
    weights.kappa = std::pow(10.0, random.uniform(0, 4));
    problems.emplace_back(model, parameters.shared_mechanism(), noisy.run, maximal::Regularization{}, weights);
    VectorXd x = parameters.start();
    std::vector<std::vector<double>> poses = {noisy.poses};
    SolverOptions options;
    options.most_iterations = 10;
    const Result<SolverReport> done = solve(parameters, problems, x, poses, options);
    if (!done) continue;
    ++solved;
    ASSERT_TRUE(x.allFinite() && std::isfinite(done->cost) && done->information.allFinite());
    const MachinePoint machine = *parameters.at(x);
    const Inertia& inertia = machine.model.robot.links[0].inertia;
    const Eigen::Vector3d moments = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(inertia.about_com).eigenvalues();
    EXPECT_GT(inertia.mass, 0) << trial;
    EXPECT_GT(moments[0], 0) << trial;
    EXPECT_GE(moments[0] + moments[1], moments[2] * (1 - 1e-9)) << trial;
  }
  EXPECT_GT(solved, 990);
}

}  // namespace
}  // namespace kinegraph::identify::identify_test
