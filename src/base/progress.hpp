#pragma once

#include <functional>

namespace kinegraph {

/// Called now and then by long work with the share done (0 to 1). Returns false to stop: the work then ends with
/// Failure::interrupted().
using Progress = std::function<bool(double share)>;

}  // namespace kinegraph
