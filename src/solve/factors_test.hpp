#pragma once

// Factors for the tests of this folder: any formula of vectors, its Jacobian by dual numbers.

#include <ceres/jet.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/graph/function_factor.hpp"
#include "kinegraph/solve/optimizer.hpp"

namespace kinegraph::testing_solve {

inline Key user(int element, int step = 0) { return {Kind::user, false, element, step}; }

/// A factor of R^n slots from a generic function  f(array of pointers to scalars, pointer to residuals).
template <int rows, int... sizes, class F>
std::shared_ptr<const Factor> formula(std::string name, F f) {
  constexpr int total = (sizes + ...), slots = sizeof...(sizes);
  const auto evaluate = [f](Slots x, double* residual, double* jacobian) {
    using Jet = ceres::Jet<double, total>;
    constexpr std::array<int, slots> size = {sizes...};
    std::array<Jet, total> dual;
    std::array<const Jet*, slots> pointer;
    for (int s = 0, k = 0; s < slots; ++s) {
      pointer[s] = dual.data() + k;
      for (int i = 0; i < size[s]; ++i, ++k) dual[k] = Jet(x[s][i], k);
    }
    std::array<Jet, rows> r;
    f(pointer, r.data());
    for (int i = 0; i < rows; ++i) {
      residual[i] = r[i].a;
      if (!jacobian) continue;
      for (int k = 0; k < total; ++k) jacobian[k * rows + i] = r[i].v[k];
    }
  };
  return std::make_shared<FunctionFactor>(std::move(name), rows, std::vector<int>{sizes...}, evaluate);
}

/// x − target
inline std::shared_ptr<const Factor> prior(std::string name, const Eigen::VectorXd& target) {
  const int n = static_cast<int>(target.size());
  return std::make_shared<FunctionFactor>(std::move(name), n, std::vector<int>{n},
                                          [target, n](Slots x, double* residual, double* jacobian) {
                                            for (int i = 0; i < n; ++i) residual[i] = x[0][i] - target[i];
                                            if (jacobian) Eigen::Map<Eigen::MatrixXd>(jacobian, n, n).setIdentity();
                                          });
}
inline std::shared_ptr<const Factor> prior(std::string name, double target) {
  return prior(std::move(name), Eigen::VectorXd(Eigen::VectorXd::Constant(1, target)));
}

constexpr Method kMethods[] = {Method::gauss_newton, Method::levenberg_marquardt, Method::dogleg};

}  // namespace kinegraph::testing_solve
