#include "identify_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"

namespace kinegraph::cli {
namespace {

using Json = nlohmann::ordered_json;
using Found = task::IdentifySummary;

/// A table for people: the first column and the last to the left, numbers to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heads) { rows_.push_back(std::move(heads)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const {
    std::vector<int> widths(rows_.front().size(), 0);
    const std::size_t shown = std::min(rows_.size(), kMostRows + 1);
    for (std::size_t r = 0; r < shown; ++r) {
      for (std::size_t c = 0; c < rows_[r].size(); ++c) widths[c] = std::max(widths[c], characters(rows_[r][c]));
    }
    std::string out = "\n";
    for (std::size_t r = 0; r < shown; ++r) {
      std::string line;
      for (std::size_t c = 0; c < rows_[r].size(); ++c) {
        const std::string blanks(static_cast<std::size_t>(widths[c] - characters(rows_[r][c])), ' ');
        const bool left = c == 0 || c + 1 == widths.size();
        line += "  " + (left ? rows_[r][c] + blanks : blanks + rows_[r][c]);
      }
      out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    if (rows_.size() > shown) out += fmt::format("  … {} more, all in --json\n", rows_.size() - shown);
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string number(double value, int digits = 6) {
  return std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : "-";
}

Json quantities_json(const std::vector<Found::Quantity>& quantities, bool richardson) {
  Json json = Json::array();
  for (const Found::Quantity& q : quantities) {
    Json one = {{"name", q.name},         {"value", q.value},      {"start", q.start},
                {"sd", q.sandwich},       {"sd_linearised", q.sd}, {"identifiable", q.identifiable},
                {"at_bound", q.at_bound}, {"remark", q.remark},    {"step_bias", q.step_bias}};
    if (richardson) one["at_step"] = q.at_step, one["at_half_step"] = q.at_half_step;
    json.push_back(std::move(one));
  }
  return json;
}

void add_quantities(const Found& found, Summary& summary) {
  std::vector<std::string> heads = {"name", "start", "fitted", "± sd", "what can be told"};
  if (found.richardson) heads = {"name", "start", "at h", "at h/2", "extrapolated", "± sd", "what can be told"};
  TextTable table(heads);
  for (const Found::Quantity& q : found.quantities) {
    const std::string remark = q.remark + (q.at_bound ? (q.remark.empty() ? "at its bound" : "; at its bound") : "");
    std::vector<std::string> row = {q.name, number(q.start)};
    if (found.richardson) row.insert(row.end(), {number(q.at_step), number(q.at_half_step)});
    row.insert(row.end(), {number(q.value), number(q.sandwich, 2), remark});
    table.add(std::move(row));
  }
  summary.add("quantities", quantities_json(found.quantities, found.richardson), "").add_text(table.text());
}

Json combinations_json(const std::vector<Found::Combination>& combinations) {
  Json json = Json::array();
  for (const Found::Combination& c : combinations) json.push_back({{"text", c.text}, {"value", c.value}, {"sd", c.sd}});
  return json;
}

void add_combinations(const Found& found, Summary& summary) {
  summary.add("identifiable_combinations", combinations_json(found.known), "")
      .add("unidentifiable_combinations", combinations_json(found.unknown), "");
  constexpr std::size_t kMost = 12;
  std::string text;
  if (!found.unknown.empty() && !found.known.empty()) {
    text += "\n  combinations that can be told\n";
    for (std::size_t i = 0; i < std::min(found.known.size(), kMost); ++i) {
      const Found::Combination& c = found.known[i];
      text += fmt::format("    {} = {} ± {}\n", c.text, number(c.value), number(c.sd, 2));
    }
    if (found.known.size() > kMost) text += fmt::format("    … {} more, all in --json\n", found.known.size() - kMost);
  }
  if (!found.unknown.empty()) {
    text += "\n  directions that cannot be told: nothing that was read changes along\n";
    for (std::size_t i = 0; i < std::min(found.unknown.size(), kMost); ++i)
      text += "    " + found.unknown[i].text + "\n";
  }
  if (!text.empty()) summary.add_text(text);
}

void add_correlations(const Found& found, Summary& summary) {
  constexpr double kStrong = 0.95;
  Json json = Json::array();
  std::string text;
  for (Eigen::Index i = 0; i < found.correlations.rows(); ++i) {
    Json row = Json::array();
    for (Eigen::Index j = 0; j < found.correlations.cols(); ++j) {
      const double r = found.correlations(i, j);
      row.push_back(std::isfinite(r) ? Json(r) : Json(nullptr));
      if (j > i && std::abs(r) > kStrong) {
        text += fmt::format("    {} and {}: {:.3f}\n", found.quantities[i].name, found.quantities[j].name, r);
      }
    }
    json.push_back(std::move(row));
  }
  summary.add("correlations", json, "");
  if (!text.empty()) summary.add_text("\n  strongly correlated\n" + text);
}

void add_channels(const Found& found, Summary& summary) {
  Json json = Json::array();
  TextTable table({"readings", "count", "rms left", "assumed", "next", "white", ""});
  for (const Found::Channel& c : found.channels) {
    json.push_back({{"name", c.name},
                    {"unit", c.unit},
                    {"count", c.count},
                    {"rms", c.rms},
                    {"noise", c.noise},
                    {"correlation", c.correlation},
                    {"ljung_box", c.ljung_box},
                    {"p_value", c.p_value},
                    {"white", c.white}});
    table.add({c.name, std::to_string(c.count), number(c.rms, 3), number(c.noise, 3),
               c.correlation.empty() ? "-" : fmt::format("{:.3f}", c.correlation.front()), c.white ? "yes" : "no",
               c.unit});
  }
  summary.add("channels", json, "").add_text(table.text());
}

Json errors_json(const std::vector<identify::ChannelError>& errors) {
  Json json = Json::array();
  for (const identify::ChannelError& e : errors) {
    json.push_back({{"name", e.name},
                    {"unit", e.unit},
                    {"count", e.count},
                    {"rmse", e.rmse},
                    {"r_squared", e.r_squared},
                    {"r_squared_persistence", e.persistence}});
  }
  return json;
}

void add_controllers(const Found& found, Summary& summary) {
  if (found.controllers.empty()) return;
  Json json = Json::array();
  std::string text = "\n  controllers, as the recordings have them\n";
  for (const identify::ControlLaw& law : found.controllers) {
    Json readings = Json::array();
    const Eigen::Index each = law.order + 1, count = static_cast<Eigen::Index>(law.terms.size());
    const auto numbers = [&](Eigen::Index first, Eigen::Index n) {
      return std::vector<double>(law.gains.data() + first, law.gains.data() + first + n);
    };
    const auto shown = [&](Eigen::Index first, Eigen::Index n) {
      std::string all;
      for (const double gain : numbers(first, n)) all += (all.empty() ? "" : ", ") + number(gain, 5);
      return all;
    };
    text += fmt::format("    {}: {:.4f} % of its changes are explained\n", law.command, 100 * law.explained);
    for (Eigen::Index i = 0; i < count; ++i) {
      const identify::ControlLaw::Term& term = law.terms[i];
      readings.push_back({{"reading", term.reading}, {"target", term.target}, {"gains", numbers(i * each, each)}});
      text += fmt::format("      {}{}: {}\n", term.reading, term.target.empty() ? "" : " − " + term.target,
                          shown(i * each, each));
    }
    if (law.order > 0) text += fmt::format("      its own past: {}\n", shown(count * each, law.order));
    json.push_back({{"command", law.command},
                    {"order", law.order},
                    {"limit", law.limit},
                    {"added", law.added},
                    {"readings", readings},
                    {"past", numbers(count * each, law.order)},
                    {"constant", law.gains[law.gains.size() - 1]},
                    {"explained", law.explained}});
  }
  summary.add("controllers", json, "").add_text(text);
}

void add_checks(const Found& found, Summary& summary) {
  const std::string replay = found.controllers.empty() ? "open loop" : "closed loop";
  Json json = Json::array();
  TextTable table({"foretold", "", "channel", "rmse", "R²", "vs. no change", ""});
  for (const Found::Check& c : found.checks) {
    Json ahead = Json::array();
    for (std::size_t i = 0; i < c.horizons.size(); ++i) {
      ahead.push_back({{"horizon", c.horizons[i]}, {"channels", errors_json(c.ahead[i])}});
      if (i < c.filtered.size()) ahead.back()["channels_by_past"] = errors_json(c.filtered[i]);
    }
    json.push_back({{"file", c.file},
                    {"from", c.from},
                    {"to", c.to},
                    {"held_out", c.held_out},
                    {"cost", c.cost},
                    {"replay_complete", c.complete},
                    {"replay_reached", c.reached},
                    {"replay", errors_json(c.replay)},
                    {"ahead", ahead}});
    const std::string file = c.file + (c.held_out ? " (held out)" : "");
    for (const identify::ChannelError& e : c.replay) {
      table.add({file, c.complete ? replay : fmt::format("{}, to {:g} s", replay, c.reached), e.name, number(e.rmse, 3),
                 number(e.r_squared, 5), "", e.unit});
    }
    for (std::size_t i = 0; i < c.horizons.size(); ++i) {
      for (const identify::ChannelError& e : c.ahead[i]) {
        table.add({file, fmt::format("{:g} s ahead", c.horizons[i]), e.name, number(e.rmse, 3), number(e.r_squared, 5),
                   number(e.persistence, 5), e.unit});
      }
      for (const identify::ChannelError& e :
           i < c.filtered.size() ? c.filtered[i] : std::vector<identify::ChannelError>{}) {
        table.add({file, fmt::format("{:g} s ahead, by readings before", c.horizons[i]), e.name, number(e.rmse, 3),
                   number(e.r_squared, 5), number(e.persistence, 5), e.unit});
      }
    }
  }
  summary.add("checks", json, "").add_text(table.text());
}

std::string errors_text(const std::vector<identify::ChannelError>& errors) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(errors.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + number(errors[i].rmse, 3);
  return text.empty() ? "-" : text + (errors.size() > kMost ? ", …" : "");
}

void add_comparisons(const Found& found, Summary& summary) {
  if (found.comparisons.empty()) return;
  Json json = Json::array();
  double best = std::numeric_limits<double>::infinity();
  for (const Found::Comparison& c : found.comparisons) {
    if (c.failure.empty()) best = std::min(best, c.bic);
  }
  TextTable table({"friction", "parameters", "cost", "BIC", "open loop rmse", "held out rmse", "held out cost", ""});
  for (const Found::Comparison& c : found.comparisons) {
    json.push_back({{"name", c.name},
                    {"parameters", c.parameters},
                    {"converged", c.converged},
                    {"cost", c.cost},
                    {"bic", c.bic},
                    {"replay", errors_json(c.replay)},
                    {"held_out", errors_json(c.held_out)},
                    {"held_out_cost", c.held_out_cost},
                    {"quantities", quantities_json(c.quantities, false)},
                    {"failure", c.failure}});
    if (!c.failure.empty()) {
      table.add({c.name, std::to_string(c.parameters), "-", "-", "-", "-", "-", c.failure});
      continue;
    }
    table.add({c.name, std::to_string(c.parameters), number(c.cost), fmt::format("{:.1f}", c.bic),
               errors_text(c.replay), errors_text(c.held_out), number(c.held_out_cost, 4),
               c.bic == best ? "best by BIC" : ""});
  }
  summary.add("comparisons", json, "").add_text(table.text());
}

}  // namespace

Summary summarize_identify(const std::string& model, const Found& found) {
  Summary summary("identify", model);
  summary.add("recordings", static_cast<long>(found.fitted_runs), "recordings")
      .add("readings", found.readings, "numbers read")
      .add("knots", found.knots, "states")
      .add("step", found.step, "step", "s")
      .add("coordinates", found.coordinates, "free coordinates")
      .add("fit", found.fit, "fit")
      .add("kappa", found.kappa, "kappa")
      .add("impulse_length", found.length, "… with turning impulses over a length, m")
      .add("kappa_found", found.kappa_found, "… as the residuals have it")
      .add("iterations", found.iterations, "iterations")
      .add("converged", found.converged, "converged")
      .add("why_stopped", found.why_stopped, "stopped because")
      .add("first_cost", found.first_cost, "cost at the start")
      .add("cost", found.cost, "cost")
      .add("costs", found.costs, "")
      .add("solve_s", found.solve_s, "iterations took", "s")
      .add("wall_s", found.wall_s, "computed in", "s")
      .add("richardson", found.richardson, "")
      .add("warnings", found.warnings, "");
  add_quantities(found, summary);
  add_combinations(found, summary);
  add_correlations(found, summary);
  add_channels(found, summary);
  add_controllers(found, summary);
  add_checks(found, summary);
  add_comparisons(found, summary);
  return summary;
}

}  // namespace kinegraph::cli
