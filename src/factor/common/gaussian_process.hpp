#pragma once

#include <Eigen/Core>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/factor/common/linear_combination.hpp"
#include "kinegraph/graph/noise.hpp"

namespace kinegraph {

/// A motion is smooth: its acceleration is constant but for white noise on the jerk, of spectral density s².
///
///     e = (x₁ − x₀ − h v₀ − ½ h² a₀,  v₁ − v₀ − h a₀,  a₁ − a₀)      (003, eqs. 6 to 8)
///     Σ = s² [h⁵/20 h⁴/8 h³/6; h⁴/8 h³/3 h²/2; h³/6 h²/2 h]        (003, eq. 8; it prints ½ h⁵ for h⁵/20)
///
/// Of all elements or of some. Rows: those of x, then of v, then of a. Slots: x₀ v₀ a₀ x₁ v₁ a₁.
class GaussianProcess final : public Factor {
 public:
  /// Labels name the elements of x.
  explicit GaussianProcess(int size, double h, Labels labels = {})
      : GaussianProcess(size, all_of(size), h, std::move(labels)) {}
  GaussianProcess(int size, std::vector<int> elements, double h, Labels labels = {})
      : Factor("smoothness", 3 * static_cast<int>(elements.size()), std::vector<int>(6, size), pattern_of(elements)),
        elements_(std::move(elements)),
        h_(h),
        labels_(std::move(labels)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const int n = static_cast<int>(elements_.size());
    for (int r = 0; r < n; ++r) {
      const int i = elements_[r];
      residual[r] = x[3][i] - x[0][i] - h_ * x[1][i] - 0.5 * h_ * h_ * x[2][i];
      residual[n + r] = x[4][i] - x[1][i] - h_ * x[2][i];
      residual[2 * n + r] = x[5][i] - x[2][i];
    }
    if (!jacobian) return;
    for (const double w : {-1.0, -h_, -1.0, -0.5 * h_ * h_, -h_, -1.0, 1.0, 1.0, 1.0})
      for (int r = 0; r < n; ++r) *jacobian++ = w;
  }
  bool constant_jacobian() const override { return true; }
  std::string row_name(int row) const override {
    return labels_.empty() ? Factor::row_name(row) : name() + " of " + labels_[elements_[row % elements_.size()]];
  }

  /// Σ of one element: of (x, v, a).
  static Eigen::Matrix3d covariance(double h, double s) {
    const double h2 = h * h, h3 = h2 * h;
    Eigen::Matrix3d Q;
    Q << h3 * h2 / 20, h2 * h2 / 8, h3 / 6, h2 * h2 / 8, h3 / 3, h2 / 2, h3 / 6, h2 / 2, h;
    return s * s * Q;
  }
  /// Of all elements, in the order of the rows.
  static Noise noise(int size, double h, double s) {
    const Eigen::Matrix3d Q = covariance(h, s);
    Eigen::MatrixXd full = Eigen::MatrixXd::Zero(3 * size, 3 * size);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        for (int i = 0; i < size; ++i) full(r * size + i, c * size + i) = Q(r, c);
    return Noise::full(full);
  }

 private:
  static std::vector<int> all_of(int size) {
    std::vector<int> all(size);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  static std::vector<JacobianEntry> pattern_of(const std::vector<int>& elements) {
    const int n = static_cast<int>(elements.size());
    // (row block, slot): x₀; v₀ in x, in v; a₀ in x, in v, in a; x₁ v₁ a₁
    const int blocks[][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 2}, {0, 3}, {1, 4}, {2, 5}};
    std::vector<JacobianEntry> pattern;
    for (const auto& [row, slot] : blocks)
      for (int i = 0; i < n; ++i) pattern.push_back({row * n + i, slot, elements[i]});
    return pattern;
  }

  std::vector<int> elements_;
  double h_;
  Labels labels_;
};

}  // namespace kinegraph
