#pragma once

#include <memory>
#include <vector>

#include "kinegraph/linear/marginals.hpp"
#include "kinegraph/solve/kkt.hpp"

namespace kinegraph {

/// How well a solved graph knows its variables: blocks of the inverse of its system at the given values, without
/// inverting the whole. Hard rows hold exactly: what they fix has no variance. On a manifold the covariance is of the
/// tangent.
class Covariances {
 public:
  /// Fails if a key or a size does not fit (bad_input), or if some unknown is not determined: named (no_answer).
  static Result<Covariances> make(const Graph& graph, const Values& values, const OrderingOptions& ordering = {});

  Result<Eigen::MatrixXd> covariance(const Key& key);
  /// Of several variables together, in the order asked.
  Result<Eigen::MatrixXd> joint(const std::vector<Key>& keys);

 private:
  Covariances() = default;

  std::unique_ptr<Values> values_;  // at a fixed address: the linearisation points into it
  Structure structure_;
  std::unique_ptr<KktSystem> system_;
  std::unique_ptr<linear::Marginals> marginals_;
};

}  // namespace kinegraph
