#pragma once

#include <array>

#include "kinegraph/base/sparse.hpp"
#include "kinegraph/expr/law.hpp"

namespace kinegraph::natural {

/// A force on a point that follows a law of time.     Q = (f_x(t), f_y(t))      Coordinates: x y.
struct PointLoadForce {
  static constexpr int kCoordinates = 2;
  using Local = std::array<double, 2>;
  Law x, y;

  static constexpr std::array<Entry, 0> kPattern{};
  Local force(const Local&, const Local&, double t) const { return {x(t), y(t)}; }
  std::array<double, 0> by_position(const Local&, const Local&, double /*t*/) const { return {}; }
  std::array<double, 0> by_velocity(const Local&, const Local&, double /*t*/) const { return {}; }
  double potential(const Local&) const { return 0; }  // a load that depends on time has none
};

}  // namespace kinegraph::natural
