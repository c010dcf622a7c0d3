// (004, section 6.2): where the particle filter's time goes. The paper's Bayesian filtering (lines 1 to 6 of its
// algorithm 1) is motion, draws and weights here; resampling includes the draws from kernels, which it has not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/branches/prototype.hpp"
#include "experiments/record.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

int main() {
  constexpr const char* kResult = "004 Time by stage";
  Record record("stage_times");
  const Model assumed = fourbar();
  const Truth truth = fall(fourbar(kPrototypeFriction), 0, M_PI / 3, kPrototypeTime);
  struct Case {
    const char* name;
    TrackSettings settings;
  };
  TrackSettings ours = prototype_settings();
  ours.cells = 0;  // which have no stages
  for (Case c : {Case{"the paper's filter", printed_settings()}, Case{"ours", ours}}) {
    c.settings.compiled = false;  // the paper's program is not made for one machine either
    const Tracker tracker(assumed, c.settings);
    Track best = tracker.run(truth, 0);
    for (int run = 1; run < 5; ++run) {
      Track track = tracker.run(truth, 0);
      if (track.cpu_s < best.cpu_s) best = std::move(track);
    }
    const auto& s = best.stages;
    const double all = s.move + s.normalise + s.resample;
    const auto share = [&](const char* stage, double paper, double part) {
      record.compare({kResult, fmt::format("{}: {}", c.name, stage), "%", paper, 100 * part / all});
    };
    share("motion, draws and weights", 97.47, s.move);
    share("weights normalised", 0.03, s.normalise);
    share("resampling", 2.50, s.resample);
    record.compare({kResult, fmt::format("{}: time for {} s of motion, 50 particles", c.name, kPrototypeTime), "s", 9.2,
                    best.cpu_s, "the least of five runs"});
  }
}
