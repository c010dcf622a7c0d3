#include "kinegraph/factor/screw/at_middle.hpp"

#include "kinegraph/factor/screw/contact_point.hpp"
#include "kinegraph/factor/screw/walker_test.hpp"
#include "kinegraph/factor/screw/whole_dynamics.hpp"

namespace kinegraph::screw::at_middle_test {
namespace {

std::vector<Manifold> at_both_ends(const Tree& tree, int levels) {
  std::vector<Manifold> all = state_manifolds(tree, levels);
  const std::vector<Manifold> other = all;
  all.insert(all.end(), other.begin(), other.end());
  return all;
}

TEST(AtMiddle, JacobiansMatchDifferences) {
  for (const Robot::Base base : {Robot::Base::fixed, Robot::Base::floating}) {
    const auto tree = walker(base);
    const StateSlots state(*tree);
    const auto dynamics =
        std::make_shared<WholeDynamics>(tree, std::vector<int>{2, 3}, std::vector<BodyPoint>{{3, {0, 0.3, 0}}});
    std::vector<Manifold> manifolds = at_both_ends(*tree, 3);
    manifolds.push_back(Manifold::real(2));
    manifolds.push_back(Manifold::real(3));
    expect_exact_jacobians(AtMiddle(dynamics, state, 3, 0.3), manifolds);
    const BodyPoint foot{2, {0.1, 0, 0.2}};
    expect_exact_jacobians(AtMiddle(std::make_shared<PointHeight>("foot", tree, foot, 0.1), state, 1, 0.3),
                           at_both_ends(*tree, 2));
  }
}

TEST(AtMiddle, JacobiansMatchDifferencesAlsoByTheDuration) {
  for (const Robot::Base base : {Robot::Base::fixed, Robot::Base::floating}) {
    const auto tree = walker(base);
    const StateSlots state(*tree);
    const auto dynamics =
        std::make_shared<WholeDynamics>(tree, std::vector<int>{2, 3}, std::vector<BodyPoint>{{3, {0, 0.3, 0}}});
    std::vector<Manifold> manifolds = at_both_ends(*tree, 3);
    for (const int size : {2, 3, 1}) manifolds.push_back(Manifold::real(size));
    const AtMiddle factor(dynamics, state, 3, 0.3, 0.8);
    JacobianCheckOptions options;
    options.manifolds = manifolds;
    for (unsigned seed = 1; seed <= 5; ++seed) {
      SlotValues x = random_values(manifolds, seed);
      x.back()[0] = 0.5 + 0.2 * seed;
      const JacobianCheck check = check_jacobians(factor, x, options);
      EXPECT_TRUE(check.ok()) << check.message;
    }
    // lasts as long as it is meant for: as without
    SlotValues x = random_values(manifolds, 7);
    x.back()[0] = 0.8;
    const std::vector<double> stretched = residual(factor, x);
    x.pop_back();
    EXPECT_EQ(stretched, residual(AtMiddle(dynamics, state, 3, 0.3), x));
  }
}

/// Of a robot that stands the middle is linear in both ends, and Tᵀ H T all there is.
TEST(AtMiddle, CurvatureIsTheDerivativeOfTheJacobian) {
  const auto tree = walker(Robot::Base::fixed);
  const StateSlots state(*tree);
  const auto stay = std::make_shared<PointAcceleration>("foot", tree, BodyPoint{2, {0.1, 0, 0.2}}, 20, 0.1);
  const AtMiddle factor(stay, state, 3, 0.1);
  const SlotValues x = random_slots(factor, 3);
  std::vector<const double*> slots;
  for (const auto& slot : x) slots.push_back(slot.data());
  const std::vector<double> weight = {0.3, -1, 0.7};
  const int n = 6 * state.joints;
  std::vector<double> hessian(n * n, 0.0), residual(3), jacobian(factor.pattern().size());
  ASSERT_TRUE(factor.add_curvature(slots, weight.data(), hessian.data()));
  const auto gradient = [&](int along, double by) {
    SlotValues moved = x;
    moved[along / state.joints][along % state.joints] += by;
    std::vector<const double*> at;
    for (const auto& slot : moved) at.push_back(slot.data());
    factor.evaluate(at, residual.data(), jacobian.data());
    Eigen::VectorXd g = Eigen::VectorXd::Zero(n);
    for (std::size_t e = 0; e < jacobian.size(); ++e) {
      const JacobianEntry& entry = factor.pattern()[e];
      g[entry.slot * state.joints + entry.column] += weight[entry.row] * jacobian[e];
    }
    return g;
  };
  double largest = 0;
  for (const double h : hessian) largest = std::max(largest, std::abs(h));
  ASSERT_GT(largest, 1);
  for (int j = 0; j < n; ++j) {
    const Eigen::VectorXd column = (gradient(j, 1e-4) - gradient(j, -1e-4)) / 2e-4;
    for (int i = j; i < n; ++i) EXPECT_NEAR(hessian[j * n + i], column[i], 2e-5 * largest) << i << " " << j;
  }
}

/// Of a robot that floats: Tᵀ H T by plain products, T column by column from what MiddleState tells.
TEST(AtMiddle, CurvatureOfARobotThatFloatsIsCarriedToBothEnds) {
  const auto tree = walker(Robot::Base::floating);
  const StateSlots state(*tree);
  const auto dynamics =
      std::make_shared<WholeDynamics>(tree, std::vector<int>{6, 7}, std::vector<BodyPoint>{{3, {0, 0.3, 0}}});
  std::vector<Manifold> manifolds = at_both_ends(*tree, 3);
  for (const int size : {2, 3}) manifolds.push_back(Manifold::real(size));
  const AtMiddle factor(dynamics, state, 3, 0.3);
  const SlotValues x = random_values(manifolds, 5);
  std::vector<const double*> slots;
  for (const auto& slot : x) slots.push_back(slot.data());
  MiddleState middle(state, 0.3);
  middle.set(slots, 3, true);

  const int n = state.freedoms(), inner = 3 * n + 5, outer = 6 * n + 5;
  Eigen::MatrixXd T = Eigen::MatrixXd::Zero(inner, outer);
  for (int level = 0; level < 3; ++level) {
    const MiddleState::Share share = middle.share(level);
    for (int i = level == 0 ? 6 : 0; i < n; ++i) {
      for (int other = 0; other < 3; ++other) {
        T(level * n + i, other * n + i) = share.start[other];
        T(level * n + i, (3 + other) * n + i) = share.end[other];
      }
    }
  }
  const int first[] = {0, n, 3 * n, 4 * n};
  for (int block = 0; block < 4; ++block) T.block(0, first[block], 6, 6) = middle.pose_by[block];
  T.bottomRightCorner(5, 5).setIdentity();

  std::vector<const double*> at = {middle.q.data(),         middle.q.data() + 7,    middle.v.data(),
                                   middle.v.data() + 6,     middle.a.data(),        middle.a.data() + 6,
                                   slots[slots.size() - 2], slots[slots.size() - 1]};
  const Eigen::VectorXd weight = Eigen::VectorXd::LinSpaced(n, -1, 2);
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(inner, inner), found = Eigen::MatrixXd::Zero(outer, outer);
  ASSERT_TRUE(dynamics->add_curvature(at, weight.data(), H.data()));
  ASSERT_TRUE(factor.add_curvature(slots, weight.data(), found.data()));
  const Eigen::MatrixXd expected = T.transpose() * Eigen::MatrixXd(H.selfadjointView<Eigen::Lower>()) * T;
  const Eigen::MatrixXd lower = expected.triangularView<Eigen::Lower>();
  EXPECT_LT((found - lower).lpNorm<Eigen::Infinity>(), 1e-12 * lower.lpNorm<Eigen::Infinity>());
}

}  // namespace
}  // namespace kinegraph::screw::at_middle_test
