#pragma once

#include <Eigen/Core>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph {

/// Vectors that follow from others by a linear model.     e = y − c − A x,      x = [x₁ x₂ …],  y = [y₁ y₂ …]
/// Slots: x₁ x₂ … y₁ y₂ …
class Affine final : public Factor {
 public:
  /// `from`, `to`: sizes of the x and of the y.
  Affine(std::string name, const std::vector<int>& from, const std::vector<int>& to, Eigen::MatrixXd A,
         Eigen::VectorXd c, Labels labels = {})
      : Factor(std::move(name), static_cast<int>(c.size()), joined(from, to), places(from, to)),
        inputs_(from.size()),
        A_(std::move(A)),
        c_(std::move(c)),
        labels_(std::move(labels)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    Eigen::Map<Eigen::VectorXd> e(residual, rows());
    e = -c_;
    Eigen::Index column = 0;
    int row = 0;
    for (std::size_t s = 0; s < x.size(); ++s) {
      const int size = slot_sizes()[s];
      const Eigen::Map<const Eigen::VectorXd> part(x[s], size);
      if (s < inputs_) {
        e.noalias() -= A_.middleCols(column, size) * part;
        column += size;
      } else {
        e.segment(row, size) += part;
        row += size;
      }
    }
    if (!jacobian) return;
    Eigen::Map<Eigen::MatrixXd>(jacobian, A_.rows(), A_.cols()) = -A_;
    Eigen::Map<Eigen::VectorXd>(jacobian + A_.size(), rows()).setOnes();
  }
  bool constant_jacobian() const override { return true; }
  std::string row_name(int row) const override {
    return labels_.empty() ? Factor::row_name(row) : name() + " " + labels_[row];
  }

 private:
  static std::vector<int> joined(std::vector<int> from, const std::vector<int>& to) {
    from.insert(from.end(), to.begin(), to.end());
    return from;
  }
  static std::vector<JacobianEntry> places(const std::vector<int>& from, const std::vector<int>& to) {
    int rows = 0;
    for (const int size : to) rows += size;
    std::vector<JacobianEntry> all = dense(rows, from);
    for (int s = 0, row = 0; s < static_cast<int>(to.size()); ++s) {
      for (int i = 0; i < to[s]; ++i) all.push_back({row++, static_cast<int>(from.size()) + s, i});
    }
    return all;
  }

  std::size_t inputs_;
  Eigen::MatrixXd A_;
  Eigen::VectorXd c_;
  Labels labels_;
};

}  // namespace kinegraph
