#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kinegraph/graph/factor.hpp"

namespace kinegraph {

/// What the elements of a vector variable are called ("P1.x", "P1.y", "theta"), for messages. May be empty.
using Labels = std::vector<std::string>;

/// Vectors of one size, weighted and summed: the form of every integrator with a constant step.     e = Σₛ wₛ xₛ
class LinearCombination : public Factor {
 public:
  void evaluate(Slots x, double* residual, double* jacobian) const final {
    for (int i = 0; i < rows(); ++i) residual[i] = weights_[0] * x[0][i];
    for (std::size_t s = 1; s < weights_.size(); ++s)
      for (int i = 0; i < rows(); ++i) residual[i] += weights_[s] * x[s][i];
    if (!jacobian) return;
    for (const double w : weights_)
      for (int i = 0; i < rows(); ++i) *jacobian++ = w;
  }
  bool constant_jacobian() const final { return true; }
  std::string row_name(int row) const final {
    return labels_.empty() ? Factor::row_name(row) : name() + " " + labels_[row];
  }

 protected:
  LinearCombination(std::string name, int size, std::vector<double> weights, Labels labels)
      : Factor(std::move(name), size, std::vector<int>(weights.size(), size), diagonals(size, weights.size())),
        weights_(std::move(weights)),
        labels_(std::move(labels)) {}

 private:
  static std::vector<JacobianEntry> diagonals(int size, std::size_t slots) {
    std::vector<JacobianEntry> pattern;
    for (int s = 0; s < static_cast<int>(slots); ++s)
      for (int i = 0; i < size; ++i) pattern.push_back({i, s, i});
    return pattern;
  }

  std::vector<double> weights_;
  Labels labels_;
};

}  // namespace kinegraph
