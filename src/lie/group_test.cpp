// One property suite for every group: a new group is one more name in `Groups`.

#include <ceres/jet.h>
#include <gtest/gtest.h>

#include <random>

#include "kinegraph/lie/se3.hpp"
#include "kinegraph/lie/so2.hpp"
#include "kinegraph/lie/so3.hpp"

namespace kinegraph::group_test {
namespace {

/// e^A by its series, of a small enough A squared back. With sizes at run time: the compiler has enough to do as it is.
Eigen::MatrixXd exponential(const Eigen::MatrixXd& a) {
  const Eigen::MatrixXd small = a / 64;
  Eigen::MatrixXd sum = Eigen::MatrixXd::Identity(a.rows(), a.cols()), term = sum;
  for (int n = 1; n < 20; ++n) sum += term = (term * small / n).eval();
  for (int i = 0; i < 6; ++i) sum = (sum * sum).eval();
  return sum;
}

/// A copy with its size at run time. (Entry by entry: of vectorised 1×1 copies g++ 12 warns wrongly.)
template <class Fixed>
Eigen::MatrixXd dynamic(const Fixed& fixed) {
  Eigen::MatrixXd copy(fixed.rows(), fixed.cols());
  for (Eigen::Index i = 0; i < copy.rows(); ++i) {
    for (Eigen::Index j = 0; j < copy.cols(); ++j) copy(i, j) = fixed(i, j);
  }
  return copy;
}

template <class G>
class GroupTest : public testing::Test {
 protected:
  using Tangent = typename G::Tangent;
  using Square = typename G::Square;

  Tangent random(double norm) {
    Tangent x;
    for (int i = 0; i < G::kTangent; ++i) x[i] = normal_(engine_);
    return norm * x / x.norm();
  }

  /// Tangents from zero through the switch of the series (|φ| = 1) to nearly half a turn.
  std::vector<Tangent> tangents() {
    std::vector<Tangent> all{Tangent::Zero()};
    for (double norm :
         {1e-300, 1e-160, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 0.0199, 0.02, 0.0201, 0.3, 0.999, 1.0, 1.001, 2.0, 3.1})
      for (int k = 0; k < 4; ++k) all.push_back(random(norm));
    return all;
  }

  std::vector<G> elements() {
    std::vector<G> all;
    for (const Tangent& x : tangents()) all.push_back(G::exp(x));
    return all;
  }

