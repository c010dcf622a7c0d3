#pragma once

#include <type_traits>
#include <utility>

namespace kinegraph::filter {

inline constexpr int kNaturalMostDense = 8;  ///< systems of up to so many rows are eliminated as dense ones

/// L D Lᵀ of a dense symmetric matrix of N rows without pivoting, unrolled so that it stays in registers: the systems
/// of small mechanisms take less time than their loops would. The lower triangle is stored column by column; L replaces
/// it. T: a number, or a packet of them (of as many matrices), for which Mask tells which of them are good.
template <int N, class T = double, class Mask = bool>
struct NaturalDense {
  static constexpr int kPlaces = N * (N + 1) / 2;
  static constexpr int place(int row, int column) { return column * N - column * (column - 1) / 2 + row - column; }

  /// With `Solve`, y goes through the forward substitution and the division by D as well. least: by column, with the
  /// sign that the pivot must have.
  template <bool Solve>
  static Mask factor(T* lower, T* inverse, const double* sign, const double* least, T* y) {
    T a[kPlaces], x[N];
    each<0, kPlaces>([&](auto i) { a[i] = lower[i]; });
    if constexpr (Solve) each<0, N>([&](auto i) { x[i] = y[i]; });
    Mask good(true);
    each<0, N>([&](auto k) {
      const T pivot = a[place(k, k)];
      good = good & (sign[k] * pivot > T(least[k]));
      const T reciprocal = 1.0 / pivot;
      inverse[k] = reciprocal;
      each<k + 1, N>([&](auto i) {
        const T l = a[place(i, k)] * reciprocal;
        each<i, N>([&](auto j) { a[place(j, i)] -= l * a[place(j, k)]; });
        a[place(i, k)] = l;
        if constexpr (Solve) x[i] -= l * x[k];
      });
      if constexpr (Solve) y[k] = x[k] * reciprocal;
    });
    each<0, kPlaces>([&](auto i) { lower[i] = a[i]; });
    return good;
  }

  static void forward(const T* lower, const T* inverse, T* y) {
    T x[N];
    each<0, N>([&](auto i) { x[i] = y[i]; });
    each<0, N>([&](auto k) {
      each<k + 1, N>([&](auto i) { x[i] -= lower[place(i, k)] * x[k]; });
      y[k] = x[k] * inverse[k];
    });
  }

  static void backward(const T* lower, T* y) {
    T x[N];
    each<0, N>([&](auto i) { x[i] = y[i]; });
    each<1, N>([&](auto back) {
      constexpr int k = N - decltype(back)::value;  // x[k] is known: take it out of those above
      each<0, k>([&](auto i) { x[i] -= lower[place(k, i)] * x[k]; });
    });
    each<0, N>([&](auto i) { y[i] = x[i]; });
  }

 private:
  template <int First, int Last, class F>
  [[gnu::always_inline]] static void each(const F& f) {
    if constexpr (First < Last) {
      [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
        (f(std::integral_constant<int, First + I>{}), ...);
      }
      (std::make_integer_sequence<int, Last - First>{});
    }
  }
};

}  // namespace kinegraph::filter
