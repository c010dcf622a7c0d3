#include "kinegraph/solve/linearize.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "kinegraph/solve/factors_test.hpp"
#include "kinegraph/solve/optimizer.hpp"

namespace {
long allocations = 0;  // of the whole test program: operator new below counts them
}

// Not inlined: the compiler would take free() for the wrong partner of a new it can see through.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace kinegraph::linearize_test {
namespace {

using namespace testing_solve;

/// Three variables (one known), costs with every kind of noise, a robust loss, a factor with one variable in two slots,
/// and hard rows.
struct Sample {
  Graph graph;
  Values values;

  Sample() {
    values.insert(user(0), Eigen::VectorXd(Eigen::Vector2d(0.3, -1.2)));
    values.insert(user(1), 0.7);
    values.insert(user(2), Eigen::VectorXd(Eigen::Vector3d(1, 2, -0.5)));
    graph.known().insert(user(1));
    const auto bend = formula<2, 2, 1>("bend", [](auto x, auto* r) {
      r[0] = x[0][0] * x[0][1] - x[1][0];
      r[1] = x[0][0] + 2.0 * x[0][1] * x[0][1];
    });
    const auto mix = formula<3, 3, 2>("mix", [](auto x, auto* r) {
      for (int i = 0; i < 3; ++i) r[i] = x[0][i] * x[1][0] + double(i) * x[1][1] * x[1][1];
    });
    const auto twice = formula<1, 3, 3>("twice", [](auto x, auto* r) { r[0] = x[0][0] * x[1][1] - x[0][2]; });
    const auto ring = formula<2, 3, 2>("ring", [](auto x, auto* r) {
      r[0] = x[0][0] * x[0][0] + x[0][1] * x[0][1] - 1.0;
      r[1] = x[0][2] - x[1][0];
    });
    Eigen::Matrix3d covariance;
    covariance << 2, 0.3, 0.1, 0.3, 1, -0.2, 0.1, -0.2, 0.5;
    graph.add(bend, {user(0), user(1)}, Role::cost, Noise::diagonal(Eigen::Vector2d(0.5, 2)));
    graph.add(mix, {user(2), user(0)}, Role::cost, Noise::full(covariance));
    graph.add(twice, {user(2), user(2)}, Role::cost, Noise::isotropic(0.1), Loss::cauchy(0.5));
    graph.add(ring, {user(2), user(0)}, Role::equality);
  }
};

/// The graph's cost and hard rows at x ⊕ δ.
double cost_at(const Sample& sample, const Eigen::VectorXd& delta, Eigen::VectorXd& hard) {
  Sample moved = sample;
  auto l = Linearization::make(moved.graph, moved.values);
  moved.values.retract(delta, l->structure().variable);
  return l->evaluate(hard).cost;
}

TEST(Linearization, GradientAndHardRowsMatchDifferences) {
  Sample sample;
  auto l = Linearization::make(sample.graph, sample.values);
  ASSERT_TRUE(l) << l.failure().to_string();
  ASSERT_EQ(l->unknowns(), 5);
  Eigen::VectorXd hard, plus, minus;
  const Evaluation e = l->linearize(hard);
  EXPECT_EQ(e.cost, cost_at(sample, Eigen::VectorXd::Zero(5), plus));
  const double h = 1e-6;
  for (int i = 0; i < 5; ++i) {
    const Eigen::VectorXd delta = h * Eigen::VectorXd::Unit(5, i);
    const double slope = (cost_at(sample, delta, plus) - cost_at(sample, -delta, minus)) / (2 * h);
    EXPECT_NEAR(l->gradient()[i], slope, 1e-6 * (1 + std::abs(slope)));
    for (int row = 0; row < 2; ++row) {
      double j = 0;
      for (const auto& entry : l->hard_entries()) {
        if (entry.row == row && entry.column == i) j += l->matrix()[entry.place];
      }
      EXPECT_NEAR(j, (plus[row] - minus[row]) / (2 * h), 1e-8);
    }
  }
}

TEST(Linearization, MatrixIsTheProductOfItsRows) {
  Sample sample;
  auto l = Linearization::make(sample.graph, sample.values);
  Eigen::VectorXd hard;
  l->linearize(hard);
  const auto to_dense = [&](const Linearization::Rows& rows) {
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(rows.matrix.rows(), rows.matrix.columns);
    for (int r = 0; r < rows.matrix.rows(); ++r) {
      for (int k = 0; k < rows.matrix.size_of(r); ++k) a(r, rows.matrix.columns_of(r)[k]) = rows.matrix.values_of(r)[k];
    }
    return a;
  };
  const Linearization::Rows costs = l->rows(Role::cost), equalities = l->rows(Role::equality);
  const Eigen::MatrixXd a = to_dense(costs), j = to_dense(equalities);
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(7, 7), found(7, 7);
  expected << a.transpose() * a, j.transpose(), j, Eigen::MatrixXd::Zero(2, 2);
  for (int i = 0; i < 7; ++i) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(7, i);
    Eigen::VectorXd column = Eigen::VectorXd::Zero(7);
    linear::multiply_add(l->pattern(), l->matrix(), unit.data(), column.data());
    found.col(i) = column;
  }
  EXPECT_LT((found - expected).norm(), 1e-12 * expected.norm());
  const Eigen::Map<const Eigen::VectorXd> residual(costs.residual.data(), a.rows());
  EXPECT_LT((a.transpose() * residual - l->gradient()).norm(), 1e-12 * l->gradient().norm());
  EXPECT_EQ(equalities.residual[1], hard[1]);
}

