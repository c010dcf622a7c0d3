#include "binding.hpp"

namespace kinegraph::python {

void raise(const Failure& failure) {
  py::list diagnostics;
  for (const Diagnostic& d : failure.diagnostics) {
    diagnostics.append(py::make_tuple(d.severity == Severity::error ? "error" : "warning", d.where.file, d.where.line,
                                      d.where.column, d.message));
  }
  static const char* const kinds[] = {"bad_input", "no_answer", "internal", "interrupted"};
  const py::object error = py::module_::import("kinegraph._errors")
                               .attr("make")(kinds[static_cast<int>(failure.kind)], diagnostics, failure.to_string());
  PyErr_SetObject(py::type::of(error).ptr(), error.ptr());
  throw py::error_already_set();
}

bool Interruption::asked() {
  if (asked_) return true;
  constexpr auto kBetween = std::chrono::milliseconds(50);
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || Clock::now() < next_) return asked_;
  next_ = Clock::now() + kBetween;
  const py::gil_scoped_acquire python;
  if (PyErr_CheckSignals() != 0) {
    raised_.emplace();
    asked_ = true;
  }
  return asked_;
}

void Interruption::raise_if_asked() {
  if (!asked_) return;
  py::error_already_set raised = *std::move(raised_);
  raised_.reset();
  asked_ = false;
  throw raised;
}

}  // namespace kinegraph::python

PYBIND11_MODULE(_kinegraph, module) {
  module.doc() = "The library of kinegraph; use the package kinegraph, which is made of it";
  kinegraph::python::bind_table(module);
  kinegraph::python::bind_model(module);
  kinegraph::python::bind_verbs(module);
  kinegraph::python::bind_estimator(module);
  kinegraph::python::bind_graph(module);
}
