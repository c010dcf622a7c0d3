#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/graph/manifold.hpp"

namespace kinegraph::python {

namespace py = pybind11;

/// The first exception that a function of the user's raised inside the solver: kept until the solver is left.
class Raised {
 public:
  void keep(py::error_already_set error);  ///< with Python's lock
  bool any() const { return error_.has_value(); }
  void raise_if_any();

 private:
  std::optional<py::error_already_set> error_;
};

/// A factor whose residual is a function of Python:   e = f(x₀, x₁, …)   or   (e, [∂e/∂x₀, ∂e/∂x₁, …]) = f(x₀, x₁, …)
/// Derivatives are by the tangent directions of each variable. Where f tells none they are central differences,
/// Δ = ∛ε max(1, |x|), which leave about 1e-10 of the residual.
class OwnFactor final : public Factor {
 public:
  OwnFactor(std::string name, py::function function, int rows, std::vector<Manifold> slots,
            std::shared_ptr<Raised> raised);
  ~OwnFactor() override;

  void evaluate(Slots x, double* residual, double* jacobian) const override;

  /// How many residuals f has at x. Raises if it gives no vector.
  static int count_rows(const std::string& name, const py::function& function, const std::vector<py::array>& x);

 private:
  void call(Slots x, double* residual, double* jacobian) const;
  void differentiate(Slots x, double* jacobian) const;
  void read_jacobians(const py::sequence& given, double* jacobian) const;

  py::function function_;
  std::vector<Manifold> slots_;
  std::shared_ptr<Raised> raised_;
};

}  // namespace kinegraph::python
