// All estimators on the same 100 logs of a four-bar with gyroscope and encoder. The truth moves as the estimators
// assume, so that NEES should be 1 per number of the state.
#include <fmt/format.h>

#include "experiments/known_start.hpp"
#include "experiments/record.hpp"
#include "experiments/repetitions.hpp"

using namespace kinegraph::experiments;

int main() {
  Record record("estimators");
  const int kSeeds = repetitions(100), kSteps = 600;
  fmt::print("All estimators on the same {} logs: gyroscope 200 Hz 0.3 °/s, encoder 100 Hz 0.2°, start known to 2°\n",
             kSeeds);
  const KnownStart logs(0.5, kSeeds, kSteps, true);
  Table table("estimators", {"estimator", "RMSE in °", "NEES at 1.5 s", "mean NEES", "times within the band",
                             "converged", "µs per step"});
  for (const KnownStart::Contestant& contestant : logs.contestants(200)) {
    const KnownStart::Verdict v = logs.judge(contestant);
    table.add({contestant.name, figure(v.rmse), figure(v.nees[kSteps / 2]), figure(v.mean_nees),
               fmt::format("{:.0f} %", 100 * v.inside), fmt::format("{:.0f} %", 100 * v.converged), figure(v.step_us)});
  }
  record.show("All estimators on the same logs of a four-bar", table);
  fmt::print("  NEES per number of the state: 1 expected; the 95 % band over {} seeds is {:.2f} to {:.2f}\n", kSeeds,
             logs.band_low(), logs.band_high());
}
