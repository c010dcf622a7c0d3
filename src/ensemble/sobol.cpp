#include "kinegraph/ensemble/sobol.hpp"

#include "kinegraph/base/random.hpp"

namespace kinegraph::ensemble {
namespace {

/// A primitive polynomial xˢ + a₁xˢ⁻¹ + … + aₛ₋₁x + 1 over the field of two, the bits of a = a₁ … aₛ₋₁, and the first
/// numbers m₁ … mₛ. The first dimension has none: all its m are 1.
struct Start {
  int s;
  unsigned a;
  std::array<unsigned, 8> m;
};

constexpr std::array<Start, kSobolDimensions - 1> kStarts = {{
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
    {7, 50, {1, 3, 1, 3, 5, 53, 69}},
    {7, 55, {1, 1, 5, 5, 23, 33, 13}},
    {7, 56, {1, 1, 7, 7, 1, 61, 123}},
    {7, 59, {1, 1, 7, 9, 13, 61, 49}},
    {7, 62, {1, 3, 3, 5, 3, 55, 33}},
    {8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
    {8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
    {8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
}};

/// vⱼ = mⱼ / 2ʲ as bits, with   mⱼ = 2 a₁ mⱼ₋₁ ⊕ 4 a₂ mⱼ₋₂ ⊕ … ⊕ 2ˢ mⱼ₋ₛ ⊕ mⱼ₋ₛ     (Bratley and Fox, 1988)
std::array<std::uint64_t, Sobol::kBits> directions(std::size_t dimension) {
  constexpr int n = Sobol::kBits;
  std::array<std::uint64_t, n> v{};
  if (dimension == 0) {
    for (int j = 0; j < n; ++j) v[j] = std::uint64_t{1} << (n - 1 - j);
    return v;
  }
  const Start& start = kStarts[dimension - 1];
  for (int j = 0; j < n; ++j) {
    if (j < start.s) {
      v[j] = std::uint64_t{start.m[j]} << (n - 1 - j);
      continue;
    }
    v[j] = v[j - start.s] ^ (v[j - start.s] >> start.s);
    for (int k = 1; k < start.s; ++k) {
      if ((start.a >> (start.s - 1 - k)) & 1U) v[j] ^= v[j - k];
    }
  }
  return v;
}

}  // namespace

Sobol::Sobol(std::size_t dimensions, std::uint64_t seed) {
  constexpr std::uint64_t kStream = 0x50b01;
  for (std::size_t d = 0; d < dimensions; ++d) {
    directions_.push_back(directions(d));
    shifts_.push_back(Random(seed, kStream, static_cast<std::uint32_t>(d)).bits() >> (64 - kBits));
  }
}

std::uint64_t Sobol::plain(std::uint64_t i, std::size_t dimension) const {
  std::uint64_t x = 0;
  std::size_t j = 0;
  for (std::uint64_t gray = i ^ (i >> 1); gray != 0; gray >>= 1, ++j) {
    if (gray & 1U) x ^= directions_[dimension][j];
  }
  return x;
}

double Sobol::at(std::uint64_t i, std::size_t dimension) const {
  return (static_cast<double>(plain(i, dimension) ^ shifts_[dimension]) + 0.5) * 0x1p-52;
}

}  // namespace kinegraph::ensemble
