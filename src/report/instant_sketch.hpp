#pragma once

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/linear/elimination_game.hpp"
#include "kinegraph/report/skeleton.hpp"
#include "kinegraph/report/sketch.hpp"

namespace kinegraph::report {

/// The dynamics graph of one instant, as far as the game has been played (001, Figs. 3 to 10): variables that are
/// eliminated have a number and arrows from what they are computed from, the others and the factors left are a factor
/// graph; factors that the elimination made are marked. Nothing played: the factor graph. All played: the DAG.
/// Columns run from the base to the tip; rows are τ, F, V̇, θ̈. Every branch has its own lane.
Sketch instant_sketch(const build::ScrewProblem& problem, const Skeleton& skeleton, const linear::EliminationGame& game,
                      bool show_known);

/// The clique tree of a game that has been played to its end, root on top. `labels`: of the variables.
Sketch clique_sketch(const linear::EliminationGame& game, const std::vector<Label>& labels);

/// Lines for below the title: edges, fill, flops, tree width.
std::vector<std::string> facts(const linear::EliminationGame& game);

}  // namespace kinegraph::report
