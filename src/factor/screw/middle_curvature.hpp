#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "kinegraph/factor/screw/middle_state.hpp"

namespace kinegraph::screw {

/// Second derivatives along the state in the middle of a step, as those along the states at both ends.
///
///     Tᵀ H T,     T = ∂(q v a)ₘ/∂(q₀ v₀ a₀ q₁ v₁ a₁): shares of one freedom (MiddleState::share), a block of the pose
///
/// Only freedoms that bend are carried along, and both products are sums of columns: the pose of a base makes every
/// entry of H many.
class MiddleCurvature {
 public:
  /// `levels` of the state in the middle, `outer_levels` of it at each end; what follows the state is the same at both.
  /// `pairs`: directions of the middle that have a second derivative.
  MiddleCurvature(const StateSlots& state, int levels, int outer_levels, int directions,
                  std::span<const std::pair<int, int>> pairs)
      : base_(state.floating ? 6 : 0),
        levels_(levels),
        outer_levels_(outer_levels),
        freedoms_(state.freedoms()),
        directions_(directions) {
    const int n = freedoms_, behind = levels * n;
    std::vector<char> bends(n, 0), bends_behind(directions - behind, 0);
    for (const auto& [a, b] : pairs) {
      for (const int d : {a, b}) (d < behind ? bends[d % n] : bends_behind[d - behind]) = 1;
    }
    std::fill_n(bends.begin(), base_, 1);
    for (int i = 0; i < n; ++i) {
      if (bends[i]) moved_.push_back(i);
    }
    const auto all = [&](int blocks, std::vector<int>& places) {
      for (int block = 0; block < blocks; ++block) {
        for (const int i : moved_) places.push_back(block * n + i);
      }
      for (int d = 0; d < directions - behind; ++d) {
        if (bends_behind[d]) places.push_back(blocks * n + d);
      }
    };
    all(levels, inner_);
    all(2 * outer_levels, outer_);
  }

  int outer_directions() const { return 2 * outer_levels_ * freedoms_ + directions_ - levels_ * freedoms_; }

  struct Work {
    std::vector<double> inner, half, column;
  };
  /// `hessian`: of the middle, `to`: of both ends, lower triangles, column-major.
  void add(const MiddleState& middle, const double* hessian, double* to, Work& work) const {
    const int m = static_cast<int>(inner_.size()), size = static_cast<int>(outer_.size());
    if (count() == 0) return;  // inputs and forces alone do not bend
    work.inner.resize(static_cast<std::size_t>(m) * m);
    work.half.resize(static_cast<std::size_t>(m) * size);
    work.column.resize(size);
    double* const H = work.inner.data();
    for (int b = 0; b < m; ++b) {
      const double* from = hessian + static_cast<std::ptrdiff_t>(inner_[b]) * directions_;
      for (int a = b; a < m; ++a) H[b * m + a] = H[a * m + b] = from[inner_[a]];
    }
    fill_half(middle, m, work);
    for (int c = 0; c < size; ++c) {
      fill_column(middle, work.half.data() + static_cast<std::ptrdiff_t>(c) * m, c, work.column.data());
      double* column = to + static_cast<std::ptrdiff_t>(outer_[c]) * outer_directions();
      for (int r = c; r < size; ++r) column[outer_[r]] += work.column[r];
    }
  }

 private:
  int count() const { return static_cast<int>(moved_.size()); }
  static double share(const MiddleState& middle, int level, int end, int other) {
    const MiddleState::Share s = middle.share(level);
    return end == 0 ? s.start[other] : s.end[other];
  }
  /// Of the position of a base that floats: its matrix by X₀ V₀ X₁ V₁; null for what does not move it.
  const Matrix6d* pose_by(const MiddleState& middle, int end, int other) const {
    return base_ > 0 && other < 2 ? &middle.pose_by[2 * end + other] : nullptr;
  }

  /// H T, column by column.
  void fill_half(const MiddleState& middle, int m, Work& work) const {
    const double* const H = work.inner.data();
    std::fill(work.half.begin(), work.half.end(), 0.0);
    double* out = work.half.data();
    const auto add = [&](int from, double f) {
      const double* h = H + static_cast<std::ptrdiff_t>(from) * m;
      for (int r = 0; r < m; ++r) out[r] += f * h[r];
    };
    for (int end = 0; end < 2; ++end) {
      for (int other = 0; other < outer_levels_; ++other) {
        const Matrix6d* const pose = pose_by(middle, end, other);
        for (int i = 0; i < count(); ++i, out += m) {
          if (i < base_ && pose) {
            for (int k = 0; k < 6; ++k) add(k, (*pose)(k, i));
          }
          for (int level = 0; level < levels_; ++level) {
            const double f = share(middle, level, end, other);
            if (f != 0 && (level > 0 || i >= base_)) add(level * count() + i, f);
          }
        }
      }
    }
    for (int d = levels_ * count(); d < m; ++d, out += m) add(d, 1);
  }

  /// Tᵀ times a column, from row `first` on (or a little before).
  void fill_column(const MiddleState& middle, const double* half, int first, double* column) const {
    const int n = count();
    for (int block = first / n; block < 2 * outer_levels_; ++block) {
      const int end = block / outer_levels_, other = block % outer_levels_;
      double* const out = column + static_cast<std::ptrdiff_t>(block) * n;
      std::fill_n(out, n, 0.0);
      for (int level = 0; level < levels_; ++level) {
        const double f = share(middle, level, end, other);
        if (f == 0) continue;
        const double* h = half + static_cast<std::ptrdiff_t>(level) * n;
        for (int i = level > 0 ? 0 : base_; i < n; ++i) out[i] += f * h[i];
      }
      const Matrix6d* const pose = pose_by(middle, end, other);
      for (int i = 0; pose && i < 6; ++i) {
        for (int k = 0; k < 6; ++k) out[i] += (*pose)(k, i) * half[k];
      }
    }
    std::copy(half + levels_ * n, half + inner_.size(), column + 2 * outer_levels_ * n);
  }

  int base_, levels_, outer_levels_, freedoms_, directions_;
  std::vector<int> moved_;          // freedoms that bend, and all of a base that floats
  std::vector<int> inner_, outer_;  // directions of the middle and of both ends that are carried along
};

}  // namespace kinegraph::screw
