#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/simulate.hpp"
#include "test/shared.hpp"

namespace kinegraph::acceptance {

/// models/<name>.yaml of this repository.
Model own_model(const std::string& name, const Settings& settings = {});
/// models/planar/<name>.yaml of the reference data; nothing if that is absent.
std::optional<Model> shared_model(const std::string& name);
Model model_of(const std::string& yaml);
/// data/<name> of the reference data with these columns (none: as its header says); nothing if that is absent.
std::optional<Trajectory> shared_table(const std::string& name, const std::vector<std::string>& columns = {});

/// A run that must succeed; the test fails with its message if it does not.
task::SimulateResult run(const Model& model, const task::SimulateOptions& options);

/// Root of the mean of squared differences over all common samples and the named series. Columns may be called
/// differently in the reference.
double rmse(const Trajectory& found, const Trajectory& reference, const std::vector<std::string>& names,
            const std::vector<std::string>& reference_names);
/// The largest difference of one series.
double largest_difference(const Trajectory& a, const Trajectory& b, const std::string& name);
double value(const Trajectory& trajectory, int sample, const std::string& name);

}  // namespace kinegraph::acceptance
