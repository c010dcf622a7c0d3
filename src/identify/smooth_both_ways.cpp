#include <algorithm>
#include <cmath>
#include <numbers>

#include "kinegraph/identify/run.hpp"

namespace kinegraph::identify {
namespace {

/// y[n] = b₀ x[n] + b₁ x[n−1] + b₂ x[n−2] − a₁ y[n−1] − a₂ y[n−2], by the bilinear transform with the cut-off kept:
///
///     k = tan(π f/r),   b₀ = b₂ = b₁/2 = k²/(1 + √2 k + k²),   a₁ = 2 (k² − 1)/(…),   a₂ = (1 − √2 k + k²)/(…)
struct Butterworth {
  double b = 0, a1 = 0, a2 = 0;

  explicit Butterworth(double share) {
    const double k = std::tan(std::numbers::pi * share), root = std::numbers::sqrt2 * k;
    const double under = 1 + root + k * k;
    b = k * k / under;
    a1 = 2 * (k * k - 1) / under;
    a2 = (1 - root + k * k) / under;
  }

  /// In place, from rest at the first value.
  void run(std::vector<double>& x) const {
    double x1 = x.front(), x2 = x1, y1 = x1, y2 = x1;
    for (double& value : x) {
      const double y = b * (value + 2 * x1 + x2) - a1 * y1 - a2 * y2;
      x2 = x1, x1 = value, y2 = y1, y1 = y;
      value = y;
    }
  }
};

constexpr double kHighest = 0.45;  // of the rate: beyond, nothing is left to take away
constexpr double kTail = 3;        // periods of the cut-off by which the ends are continued

}  // namespace

std::vector<double> smooth_both_ways(const std::vector<double>& values, double rate, double cutoff) {
  const auto count = static_cast<std::ptrdiff_t>(values.size());
  if (count < 3 || !(cutoff < kHighest * rate) || !(cutoff > 0)) return values;
  // Odd reflection: 2 x₀ − x_k goes on straight where x does.
  const auto tail = static_cast<std::ptrdiff_t>(std::min(std::ceil(kTail * rate / cutoff), double(count - 1)));
  std::vector<double> x;
  x.reserve(static_cast<std::size_t>(count + 2 * tail));
  for (std::ptrdiff_t k = tail; k > 0; --k) x.push_back(2 * values.front() - values[k]);
  x.insert(x.end(), values.begin(), values.end());
  for (std::ptrdiff_t k = 1; k <= tail; ++k) x.push_back(2 * values.back() - values[count - 1 - k]);
  const Butterworth filter(cutoff / rate);
  filter.run(x);
  std::reverse(x.begin(), x.end());
  filter.run(x);
  std::reverse(x.begin(), x.end());
  return {x.begin() + tail, x.begin() + tail + count};
}

}  // namespace kinegraph::identify
