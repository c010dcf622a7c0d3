#pragma once

#include <ceres/jet.h>

namespace kinegraph {

/// A number and its derivatives along N directions, for functions templated on their scalar. Sums, products, sin, cos,
/// sqrt, asin, atan2, abs, … and Eigen matrices of them are those of ceres::Jet: `a` is the value, `v` the derivatives.
template <int N>
using Dual = ceres::Jet<double, N>;

/// How many directions a scalar carries: 0 for double.
template <class T>
inline constexpr int kDirections = 0;
template <int N>
inline constexpr int kDirections<Dual<N>> = N;

}  // namespace kinegraph
