// Derivatives of generated dynamics against Pinocchio's analytical ones (test/golden/make_goldens.py).
#include <gtest/gtest.h>

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/codegen/generate.hpp"
#include "test/acceptance/golden.hpp"

namespace kinegraph::acceptance::generated_derivatives_test {
namespace {

using codegen::Problem;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kEqual = 1e-10;  // of the largest number of a matrix

/// by_q, by_v and by_known of a program at a state.
struct Slopes {
  RowMajor by_q, by_v, by_known;
};

Slopes slopes(const codegen::Program& program, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
              const Eigen::VectorXd& known) {
  const auto answer = codegen::evaluate(program, {q.data(), v.data(), known.data()});
  const auto n = v.size();
  const auto matrix = [&](int k) { return RowMajor(Eigen::Map<const RowMajor>(answer.at(k).data(), n, n)); };
  return {matrix(1), matrix(2), matrix(3)};
}

codegen::Program program_of(const std::shared_ptr<const screw::Tree>& tree, Problem problem) {
  codegen::Request request;
  request.problem = problem;
  request.ordering = problem == Problem::inverse ? "rnea" : "aba";
  const auto given = problem == Problem::inverse ? build::Given::acceleration : build::Given::torque;
  request.given.assign(tree->coordinates().size(), given);
  request.options.joint_forces = false;
  request.options.derivatives = true;
  const auto generated = codegen::generate(tree, request);
  if (!generated) throw std::runtime_error(generated.failure().to_string());
  return generated->program;
}

void expect_equal(const RowMajor& ours, const Eigen::MatrixXd& theirs, const char* what) {
  EXPECT_LE((ours - theirs).cwiseAbs().maxCoeff(), kEqual * theirs.cwiseAbs().maxCoeff()) << what;
}

class GeneratedDerivatives : public testing::TestWithParam<const char*> {};

TEST_P(GeneratedDerivatives, EqualPinocchios) {
  const Golden golden = read_golden(GetParam());
  if (!golden.tree) GTEST_SKIP() << "no reference models beside the project";
  ASSERT_EQ(golden.derivatives.size(), 2U);
  const codegen::Program inverse = program_of(golden.tree, Problem::inverse);
  const codegen::Program forward = program_of(golden.tree, Problem::forward);
  for (std::size_t i = 0; i < golden.derivatives.size(); ++i) {
    const GoldenState& s = golden.states[i];
    const GoldenDerivatives& exact = golden.derivatives[i];
    const Slopes torque = slopes(inverse, s.q, s.v, s.a), acceleration = slopes(forward, s.q, s.v, s.tau);
    expect_equal(torque.by_q, exact.tau_q, "torques by q");
    expect_equal(torque.by_v, exact.tau_v, "torques by v");
    expect_equal(torque.by_known, s.M, "torques by accelerations");
    expect_equal(acceleration.by_q, exact.a_q, "accelerations by q");
    expect_equal(acceleration.by_v, exact.a_v, "accelerations by v");
    expect_equal(acceleration.by_known, exact.a_tau, "accelerations by torques");
  }
}

INSTANTIATE_TEST_SUITE_P(Robots, GeneratedDerivatives,
                         testing::Values("arm7", "quadruped", "puma560", "iiwa14", "panda", "ur5", "solo12"));

}  // namespace
}  // namespace kinegraph::acceptance::generated_derivatives_test
