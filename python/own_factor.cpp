#include "own_factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kinegraph::python {
namespace {

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

std::vector<int> stored(const std::vector<Manifold>& slots) {
  std::vector<int> sizes;
  for (const Manifold& m : slots) sizes.push_back(m.stored());
  return sizes;
}

std::vector<int> tangent(const std::vector<Manifold>& slots) {
  std::vector<int> sizes;
  for (const Manifold& m : slots) sizes.push_back(m.tangent());
  return sizes;
}

/// What f returned: the residual, and the derivatives where it told them.
struct Returned {
  Numbers residual;
  std::optional<py::sequence> jacobians;
};

Returned read(const std::string& name, const py::object& value) {
  Returned out;
  py::object residual = value;
  if (py::isinstance<py::tuple>(value)) {
    const auto both = py::reinterpret_borrow<py::tuple>(value);
    if (both.size() != 2 || !py::isinstance<py::sequence>(both[1])) {
      throw py::value_error(
          fmt::format("{}: expected the residual, or a tuple of it and a list of its derivatives", name));
    }
    residual = both[0];
    out.jacobians = py::reinterpret_borrow<py::sequence>(both[1]);
  }
  out.residual = Numbers::ensure(residual);
  if (!out.residual) {
    PyErr_Clear();
    throw py::value_error(fmt::format("{}: the residual must be numbers", name));
  }
  if (out.residual.ndim() > 1) throw py::value_error(fmt::format("{}: the residual must be a vector", name));
  return out;
}

}  // namespace

void Raised::keep(py::error_already_set error) {
  if (!error_) error_.emplace(std::move(error));
}

void Raised::raise_if_any() {
  if (!error_) return;
  py::error_already_set error = *std::move(error_);
  error_.reset();
  throw error;
}

OwnFactor::OwnFactor(std::string name, py::function function, int rows, std::vector<Manifold> slots,
                     std::shared_ptr<Raised> raised)
    : Factor(std::move(name), rows, stored(slots), dense(rows, tangent(slots))),
      function_(std::move(function)),
      slots_(std::move(slots)),
      raised_(std::move(raised)) {}

OwnFactor::~OwnFactor() {
  const py::gil_scoped_acquire python;
  function_ = py::function();
}

int OwnFactor::count_rows(const std::string& name, const py::function& function, const std::vector<py::array>& x) {
  py::tuple arguments(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) arguments[i] = x[i];
  const Returned found = read(name, function(*arguments));
  if (found.residual.size() == 0) throw py::value_error(fmt::format("{}: the residual is empty", name));
  return static_cast<int>(found.residual.size());
}

void OwnFactor::evaluate(Slots x, double* residual, double* jacobian) const {
  const py::gil_scoped_acquire python;
  const auto nothing = [&] {
    std::fill_n(residual, rows(), std::numeric_limits<double>::quiet_NaN());
    if (jacobian) std::fill_n(jacobian, pattern().size(), std::numeric_limits<double>::quiet_NaN());
  };
  if (raised_->any()) return nothing();
  try {
    call(x, residual, jacobian);
  } catch (py::error_already_set& error) {
    raised_->keep(std::move(error));
    nothing();
  } catch (const py::builtin_exception& error) {
    error.set_error();
    raised_->keep(py::error_already_set());
    nothing();
  }
}

void OwnFactor::call(Slots x, double* residual, double* jacobian) const {
  py::tuple arguments(slots_.size());
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    arguments[s] = py::array_t<double>(slots_[s].stored(), x[s]);
  }
  const Returned found = read(name(), function_(*arguments));
  if (found.residual.size() != rows()) {
    throw py::value_error(
        fmt::format("{}: the residual had {} numbers, now it has {}", name(), rows(), found.residual.size()));
  }
  std::copy_n(found.residual.data(), rows(), residual);
  if (!jacobian) return;
  if (found.jacobians) {
    read_jacobians(*found.jacobians, jacobian);
  } else {
    differentiate(x, jacobian);
  }
}

/// The pattern is dense: slot by slot, column by column, rows innermost.
void OwnFactor::read_jacobians(const py::sequence& given, double* jacobian) const {
  if (given.size() != slots_.size()) {
    throw py::value_error(
        fmt::format("{}: expected {} derivatives, one per variable, found {}", name(), slots_.size(), given.size()));
  }
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const int columns = slots_[s].tangent();
    const auto J = Numbers::ensure(given[s]);
    if (!J || J.size() != static_cast<py::ssize_t>(rows()) * columns || (J.ndim() == 2 && J.shape(0) != rows())) {
      PyErr_Clear();
      throw py::value_error(fmt::format("{}: derivative {} must be {} × {} numbers", name(), s, rows(), columns));
    }
    for (int c = 0; c < columns; ++c) {
      for (int r = 0; r < rows(); ++r) *jacobian++ = J.data()[r * columns + c];
    }
  }
}

void OwnFactor::differentiate(Slots x, double* jacobian) const {
  const double relative = std::cbrt(std::numeric_limits<double>::epsilon());
  std::vector<double> moved, delta, above(rows()), below(rows());
  std::vector<const double*> at(x.begin(), x.end());
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const Manifold& m = slots_[s];
    moved.resize(m.stored());
    delta.assign(m.tangent(), 0.0);
    at[s] = moved.data();
    for (int c = 0; c < m.tangent(); ++c) {
      const double size = m.type() == Manifold::Type::real ? std::max(1.0, std::abs(x[s][c])) : 1.0;
      const double h = relative * size;
      delta[c] = h;
      m.retract(x[s], delta.data(), moved.data());
      call(at, above.data(), nullptr);
      delta[c] = -h;
      m.retract(x[s], delta.data(), moved.data());
      call(at, below.data(), nullptr);
      delta[c] = 0;
      for (int r = 0; r < rows(); ++r) *jacobian++ = (above[r] - below[r]) / (2 * h);
    }
    at[s] = x[s];
  }
}

}  // namespace kinegraph::python
