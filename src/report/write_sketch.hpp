#pragma once

#include <string>

#include "kinegraph/base/result.hpp"
#include "kinegraph/report/sketch.hpp"

namespace kinegraph::report {

/// A picture of its own: no script, no font file, readable on paper and on a screen.
std::string svg(const Sketch& sketch);

/// For graphviz: the same graph, with our places ("neato -n2" keeps them).
std::string dot(const Sketch& sketch);

/// Nodes, edges and facts, for machines.
std::string json(const Sketch& sketch);

}  // namespace kinegraph::report
