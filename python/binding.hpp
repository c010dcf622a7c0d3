#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "kinegraph/base/result.hpp"
#include "kinegraph/model/trajectory.hpp"

/// The module `_kinegraph`: the library as Python sees it, thin. What users meet is made of it in python/kinegraph.
namespace kinegraph::python {

namespace py = pybind11;

/// Raises what a failure is in Python (kinegraph/_errors.py): InputError, NoAnswer or InternalFault.
[[noreturn]] void raise(const Failure& failure);

template <class T>
T value_of(Result<T> result) {
  if (!result) raise(result.failure());
  return *std::move(result);
}

/// Whether the user wants long work to stop. Python handles signals only where its lock is held and in its main thread:
/// asked() takes the lock for a moment, twenty times a second at most. May be asked by any thread that does not hold
/// the lock.
class Interruption {
 public:
  bool asked();
  /// Raises what the signal raised (KeyboardInterrupt, as a rule). With the lock.
  void raise_if_asked();

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  std::atomic<bool> asked_{false};
  Clock::time_point next_ = Clock::now();
  std::optional<py::error_already_set> raised_;
};

/// A trajectory as Python holds it: names, times, and a row per time; both arrays are views of it.
struct Table {
  std::shared_ptr<const Trajectory> trajectory;
};

/// (names, t, rows) as a trajectory. The shapes must fit.
Trajectory to_trajectory(const std::vector<std::string>& names, const py::array_t<double, py::array::c_style>& t,
                         const py::array_t<double, py::array::c_style>& rows);

void bind_model(py::module_& module);
void bind_table(py::module_& module);
void bind_verbs(py::module_& module);
void bind_estimator(py::module_& module);
void bind_graph(py::module_& module);

}  // namespace kinegraph::python
