#include "spatial_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/build/screw_problem.hpp"

namespace kinegraph::cli {
namespace {

using Excess = task::SpatialDynamicsSummary::Excess;

std::vector<std::string> orderings() {
  std::vector<std::string> names{"best"};
  for (const std::string& name : build::screw_order_names()) {
    if (name != "custom") names.push_back(name);
  }
  return names;
}

const Excess* find(const std::vector<Excess>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Excess& e) { return e.name == name; });
  return found == list.end() ? nullptr : &*found;
}

std::string torque_table(const task::SpatialDynamicsSummary& found) {
  int width = 6;
  const std::size_t rows = std::min(found.torques.size(), kMostRows);
  for (std::size_t i = 0; i < rows; ++i) width = std::max(width, characters(found.torques[i]));
  std::string text = fmt::format("\n  {:<{}}  {:>12}  {:>12}\n", "N m, N", width, "peak", "RMS");
  for (std::size_t i = 0; i < rows; ++i) {
    text += fmt::format("  {:<{}}  {:>12.6g}  {:>12.6g}", found.torques[i], width, found.torque_peak[i],
                        found.torque_rms[i]);
    if (const Excess* e = find(found.effort, found.torques[i])) {
      text += fmt::format("  {:.3g} times its limit, at t = {:g} s", e->factor, e->t);
    }
    text += "\n";
  }
  if (found.torques.size() > rows) text += fmt::format("  … {} more, all in --json\n", found.torques.size() - rows);
  return text;
}

std::string limits_table(const task::SpatialDynamicsSummary& found) {
  std::string text;
  std::size_t rows = 0;
  const auto line = [&](const Excess& e, const std::string& what) {
    if (++rows <= kMostRows) text += fmt::format("  {} {}, at t = {:g} s\n", e.name, what, e.t);
  };
  for (const Excess& e : found.velocity) line(e, fmt::format("reaches {:.3g} times its limit", e.factor));
  for (const Excess& e : found.position) line(e, fmt::format("is {:.3g} beyond its limit", e.factor));
  if (rows > kMostRows) text += fmt::format("  … {} more, all in --json\n", rows - kMostRows);
  return text;
}

nlohmann::ordered_json to_json(const std::vector<Excess>& list, const char* quantity) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Excess& e : list) json.push_back({{"name", e.name}, {quantity, e.factor}, {"t", e.t}});
  return json;
}

}  // namespace

std::string ordering_names() {
  std::string text;
  for (const std::string& name : orderings()) text += (text.empty() ? "" : "|") + name;
  return text;
}

std::string read_ordering(OptionReader& reader, const std::string& text) {
  const std::vector<std::string> valid = orderings();
  if (std::find(valid.begin(), valid.end(), text) == valid.end()) {
    reader.fault("ordering", fmt::format("must be one of {}, is {}{}", fmt::join(valid, ", "), quote(text),
                                         did_you_mean(text, valid)));
  }
  return text;
}

Summary summarize_spatial(const std::string& verb, const std::string& model, const std::string& table,
                          const task::SpatialDynamicsSummary& found) {
  Summary summary(verb, model);
  summary.add(verb == "inverse" ? "motion" : "known", table, verb == "inverse" ? "motion" : "known")
      .add("samples", found.samples, "samples")
      .add("degrees_of_freedom", found.degrees_of_freedom, "degrees of freedom")
      .add("prescribed", found.prescribed, "prescribed")
      .add("actuators", found.actuators, "torques found for")
      .add("ordering", found.ordering, "ordering")
      .add("code", found.code, found.code.empty() ? "" : "computed by")
      .add("torques", found.torques, "")
      .add("torque_peak", found.torque_peak, "")
      .add("torque_rms", found.torque_rms, "")
      .add("smoothing_max", found.smoothing_max, found.smoothing_max > 0 ? "smoothed by at most" : "", "(m, rad)");
  if (!found.loops.empty()) {
    summary.add("loops", found.loops, "loops closed by")
        .add("open_in_table", found.open_in_table, "open in the table by", "(m, rad)")
        .add("closure_max", found.closure_max, "largest closure left", "(m, rad)")
        .add("undetermined_max", found.undetermined_max, "directions chosen by least norm")
        .add("inconsistency_max", found.inconsistency_max, "redundant equations off by")
        .add("inconsistent", found.inconsistent, "");
  }
  if (found.power_checked) {
    summary.add("power_max", found.power_max, "largest power", "W")
        .add("power_error", found.power_error, "dE/dt less power, at most", "W");
  }
  summary.add("effort_excess", to_json(found.effort, "factor"), "")
      .add("velocity_excess", to_json(found.velocity, "factor"), "")
      .add("position_excess", to_json(found.position, "beyond"), "")
      .add("torque_doubt", found.torque_doubt, "")
      .add("warnings", found.warnings, "")
      .add("wall_s", found.wall_s, "computed in", "s")
      .add("sample_us", found.sample_us, "per sample", "µs");
  summary.add_text(torque_table(found));
  if (!found.velocity.empty() || !found.position.empty()) summary.add_text(limits_table(found));
  return summary;
}

}  // namespace kinegraph::cli
