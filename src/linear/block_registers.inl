// Columns and rows of six numbers in vector registers. KINEGRAPH_WIDTH: doubles per register. See block_kernel.inl.

#include "kinegraph/linear/block_kernel.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace kinegraph::linear {
namespace {

#define KINEGRAPH_INLINE inline __attribute__((always_inline))

template <int N>
struct VectorOf {
  typedef double Type __attribute__((vector_size(N * 8), aligned(8), may_alias));
};
using V2 = VectorOf<2>::Type;
using V4 = VectorOf<4>::Type;

template <int N>
KINEGRAPH_INLINE typename VectorOf<N>::Type& at(double* p) {
  return *reinterpret_cast<typename VectorOf<N>::Type*>(p);
}
template <int N>
KINEGRAPH_INLINE const typename VectorOf<N>::Type& at(const double* p) {
  return *reinterpret_cast<const typename VectorOf<N>::Type*>(p);
}

template <bool Subtract, class V, class W>
KINEGRAPH_INLINE V plus(V a, W b) {
  if constexpr (Subtract) {
    return a - b;
  } else {
    return a + b;
  }
}

// One column of six rows.
#if KINEGRAPH_WIDTH == 8
struct Column {
  VectorOf<8>::Type a;
  KINEGRAPH_INLINE static Column load(const double* p) { return {at<8>(p)}; }
  KINEGRAPH_INLINE static Column zero() { return {VectorOf<8>::Type{}}; }
  template <bool Subtract, int K>
  KINEGRAPH_INLINE void add_product(const Column& x, const Column& y) {  // x times number K of y
    a = plus<Subtract>(a, x.a * __builtin_shufflevector(y.a, y.a, K, K, K, K, K, K, K, K));
  }
  KINEGRAPH_INLINE void store(double* p) const { at<8>(p) = a; }
  template <bool Subtract>
  KINEGRAPH_INLINE void add_product(const Column& x, double f) {
    a = plus<Subtract>(a, x.a * f);
  }
  KINEGRAPH_INLINE void add(const Column& x) { a += x.a; }
  template <bool Subtract>
  KINEGRAPH_INLINE void accumulate(const Column& x) {
    a = plus<Subtract>(a, x.a);
  }
};
#elif KINEGRAPH_WIDTH == 4
struct Column {
  V4 a;
  V2 b;
  KINEGRAPH_INLINE static Column load(const double* p) { return {at<4>(p), at<2>(p + 4)}; }
  KINEGRAPH_INLINE static Column zero() { return {V4{}, V2{}}; }
  template <bool Subtract, int K>
  KINEGRAPH_INLINE void add_product(const Column& x, const Column& y) {  // x times number K of y
    if constexpr (K < 4) {
      const V4 f = __builtin_shufflevector(y.a, y.a, K, K, K, K);
      a = plus<Subtract>(a, x.a * f);
      b = plus<Subtract>(b, x.b * __builtin_shufflevector(f, f, 0, 1));
    } else {
      a = plus<Subtract>(a, x.a * __builtin_shufflevector(y.b, y.b, K - 4, K - 4, K - 4, K - 4));
      b = plus<Subtract>(b, x.b * __builtin_shufflevector(y.b, y.b, K - 4, K - 4));
    }
  }
  KINEGRAPH_INLINE void store(double* p) const {
    at<4>(p) = a;
    at<2>(p + 4) = b;
  }
  template <bool Subtract>
  KINEGRAPH_INLINE void add_product(const Column& x, double f) {
    a = plus<Subtract>(a, x.a * f);
    b = plus<Subtract>(b, x.b * f);
  }
  KINEGRAPH_INLINE void add(const Column& x) {
    a += x.a;
    b += x.b;
  }
  template <bool Subtract>
  KINEGRAPH_INLINE void accumulate(const Column& x) {
    a = plus<Subtract>(a, x.a);
    b = plus<Subtract>(b, x.b);
  }
};
#else
struct Column {
  V2 a, b, c;
  KINEGRAPH_INLINE static Column load(const double* p) { return {at<2>(p), at<2>(p + 2), at<2>(p + 4)}; }
  KINEGRAPH_INLINE static Column zero() { return {V2{}, V2{}, V2{}}; }
  template <bool Subtract, int K>
  KINEGRAPH_INLINE void add_product(const Column& x, const Column& y) {  // x times number K of y
    const V2 from = K < 2 ? y.a : K < 4 ? y.b : y.c, f = __builtin_shufflevector(from, from, K % 2, K % 2);
    a = plus<Subtract>(a, x.a * f);
    b = plus<Subtract>(b, x.b * f);
    c = plus<Subtract>(c, x.c * f);
  }
  KINEGRAPH_INLINE void store(double* p) const {
    at<2>(p) = a;
    at<2>(p + 2) = b;
    at<2>(p + 4) = c;
  }
  template <bool Subtract>
  KINEGRAPH_INLINE void add_product(const Column& x, double f) {
    a = plus<Subtract>(a, x.a * f);
    b = plus<Subtract>(b, x.b * f);
    c = plus<Subtract>(c, x.c * f);
  }
  KINEGRAPH_INLINE void add(const Column& x) {
    a += x.a;
    b += x.b;
    c += x.c;
  }
  template <bool Subtract>
  KINEGRAPH_INLINE void accumulate(const Column& x) {
    a = plus<Subtract>(a, x.a);
    b = plus<Subtract>(b, x.b);
    c = plus<Subtract>(c, x.c);
  }
};
#endif

constexpr int kLead = 8;  // from column to column of a block of six rows

// One row of six columns: written and read in the same pieces, for a load that spans two stores has to wait.
struct RowOfSix {
  V2 a, b, c;
  KINEGRAPH_INLINE static RowOfSix load(const double* p) {
#if KINEGRAPH_WIDTH >= 4
    const V4 x = at<4>(p);
    return {__builtin_shufflevector(x, x, 0, 1), __builtin_shufflevector(x, x, 2, 3), at<2>(p + 4)};
#else
    return {at<2>(p), at<2>(p + 2), at<2>(p + 4)};
#endif
  }
  KINEGRAPH_INLINE void store(double* p) const {
#if KINEGRAPH_WIDTH >= 4
    at<4>(p) = __builtin_shufflevector(a, b, 0, 1, 2, 3);
#else
    at<2>(p) = a;
    at<2>(p + 2) = b;
#endif
    at<2>(p + 4) = c;
  }
  template <bool Subtract>
  KINEGRAPH_INLINE void accumulate(V2 x, V2 y, V2 z) {
    a = plus<Subtract>(a, x);
    b = plus<Subtract>(b, y);
    c = plus<Subtract>(c, z);
  }
};

/// The products of a row with a column, in two lanes that are still to be added.
#if KINEGRAPH_WIDTH >= 4
struct Multiplier {
  V4 a;
  V2 b;
  KINEGRAPH_INLINE static Multiplier load(const double* p) { return {at<4>(p), at<2>(p + 4)}; }
  KINEGRAPH_INLINE static Multiplier from(const RowOfSix& r) {
    return {__builtin_shufflevector(r.a, r.b, 0, 1, 2, 3), r.c};
  }
  KINEGRAPH_INLINE V2 dot(const double* column) const { return dot(at<4>(column), at<2>(column + 4)); }
#if KINEGRAPH_WIDTH == 8
  KINEGRAPH_INLINE V2 dot(const Column& y) const {
    return dot(__builtin_shufflevector(y.a, y.a, 0, 1, 2, 3), __builtin_shufflevector(y.a, y.a, 4, 5));
  }
#else
  KINEGRAPH_INLINE V2 dot(const Column& y) const { return dot(y.a, y.b); }
#endif
  KINEGRAPH_INLINE V2 dot(V4 x, V2 y) const {
    const V4 p = a * x;
    const V2 low = __builtin_shufflevector(p, p, 0, 1), high = __builtin_shufflevector(p, p, 2, 3);
    return low + (high + b * y);
  }
};
#else
struct Multiplier {
  V2 a, b, c;
  KINEGRAPH_INLINE static Multiplier load(const double* p) { return {at<2>(p), at<2>(p + 2), at<2>(p + 4)}; }
  KINEGRAPH_INLINE static Multiplier from(const RowOfSix& r) { return {r.a, r.b, r.c}; }
  KINEGRAPH_INLINE V2 dot(const double* column) const { return dot(Column::load(column)); }
  KINEGRAPH_INLINE V2 dot(const Column& y) const { return a * y.a + (b * y.b + c * y.c); }
};
#endif

}  // namespace
}  // namespace kinegraph::linear