/// A linear factor that counts how often its Jacobian is asked for.
class Counting final : public Factor {
 public:
  Counting() : Factor("counting", 1, {2}, dense(1, {2})) {}
  bool constant_jacobian() const override { return true; }
  void evaluate(Slots x, double* residual, double* jacobian) const override {
    residual[0] = 3 * x[0][0] - x[0][1] - 1;
    if (!jacobian) return;
    jacobian[0] = 3, jacobian[1] = -1;
    ++jacobians;
  }
  mutable int jacobians = 0;
};

TEST(Linearization, ConstantJacobiansAreEvaluatedOnce) {
  const auto counting = std::make_shared<Counting>();
  Sample plain;
  plain.graph.add(counting, {user(0)});
  plain.graph.add(counting, {user(0)}, Role::cost, Noise::unit(), Loss::huber(0.1));
  plain.graph.add(counting, {user(0)}, Role::equality);
  auto l = Linearization::make(plain.graph, plain.values);
  Eigen::VectorXd hard;
  for (int i = 0; i < 4; ++i) {
    l->linearize(hard);
    // Each time as if made anew.
    Sample other = plain;
    auto fresh = Linearization::make(other.graph, other.values);
    fresh->linearize(hard);
    for (std::size_t k = 0; k < l->matrix().size(); ++k) EXPECT_NEAR(l->matrix()[k], fresh->matrix()[k], 1e-12);
    EXPECT_LT((l->gradient() - fresh->gradient()).norm(), 1e-12);
    plain.values.at(user(0))[0] += 0.5;
  }
  EXPECT_EQ(counting->jacobians, 3 + 4 * 3);
}

TEST(Linearization, AllocatesNothingOnceMade) {
  Sample sample;
  auto l = Linearization::make(sample.graph, sample.values);
  Eigen::VectorXd hard;
  l->linearize(hard);
  l->evaluate(hard);
  const long before = allocations;
  for (int i = 0; i < 10; ++i) {
    l->linearize(hard);
    l->evaluate(hard);
  }
  EXPECT_EQ(allocations, before);
}

TEST(Linearization, NamesWhatIsNotFinite) {
  Sample sample;
  const auto root = formula<2, 2>("root", [](auto x, auto* r) {
    r[0] = x[0][0];
    r[1] = sqrt(x[0][1]);
  });
  sample.graph.add(root, {user(0)});
  auto l = Linearization::make(sample.graph, sample.values);
  Eigen::VectorXd hard;
  const Evaluation e = l->linearize(hard);
  ASSERT_FALSE(e.finite());
  EXPECT_EQ(l->describe_fault(e), "root[1] (user0@0): the residual or its derivative is not finite");
}

}  // namespace
}  // namespace kinegraph::linearize_test
