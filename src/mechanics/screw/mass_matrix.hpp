#pragma once

#include <memory>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::screw {

/// M(q) as one dense matrix, loops taken as open: for weights and checks, where there is no elimination at hand.
/// T = ½ vᵀ M v; joints that close loops have their armature only. Allocates when it is made, never after.
///
///     Gᶜᵢ = Gᵢ + Σ Ad(T)ᵀ Gᶜ Ad(T) over children,      M(j, i) += Sⱼᵀ Ad(Tᵢⱼ)ᵀ Gᶜᵢ Sᵢ   for all j between i and the
///     ground
class MassMatrix {
 public:
  explicit MassMatrix(std::shared_ptr<const Tree> tree);

  const Eigen::MatrixXd& at(const double* q);  ///< freedoms() square; good until the next call

 private:
  std::shared_ptr<const Tree> tree_;
  struct Place {
    Transform<double> X_PB;
    Matrix6d composite, S;
  };
  std::vector<Place, Eigen::aligned_allocator<Place>> places_;
  Eigen::MatrixXd mass_;
};

}  // namespace kinegraph::screw
