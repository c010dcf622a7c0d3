#include "report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "kinegraph/io/mesh_file.hpp"
#include "kinegraph/report/motion_graph.hpp"
#include "kinegraph/report/residuals.hpp"
#include "kinegraph/report/scene.hpp"
#include "version.hpp"

namespace kinegraph::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string title_of(const Model& model) {
  return model.name.empty() ? std::filesystem::path(model.file).stem().string() : model.name;
}

void add_scene(const ReportContent& content, const Json& summary, const Trajectory& trajectory, report::Page& page) {
  const Model& model = *content.model;
  report::SceneOptions options;
  options.discrete = content.discrete;
  options.degrees_of_freedom = summary.value("degrees_of_freedom", 0);
  options.contacts = content.contacts;
  options.obstacles = content.obstacles;
  const std::filesystem::path folder = std::filesystem::path(model.file).parent_path();
  options.meshes = [&, folder](const std::string& name) { return read_mesh(name, folder, content.meshes); };
  if (auto scene = report::scene_section(model, trajectory, options)) page.scene = *std::move(scene);
}

void add_motion(const ReportContent& content, const Trajectory& trajectory, report::Page& page) {
  const Model& model = *content.model;
  report::Ranges limits = report::limits_of(model);
  for (const auto& [name, range] : content.limits) limits[name] = range;
  page.series = report::series_section(model, trajectory, content.beside, limits);
  std::vector<std::string> contacts;
  for (const report::ForcePoint& contact : content.contacts) contacts.push_back(contact.name);
  page.timing = report::timing_section(trajectory, contacts);
  const report::Residuals left = report::residuals(model, trajectory, content.timed);
  if (!left.list.empty()) page.tables.insert(page.tables.begin(), left.table(trajectory));
  if (content.graph && content.timed && trajectory.samples() > 1) {
    page.graphs.insert(page.graphs.begin(), report::motion_graph(*content.graph, trajectory, left));
  }
}

/// How far a plan, and the motion that its torques make, are from each goal.
Json goal_table(const Json& misses) {
  Json rows = Json::array();
  for (const Json& m : misses) rows.push_back({m["goal"], m["what"], m["t"], m["plan"], m["roll_out"], m["unit"]});
  return report::table("Goals", "How far the plan is from each, and the motion that its torques make when rolled out.",
                       {"goal", "what", "at t", "in the plan", "rolled out", "unit"}, {2}, std::move(rows));
}

/// Parts of a summary that the page shows in a form of its own.
void add_findings(const Json& summary, report::Page& page) {
  if (summary.contains("quantities")) {
    page.parameters = {{"quantities", summary["quantities"]},
                       {"correlations", summary.value("correlations", Json::array())}};
  }
  if (summary.contains("branches") && summary["branches"].size() > 1) {
    page.branches = {{"names", summary.value("branch_names", Json::array())},
                     {"probabilities", summary["branches"]},
                     {"winner", summary.value("branch", 0)},
                     {"time", summary.value("branch_time", Json(nullptr))}};
  }
  if (summary.contains("misses") && !summary["misses"].empty()) page.tables.push_back(goal_table(summary["misses"]));
  if (auto channels = channel_table(summary)) page.tables.push_back(*std::move(channels));
}

}  // namespace

std::optional<Json> channel_table(const Json& summary) {
  if (!summary.contains("channels") || summary["channels"].empty()) return std::nullopt;
  const Json& channels = summary["channels"];
  const bool fitted = channels.front().contains("rms");
  Json rows = Json::array();
  for (const Json& c : channels) {
    const Json white = c.value("white", Json(nullptr));
    const std::string judged = white.is_null() ? "–" : white.get<bool>() ? "yes" : "no";
    if (fitted) {
      const Json& next = c["correlation"];
      rows.push_back(
          {c["name"], c["unit"], c["count"], c["rms"], c["noise"], next.empty() ? Json(nullptr) : next[0], judged});
    } else {
      rows.push_back({c["name"], c["correlation"], judged, c["largest"], c["largest_t"]});
    }
  }
  if (fitted) {
    return report::table(
        "Readings", "What is left of every channel after the fit; white: nothing in it can be foretold.",
        {"channel", "unit", "count", "RMS left", "assumed noise", "correlation with the next", "white"}, {},
        std::move(rows));
  }
  return report::table("Innovations", "What readings said against what was expected of them.",
                       {"channel", "correlation with the next", "white", "largest, in deviations", "at t"}, {4},
                       std::move(rows));
}

std::string report_html(ReportContent content, const Summary& summary, const Trajectory* trajectory) {
  report::Page& page = content.page;
  const Json& json = summary.data();
  page.verb = json.value("verb", "");
  page.file = json.value("model", "");
  page.version = kVersion;
  page.command = content.command;
  page.model = content.model ? title_of(*content.model) : page.file;
  std::tie(page.status, page.verdict) = verdict(json);
  page.facts = summary.facts();
  if (json.contains("warnings")) {
    for (const Json& warning : json["warnings"]) page.warnings.push_back(warning.get<std::string>());
  }
  if (content.model) {
    for (const Diagnostic& warning : content.model->warnings) page.warnings.push_back(to_string(warning));
  }
  if (!content.timed) page.time_name = content.discrete ? "branch" : "pose", page.time_unit.clear();
  add_findings(json, page);
  if (content.model) {
    static const Trajectory kNone;
    add_scene(content, json, trajectory ? *trajectory : kNone, page);
    if (trajectory && trajectory->samples() > 0) add_motion(content, *trajectory, page);
  }
  return report::html(page);
}

}  // namespace kinegraph::cli
