#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/model/model.hpp"
#include "kinegraph/report/page.hpp"
#include "kinegraph/report/scene.hpp"
#include "kinegraph/report/series.hpp"
#include "kinegraph/report/trajectory_sketch.hpp"
#include "summary.hpp"

namespace kinegraph::cli {

/// What a verb puts into its report (--report) beside the summary and the trajectory.
struct ReportContent {
  const Model* model = nullptr;  ///< outlives the report; null: nothing is drawn
  std::string command;           ///< as it was typed
  bool timed = true;             ///< rows of the trajectory follow each other in time; else they are counted
  bool discrete = false;         ///< rows have nothing between them: branches
  std::vector<std::filesystem::path> meshes;  ///< folders of meshes that may be read, beside the model's own
  std::vector<report::Beside> beside;
  std::vector<report::ForcePoint> contacts;  ///< whose forces the trajectory has
  std::vector<report::Obstacle> obstacles;
  report::Ranges limits;                         ///< in place of those of the model
  std::optional<report::TrajectoryGraph> graph;  ///< of the motion, a few knots
  report::Page page;                             ///< sections that only this verb has
};

/// The whole page. A machine that cannot be drawn leaves the page without its animation.
std::string report_html(ReportContent content, const Summary& summary, const Trajectory* trajectory);

/// One sentence on what was found, from the summary of any verb, and whether it is good.
std::pair<report::Page::Status, std::string> verdict(const nlohmann::ordered_json& summary);

/// The graph that a motion of this model is solved by, five knots of it; nothing where there is none to draw.
std::optional<report::TrajectoryGraph> motion_picture(const Model& model, const std::string& formulation,
                                                      const std::string& integrator);

/// The factor graph of an instant and its elimination, where they are small enough to be read.
std::vector<nlohmann::ordered_json> instant_pictures(const Model& model, const std::string& problem,
                                                     const std::vector<std::string>& known,
                                                     const std::string& ordering);

/// A table that `identify` and `estimate` report of readings, from the entries "channels" of their summaries.
std::optional<nlohmann::ordered_json> channel_table(const nlohmann::ordered_json& summary);

}  // namespace kinegraph::cli
