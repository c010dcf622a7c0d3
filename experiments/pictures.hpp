#pragma once

#include <string>
#include <vector>

#include "kinegraph/linear/elimination_game.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"
#include "kinegraph/report/trajectory_sketch.hpp"

namespace kinegraph::experiments {

/// A question about one instant of a robot, and how it is eliminated.
struct InstantQuestion {
  std::string title;
  std::string problem = "inverse";       ///< inverse, forward, hybrid
  std::vector<std::string> known = {};   ///< hybrid: "joint1.a" …
  std::string ordering = "rnea";         ///< as screw_order() names them
  std::vector<std::string> custom = {};  ///< of the ordering "custom"
  int steps = 0;                         ///< eliminated; negative: all
  bool planar_loops = false;
};

struct InstantPicture {
  std::string svg;
  std::string pattern;           ///< of its matrix, before elimination: factors × unknowns, an SVG too
  std::string equations;         ///< the back-substitution, as text
  linear::EliminationGame game;  ///< played to its end
};
/// Ends the program where the question has no answer.
InstantPicture instant_picture(const Model& model, const InstantQuestion& question);

/// The graph of a motion of three knots, as an SVG. Formulation: natural, independent or screw. `bayes`: eliminated
/// back in time, arrows from what is known and from the past.
std::string motion_picture(const Model& model, const std::string& formulation, bool bayes, const std::string& title);

/// Such a graph that is made by hand. `order`: in which it is eliminated, arrows from what is left; empty: not at all.
/// Factors that are `told` have their names beside them; those `above` stand above all variables.
struct ToldFactor {
  std::string name;  ///< with which theirs begin
  bool above = false;
};
std::string graph_picture(const report::TrajectoryGraph& graph, const std::vector<std::vector<int>>& order,
                          const std::string& title, const std::vector<ToldFactor>& told = {});

/// A mechanism as lines: one per body, through its points.
struct Linkage {
  using Line = std::vector<std::pair<double, double>>;
  std::vector<Line> lines;
  int colour = 0;
  bool bold = false;  ///< else it is the fainter the more there are
};
Linkage linkage(const Model& model, const Trajectory& motion, int sample);
std::string linkage_picture(const std::vector<Linkage>& linkages, const std::string& title);

}  // namespace kinegraph::experiments
