#pragma once

#include <cmath>
#include <cstdint>

namespace kinegraph {

/// Random numbers by counting: the k-th number of a stream is a function of (seed, stream, substream, k) alone, so that
/// it does not matter which thread draws it, or when. Making a stream costs nothing: one per particle and step.
///
/// Philox 2×64 with ten rounds: one round maps the counter (a, b) under the key k to
///
///     (hi(M a) ⊕ k ⊕ b,  lo(M a)),    k ← k + W
///
/// Streams with different numbers share no counter, hence no numbers; a substream has 2³³ numbers.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0, std::uint32_t substream = 0)
      : seed_(seed), stream_(stream), counter_(std::uint64_t{substream} << 32) {}

  /// 64 random bits.
  std::uint64_t bits() {
    if (spare_) {
      spare_ = false;
      return second_;
    }
    const Pair p = block(seed_, {counter_++, stream_});
    second_ = p.b, spare_ = true;
    return p.a;
  }

  /// Of [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Of 0 … n − 1; n < 2³².
  int below(int n) { return static_cast<int>(((bits() >> 32) * static_cast<std::uint64_t>(n)) >> 32); }

  /// Of N(0, 1): the ziggurat, layers of equal area under the density. All but one in a hundred numbers take one
  /// product and one comparison.
  double normal() {
    for (;;) {
      const std::uint64_t b = bits();
      const int layer = static_cast<int>(b & (kLayers - 1));
      const double x = static_cast<double>(static_cast<std::int64_t>(b) >> 11) * 0x1p-52 * ziggurat_.width[layer];
      if (std::abs(x) < ziggurat_.width[layer + 1]) return x;
      if (layer == 0) return tail(x < 0);
      const double below = ziggurat_.height[layer], above = ziggurat_.height[layer + 1];
      if (below + (above - below) * uniform() < std::exp(-0.5 * x * x)) return x;
    }
  }
  void normal(double* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = normal();
  }

  struct Pair {
    std::uint64_t a, b;
  };
  /// One block of the generator: two random numbers for a key and a counter.
  static Pair block(std::uint64_t key, Pair c) {
    for (int round = 0; round < 10; ++round) {
      const unsigned __int128 product = static_cast<unsigned __int128>(0xD2B74407B1CE6E93) * c.a;
      c = {static_cast<std::uint64_t>(product >> 64) ^ key ^ c.b, static_cast<std::uint64_t>(product)};
      key += 0x9E3779B97F4A7C15;
    }
    return c;
  }

 private:
  static constexpr int kLayers = 256;
  static constexpr double kTail = 3.6541528853610088;  // where the lowest layer's tail begins

  // Layer i reaches from −width to width between the heights i and i + 1 of exp(−x²/2); layer 0 has the tail's area
  // too.
  struct Ziggurat {
    double width[kLayers + 1], height[kLayers + 1];
    Ziggurat() {
      const double foot = std::exp(-0.5 * kTail * kTail);
      const double area = kTail * foot + std::sqrt(M_PI / 2) * std::erfc(kTail / std::sqrt(2.0));
      width[0] = area / foot, height[0] = 0;
      width[1] = kTail, height[1] = foot;
      for (int i = 2; i < kLayers; ++i) {
        height[i] = height[i - 1] + area / width[i - 1];
        width[i] = std::sqrt(-2 * std::log(height[i]));
      }
      width[kLayers] = 0, height[kLayers] = 1;
    }
  };

  // |x| > kTail: a pair of exponential numbers, kept if it lies under the density.
  double tail(bool negative) {
    for (;;) {
      const double x = -std::log(1 - uniform()) / kTail, y = -std::log(1 - uniform());
      if (2 * y > x * x) return negative ? -kTail - x : kTail + x;
    }
  }

  static inline const Ziggurat ziggurat_;
  std::uint64_t seed_, stream_, counter_, second_ = 0;
  bool spare_ = false;
};

}  // namespace kinegraph
