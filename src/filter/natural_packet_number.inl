// Numbers of several states side by side. KINEGRAPH_WIDTH: how many. Everything is in an unnamed namespace: see
// natural_packet.hpp. Products and sums are not contracted (-ffp-contract=off in src/CMakeLists.txt), so that the bits
// do not depend on the width.

#include <array>

#include "kinegraph/filter/natural_packet.hpp"

namespace kinegraph::filter {
namespace {

#define KINEGRAPH_INLINE inline __attribute__((always_inline))

constexpr int kWidth = KINEGRAPH_WIDTH;
typedef double Lanes __attribute__((vector_size(KINEGRAPH_WIDTH * 8), may_alias));
typedef long long Bits __attribute__((vector_size(KINEGRAPH_WIDTH * 8), may_alias));

/// All ones where something holds.
struct Mask {
  Bits m;
  Mask() = default;
  KINEGRAPH_INLINE explicit Mask(bool all) : m(Bits{} - static_cast<long long>(all)) {}
  KINEGRAPH_INLINE explicit Mask(Bits bits) : m(bits) {}
  KINEGRAPH_INLINE friend Mask operator&(Mask a, Mask b) { return Mask(a.m & b.m); }
  KINEGRAPH_INLINE friend Mask operator|(Mask a, Mask b) { return Mask(a.m | b.m); }
  KINEGRAPH_INLINE friend Mask operator~(Mask a) { return Mask(~a.m); }
  KINEGRAPH_INLINE bool all() const {
    long long result = -1;
    for (int i = 0; i < kWidth; ++i) result &= m[i];
    return result != 0;
  }
};

struct Packet {
  Lanes v;
  Packet() = default;
  KINEGRAPH_INLINE Packet(double x) : v(x - Lanes{}) {}
  KINEGRAPH_INLINE explicit Packet(Lanes x) : v(x) {}
  KINEGRAPH_INLINE friend Packet operator+(Packet a, Packet b) { return Packet(a.v + b.v); }
  KINEGRAPH_INLINE friend Packet operator-(Packet a, Packet b) { return Packet(a.v - b.v); }
  KINEGRAPH_INLINE friend Packet operator*(Packet a, Packet b) { return Packet(a.v * b.v); }
  KINEGRAPH_INLINE friend Packet operator/(Packet a, Packet b) { return Packet(a.v / b.v); }
  KINEGRAPH_INLINE friend Packet operator-(Packet a) { return Packet(-a.v); }
  KINEGRAPH_INLINE Packet& operator+=(Packet b) { return v += b.v, *this; }
  KINEGRAPH_INLINE Packet& operator-=(Packet b) { return v -= b.v, *this; }
  KINEGRAPH_INLINE friend Mask operator<(Packet a, Packet b) { return Mask((Bits)(a.v < b.v)); }
  KINEGRAPH_INLINE friend Mask operator<=(Packet a, Packet b) { return Mask((Bits)(a.v <= b.v)); }
  KINEGRAPH_INLINE friend Mask operator>(Packet a, Packet b) { return Mask((Bits)(a.v > b.v)); }
};

KINEGRAPH_INLINE Packet choose(Mask mask, Packet yes, Packet no) {
  return Packet((Lanes)((mask.m & (Bits)yes.v) | (~mask.m & (Bits)no.v)));
}
KINEGRAPH_INLINE Packet absolute(Packet a) { return Packet((Lanes)((Bits)a.v & 0x7fffffffffffffff)); }
KINEGRAPH_INLINE Packet larger(Packet a, Packet b) { return choose(b <= a, a, b); }  // not a number counts as large
KINEGRAPH_INLINE Packet sqrt(Packet a) {
  Packet result;
  for (int i = 0; i < kWidth; ++i) result.v[i] = __builtin_sqrt(a.v[i]);
  return result;
}

constexpr double kMostAngle = 1e6;  // radians: π/2 in parts below is good up to here

struct SineCosine {
  Packet s, c;
};

/// x = k π/2 + r, |r| ≤ π/4, then the series of r. To a unit in the last place for |x| < kMostAngle.
KINEGRAPH_INLINE SineCosine sine_cosine(Packet x) {
  constexpr double kRound = 0x1.8p52;  // adding it leaves an integer
  constexpr double kHigh = 0x1.921fb544p+0, kMiddle = 0x1.0b4611a6p-34, kLow = 0x1.3198a2e037073p-69;  // π/2 in sum
  const Packet shifted = x * Packet(0x1.45f306dc9c883p-1) + Packet(kRound), k = shifted - Packet(kRound);
  const Packet r = ((x - k * Packet(kHigh)) - k * Packet(kMiddle)) - k * Packet(kLow), r2 = r * r;
  constexpr double s[] = {-1.0 / 6,
                          1.0 / 120,
                          -1.0 / 5040,
                          1.0 / 362880,
                          -1.0 / 39916800.0,
                          1.0 / 6227020800.0,
                          -1.0 / 1307674368000.0,
                          1.0 / 355687428096000.0};
  constexpr double c[] = {1.0 / 24,          -1.0 / 720,           1.0 / 40320,           -1.0 / 3628800.0,
                          1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
  Packet odd(s[7]), even(c[6]);
  for (int i = 6; i >= 0; --i) odd = odd * r2 + Packet(s[i]);
  for (int i = 5; i >= 0; --i) even = even * r2 + Packet(c[i]);
  const Packet sine = r + r * r2 * odd, half = 0.5 * r2;
  const Packet rest = Packet(1.0) - half, cosine = rest + (((Packet(1.0) - rest) - half) + r2 * r2 * even);
  const Bits quadrant = (Bits)shifted.v;
  const Mask turned(-(quadrant & 1));
  const Packet first = choose(turned, cosine, sine), second = choose(turned, sine, cosine);
  return {Packet((Lanes)((Bits)first.v ^ ((quadrant & 2) << 62))),
          Packet((Lanes)((Bits)second.v ^ (((quadrant + 1) & 2) << 62)))};
}
KINEGRAPH_INLINE Packet sin(Packet x) { return sine_cosine(x).s; }
KINEGRAPH_INLINE Packet cos(Packet x) { return sine_cosine(x).c; }

/// A quantity and its rate, as Taylor1.
struct Rate {
  Packet x, d;
  Rate() = default;
  KINEGRAPH_INLINE Rate(double value) : x(value), d(0.0) {}
  KINEGRAPH_INLINE Rate(Packet value, Packet rate) : x(value), d(rate) {}
  KINEGRAPH_INLINE friend Rate operator+(const Rate& a, const Rate& b) { return {a.x + b.x, a.d + b.d}; }
  KINEGRAPH_INLINE friend Rate operator-(const Rate& a, const Rate& b) { return {a.x - b.x, a.d - b.d}; }
  KINEGRAPH_INLINE friend Rate operator*(const Rate& a, const Rate& b) { return {a.x * b.x, a.d * b.x + a.x * b.d}; }
  KINEGRAPH_INLINE friend Rate operator*(double s, const Rate& b) { return {s * b.x, s * b.d}; }
  KINEGRAPH_INLINE friend Rate operator-(const Rate& a) { return {-a.x, -a.d}; }
};
KINEGRAPH_INLINE Rate sin(const Rate& a) {
  const SineCosine f = sine_cosine(a.x);
  return {f.s, f.c * a.d};
}
KINEGRAPH_INLINE Rate cos(const Rate& a) {
  const SineCosine f = sine_cosine(a.x);
  return {f.c, -f.s * a.d};
}

}  // namespace
}  // namespace kinegraph::filter
