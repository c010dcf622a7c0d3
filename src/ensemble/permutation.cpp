#include "kinegraph/ensemble/permutation.hpp"

#include "kinegraph/base/random.hpp"

namespace kinegraph::ensemble {

Permutation::Permutation(std::uint64_t n, std::uint64_t seed, std::uint64_t stream)
    : n_(n), seed_(seed), stream_(stream) {
  while (half_ < 31 && (std::uint64_t{1} << (2 * half_)) < n) ++half_;
  mask_ = (std::uint64_t{1} << half_) - 1;
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  constexpr std::uint64_t kRounds = 6;
  do {
    std::uint64_t left = i >> half_, right = i & mask_;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t mixed = Random::block(seed_, {right | ((round + 1) << 40), stream_}).a & mask_;
      const std::uint64_t next = left ^ mixed;
      left = right, right = next;
    }
    i = (left << half_) | right;
  } while (i >= n_);
  return i;
}

}  // namespace kinegraph::ensemble
