#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "kinegraph/graph/factor.hpp"

namespace kinegraph {

/// A factor from a function, for one-off relations and tests. The Jacobian is dense: column-major, slot after slot,
/// rows() numbers per tangent direction; null when it is not wanted.
class FunctionFactor final : public Factor {
 public:
  using Function = std::function<void(Slots x, double* residual, double* jacobian)>;

  /// `tangent_sizes` may be left out where every slot is a vector of R^n.
  FunctionFactor(std::string name, int rows, const std::vector<int>& slot_sizes, Function function,
                 const std::vector<int>& tangent_sizes = {})
      : Factor(std::move(name), rows, slot_sizes, dense(rows, tangent_sizes.empty() ? slot_sizes : tangent_sizes)),
        function_(std::move(function)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override { function_(x, residual, jacobian); }

 private:
  Function function_;
};

}  // namespace kinegraph
