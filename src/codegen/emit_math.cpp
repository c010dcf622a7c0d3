#include "kinegraph/codegen/emit_math.hpp"

namespace kinegraph::codegen {

// Reduction by π/2 in two parts, of which the first has 33 digits: k times it is exact up to 2²⁰ quarter turns, and the
// second leaves 2⁻⁶⁶ of them (float: three parts, up to 2¹³). Then the polynomials of fdlibm's __kernel_sin and
// __kernel_cos (double) and of Cephes' sinf and cosf (float). The number of quarter turns is read off the bits of a sum
// with 1.5 · 2⁵² + 2²⁰, so nothing is ever compared.
const char* const kGeneratedMath = R"(#ifndef KINEGRAPH_GENERATED_MATH
#define KINEGRAPH_GENERATED_MATH
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "generated code rounds by adding and subtracting a large number and looks for what is no number: compile it \
without -ffast-math, -funsafe-math-optimizations, -fassociative-math and -ffinite-math-only"
#endif
// A sum in parentheses stays as it is, also where clang++, which does not tell, is asked to reorder sums.
#if defined(__clang__) && defined(__x86_64__) && defined(__has_builtin)
#if __has_builtin(__arithmetic_fence)
#define KINEGRAPH_GENERATED_FENCE(x) __arithmetic_fence(x)
#endif
#endif
#ifndef KINEGRAPH_GENERATED_FENCE
#define KINEGRAPH_GENERATED_FENCE(x) (x)
#endif
#ifdef __GNUC__
#define KINEGRAPH_GENERATED_APART __attribute__((noinline))
#define KINEGRAPH_GENERATED_INSIDE __attribute__((always_inline))
#else
#define KINEGRAPH_GENERATED_APART
#define KINEGRAPH_GENERATED_INSIDE
#endif
namespace kinegraph_generated {

// Numbers and their bits. The first is for one state, vectors of the compiler are for several.
template <class Number>
struct Bits;
template <>
struct Bits<double> {
  using Real = double;
  using Type = std::uint64_t;
};
template <>
struct Bits<float> {
  using Real = float;
  using Type = std::uint32_t;
};
#ifdef __GNUC__
typedef double Double4 __attribute__((vector_size(32)));
typedef double Double8 __attribute__((vector_size(64)));
typedef float Float4 __attribute__((vector_size(16)));
typedef float Float8 __attribute__((vector_size(32)));
typedef std::uint64_t Word4 __attribute__((vector_size(32)));
typedef std::uint64_t Word8 __attribute__((vector_size(64)));
typedef std::uint32_t Half4 __attribute__((vector_size(16)));
typedef std::uint32_t Half8 __attribute__((vector_size(32)));
template <>
struct Bits<Double4> {
  using Real = double;
  using Type = Word4;
};
template <>
struct Bits<Double8> {
  using Real = double;
  using Type = Word8;
};
template <>
struct Bits<Float4> {
  using Real = float;
  using Type = Half4;
};
template <>
struct Bits<Float8> {
  using Real = float;
  using Type = Half8;
};
#endif

template <class Number>
using Real = typename Bits<Number>::Real;

template <class Number>
constexpr int lanes = static_cast<int>(sizeof(Number) / sizeof(Real<Number>));

// Number k of an array. Vectors are never passed or returned by value: how that is done would depend on the processor.
template <class Number>
inline void take(const Real<Number>* from, int k, Number& x) {
  std::memcpy(&x, from + k * lanes<Number>, sizeof x);
}
template <class Number>
inline void put(const Number& x, Real<Number>* to, int k) {
  std::memcpy(to + k * lanes<Number>, &x, sizeof x);
}
// clang++ aligns the stack for vectors only where an array of them has to lie in it; else what it spills straddles
// cache lines, more or fewer of them from one run to the next.
template <class Number>
KINEGRAPH_GENERATED_INSIDE inline void align_stack(Number* array) {
#ifdef __GNUC__
  asm volatile("" : : "r"(array));
#else
  (void)array;
#endif
}
// 0 where one of them is not a number.
template <class Number>
inline void take_least(const Number& a, const Number& b, Number& y) {
  y = a < b ? a : b <= a ? b : Number{};
}
template <class Number>
inline void take_size(const Number& a, Number& y) {
  y = a < -a ? -a : a;
}
template <class Number>
inline void take_root(const Number& a, Number& y) {
  Real<Number> x[sizeof(Number) / sizeof(Real<Number>)];
  std::memcpy(x, &a, sizeof x);
  for (auto& element : x) element = std::sqrt(element);
  std::memcpy(&y, x, sizeof x);
}
template <class Number>
inline void take_tanh(const Number& a, Number& y) {
  Real<Number> x[sizeof(Number) / sizeof(Real<Number>)];
  std::memcpy(x, &a, sizeof x);
  for (auto& element : x) element = std::tanh(element);
  std::memcpy(&y, x, sizeof x);
}

template <class Number>
inline void reduced(const Number& x, double, Number& turns, Number& r, Number& s, Number& c) {
  turns = KINEGRAPH_GENERATED_FENCE(x * 6.36619772367581382433e-01 + 6755399442104320.0);
  const Number k = KINEGRAPH_GENERATED_FENCE(turns - 6755399442104320.0);
  r = KINEGRAPH_GENERATED_FENCE(x - k * 1.57079632673412561417e+00) - k * 6.07710050650619224932e-11;
  const Number z = r * r;
  s = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 +
      z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
  c = 1.0 + z * (-0.5 + z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 +
      z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 +
      z * -1.13596475577881948265e-11))))));
}
template <class Number>
inline void reduced(const Number& x, float, Number& turns, Number& r, Number& s, Number& c) {
  turns = KINEGRAPH_GENERATED_FENCE(x * 0.636619772f + 12591104.0f);
  const Number k = KINEGRAPH_GENERATED_FENCE(turns - 12591104.0f);
  const Number first = KINEGRAPH_GENERATED_FENCE(x - k * 1.5703125f);
  r = KINEGRAPH_GENERATED_FENCE(first - k * 4.837512969970703125e-4f) - k * 7.54978995489188216e-8f;
  const Number z = r * r;
  s = r + r * z * (-1.6666654611e-1f + z * (8.3321608736e-3f - z * 1.9515295891e-4f));
  c = 1.0f + z * (-0.5f + z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f)));
}

