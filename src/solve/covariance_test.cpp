#include "kinegraph/solve/covariance.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

#include "kinegraph/graph/check_jacobians.hpp"
#include "kinegraph/solve/diagnose.hpp"
#include "kinegraph/solve/factors_test.hpp"

namespace kinegraph::covariance_test {
namespace {

using namespace testing_solve;

/// log(Z⁻¹ X₁⁻¹ X₂), with exact Jacobians.
std::shared_ptr<const Factor> between(const SE3& measured) {
  const auto evaluate = [measured](Slots x, double* residual, double* jacobian) {
    const SE3 relative = SE3::load(x[0]).inverse() * SE3::load(x[1]);
    const SE3::Tangent e = (measured.inverse() * relative).log();
    Eigen::Map<SE3::Tangent>{residual} = e;
    if (!jacobian) return;
    const SE3::Square right = SE3::right_jacobian_inverse(e);
    Eigen::Map<SE3::Square>{jacobian} = -right * relative.inverse().Ad();
    Eigen::Map<SE3::Square>{jacobian + 36} = right;
  };
  return std::make_shared<FunctionFactor>("between", 6, std::vector<int>{7, 7}, evaluate, std::vector<int>{6, 6});
}

std::shared_ptr<const Factor> anchor(const SE3& pose) {
  const auto evaluate = [pose](Slots x, double* residual, double* jacobian) {
    const SE3::Tangent e = (pose.inverse() * SE3::load(x[0])).log();
    Eigen::Map<SE3::Tangent>{residual} = e;
    if (jacobian) Eigen::Map<SE3::Square>{jacobian} = SE3::right_jacobian_inverse(e);
  };
  return std::make_shared<FunctionFactor>("anchor", 6, std::vector<int>{7}, evaluate, std::vector<int>{6});
}

/// Poses around a tilted ring, each seen from the one before and the last from the first.
struct Ring {
  static constexpr int kPoses = 12;
  std::vector<SE3> truth;
  Graph graph;
  Values values;

