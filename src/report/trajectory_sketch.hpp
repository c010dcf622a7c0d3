#pragma once

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/graph/chain.hpp"
#include "kinegraph/linear/elimination_game.hpp"
#include "kinegraph/report/sketch.hpp"

namespace kinegraph::report {

/// The graph of a motion over a few knots: what stands in which column (a knot, or the middle between two) and row.
struct TrajectoryGraph {
  struct Variable {
    Label label;
    std::string name;
    int size = 0;
    bool known = false;
    int row = 0;
    int half_step = 0;         ///< twice the knot; odd: the middle between two
    bool independent = false;  ///< z and its rates: what the other coordinates follow from
  };
  struct Factor {
    std::string name;
    int rows = 0;
    std::vector<int> variables;
  };
  std::vector<Variable> variables;
  std::vector<Factor> factors;
  int knots = 0;
};

/// A chain written out; the state of its first knot is known, as when a motion is computed from its start.
TrajectoryGraph trajectory_graph(const Chain& chain, int knots);

/// A robot in space: position, velocity, acceleration and torque of each joint (of all joints at once where there are
/// more than four), the dynamics of a knot as one factor, successive knots tied by the trapezoidal rule.
TrajectoryGraph trajectory_graph(const screw::Tree& tree, int knots);

/// Its incidence. In a Bayes net known variables take part as parents.
linear::Incidence incidence(const TrajectoryGraph& graph, bool with_known);
/// Back in time: the last knot first, within a knot what depends on the state before the state. So arrows point
/// forward.
std::vector<std::vector<int>> time_order(const TrajectoryGraph& graph);

/// As far as the game has been played, like instant_sketch(). `bayes`: known variables are shaded circles with arrows
/// to all that depends on them (004, Fig. 2); else grey squares.
Sketch trajectory_sketch(const TrajectoryGraph& graph, const linear::EliminationGame& game, bool bayes);

}  // namespace kinegraph::report
