#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/graph/manifold.hpp"

namespace kinegraph::screw {

/// A joint is near a value, a rotation or a pose too.     e = q ⊖ q₀      Slot: q.
class CoordinatePrior final : public Factor {
 public:
  CoordinatePrior(const std::string& joint, const Manifold& manifold, std::vector<double> q0)
      : Factor("prior " + joint, manifold.tangent(), {manifold.stored()},
               dense(manifold.tangent(), {manifold.tangent()})),
        manifold_(manifold),
        q0_(std::move(q0)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    manifold_.local(q0_.data(), x[0], residual);
    if (jacobian) manifold_.local_jacobian(q0_.data(), x[0], jacobian);
  }

 private:
  Manifold manifold_;
  std::vector<double> q0_;
};

}  // namespace kinegraph::screw
