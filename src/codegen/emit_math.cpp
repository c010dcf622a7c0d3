#include "kinegraph/codegen/emit_math.hpp"

namespace kinegraph::codegen {

// Reduction by π/2 in three parts (exact up to 2²⁰ quarter turns), then the polynomials of fdlibm's __kernel_sin and
// __kernel_cos (double) and of Cephes' sinf and cosf (float). The number of quarter turns is read off the bits of a sum
// with 1.5 · 2⁵², so nothing is ever compared.
const char* const kGeneratedMath = R"(#ifndef KINEGRAPH_GENERATED_MATH
#define KINEGRAPH_GENERATED_MATH
#ifdef __FAST_MATH__
#error "generated code rounds by adding and subtracting a large number: compile it without -ffast-math"
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

// Number k of an array. Vectors are never passed or returned by value: how that is done would depend on the processor.
template <class Number>
inline void take(const Real<Number>* from, int k, Number& x) {
  std::memcpy(&x, from + k * (sizeof(Number) / sizeof(Real<Number>)), sizeof x);
}
template <class Number>
inline void put(const Number& x, Real<Number>* to, int k) {
  std::memcpy(to + k * (sizeof(Number) / sizeof(Real<Number>)), &x, sizeof x);
}
template <class Number>
inline void take_least(const Number& a, const Number& b, Number& y) {
  y = a < b ? a : b;
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
  turns = x * 6.36619772367581382433e-01 + 6755399441055744.0;
  const Number k = turns - 6755399441055744.0;
  r = ((x - k * 1.57079632673412561417e+00) - k * 6.07710050630396597660e-11) - k * 2.02226624879595063154e-21;
  const Number z = r * r;
  s = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 +
      z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
  c = 1.0 + z * (-0.5 + z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 +
      z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 +
      z * -1.13596475577881948265e-11))))));
}
template <class Number>
inline void reduced(const Number& x, float, Number& turns, Number& r, Number& s, Number& c) {
  turns = x * 0.636619772f + 12582912.0f;
  const Number k = turns - 12582912.0f;
  r = ((x - k * 1.5703125f) - k * 4.837512969970703125e-4f) - k * 7.54978995489188216e-8f;
  const Number z = r * r;
  s = r + r * z * (-1.6666654611e-1f + z * (8.3321608736e-3f - z * 1.9515295891e-4f));
  c = 1.0f + z * (-0.5f + z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f)));
}

// The squares of the angles add up in `total`: no angle is larger than its root, and one that is not a number shows.
template <class Number>
inline void sine_and_cosine(const Number& x, Number& sine, Number& cosine, Number& total) {
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
  total = total + x * x;
}

// Of n angles. Those of one state are taken four at a time.
template <int n, class Number>
inline void sines(const Number* x, Number* sine, Number* cosine, Number& total) {
  total = Number{};
  for (int i = 0; i < n; ++i) sine_and_cosine(x[i], sine[i], cosine[i], total);
}
#ifdef __GNUC__
template <int n, class Four>
inline void sines_by_four(const Real<Four>* x, Real<Four>* sine, Real<Four>* cosine, Real<Four>& total) {
  Four sum{};
  for (int i = 0; i < n; i += 4) {
    Four y, s, c;
    std::memcpy(&y, x + i, sizeof y);
    sine_and_cosine(y, s, c, sum);
    std::memcpy(sine + i, &s, sizeof s);
    std::memcpy(cosine + i, &c, sizeof c);
  }
  total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
template <int n>
inline void sines(const double* x, double* sine, double* cosine, double& total) {
  sines_by_four<n, Double4>(x, sine, cosine, total);
}
template <int n>
inline void sines(const float* x, float* sine, float* cosine, float& total) {
  sines_by_four<n, Float4>(x, sine, cosine, total);
}
#endif
// The square of the angle beyond which the reduction loses digits.
template <class Number>
constexpr Real<Number> largest_square() {
  return sizeof(Real<Number>) == 8 ? Real<Number>(1e12) : Real<Number>(6.4e7);
}

}  // namespace kinegraph_generated
#endif
)";

const char* const kLateSines = R"(template <class Number>
inline void take_sine(const Number& x, Number& y) {
  Number other, total{};
  sine_and_cosine(x, y, other, total);
}
template <class Number>
inline void take_cosine(const Number& x, Number& y) {
  Number other, total{};
  sine_and_cosine(x, other, y, total);
}
)";

}  // namespace kinegraph::codegen
