// (004, section 6.2): the set-up of the paper's prototype, made up: the true machine has friction in its joints, the
// filter knows of none; a gyroscope reading every 6 ms, filter steps of 3 ms, 50 particles. How long until the filter
// is sure of the assembly?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/gyroscope_fourbar.hpp"
#include "experiments/record.hpp"

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

}  // namespace

int main() {
  Record record("friction_prototype");
  constexpr int kSeeds = 100;
  constexpr double kTime = 10.98;
  fmt::print("Four-bar with friction that the filter does not know, 50 particles: {} seeds each\n", kSeeds);
  const kinegraph::Model assumed = fourbar();
  const kinegraph::Model real = fourbar("coordinate_dampers:\n  - {coordinate: theta, damping: 1.5e-3}\n");
  TrackSettings settings;
  settings.particles = 50;
  settings.period = 6e-3;
  settings.step = 3e-3;
  settings.assumed_noise = 1;                               // Table 2
  settings.density = 4 / 0.125 * std::sqrt(settings.step);  // σ_a = 4 m/s² per step
  const Tracker tracker(assumed, settings);
  kinegraph::report::Plot readings{"Readings of the gyroscope, without noise", "t in s", "°/s", {}};
  Table table("friction_prototype", {"assembly", "released at", "ms to P > 0.99, median", "90 % within", "paper",
                                     "right branch", "RMSE from 1 s in °", "% of real time"});
  for (int branch = 0; branch < tracker.branches(); ++branch) {
    for (const double angle : {60.0, 120.0}) {
      const Truth truth = fall(real, branch, angle * M_PI / 180, kTime);
      const std::vector<Score> all = scores(tracker, truth, branch, kSeeds);
      std::vector<double> times;
      int right = 0;
      double rmse = 0;
      for (const Score& s : all) {
        times.push_back(1e3 * s.branch_time);
        right += s.right_branch;
        rmse += s.rmse / kSeeds;
      }
      std::sort(times.begin(), times.end());
      const Track track = tracker.run(truth, 0);
      table.add({std::to_string(branch), fmt::format("{}°", angle), figure(median(times)),
                 figure(times[kSeeds * 9 / 10]), "36", fmt::format("{} of {}", right, kSeeds), figure(rmse),
                 figure(100 * track.cpu_s / kTime)});
      if (angle == 60) {
        kinegraph::report::Plot plot{fmt::format("Probability of the right assembly ({})", branch), "t in s", "P", {}};
        kinegraph::report::Curve curve{"P(right)", {}, {}};
        for (std::size_t i = 0; i < track.t.size() && track.t[i] < 0.6; ++i) {
          curve.x.push_back(track.t[i]);
          curve.y.push_back(track.branch[i][branch]);
        }
        plot.curves = {curve};
        record.draw("004 Fig. 11", fmt::format("friction_prototype_{}", branch), plot);
        draw_angle(record, truth, track, branch);
        const std::string where = fmt::format(", assembly {}", branch);
        record.compare({"004 Fig. 11", "time to P > 0.99, median" + where, "ms", 36, median(times)});
        record.compare({"004 Fig. 11", "RMSE of the crank from 1 s on" + where, "°", NAN, rmse});
        record.compare(
            {"004 Fig. 11", "time of the filter over real time" + where, "%", 83.75, 100 * track.cpu_s / kTime});
        kinegraph::report::Curve gyroscope{fmt::format("assembly {}", branch), {}, {}};
        for (std::size_t i = 0; i < truth.gyroscope.size(); i += 6) {
          gyroscope.x.push_back(static_cast<double>(i) * truth.step);
          gyroscope.y.push_back(truth.gyroscope[i] * 180 / M_PI);
        }
        readings.curves.push_back(gyroscope);
      }
    }
  }
  record.draw("004 Fig. 10", "gyroscope_readings", readings, "simulated, both released at 60°");
  record.show("004 Fig. 11", table);
  fmt::print("  paper: 83.75 % of real time\n");
}
