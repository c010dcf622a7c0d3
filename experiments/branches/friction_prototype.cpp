// (004, section 6.2): the set-up of the paper's prototype, made up: the true machine has friction in its joints, the
// filter knows of none; a gyroscope reading every 6 ms, filter steps of 3 ms, 50 particles. How long until the filter
// is sure of the assembly?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/branches/prototype.hpp"
#include "experiments/record.hpp"
#include "experiments/repetitions.hpp"

using namespace kinegraph::experiments;

namespace {

/// The crank as it was and as the filter has it.
void draw_angle(Record& record, const Truth& truth, const Track& track, int branch) {
  kinegraph::report::Curve estimate{"estimate", track.t, {}}, real{"truth", track.t, {}};
  kinegraph::report::Band band{track.t, {}, {}};
  for (std::size_t i = 0; i < track.t.size(); ++i) {
    const double angle = truth.angle[std::lround(track.t[i] / truth.step)] * 180 / M_PI;
    real.y.push_back(angle);
    estimate.y.push_back(angle + track.error[i]);
    const double sd = std::min(track.sd[i], 60.0);
    band.low.push_back(estimate.y.back() - 2 * sd);
    band.high.push_back(estimate.y.back() + 2 * sd);
  }
  record.draw(
      "004 Fig. 11", fmt::format("friction_prototype_angle_{}", branch),
      kinegraph::report::Plot{
          fmt::format("Crank angle, assembly {}, ± 2 sd", branch), "t in s", "°", {estimate, real}, false, {band}});
}

/// Probability of each assembly over the first moments.
void draw_probability(Record& record, const Track& track, int branch, int branches) {
  kinegraph::report::Plot plot{
      fmt::format("Probability of each assembly, the true one is {}", branch), "t in s", "P", {}};
  for (int b = 0; b < branches; ++b) {
    kinegraph::report::Curve& curve = plot.curves.emplace_back();
    curve.label = fmt::format("assembly {}", b);
    for (std::size_t i = 0; i < track.t.size() && track.t[i] < 0.6; ++i) {
      curve.x.push_back(track.t[i]);
      curve.y.push_back(track.branch[i][b]);
    }
  }
  record.draw("004 Fig. 11", fmt::format("friction_prototype_{}", branch), plot);
}

struct Totals {
  double to_branch_ms = 0, rmse = 0;
  int right = 0;
};

/// Many runs of a filter on one motion, as a row. Times are of those that end in the right assembly: others have none.
Totals add_row(Table& table, const std::string& name, const Tracker& tracker, const Truth& truth, int branch,
               double angle, int seeds) {
  Totals totals;
  std::vector<double> times;
  for (const Score& s : scores(tracker, truth, branch, seeds)) {
    if (s.right_branch) times.push_back(1e3 * s.branch_time);
    totals.right += s.right_branch;
    totals.rmse += s.rmse / seeds;
  }
  std::sort(times.begin(), times.end());
  totals.to_branch_ms = median(times);
  table.add({name, std::to_string(branch), fmt::format("{}°", angle), figure(totals.to_branch_ms),
             figure(times.empty() ? NAN : times[times.size() * 9 / 10]), fmt::format("{} of {}", totals.right, seeds),
             figure(totals.rmse)});
  return totals;
}

}  // namespace

int main() {
  Record record("friction_prototype");
  const int seeds = repetitions(100);
  fmt::print("Four-bar with friction that the filter does not know, 50 particles: {} seeds each\n", seeds);
  const kinegraph::Model assumed = fourbar(), real = fourbar(kPrototypeFriction);
  const Tracker ours(assumed, prototype_settings()), printed(assumed, printed_settings());
  kinegraph::report::Plot readings{"Readings of the gyroscope", "t in s", "°/s", {}};
  Table table("friction_prototype", {"filter", "assembly", "released at", "ms to P > 0.99, median", "90 % within",
                                     "right branch", "RMSE from 1 s in °"});
  for (int branch = 0; branch < ours.branches(); ++branch) {
    for (const double angle : {60.0, 120.0}) {
      const Truth truth = fall(real, branch, angle * M_PI / 180, kPrototypeTime);
      const Totals totals = add_row(table, "ours", ours, truth, branch, angle, seeds);
      if (angle != 60) continue;
      const Totals theirs = add_row(table, "the paper's", printed, truth, branch, angle, seeds);
      const Track track = ours.run(truth, 0);
      draw_probability(record, track, branch, ours.branches());
      draw_angle(record, truth, track, branch);
      const std::string where = fmt::format(", assembly {}", branch);
      record.compare({"004 Fig. 11", "time from which on P > 0.99, median of runs that end right" + where, "ms", 36,
                      totals.to_branch_ms,
                      fmt::format("paper: one run, six readings; ours: right in {} of {} runs", totals.right, seeds),
                      "≈ "});
      record.compare({"004 Fig. 11", "the same with the paper's filter" + where, "ms", 36, theirs.to_branch_ms,
                      fmt::format("right in {} of {} runs", theirs.right, seeds), "≈ "});
      record.compare({"004 Fig. 11", "RMSE of the crank from 1 s on" + where, "°", NAN, totals.rmse});
      record.compare({"004 Fig. 11", "time of the filter over real time" + where, "%", 83.75,
                      100 * track.cpu_s / kPrototypeTime,
                      ours.compiled() ? "ours: code generated for this machine" : ""});
      readings.curves.push_back({fmt::format("assembly {}", branch), track.t, track.reading});
    }
  }
  record.draw("004 Fig. 10", "gyroscope_readings", readings,
              fmt::format("simulated, both released at 60°, with {:g} °/s of noise", prototype_settings().noise));
  record.show("004 Fig. 11", table);
}
