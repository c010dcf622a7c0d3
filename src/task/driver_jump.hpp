#pragma once

#include <variant>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::task {

/// A coordinate that a driver moves goes on without gaps: there is no motion through a jump, for its velocity would be
/// infinite. Fails where the law of a driver jumps between 0 and `time`: which, when and by how much; and where it has
/// no finite value or derivative. Corners of a law, where its velocity jumps, are passed.
Result<std::monostate> check_drivers(const Model& model, double time, double step, const Progress& progress = {});

/// Fails where the law of a motor or load has no finite value between 0 and `time`: which, and when first.
Result<std::monostate> check_forces(const Model& model, double time, double step, const Progress& progress = {});

}  // namespace kinegraph::task
