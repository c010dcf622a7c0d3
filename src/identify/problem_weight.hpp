#pragma once

#include <vector>

#include "kinegraph/mechanics/maximal/balance.hpp"

namespace kinegraph::identify {

/// √κ M, by which a change of velocity counts; turning impulses over a length, so that both are in N s. M is that of
/// the model as it was given: if it were that of the parameters at hand, light machines would explain everything.
class ImpulseWeight {
 public:
  ImpulseWeight(const maximal::Mechanism& mechanism, double root_kappa, double length) : length_(length) {
    using maximal::BodyNumbers;
    for (const maximal::Body& body : mechanism.bodies()) {
      const double* n = mechanism.numbers().data() + body.numbers;
      // A body without mass is a millionth of the others; weighed so, nothing would keep it on its joints.
      const double scale = root_kappa * (body.weightless ? 1 / maximal::Mechanism::kStandIn : 1);
      inertia_.push_back(scale / length * maximal::inertia_of(n + BodyNumbers::inertia));
      mass_.push_back(scale * n[BodyNumbers::mass]);
    }
  }

  double length() const { return length_; }
  int bodies() const { return static_cast<int>(mass_.size()); }
  const Eigen::Matrix3d& inertia(int body) const { return inertia_[body]; }
  double mass(int body) const { return mass_[body]; }
  double diagonal(int i) const { return i % 6 < 3 ? inertia_[i / 6](i % 6, i % 6) : mass_[i / 6]; }

  /// √κ M x; out may not be x.
  void apply(const double* x, double* out) const {
    for (int b = 0; b < bodies(); ++b, x += 6, out += 6) {
      Eigen::Map<Eigen::Vector3d>{out}.noalias() = inertia_[b] * Eigen::Map<const Eigen::Vector3d>(x);
      for (int k = 3; k < 6; ++k) out[k] = mass_[b] * x[k];
    }
  }

 private:
  double length_;
  std::vector<Eigen::Matrix3d> inertia_;
  std::vector<double> mass_;
};

}  // namespace kinegraph::identify