  Ring(Role closure, double noise) {
    std::mt19937 engine(4);
    std::normal_distribution<double> normal;
    const auto random = [&](double scale) {
      return SE3::Tangent(SE3::Tangent::NullaryExpr([&] { return scale * normal(engine); }));
    };
    for (int i = 0; i < kPoses; ++i) {
      const double a = 2 * std::numbers::pi * i / kPoses;
      const SO3 rotation = SO3::exp(Eigen::Vector3d(0.3, 0, 0)) * SO3::exp(Eigen::Vector3d(0, 0, a));
      truth.emplace_back(rotation, Eigen::Vector3d(5 * std::cos(a), 5 * std::sin(a), std::sin(2 * a)));
      values.insert(user(0, i), truth.back() * SE3::exp(random(0.3)));
    }
    graph.add(anchor(truth[0]), {user(0, 0)}, Role::cost, Noise::isotropic(0.01));
    for (int i = 0; i < kPoses; ++i) {
      const int j = (i + 1) % kPoses;
      const bool closes = j == 0;
      const SE3 measured = truth[i].inverse() * truth[j] * SE3::exp(random(closes ? 0 : noise));
      graph.add(between(measured), {user(0, i), user(0, j)}, closes ? closure : Role::cost, Noise::isotropic(0.02));
    }
  }
};

TEST(PoseGraph, FactorsHaveExactJacobians) {
  const SE3 a = SE3::exp((SE3::Tangent() << 0.3, -0.5, 0.8, 1, 2, 3).finished());
  const SE3 b = SE3::exp((SE3::Tangent() << -1.1, 0.2, 0.4, -2, 1, 0.5).finished());
  SlotValues x = {std::vector<double>(7), std::vector<double>(7)};
  a.store(x[0].data());
  b.store(x[1].data());
  JacobianCheckOptions options;
  options.manifolds = {Manifold::se3(), Manifold::se3()};
  const JacobianCheck check = check_jacobians(*between(SE3::exp(SE3::Tangent::Constant(0.4))), x, options);
  EXPECT_TRUE(check.ok()) << check.message;
}

TEST(PoseGraph, ClosesExactlyWithoutNoise) {
  for (const Role closure : {Role::cost, Role::equality}) {
    for (const Method method : kMethods) {
      Ring ring(closure, 0);
      OptimizerOptions options;
      options.method = method;
      const auto report = optimize(ring.graph, ring.values, options);
      ASSERT_TRUE(report) << report.failure().to_string();
      EXPECT_TRUE(report->converged()) << report->to_string();
      for (int i = 0; i < Ring::kPoses; ++i) {
        const SE3 found = ring.values.at<SE3>(user(0, i));
        EXPECT_LT((ring.truth[i].inverse() * found).log().norm(), 1e-10) << i << " method " << int(method);
      }
    }
  }
}

TEST(PoseGraph, AHardClosureHoldsUnderNoise) {
  Ring ring(Role::equality, 0.02);
  const auto report = optimize(ring.graph, ring.values);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->converged()) << report->to_string();
  EXPECT_GT(report->cost_after, 0.1);
  EXPECT_LT(report->hard_after, 1e-12);
  const SE3 last = ring.values.at<SE3>(user(0, Ring::kPoses - 1)), first = ring.values.at<SE3>(user(0, 0));
  EXPECT_LT(((ring.truth.back().inverse() * ring.truth.front()).inverse() * (last.inverse() * first)).log().norm(),
            1e-12);
}

/// K⁻¹ of the whole, the slow way.
Eigen::MatrixXd dense_inverse(const Graph& graph, Values values, int& unknowns) {
  auto l = Linearization::make(graph, values);
  Eigen::VectorXd hard;
  l->linearize(hard);
  const int size = l->pattern().size();
  Eigen::MatrixXd k(size, size);
  for (int i = 0; i < size; ++i) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(size, i);
    Eigen::VectorXd column = Eigen::VectorXd::Zero(size);
    linear::multiply_add(l->pattern(), l->matrix(), unit.data(), column.data());
    k.col(i) = column;
  }
  unknowns = l->unknowns();
  return k.inverse();
}

TEST(Covariances, AreBlocksOfTheInverse) {
  for (const Role closure : {Role::cost, Role::equality}) {
    Ring ring(closure, 0.02);
    ASSERT_TRUE(optimize(ring.graph, ring.values)->converged());
    int unknowns = 0;
    const Eigen::MatrixXd all = dense_inverse(ring.graph, ring.values, unknowns);
    auto covariances = Covariances::make(ring.graph, ring.values);
    ASSERT_TRUE(covariances) << covariances.failure().to_string();
    for (int i = 0; i < Ring::kPoses; ++i) {
      const auto block = covariances->covariance(user(0, i));
      ASSERT_TRUE(block) << block.failure().to_string();
      EXPECT_LT((*block - all.block(6 * i, 6 * i, 6, 6)).norm(), 1e-10 * all.topLeftCorner(unknowns, unknowns).norm());
    }
    const auto joint = covariances->joint({user(0, 7), user(0, 2)});
    ASSERT_TRUE(joint);
    EXPECT_LT((joint->topRightCorner(6, 6) - all.block(42, 12, 6, 6)).norm(), 1e-12);
    EXPECT_LT((*joint - joint->transpose()).norm(), 1e-14);
  }
}

TEST(Covariances, OfAMeanIsTheVarianceOverN) {
  Graph graph;
  for (int i = 0; i < 25; ++i) graph.add(prior("reading", 1.0), {user(0)}, Role::cost, Noise::isotropic(0.5));
  Values values;
  values.insert(user(0), 1.0);
  auto covariances = Covariances::make(graph, values);
  EXPECT_NEAR((*covariances->covariance(user(0)))(0, 0), 0.25 / 25, 1e-16);
}

