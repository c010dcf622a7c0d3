#pragma once

#include <array>

#include "kinegraph/base/sparse.hpp"
#include "kinegraph/base/taylor.hpp"

namespace kinegraph::natural {

/// A number that an equation reads: a coordinate of q, or a constant (x or y of a fixed point).
struct Operand {
  int index = -1;  ///< into q; −1: constant
  double constant = 0;

  bool moves() const { return index >= 0; }
};

/// The coordinates of an equation as its scalar wants them.
struct PositionReader {
  const double* q;
  double operator()(const Operand& o) const { return o.moves() ? q[o.index] : o.constant; }
};
struct RateReader {
  const double* v;
  double operator()(const Operand& o) const { return o.moves() ? v[o.index] : 0.0; }
};
struct Taylor1Reader {
  const double *q, *v;
  Taylor1 operator()(const Operand& o) const {
    return o.moves() ? Taylor1(q[o.index], v[o.index]) : Taylor1(o.constant);
  }
};
struct Taylor2Reader {
  const double *q, *v, *a;
  Taylor2 operator()(const Operand& o) const {
    return o.moves() ? Taylor2(q[o.index], v[o.index], a[o.index]) : Taylor2(o.constant);
  }
};
/// Without acceleration.
struct UniformReader {
  const double *q, *v;
  Taylor2 operator()(const Operand& o) const {
    return o.moves() ? Taylor2(q[o.index], v[o.index], 0) : Taylor2(o.constant);
  }
};

template <class Reader, std::size_t n>
auto read(const std::array<Operand, n>& operands, const Reader& reader) {
  std::array<decltype(reader(Operand{})), n> x;
  for (std::size_t k = 0; k < n; ++k) x[k] = reader(operands[k]);
  return x;
}

/// Where a value of a lower triangle goes in a pattern of both triangles; −1: nowhere (a fixed point, the diagonal).
struct Mirror {
  int lower = -1, upper = -1;
};

/// A constraint with its place in the system: which coordinates it reads and where its derivatives go.
template <class C>
struct PlacedConstraint {
  using Equation = C;
  C equation;
  std::array<Operand, C::kCoordinates> operands;
  int row = 0;
  bool merged = false;                       ///< some coordinate is read twice: its derivatives add up
  std::array<int, C::kCoordinates> columns;  ///< places in Φ_q's pattern
  std::array<Mirror, C::kHessian.size()> hessian, stiffness;

  /// Writes one row of a matrix with Φ_q's pattern; get(k) is its value for the k-th coordinate.
  template <class Get>
  void write_row(double* values, const Get& get) const {
    if (merged) {
      for (const int place : columns)
        if (place >= 0) values[place] = 0;
      for (int k = 0; k < C::kCoordinates; ++k)
        if (columns[k] >= 0) values[columns[k]] += get(k);
    } else {
      for (int k = 0; k < C::kCoordinates; ++k)
        if (columns[k] >= 0) values[columns[k]] = get(k);
    }
  }

  /// values += λ ∂²Φ/∂q², at the places of `mirrors` (hessian or stiffness).
  void add_hessian(const std::array<Mirror, C::kHessian.size()>& mirrors, const std::array<double, C::kCoordinates>& x,
                   double lambda, double* values) const {
    const auto h = equation.hessian(x);
    for (std::size_t k = 0; k < h.size(); ++k) {
      if (mirrors[k].lower >= 0) values[mirrors[k].lower] += lambda * h[k];
      if (mirrors[k].upper >= 0) values[mirrors[k].upper] += lambda * h[k];
    }
  }
};

/// A force with its place in the system.
template <class F>
struct PlacedForce {
  using Equation = F;
  F equation;
  std::array<Operand, F::kCoordinates> operands;
  std::array<int, F::kPattern.size()> places, stiffness;  ///< in the pattern of ∂Q/∂q, and of the whole motion's

  template <std::size_t n>
  void add(const std::array<int, n>& where, const std::array<double, n>& derivatives, double sign,
           double* values) const {
    for (std::size_t k = 0; k < n; ++k)
      if (where[k] >= 0) values[where[k]] += sign * derivatives[k];
  }
};

}  // namespace kinegraph::natural
