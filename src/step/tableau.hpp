#pragma once

#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph::step {

/// An explicit Runge-Kutta method: stages, weights and nodes of its tableau (strictly lower triangular).
struct Tableau {
  static constexpr int kMostStages = 6;
  const char* name;
  int stages;
  int order;
  double a[kMostStages][kMostStages];
  double b[kMostStages];
  double c[kMostStages];
};

const std::vector<Tableau>& tableaus();  ///< euler, midpoint, heun, rk4, dopri5: one line each
Result<Tableau> find_tableau(const std::string& name);

}  // namespace kinegraph::step
