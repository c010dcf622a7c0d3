// (004, section 6.2): the set-up of the paper's prototype, made up: the true machine has friction in its joints, the
// filter knows of none; a gyroscope reading every 6 ms, filter steps of 3 ms, 50 particles. How long until the filter
// is sure of the assembly?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/gyroscope_fourbar.hpp"
#include "experiments/table.hpp"

using namespace kinegraph::experiments;

int main() {
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
        draw(fmt::format("friction_prototype_{}", branch), plot);
      }
    }
  }
  table.show();
  fmt::print("  paper: 83.75 % of real time\n");
}