// How many quarter turns are too many, and the bits of 1.5 · 2⁵² (float: 1.5 · 2²³), which is added to the turns with so
// many more: what differs from these bits is less than twice as many turns, or the angle is too large, or no number.
template <class Number>
struct Range;
template <>
struct Range<double> {
  static constexpr std::uint64_t turns = std::uint64_t(1) << 20, bits = 0x4338000000000000u;
};
template <>
struct Range<float> {
  static constexpr std::uint32_t turns = std::uint32_t(1) << 13, bits = 0x4b400000u;
};

// Bits of `above` say which angles were too large.
template <class Number>
KINEGRAPH_GENERATED_INSIDE inline void sine_and_cosine(const Number& x, Number& sine, Number& cosine,
                                                       typename Bits<Number>::Type& above) {
  using Type = typename Bits<Number>::Type;
  constexpr int shift = 8 * sizeof(Real<Number>) - 2;
  constexpr auto sign = static_cast<typename Bits<Real<Number>>::Type>(2) << shift;
  Number turns, r, s, c;
  reduced(x, Real<Number>(), turns, r, s, c);
  Type quarter, s_bits, c_bits;
  std::memcpy(&quarter, &turns, sizeof quarter);
  std::memcpy(&s_bits, &s, sizeof s_bits);
  std::memcpy(&c_bits, &c, sizeof c_bits);
  const auto odd = (quarter & 1) != 0;
  const Type sine_bits = (odd ? c_bits : s_bits) ^ ((quarter << shift) & sign);
  const Type cosine_bits = (odd ? s_bits : c_bits) ^ (((quarter + 1) << shift) & sign);
  std::memcpy(&sine, &sine_bits, sizeof sine_bits);
  std::memcpy(&cosine, &cosine_bits, sizeof cosine_bits);
  above = above | (quarter ^ Range<Real<Number>>::bits);
}

// Of n angles. Those of one state are taken four at a time. Few of several states are written out one after the other, so
// that they stay in registers; many are a loop, for there is room for only so much code.
template <int n, class Number>
KINEGRAPH_GENERATED_INSIDE inline void sines(const Number* x, Number* sine, Number* cosine,
                                             typename Bits<Number>::Type& above) {
  if constexpr (n > 8) {
    for (int i = 0; i < n; ++i) sine_and_cosine(x[i], sine[i], cosine[i], above);
  } else if constexpr (n > 0) {
    sine_and_cosine(x[0], sine[0], cosine[0], above);
    sines<n - 1>(x + 1, sine + 1, cosine + 1, above);
  } else {
    (void)x, (void)sine, (void)cosine, (void)above;
  }
}
#ifdef __GNUC__
template <int n, class Four>
inline void sines_by_four(const Real<Four>* x, Real<Four>* sine, Real<Four>* cosine,
                          typename Bits<Real<Four>>::Type& above) {
  typename Bits<Four>::Type all{};
  for (int i = 0; i < n; i += 4) {
    Four y, s, c;
    std::memcpy(&y, x + i, sizeof y);
    sine_and_cosine(y, s, c, all);
    std::memcpy(sine + i, &s, sizeof s);
    std::memcpy(cosine + i, &c, sizeof c);
  }
  above = (all[0] | all[1]) | (all[2] | all[3]);
}
template <int n>
inline void sines(const double* x, double* sine, double* cosine, std::uint64_t& above) {
  sines_by_four<n, Double4>(x, sine, cosine, above);
}
template <int n>
inline void sines(const float* x, float* sine, float* cosine, std::uint32_t& above) {
  sines_by_four<n, Float4>(x, sine, cosine, above);
}
#endif
// 0 where a pivot is not a number.
template <class Number>
inline void check_pivot(Number& pivot) {
  pivot = pivot > 0 ? pivot : Number{};
}
// 0 where an angle was too large.
template <class Number>
inline void check_angles(const typename Bits<Number>::Type& above, Number& pivot) {
  pivot = above < 2 * Range<Real<Number>>::turns ? pivot : Number{};
}

}  // namespace kinegraph_generated
#endif
)";

const char* const kLateSines = R"(template <class Number>
inline void take_sine(const Number& x, Number& y) {
  Number other;
  typename Bits<Number>::Type above{};
  sine_and_cosine(x, y, other, above);
}
template <class Number>
inline void take_cosine(const Number& x, Number& y) {
  Number other;
  typename Bits<Number>::Type above{};
  sine_and_cosine(x, other, y, above);
}
)";

}  // namespace kinegraph::codegen
