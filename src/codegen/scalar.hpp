#pragma once

#include <Eigen/Core>

#include "kinegraph/codegen/expression.hpp"

namespace kinegraph::codegen {

/// A number that remembers how it was computed: put in the place of double, it writes down an equation of mechanics as
/// an expression graph. Plain constants need no graph.
class Scalar {
 public:
  Scalar(double value = 0) : value_(value) {}
  Scalar(ExpressionGraph& graph, Signed what) : graph_(&graph), what_(what) {
    if (graph.is_constant(what)) value_ = graph.value(what), graph_ = nullptr;
  }

  bool constant() const { return graph_ == nullptr; }
  bool zero() const { return constant() && value_ == 0; }
  double value() const { return value_; }  ///< of a constant
  Signed in(ExpressionGraph& graph) const { return constant() ? graph.constant(value_) : what_; }
  /// Its value at one of the random inputs.
  long double sample(int k) const { return constant() ? value_ : graph_->sample(what_, k); }

  friend Scalar operator+(const Scalar& a, const Scalar& b) {
    return join(
        a, b, [](double x, double y) { return x + y; }, &ExpressionGraph::add);
  }
  friend Scalar operator-(const Scalar& a, const Scalar& b) {
    return join(
        a, b, [](double x, double y) { return x - y; }, &ExpressionGraph::subtract);
  }
  friend Scalar operator*(const Scalar& a, const Scalar& b) {
    return join(
        a, b, [](double x, double y) { return x * y; }, &ExpressionGraph::multiply);
  }
  friend Scalar operator/(const Scalar& a, const Scalar& b) {
    return join(
        a, b, [](double x, double y) { return x / y; }, &ExpressionGraph::divide);
  }
  Scalar operator-() const { return constant() ? Scalar(-value_) : Scalar(*graph_, -what_); }
  Scalar& operator+=(const Scalar& b) { return *this = *this + b; }
  Scalar& operator-=(const Scalar& b) { return *this = *this - b; }
  Scalar& operator*=(const Scalar& b) { return *this = *this * b; }
  Scalar& operator/=(const Scalar& b) { return *this = *this / b; }

  friend Scalar sin(const Scalar& a) { return map(a, std::sin(a.value_), &ExpressionGraph::sine); }
  friend Scalar cos(const Scalar& a) { return map(a, std::cos(a.value_), &ExpressionGraph::cosine); }
  friend Scalar tanh(const Scalar& a) { return map(a, std::tanh(a.value_), &ExpressionGraph::tanh); }
  friend Scalar sqrt(const Scalar& a) { return map(a, std::sqrt(a.value_), &ExpressionGraph::root); }
  friend Scalar min(const Scalar& a, const Scalar& b) {
    return join(
        a, b, [](double x, double y) { return x < y ? x : y; }, &ExpressionGraph::minimum);
  }
  friend Scalar max(const Scalar& a, const Scalar& b) { return -min(-a, -b); }
  friend Scalar abs(const Scalar& a) { return map(a, std::abs(a.value_), &ExpressionGraph::absolute); }

 private:
  template <class F, class G>
  static Scalar join(const Scalar& a, const Scalar& b, F plain, G traced) {
    if (a.constant() && b.constant()) return Scalar(plain(a.value_, b.value_));
    ExpressionGraph& graph = a.constant() ? *b.graph_ : *a.graph_;
    return Scalar(graph, (graph.*traced)(a.in(graph), b.in(graph)));
  }
  template <class G>
  static Scalar map(const Scalar& a, double plain, G traced) {
    return a.constant() ? Scalar(plain) : Scalar(*a.graph_, (a.graph_->*traced)(a.what_));
  }

  ExpressionGraph* graph_ = nullptr;
  double value_ = 0;
  Signed what_;
};

using Vector3s = Eigen::Matrix<Scalar, 3, 1>;
using Matrix3s = Eigen::Matrix<Scalar, 3, 3>;
using Vector6s = Eigen::Matrix<Scalar, 6, 1>;

}  // namespace kinegraph::codegen

namespace Eigen {
template <>
struct NumTraits<kinegraph::codegen::Scalar> : NumTraits<double> {
  using Real = kinegraph::codegen::Scalar;
  using NonInteger = kinegraph::codegen::Scalar;
  using Nested = kinegraph::codegen::Scalar;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 1,
    AddCost = 3,
    MulCost = 3
  };
};
}  // namespace Eigen

namespace kinegraph::codegen {
inline Vector3s cross(const Vector3s& a, const Vector3s& b) { return a.cross(b); }
}  // namespace kinegraph::codegen
