#include "kinegraph/solve/horizon_problem.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>

#include "kinegraph/graph/function_factor.hpp"

namespace kinegraph::horizon_problem_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// r = (a² b, sin(a) − b³) of a = slot 0 and b = slot 1, with or without its own second derivatives.
class Curved final : public Factor {
 public:
  explicit Curved(bool exact) : Factor("curved", 2, {1, 1}, dense(2, {1, 1})), exact_(exact) {}
  void evaluate(Slots x, double* r, double* j) const override {
    const double a = x[0][0], b = x[1][0];
    r[0] = a * a * b, r[1] = std::sin(a) - b * b * b;
    if (!j) return;
    j[0] = 2 * a * b, j[1] = std::cos(a), j[2] = a * a, j[3] = -3 * b * b;
  }
  bool add_curvature(Slots x, const double* w, double* h) const override {
    if (!exact_) return false;
    const double a = x[0][0], b = x[1][0];
    h[0] += w[0] * 2 * b - w[1] * std::sin(a);
    h[1] += w[0] * 2 * a;
    h[3] += w[1] * -6 * b;
    return true;
  }

 private:
  bool exact_;
};

Key x(int step) { return {Kind::user, false, 0, step}; }

struct Chain {
  Graph graph;
  Values values;
  explicit Chain(bool exact) {
    const auto curved = std::make_shared<Curved>(exact);
    for (int k = 0; k < 6; ++k) values.insert(x(k), 0.3 + 0.2 * k);
    for (int k = 0; k < 5; ++k) graph.add(curved, {x(k), x(k + 1)}, k % 2 ? Role::inequality : Role::equality);
    graph.add(curved, {x(2), x(2)}, Role::equality);  // one variable in two slots
    graph.add(curved, {x(4), x(5)}, Role::cost, Noise::diagonal(Eigen::Vector2d(0.5, 2)));
  }
};

MatrixXd dense(const HorizonProblem& p, const std::vector<double>& values) {
  MatrixXd k = MatrixXd::Zero(p.plan().size(), p.plan().size());
  for (int e = 0; e < p.plan().entries(); ++e) {
    const auto [i, j] = p.plan().entry()[e];
    k(i, j) += values[e];
    if (i != j) k(j, i) += values[e];
  }
  return k;
}

/// ∇ of ½‖W r‖² + yᵀc − zᵀg at a point.
VectorXd slope(HorizonProblem& p, const VectorXd& y, const VectorXd& z) {
  HorizonPoint point;
  p.linearize(point);
  VectorXd all = p.gradient();
  p.add_transposed(y, z, all);
  return all;
}

TEST(HorizonProblem, MatrixIsTheDerivativeOfTheLagrangian) {
  for (bool exact : {false, true}) {
    Chain c(exact);
    auto problem = HorizonProblem::make(c.graph, c.values);
    ASSERT_TRUE(problem);
    HorizonProblem& p = **problem;
    const VectorXd y = VectorXd::LinSpaced(p.hard_rows(), -1, 2), z = VectorXd::LinSpaced(p.inequality_rows(), 0.5, 3);
    const VectorXd sigma = VectorXd::Zero(p.inequality_rows());
    // Without the cost, so that H is the curvature alone.
    p.set_cost_weight(0);
    slope(p, y, z);
    std::vector<double> values;
    p.assemble(y, z, sigma, values);
    const MatrixXd k = dense(p, values);
    for (int j = 0; j < p.unknowns(); ++j) {
      constexpr double kStep = 1e-5;
      double& number = p.values().buffer()[j];
      const double kept = number;
      number = kept + kStep;
      const VectorXd after = slope(p, y, z);
      number = kept - kStep;
      const VectorXd before = slope(p, y, z);
      number = kept;
      EXPECT_LE(((after - before) / (2 * kStep) - k.col(j).head(p.unknowns())).cwiseAbs().maxCoeff(), 2e-5) << exact;
    }
  }
}

TEST(HorizonProblem, CostsAndInequalitiesEnterAsSquares) {
  Chain c(true);
  auto problem = HorizonProblem::make(c.graph, c.values);
  HorizonProblem& p = **problem;
  const VectorXd sigma = VectorXd::LinSpaced(p.inequality_rows(), 1, 2);
  HorizonPoint point;
  p.linearize(point);
  std::vector<double> values;
  p.assemble({}, {}, sigma, values);
  const MatrixXd k = dense(p, values);
  MatrixXd expected = MatrixXd::Zero(6, 6);
  for (const auto& f : c.graph.factors()) {
    if (f.role == Role::equality) continue;
    Eigen::Matrix2d j;
    double r[2];
    const double* slots[] = {c.values.data(c.values.find(f.keys[0])), c.values.data(c.values.find(f.keys[1]))};
    f.factor->evaluate(slots, r, j.data());
    const int row = &f - c.graph.factors().data();
    Eigen::Vector2d w(4, 0.25);
    if (f.role == Role::inequality) w = sigma.segment(p.structure().row[row], 2);
    expected.block(f.keys[0].step, f.keys[0].step, 2, 2) += j.transpose() * w.asDiagonal() * j;
  }
  EXPECT_LE((k.topLeftCorner(6, 6) - expected).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(HorizonProblem, HingesCountWhereTheyAreViolated) {
  Graph graph;
  Values values;
  values.insert(x(0), VectorXd(Eigen::Vector2d(-2, 3)));
  graph.add(std::make_shared<FunctionFactor>("limit", 2, std::vector<int>{2},
                                             [](Slots s, double* r, double* j) {
                                               r[0] = s[0][0], r[1] = s[0][1];
                                               if (j) j[0] = j[3] = 1, j[1] = j[2] = 0;
                                             }),
            {x(0)}, Role::inequality, Noise::isotropic(0.5));
  auto problem = HorizonProblem::make(graph, values);
  HorizonProblem& p = **problem;
  p.set_hinges(true);
  HorizonPoint point;
  p.linearize(point);
  EXPECT_DOUBLE_EQ(point.cost, 0.5 * 16);
  EXPECT_DOUBLE_EQ(p.gradient()[0], -8);
  EXPECT_EQ(p.gradient()[1], 0);
  std::vector<double> matrix;
  p.assemble({}, {}, {}, matrix);
  EXPECT_DOUBLE_EQ(dense(p, matrix)(0, 0), 4);
  EXPECT_EQ(dense(p, matrix)(1, 1), 0);
}

}  // namespace
}  // namespace kinegraph::horizon_problem_test
