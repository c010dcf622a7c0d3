#pragma once

#include <cstdint>

namespace kinegraph::ensemble {

/// A random order of 0 … n − 1, of which any element is computed alone: a Feistel network on the least even number of
/// bits that holds n,
///
///     (left, right) ← (right, left ⊕ F(round, right)),      F by Philox, with the seed as key
///
/// repeated until the number is below n again (cycle walking: less than four times on the average).
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed, std::uint64_t stream);
  std::uint64_t operator()(std::uint64_t i) const;

 private:
  std::uint64_t n_, seed_, stream_, mask_ = 1;
  int half_ = 1;  // bits
};

}  // namespace kinegraph::ensemble
