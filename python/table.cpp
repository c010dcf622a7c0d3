#include <pybind11/stl.h>

#include <algorithm>

#include "binding.hpp"
#include "kinegraph/io/csv.hpp"

namespace kinegraph::python {
namespace {

/// A view of numbers that live as long as the table does.
py::array_t<double> view(const Table& table, std::vector<py::ssize_t> shape, const double* numbers) {
  auto* owner = new std::shared_ptr<const Trajectory>(table.trajectory);
  const py::capsule keep(owner, [](void* p) { delete static_cast<std::shared_ptr<const Trajectory>*>(p); });
  py::array_t<double> array(std::move(shape), numbers, keep);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

py::array_t<double> times(const Table& table) {
  return view(table, {table.trajectory->samples()}, table.trajectory->times().data());
}

py::array_t<double> rows(const Table& table) {
  const Trajectory& t = *table.trajectory;
  return view(table, {t.samples(), t.series()}, t.samples() > 0 ? t.row(0) : nullptr);
}

Table make_table(const std::vector<std::string>& names, const py::array_t<double, py::array::c_style>& t,
                 const py::array_t<double, py::array::c_style>& rows) {
  return {std::make_shared<const Trajectory>(to_trajectory(names, t, rows))};
}

Table read_table(const std::string& path, const std::vector<std::string>& columns) {
  CsvOptions options;
  options.columns = columns;
  options.may_be_empty = [](const std::string&) { return true; };
  options.equal_times = true;
  Interruption interruption;
  options.progress = [&interruption](double) { return !interruption.asked(); };
  std::optional<Result<Trajectory>> read;
  {
    const py::gil_scoped_release free;
    read.emplace(read_csv(path, options));
  }
  interruption.raise_if_asked();
  return {std::make_shared<const Trajectory>(value_of(*std::move(read)))};
}

void write_table(const Table& table, const std::string& path) {
  std::optional<Result<std::monostate>> written;
  {
    const py::gil_scoped_release free;
    written.emplace(write_csv(path, *table.trajectory, {}, true));
  }
  if (!*written) raise(written->failure());
}

}  // namespace

Trajectory to_trajectory(const std::vector<std::string>& names, const py::array_t<double, py::array::c_style>& t,
                         const py::array_t<double, py::array::c_style>& rows) {
  const auto series = static_cast<py::ssize_t>(names.size());
  if (t.ndim() != 1 || rows.ndim() != 2 || rows.shape(0) != t.shape(0) || rows.shape(1) != series) {
    throw py::value_error("expected a time and a row of as many numbers as there are names for every sample");
  }
  Trajectory trajectory(names);
  trajectory.reserve(static_cast<int>(t.shape(0)));
  for (py::ssize_t i = 0; i < t.shape(0); ++i) {
    std::copy_n(rows.data() + i * series, series, trajectory.append(t.at(i)));
  }
  return trajectory;
}

void bind_table(py::module_& module) {
  py::class_<Table>(module, "Table")
      .def(py::init(&make_table), py::arg("names"), py::arg("t"), py::arg("array"))
      .def_property_readonly("names", [](const Table& table) { return table.trajectory->names(); })
      .def_property_readonly("t", &times)
      .def_property_readonly("array", &rows)
      .def("write", &write_table, py::arg("path"));
  module.def("read_table", &read_table, py::arg("path"), py::arg("columns") = std::vector<std::string>());
  module.def("nearest", &did_you_mean, py::arg("name"), py::arg("candidates"));
}

}  // namespace kinegraph::python
