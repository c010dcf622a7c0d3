#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/base/taylor.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::natural {

/// The forces in the joints of a planar mechanism, in world axes. A body b with the forces F of its pins obeys
///
///     F_b = M_b q̈ + Φ_b,qᵀ λ − Q_b      at each of its points, fixed ones too
///
/// with its own mass, weight and torques, and with the share of the constraints that acts on it: its rigidity, and its
/// side of angles, positions and sliders. What acts on a pin itself (loads, springs, drivers of points) is no part of
/// F_b. Named after the point:
///
///     A.fx A.fy             fixed, one body: of the ground on the body
///     P.fx P.fy             moving, two bodies: on the later body of the model, by the earlier one
///     P.body2.fx …          more bodies: on each of them if fixed, on each but the first if moving
///     P.fx P.fy             on a slider: of the line on P, square to the line; on further bodies as P.body2.fx.
///                           P fixed: of P on the line
///     P.rail.fx …           on several sliders: of each
///
/// Redundant constraints leave the split of forces open: it is then that of the given λ.
class Reactions {
 public:
  Reactions(const Model& model, std::shared_ptr<const System> system);  ///< system: of this model
  ~Reactions();
  Reactions(Reactions&&) noexcept;
  Reactions& operator=(Reactions&&) noexcept;

  const std::vector<std::string>& names() const;

  /// Writes names().size() numbers. Allocates nothing. v and u do not enter: what motors, dampers and springs of a
  /// coordinate do is in its λ.
  void evaluate(const double* q, const double* v, const double* a, const double* lambda, const double* u, double t,
                double* out) const;

  /// The force names()[place], names()[place + 1] alone.
  std::array<double, 2> at(int place, const double* q, const double* a, const double* lambda, double t) const;
  /// The same and its derivative along (dq, da, dλ), exactly.
  std::array<Taylor1, 2> along(int place, const double* q, const double* a, const double* lambda, double t,
                               const double* dq, const double* da, const double* dlambda) const;

  struct Implementation;

 private:
  std::unique_ptr<const Implementation> self_;
};

}  // namespace kinegraph::natural
