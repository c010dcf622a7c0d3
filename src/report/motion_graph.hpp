#pragma once

#include <nlohmann/json.hpp>

#include "kinegraph/report/residuals.hpp"
#include "kinegraph/report/trajectory_sketch.hpp"

namespace kinegraph::report {

/// The graph of a motion for a page: its knots spread over the time of the trajectory, every node with its moment and
/// factors with what they leave there.
nlohmann::ordered_json motion_graph(const TrajectoryGraph& graph, const Trajectory& trajectory,
                                    const Residuals& residuals);

/// A picture of an instant for a page: the graph as far as it was eliminated, and the patterns of its matrix before
/// and after.
nlohmann::ordered_json elimination_graph(const Sketch& sketch, const linear::EliminationGame& played,
                                         const std::vector<std::string>& variables,
                                         const std::vector<std::string>& factors);

}  // namespace kinegraph::report
