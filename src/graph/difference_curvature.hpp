#pragma once

#include <span>
#include <utility>
#include <vector>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/graph/manifold.hpp"

namespace kinegraph {

/// Second derivatives of a factor by differences of its Jacobian, with as few of them as its structure allows.
///
/// Which directions change which entries is found once, at two points near a given one. A second derivative ∂²r/∂x∂y
/// can be had by moving along x or along y, so that only some directions are moved; and directions that have no entry
/// in common are moved together (Powell and Toint, SIAM J. Numer. Anal. 16 (1979) 1060): joints of different legs, say.
class DifferenceCurvature {
 public:
  DifferenceCurvature(const Factor& factor, Slots x, std::span<const Manifold> manifolds);

  /// Tangent directions of all slots, one slot after the other.
  int directions() const { return static_cast<int>(all_.size()); }
  /// Directions x ≥ y with ∂²r/∂x∂y ≠ 0.
  std::span<const std::pair<int, int>> pairs() const { return pairs_; }
  int evaluations() const { return static_cast<int>(groups_.size()); }  ///< of the Jacobian, per add()

  struct Work {
    std::vector<double> residual, jacobian, gradient, moved, delta;
    std::vector<const double*> slots;
  };
  /// As Factor::add_curvature. `jacobian`: at x. The factor is the one it was made for, or one of the same structure.
  void add(const Factor& factor, Slots x, const double* jacobian, const double* weight, double* hessian,
           Work& work) const;

 private:
  struct Direction {
    int slot, tangent;
  };
  struct Read {
    int moved, other;  // directions
    double share;      // ½ where both are moved: on a group x exp(δ) only the mean is the second derivative
  };
  struct Group {
    std::vector<int> moves;
    std::vector<Read> reads;
  };
  void probe(const Factor& factor, Slots x, std::vector<char>& coupled) const;
  void choose_groups(const std::vector<char>& coupled);
  bool on_group(int a, int b) const;

  std::vector<Manifold> manifolds_;
  std::vector<Direction> all_;
  std::vector<int> first_;  // per slot: its first direction
  std::vector<std::pair<int, int>> pairs_;
  std::vector<Group> groups_;
};

}  // namespace kinegraph