TEST(Covariances, WhatHardRowsFixHasNoneEvenWhenTheyAreRedundant) {
  // y = 2x hard (twice), x known to σ = 0.1: cov = 0.01 [1 2; 2 4].
  const auto twice = formula<1, 1, 1>("twice", [](auto x, auto* r) { r[0] = x[1][0] - 2.0 * x[0][0]; });
  for (const int copies : {1, 2}) {
    Graph graph;
    graph.add(prior("x", 1.0), {user(0)}, Role::cost, Noise::isotropic(0.1));
    for (int i = 0; i < copies; ++i) graph.add(twice, {user(0), user(1)}, Role::equality);
    graph.add(prior("fixed", 3.0), {user(2)}, Role::equality);
    Values values;
    values.insert(user(0), 1.0);
    values.insert(user(1), 2.0);
    values.insert(user(2), 3.0);
    auto covariances = Covariances::make(graph, values);
    ASSERT_TRUE(covariances) << covariances.failure().to_string();
    const auto joint = covariances->joint({user(0), user(1), user(2)});
    ASSERT_TRUE(joint);
    Eigen::Matrix3d expected;
    expected << 1, 2, 0, 2, 4, 0, 0, 0, 0;
    EXPECT_LT((*joint - 0.01 * expected).norm(), 1e-11) << copies;
  }
}

TEST(Covariances, NameWhatIsNotDetermined) {
  Ring ring(Role::cost, 0);
  Graph loose;
  for (int f = 1; f < ring.graph.size(); ++f) loose.add(ring.graph[f].factor, ring.graph[f].keys);
  const auto covariances = Covariances::make(loose, ring.values);
  ASSERT_FALSE(covariances);
  const std::string text = covariances.failure().to_string();
  EXPECT_EQ(text.substr(0, 80), "error: 72 unknowns, 72 equations (0 hard, 72 soft), rank 66: nothing determines ")
      << text;

  auto whole = Covariances::make(ring.graph, ring.values);
  EXPECT_EQ(whole->covariance(user(9)).failure().to_string(), "error: user9@0 is not an unknown of the graph");
}

TEST(Diagnosis, CountsAndNames) {
  Graph graph;
  graph.add(formula<1, 2>("range", [](auto x, auto* r) { r[0] = sqrt(x[0][0] * x[0][0] + x[0][1] * x[0][1]) - 1.0; }),
            {user(0)});
  graph.add(prior("level", 0.0), {user(1)});
  graph.add(formula<1, 1, 1>("gap", [](auto x, auto* r) { r[0] = x[0][0] - x[1][0]; }), {user(1), user(2)});
  Values values;
  values.insert(user(0), Eigen::VectorXd(Eigen::Vector2d(3, 4)));
  values.insert(user(1), 0.0);
  values.insert(user(2), 0.0);
  const Values before = values;
  const auto d = diagnose(graph, values);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->counts, "4 unknowns, 3 equations (0 hard, 3 soft)");
  EXPECT_EQ(d->rank, 3);
  EXPECT_FALSE(d->determined());
  EXPECT_EQ(d->to_string(), "4 unknowns, 3 equations (0 hard, 3 soft), rank 3: nothing determines user0@0 (in range)");
  EXPECT_EQ(before.local(values).norm(), 0);
}

TEST(Diagnosis, TellsASingularPositionFromAMissingEquation) {
  // x² + y² = 1 at the centre: no derivative there, one nearby.
  Graph graph;
  graph.add(formula<1, 2>("circle", [](auto x, auto* r) { r[0] = x[0][0] * x[0][0] + x[0][1] * x[0][1] - 1.0; }),
            {user(0)}, Role::equality);
  Values values;
  values.insert(user(0), Eigen::VectorXd(Eigen::Vector2d(0, 0)));
  const auto d = diagnose(graph, values);
  ASSERT_TRUE(d);
  EXPECT_TRUE(d->singular_here);
  EXPECT_EQ(d->rank, 1);
}

}  // namespace
}  // namespace kinegraph::covariance_test
