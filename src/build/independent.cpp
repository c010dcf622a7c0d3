#include "kinegraph/build/independent.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::build {
namespace {

constexpr double kRelativeColumn = 0.1;    // how much the columns of declared coordinates are scaled down
constexpr double kPreferredColumn = 0.03;  // and those of preferred ones

}  // namespace

IndependentChoice::IndependentChoice(const natural::System& system, int relative_coordinates,
                                     const std::vector<int>& redundant)
    : system_(system),
      n_(system.coordinates()),
      m_(system.constraints()),
      excluded_(m_, 0),
      banned_(n_, 0),
      used_column_(n_, 0),
      used_row_(m_, 0),
      phi_(m_, 0.0),
      phi_q_(system.jacobian_pattern().size(), 0.0),
      scale_(n_, 1.0) {
  std::fill(scale_.end() - relative_coordinates, scale_.end(), kRelativeColumn);
  for (int r : redundant) excluded_[r] = 1;
  independent_.reserve(n_);
}

void IndependentChoice::prefer(const std::vector<int>& columns) {
  for (int c : columns) scale_[c] = kPreferredColumn;
}

void IndependentChoice::load(const double* q, double t, bool scaled) {
  system_.position(q, t, phi_.data(), phi_q_.data());
  matrix_.assign(static_cast<std::size_t>(n_) * m_, 0.0);  // allocates on the first use only
  const auto pattern = system_.jacobian_pattern();
  for (std::size_t i = 0; i < pattern.size(); ++i) matrix_[pattern[i].row * n_ + pattern[i].column] = phi_q_[i];
  for (int r = 0; r < m_; ++r) {
    double* row = &matrix_[r * n_];
    double largest = 0;
    for (int c = 0; c < n_; ++c) largest = std::max(largest, std::abs(row[c]));
    for (int c = 0; c < n_ && largest > 0; ++c) row[c] /= largest;
    for (int c = 0; c < n_ && scaled; ++c) row[c] *= scale_[c];
  }
}

// Full pivoting; returns the smallest pivot taken.
double IndependentChoice::eliminate(const std::vector<char>* banned) {
  std::fill(used_column_.begin(), used_column_.end(), 0);
  std::copy(excluded_.begin(), excluded_.end(), used_row_.begin());
  const int rank = m_ - static_cast<int>(std::count(excluded_.begin(), excluded_.end(), 1));
  double smallest = 1;
  for (int k = 0; k < rank; ++k) {
    int row = -1, column = -1;
    double best = 0;
    for (int r = 0; r < m_; ++r) {
      if (used_row_[r]) continue;
      for (int c = 0; c < n_; ++c) {
        if (used_column_[c] || (banned && (*banned)[c])) continue;
        const double size = std::abs(matrix_[r * n_ + c]);
        if (size > best) best = size, row = r, column = c;
      }
    }
    smallest = std::min(smallest, best);
    if (row < 0) return 0;
    used_row_[row] = used_column_[column] = 1;
    const double* pivot = &matrix_[row * n_];
    for (int r = 0; r < m_; ++r) {
      if (used_row_[r]) continue;
      const double l = matrix_[r * n_ + column] / pivot[column];
      if (l == 0) continue;
      for (int c = 0; c < n_; ++c) matrix_[r * n_ + c] -= l * pivot[c];
    }
  }
  return smallest;
}

const std::vector<int>& IndependentChoice::choose(const double* q, double t) {
  load(q, t, true);
  eliminate(nullptr);
  independent_.clear();
  for (int c = n_ - 1; c >= 0; --c) {
    if (!used_column_[c]) independent_.push_back(c);
  }
  const int freedom = n_ - m_ + static_cast<int>(std::count(excluded_.begin(), excluded_.end(), 1));
  independent_.resize(std::max(0, std::min<int>(freedom, static_cast<int>(independent_.size()))));
  std::reverse(independent_.begin(), independent_.end());
  return independent_;
}

double IndependentChoice::margin(const double* q, double t) {
  load(q, t, false);
  return eliminate(nullptr);
}

double IndependentChoice::quality(const double* q, double t, const std::vector<int>& independent) {
  load(q, t, true);
  std::fill(banned_.begin(), banned_.end(), 0);
  for (int i : independent) banned_[i] = 1;
  return eliminate(&banned_);
}

}  // namespace kinegraph::build
