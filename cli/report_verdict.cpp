#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "report_page.hpp"

namespace kinegraph::cli {
namespace {

using Json = nlohmann::ordered_json;
using Status = report::Page::Status;
using Verdict = std::pair<Status, std::string>;

/// A number of a summary; NaN where it is none.
double number(const Json& summary, const char* key) {
  const auto found = summary.find(key);
  return found != summary.end() && found->is_number() ? found->get<double>() : std::nan("");
}

std::size_t count(const Json& summary, const char* key) {
  const auto found = summary.find(key);
  return found != summary.end() && found->is_array() ? found->size() : 0;
}

std::string plural(long n, const std::string& word) { return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s"); }

long whole(const Json& summary, const char* key) {
  const double value = number(summary, key);
  return std::isfinite(value) ? std::lround(value) : 0;
}

Verdict simulate(const Json& s) {
  std::string text = fmt::format("Simulated {:g} s in {}", number(s, "time"), plural(whole(s, "steps"), "step"));
  if (const double wall = number(s, "wall_s"); wall > 0) {
    text += fmt::format(", {:.3g} times as fast as real time", number(s, "time") / wall);
  }
  Status status = Status::good;
  if (const double drift = number(s, "energy_drift"); std::isfinite(drift)) {
    text += fmt::format("; the energy is off by at most {:.2g} of the motion's", drift);
    if (drift > 1e-2) status = Status::warning;
  }
  for (const auto& [key, what, unit] : {std::tuple{"constraint_max", "constraints hold to", "m²"},
                                        std::tuple{"closure_m", "joints and loops hold to", "m"}}) {
    if (const double value = number(s, key); std::isfinite(value))
      text += fmt::format("; {} {:.2g} {}", what, value, unit);
  }
  if (const std::size_t limits = count(s, "limits_exceeded"); limits > 0) {
    status = Status::warning;
    text += fmt::format("; {} passed", plural(static_cast<long>(limits), "limit"));
  }
  return {status, text + "."};
}

Verdict kinematics(const Json& s) {
  const long poses = whole(s, "poses"), goals = whole(s, "goals"), solved = whole(s, "solved");
  if (goals > 0) {
    const std::string left = fmt::format("largest distance left {:.2g} m", number(s, "distance_max"));
    if (solved == goals) return {Status::good, fmt::format("All {} reached; {}.", plural(goals, "goal"), left)};
    return {Status::bad, fmt::format("{} of {} reached; {}.", solved, plural(goals, "goal"), left)};
  }
  if (s.contains("moved")) {
    return {Status::good, fmt::format("{} moved from {:.4g} to {:.4g} through {}.", s["moved"].get<std::string>(),
                                      number(s, "from"), number(s, "to"), plural(poses, "pose"))};
  }
  return {Status::good,
          poses == 1 ? "Assembled: one consistent pose." : fmt::format("{} found.", plural(poses, "pose"))};
}

Verdict torques(const Json& s) {
  double peak = 0;
  for (const Json& value : s.value("torque_peak", Json::array())) {
    if (value.is_number()) peak = std::max(peak, std::abs(value.get<double>()));
  }
  std::string text =
      fmt::format("Forces found at {}; the largest is {:.4g} N m (N)", plural(whole(s, "samples"), "instant"), peak);
  Status status = Status::good;
  for (const auto& [key, what] : {std::pair{"effort_excess", "motor asked for more than its limit"},
                                  std::pair{"velocity_excess", "joint faster than its limit"},
                                  std::pair{"position_excess", "joint beyond its limit"}}) {
    if (const std::size_t n = count(s, key); n > 0) status = Status::warning, text += fmt::format("; {} {}", n, what);
  }
  if (const double error = number(s, "following_error_max"); std::isfinite(error)) {
    text += fmt::format("; the motion is followed to {:.2g}", error);
  }
  return {status, text + "."};
}

Verdict estimate(const Json& s) {
  std::string text = fmt::format("Estimated from {} in {}", plural(whole(s, "readings"), "reading"),
                                 plural(whole(s, "steps"), "step"));
  if (s.contains("filter")) text += " by " + s["filter"].get<std::string>();
  const double nis = number(s, "nis_mean");
  const std::size_t objections = count(s, "objections");
  if (std::isfinite(nis)) text += fmt::format("; mean NIS {:.3g} (1 is expected)", nis);
  if (objections > 0) {
    return {Status::warning, text + "; not consistent: " + s["objections"][0].get<std::string>() + "."};
  }
  return {Status::good, text + "; the deviations are consistent with the readings."};
}

Verdict identify(const Json& s) {
  long fitted = 0, all = 0, at_bound = 0;
  for (const Json& q : s.value("quantities", Json::array())) {
    ++all;
    if (q.value("identifiable", false)) ++fitted;
    if (q.value("at_bound", false)) ++at_bound;
  }
  const bool converged = s.value("converged", false);
  std::string text =
      fmt::format("{} of {} told by {}; cost {:.4g} to {:.4g}", fitted, plural(all, "parameter"),
                  plural(whole(s, "recordings"), "recording"), number(s, "first_cost"), number(s, "cost"));
  if (at_bound > 0) text += fmt::format("; {} at its bound", at_bound);
  if (!converged) return {Status::bad, text + "; it did not converge."};
  return {fitted < all || at_bound > 0 ? Status::warning : Status::good, text + "."};
}

Verdict plan(const Json& s) {
  const double miss = number(s, "miss_max");
  const std::string rolled = std::isfinite(miss) ? fmt::format("; rolled out it misses by {:.2g}", miss)
                                                 : "; it was not rolled out to the end";
  constexpr double kFar = 0.05;  // rad or m: more is no motion to follow open loop
  return {miss <= kFar ? Status::good : Status::warning,
          fmt::format("Cost {:.6g}, violation {:.1e}{}.", number(s, "cost"), number(s, "violation_max"), rolled)};
}

Verdict graph(const Json& s) {
  std::string text = fmt::format("The {} problem", s.value("problem", "")), by = s.value("ordering", "");
  if (!by.empty()) text += ", ordering " + by;
  if (const double edges = number(s, "edges"); std::isfinite(edges)) {
    text += fmt::format(": {} edges, fill {}, {:.4g} flops with dense fronts", whole(s, "edges"), whole(s, "fill"),
                        number(s, "flops"));
  }
  return {Status::good, text + "."};
}

}  // namespace

Verdict verdict(const Json& summary) {
  const std::string verb = summary.value("verb", "");
  Verdict found{Status::good, "Done."};
  if (verb == "simulate") found = simulate(summary);
  if (verb == "kinematics") found = kinematics(summary);
  if (verb == "inverse" || verb == "hybrid") found = torques(summary);
  if (verb == "estimate") found = estimate(summary);
  if (verb == "identify") found = identify(summary);
  if (verb == "plan") found = plan(summary);
  if (verb == "graph") found = graph(summary);
  if (verb == "view") found.second = "Move the joints: closed loops follow.";
  if (count(summary, "warnings") > 0 && found.first == Status::good) found.first = Status::warning;
  return found;
}

}  // namespace kinegraph::cli
