#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kinegraph::ensemble {

inline constexpr std::size_t kSobolDimensions = 40;

/// The sequence of Sobol: 2ᵐ points in a row fill the unit cube evenly. A point is computed from its number alone,
///
///     xᵢ = ⊕ vⱼ over the ones gⱼ of the Gray code g = i ⊕ (i >> 1)
///
/// with the direction numbers of Joe and Kuo (2008, new-joe-kuo-6). Each dimension is shifted by random bits (xᵢ ⊕ s),
/// which keeps the evenness, moves the first point off the corner and lets seeds differ.
class Sobol {
 public:
  static constexpr int kBits = 52;

  Sobol(std::size_t dimensions, std::uint64_t seed);

  /// Of (0, 1).
  double at(std::uint64_t i, std::size_t dimension) const;
  /// Without the shift: the bits of a number of [0, 1).
  std::uint64_t plain(std::uint64_t i, std::size_t dimension) const;

 private:
  std::vector<std::array<std::uint64_t, kBits>> directions_;
  std::vector<std::uint64_t> shifts_;
};

}  // namespace kinegraph::ensemble