  std::mt19937 engine_{7};
  std::normal_distribution<double> normal_;
};

using Groups = testing::Types<SO2, SO3, SE3>;
TYPED_TEST_SUITE(GroupTest, Groups);

template <class G>
auto jet_group() {
  using Jet = ceres::Jet<double, G::kTangent>;
  if constexpr (std::is_same_v<G, SO2>)
    return SO2T<Jet>();
  else if constexpr (std::is_same_v<G, SO3>)
    return SO3T<Jet>();
  else
    return SE3T<Jet>();
}
template <class G>
using JetGroup = decltype(jet_group<G>());

TYPED_TEST(GroupTest, GroupAxioms) {
  using G = TypeParam;
  const auto all = this->elements();
  for (std::size_t i = 2; i < all.size(); ++i) {
    const G &a = all[i - 2], &b = all[i - 1], &c = all[i];
    EXPECT_LT((a * a.inverse()).log().norm(), 1e-14);
    EXPECT_LT((((a * b) * c).matrix() - (a * (b * c)).matrix()).norm(), 1e-14);
    EXPECT_LT(((a * G()).matrix() - a.matrix()).norm(), 1e-15);
    EXPECT_LT(((a * b).matrix() - a.matrix() * b.matrix()).norm(), 3e-15);
  }
}

TYPED_TEST(GroupTest, ExpIsTheMatrixExponential) {
  using G = TypeParam;
  for (const auto& x : this->tangents()) {
    EXPECT_LT((dynamic(G::exp(x).matrix()) - exponential(dynamic(G::hat(x)))).norm(), 5e-14) << x.transpose();
  }
}

TYPED_TEST(GroupTest, LogInvertsExpToTheLastDigits) {
  using G = TypeParam;
  for (const auto& x : this->tangents()) {
    EXPECT_LE((G::exp(x).log() - x).norm(), 5e-15 * x.norm()) << x.transpose();
  }
}

TYPED_TEST(GroupTest, LogIsTheShortWayRoundBeyondHalfATurn) {
  using G = TypeParam;
  typename G::Tangent x = G::Tangent::Zero();
  x[0] = 3.5;
  EXPECT_NEAR(G::exp(x).log()[0], 3.5 - 2 * std::numbers::pi, 1e-14);
}

TYPED_TEST(GroupTest, StoredFormComesBack) {
  using G = TypeParam;
  for (const G& a : this->elements()) {
    double stored[G::kStored], again[G::kStored];
    a.store(stored);
    G::load(stored).store(again);
    for (int i = 0; i < G::kStored; ++i) EXPECT_EQ(stored[i], again[i]);
  }
}

TYPED_TEST(GroupTest, AdjointMovesATangentAcross) {
  using G = TypeParam;
  const auto x = this->random(1.3), y = this->random(0.7);
  const G a = G::exp(x);
  // a exp(y) a⁻¹ = exp(Ad(a) y),  [x, y]^ = x^ y^ − y^ x^,  Ad(exp x) = e^{ad x}
  EXPECT_LT(((a * G::exp(y) * a.inverse()).matrix() - G::exp(a.Ad() * y).matrix()).norm(), 1e-14);
  const auto bracket = (G::hat(x) * G::hat(y) - G::hat(y) * G::hat(x)).eval();
  EXPECT_LT((G::hat(G::ad(x) * y) - bracket).norm(), 1e-15);
  EXPECT_LT((dynamic(a.Ad()) - exponential(dynamic(G::ad(x)))).norm(), 5e-14);
}

TYPED_TEST(GroupTest, JacobiansAreTheSeriesOfAd) {
  using G = TypeParam;
  using Eigen::MatrixXd;
  const MatrixXd one = MatrixXd::Identity(G::kTangent, G::kTangent);
  for (const auto& x : this->tangents()) {
    // J = Σ ad(x)ⁿ/(n+1)!,  Jᵣ = Ad(exp(−x)) J
    const MatrixXd ad = dynamic(G::ad(x)), left = dynamic(G::left_jacobian(x)), right = dynamic(G::right_jacobian(x));
    MatrixXd sum = one, term = one;
    for (int n = 1; n < 60; ++n) sum += term = (term * ad / double(n + 1)).eval();
    EXPECT_LT((left - sum).norm(), 2e-14) << x.transpose();
    EXPECT_LT((right - dynamic(G::exp(-x).Ad()) * sum).norm(), 1e-13);
    EXPECT_LT((left * dynamic(G::left_jacobian_inverse(x)) - one).norm(), 1e-13);
    EXPECT_LT((right * dynamic(G::right_jacobian_inverse(x)) - one).norm(), 1e-13);
  }
}

TYPED_TEST(GroupTest, DualNumbersGiveTheJacobians) {
  using G = TypeParam;
  using J = JetGroup<G>;
  for (const auto& x : this->tangents()) {
    typename J::Tangent jet;
    for (int i = 0; i < G::kTangent; ++i) jet[i] = typename J::Scalar(x[i], i);
    // d/dδ log(exp(x)⁻¹ exp(x + δ)) = Jᵣ(x)
    J base;
    double stored[G::kStored];
    typename J::Scalar lifted[G::kStored];
    G::exp(x).inverse().store(stored);
    for (int i = 0; i < G::kStored; ++i) lifted[i] = typename J::Scalar(stored[i]);
    base = J::load(lifted);
    const typename J::Tangent change = (base * J::exp(jet)).log();
    typename G::Square derivative;
    for (int i = 0; i < G::kTangent; ++i) derivative.row(i) = change[i].v.transpose();
    EXPECT_LT((derivative - G::right_jacobian(x)).norm(), 2e-13) << x.transpose();
  }
}

TYPED_TEST(GroupTest, ProductsOfManyStayOnTheGroup) {
  using G = TypeParam;
  G a;
  const G step = G::exp(this->random(0.01));
  for (int i = 0; i < 100000; ++i) a = a * step;
  EXPECT_NEAR(a.matrix().determinant(), 1, 1e-14);
  if constexpr (G::kStored > 1) {
    double stored[G::kStored];
    a.store(stored);
    EXPECT_NEAR(Eigen::Map<Eigen::Vector4d>(stored).norm(), 1, 1e-15);
  }
}

TEST(SO2, KeepsItsTurnsAndWrapsOnlyInLog) {
  const SO2 turned(7.0);
  EXPECT_EQ(turned.angle(), 7.0);
  EXPECT_NEAR(turned.log()[0], 7.0 - 2 * std::numbers::pi, 1e-15);
  EXPECT_NEAR(wrap_angle(-100.0), std::remainder(-100.0, 2 * std::numbers::pi), 1e-13);
}

TEST(SO3, HalfATurnHasALogarithm) {
  const SO3 half(Eigen::Quaterniond(0, 0, 1, 0));
  EXPECT_NEAR((half.log() - Eigen::Vector3d(0, std::numbers::pi, 0)).norm(), 0, 1e-15);
}

}  // namespace
}  // namespace kinegraph::group_test
