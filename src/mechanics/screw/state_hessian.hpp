#pragma once

#include <algorithm>
#include <cstddef>

namespace kinegraph::screw {

/// Second derivatives along the state: entries of the lower triangle of a column-major matrix in which v follows q, and
/// a follows v, as many of each as there are freedoms.
class StateHessian {
 public:
  StateHessian(double* values, int size, int freedoms) : values_(values), size_(size), n_(freedoms) {}
  enum Level { q, v, a };

  void add(Level of_i, int i, Level of_j, int j, double value) { add_at(of_i * n_ + i, of_j * n_ + j, value); }
  /// Of two different axes, which meet in both orders: where a joint mimics another they are one freedom.
  void add_both(Level level, int i, int j, double value) { add(level, i, level, j, i == j ? 2 * value : value); }
  void add_at(int i, int j, double value) {
    values_[static_cast<std::ptrdiff_t>(std::min(i, j)) * size_ + std::max(i, j)] += value;
  }

 private:
  double* values_;
  int size_, n_;
};

}  // namespace kinegraph::screw
