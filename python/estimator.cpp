#include <pybind11/stl.h>

#include "binding.hpp"
#include "kinegraph/task/estimate.hpp"
#include "kinegraph/task/live_estimator.hpp"
#include "verb.hpp"

namespace kinegraph::python {
namespace {

using Pointer = std::unique_ptr<task::LiveEstimator>;

/// Options as `estimate` reads them.
Pointer make(const Model& model, double t, std::vector<std::string> arguments) {
  cli::Embedding in;
  in.live = std::make_shared<task::EstimateOptions>();
  arguments.insert(arguments.begin(), model.file);
  arguments.emplace_back("--log=<live>");
  if (const cli::Done done = cli::ask("estimate", std::move(arguments), in); !done) raise(done.failure());
  std::optional<Result<Pointer>> made;
  {
    const py::gil_scoped_release free;
    made.emplace(task::LiveEstimator::make(model, t, *in.live));
  }
  return value_of(*std::move(made));
}

void push(task::LiveEstimator& estimator, const std::string& sensor, double t, const std::vector<double>& reading) {
  if (const auto done = estimator.push(sensor, t, reading); !done) raise(done.failure());
}

void advance(task::LiveEstimator& estimator, double t) {
  if (const auto done = estimator.advance(t); !done) raise(done.failure());
}

py::array_t<double> row(task::LiveEstimator& estimator) {
  const std::vector<double> numbers = value_of(estimator.row());
  return py::array_t<double>(static_cast<py::ssize_t>(numbers.size()), numbers.data());
}

}  // namespace

void bind_estimator(py::module_& module) {
  py::class_<task::LiveEstimator>(module, "Estimator")
      .def(py::init(&make), py::arg("model"), py::arg("t"), py::arg("arguments"))
      .def("push", &push, py::arg("sensor"), py::arg("t"), py::arg("reading"))
      .def("advance", &advance, py::arg("t"))
      .def_property_readonly("t", &task::LiveEstimator::t)
      .def_property_readonly("names", &task::LiveEstimator::names)
      .def_property_readonly("row", &row)
      .def_property_readonly("branches", &task::LiveEstimator::branches)
      .def_property_readonly("warnings", &task::LiveEstimator::warnings);
}

}  // namespace kinegraph::python
