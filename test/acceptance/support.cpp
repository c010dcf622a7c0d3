#include "test/acceptance/support.hpp"

#include <cmath>
#include <stdexcept>

namespace kinegraph::acceptance {
namespace {

template <class T>
T require(Result<T> result) {
  if (!result) throw std::runtime_error(result.failure().to_string());  // GoogleTest reports it as a failure
  return std::move(*result);
}

int series(const Trajectory& trajectory, const std::string& name) {
  const int found = trajectory.find(name);
  if (found < 0) throw std::runtime_error("no series '" + name + "'");
  return found;
}

}  // namespace

Model own_model(const std::string& name, const Settings& settings) {
  const Model model = require(read_model(source_file("models/" + name + ".yaml")));
  return settings.empty() ? model : require(model.with(settings));
}

std::optional<Model> shared_model(const std::string& name) {
  const auto path = shared("models/planar/" + name + ".yaml");
  if (!path) return std::nullopt;
  return require(read_model(*path));
}

Model model_of(const std::string& yaml) { return require(parse_planar_yaml(yaml, "test.yaml")); }

std::optional<Trajectory> shared_table(const std::string& name, const std::vector<std::string>& columns) {
  const auto path = shared("data/" + name);
  if (!path) return std::nullopt;
  CsvOptions options;
  options.columns = columns;
  return require(read_csv(path->string(), options));
}

task::SimulateResult run(const Model& model, const task::SimulateOptions& options) {
  return require(task::simulate(model, options));
}

double rmse(const Trajectory& found, const Trajectory& reference, const std::vector<std::string>& names,
            const std::vector<std::string>& reference_names) {
  if (found.samples() < 2 || reference.samples() < 2) throw std::runtime_error("rmse: too few samples");
  // The coarser grid decides which samples are common.
  const double step = found.times()[1], reference_step = reference.times()[1];
  const int skip = static_cast<int>(std::lround(step / reference_step));
  if (std::abs(skip * reference_step - step) > 1e-9 * step) throw std::runtime_error("rmse: grids do not match");
  double square = 0;
  long count = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int a = series(found, names[i]), b = series(reference, reference_names[i]);
    for (int k = 0; k < found.samples(); ++k, ++count) {
      const double e = found.at(k, a) - reference.at(k * skip, b);
      square += e * e;
    }
  }
  return std::sqrt(square / count);
}

double largest_difference(const Trajectory& a, const Trajectory& b, const std::string& name) {
  if (a.samples() != b.samples()) throw std::runtime_error("largest_difference: grids do not match");
  const int ia = series(a, name), ib = series(b, name);
  double most = 0;
  for (int k = 0; k < a.samples(); ++k) {
    const double e = std::abs(a.at(k, ia) - b.at(k, ib));
    if (!(e <= most)) most = e;
  }
  return most;
}

double value(const Trajectory& trajectory, int sample, const std::string& name) {
  return trajectory.at(sample, series(trajectory, name));
}

}  // namespace kinegraph::acceptance
