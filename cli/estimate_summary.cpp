#include "estimate_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/time_text.hpp"

namespace kinegraph::cli {
namespace {

using Json = nlohmann::ordered_json;

template <class Row>
int widest(const std::vector<Row>& rows, int least) {
  int width = least;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) width = std::max(width, characters(rows[i].name));
  return width;
}

std::string more(std::size_t rows) {
  return rows > kMostRows ? fmt::format("  … {} more, all in --json\n", rows - kMostRows) : "";
}

void add_sensors(const task::EstimateSummary& found, Summary& summary) {
  Json json = Json::array();
  const int width = widest(found.sensors, 6);
  std::string text = fmt::format("\n  {:<{}}  {:>10}  {:>10}\n", "sensor", width, "readings", "refused");
  for (std::size_t i = 0; i < found.sensors.size(); ++i) {
    const auto& s = found.sensors[i];
    json.push_back({{"name", s.name}, {"readings", s.readings}, {"refused", s.refused}});
    if (i < kMostRows) text += fmt::format("  {:<{}}  {:>10}  {:>10}\n", s.name, width, s.readings, s.refused);
  }
  summary.add("sensors", json, "").add_text(text + more(found.sensors.size()));
}

void add_channels(const task::EstimateSummary& found, Summary& summary) {
  Json json = Json::array();
  const int width = widest(found.channels, 7);
  std::string text =
      fmt::format("\n  {:<{}}  {:>12}  {:>8}  {}\n", "channel", width, "correlation", "white", "largest innovation");
  for (std::size_t i = 0; i < found.channels.size(); ++i) {
    const auto& c = found.channels[i];
    json.push_back({{"name", c.name},
                    {"correlation", c.correlation},
                    {"white", c.judged ? Json(c.white) : Json(nullptr)},
                    {"largest", c.largest},
                    {"largest_t", c.largest_t}});
    if (i >= kMostRows) continue;
    text += fmt::format("  {:<{}}  {:>12.3f}  {:>8}  {:.2f} sd, at t = {} s\n", c.name, width, c.correlation,
                        found.filter == "batch" ? "-"
                        : !c.judged             ? "too few"
                        : c.white               ? "yes"
                                                : "no",
                        c.largest, time_text(c.largest_t));
  }
  if (!found.channels.empty()) summary.add("channels", json, "").add_text(text + more(found.channels.size()));
}

void add_final(const task::EstimateSummary& found, Summary& summary) {
  Json json = Json::array();
  const int width = widest(found.final, 10);
  std::string text = fmt::format("\n  {:<{}}  {:>14}  {:>14}\n", "at the end", width, "mean", "sd");
  for (std::size_t i = 0; i < found.final.size(); ++i) {
    const auto& n = found.final[i];
    json.push_back({{"name", n.name}, {"mean", n.value}, {"sd", n.sd}});
    if (i >= kMostRows) continue;
    const std::string mean = std::isnan(n.value) ? "" : fmt::format("{:.6g}", n.value);  // a turn has no one number
    text += fmt::format("  {:<{}}  {:>14}  {:>14.3g}\n", n.name, width, mean, n.sd);
  }
  summary.add("final", json, "").add_text(text + more(found.final.size()));
}

void add_objections(const task::EstimateSummary& found, Summary& summary) {
  constexpr std::size_t kMostObjections = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(found.objections.size(), kMostObjections); ++i) {
    text += fmt::format("  consistency: {}\n", found.objections[i]);
  }
  if (found.objections.size() > kMostObjections) {
    text += fmt::format("  … {} more, all in --json\n", found.objections.size() - kMostObjections);
  }
  if (!text.empty()) summary.add_text(text);
}

void add_branches(const task::EstimateSummary& found, Summary& summary) {
  summary.add("branch_names", found.branch_names, found.branches.size() > 1 ? "branches" : "")
      .add("branches", found.branches, found.branches.size() > 1 ? "… their probabilities" : "")
      .add("branch", found.branch, found.branches.size() > 1 ? "most probable branch" : "")
      .add("branch_time", found.branch_time,
           found.branches.size() > 1 && std::isfinite(found.branch_time) ? "above 0.99 after" : "", "s");
}

}  // namespace

Summary summarize_estimate(const std::string& model, const task::EstimateSummary& found) {
  long readings = 0, refused = 0;
  for (const auto& s : found.sensors) readings += s.readings, refused += s.refused;
  Summary summary("estimate", model);
  summary.add("filter", found.filter, "filter")
      .add("start", found.start, "start")
      .add("readings", readings, "readings used")
      .add("refused", refused, "readings refused")
      .add("time_start", time_text(found.time_start), "from", "s")
      .add("time_start", found.time_start, "")
      .add("time_end", time_text(found.time_end), "to", "s")
      .add("time_end", found.time_end, "")
      .add("step", found.step, "step", "s")
      .add("substeps", found.substeps, found.substeps > 1 ? "… the motion in parts of it" : "")
      .add("steps", found.steps, "steps")
      .add("formulation", found.formulation, "")
      .add("integrator", found.integrator, "integrator")
      .add("code", found.code, found.code.empty() ? "" : "particles moved by")
      .add("chart", found.chart, "coordinates of the covariance")
      .add("degrees_of_freedom", found.degrees_of_freedom, "degrees of freedom");
  if (found.window > 0) summary.add("window", found.window, "window");
  if (found.particles > 0) summary.add("particles", found.particles, "particles");
  if (found.hypotheses > 1) summary.add("hypotheses", found.hypotheses, "hypotheses at the start");
  if (found.iterations > 0) summary.add("iterations", found.iterations, "iterations");
  if (found.loss != "none") summary.add("loss", found.loss, "loss");
  summary.add("wall_s", found.wall_s, "computed in", "s").add("step_us", found.step_us, "per step", "µs");
  add_branches(found, summary);
  summary.add("observability", found.observability, "observability");
  summary.add("nis_mean", found.nis_mean, "mean NIS per number read")
      .add("nis_band", std::vector<double>{found.nis_low, found.nis_high}, "… 95 % of such means")
      .add("objections", found.objections, "");
  add_objections(found, summary);
  summary.add("assumed_density", found.assumed_density, "").add("warnings", found.warnings, "");
  add_sensors(found, summary);
  add_channels(found, summary);
  add_final(found, summary);
  return summary;
}

}  // namespace kinegraph::cli
