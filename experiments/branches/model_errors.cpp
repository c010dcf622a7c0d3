// (004, Fig. 8): how well the crank is tracked if the filter's crank is wrong by some percent in length and mass, over
// the process noise that the filter assumes. The paper's σ_a acts anew in every step; as a density it is σ_a √Δt.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/gyroscope_fourbar.hpp"
#include "experiments/record.hpp"

using namespace kinegraph::experiments;

int main() {
  Record record("model_errors");
  constexpr int kRepetitions = 100;
  constexpr double kCrank = 0.125;
  // The paper's Table 1. The sensor itself is better, 0.3 °/s; but a filter that takes a wrong machine at its word to
  // that has two optima at 2 and 3 %, one where it trusts the dynamics (σ_a = 0.1 m/s²) and one where it trusts the
  // reading.
  constexpr double kAssumedNoise = 1;
  constexpr double kTold = 1.01;  // an RMSE within 1 % of the least is as good: the smallest σ_a of those is the best
  const double sigmas[] = {0.02, 0.05, 0.1, 0.3, 1, 3, 10};
  fmt::print(
      "Mean RMSE of the crank angle from 1 s on, in °, over σ_a; {} repetitions each, 200 particles, assumed noise {} "
      "°/s\n",
      kRepetitions, kAssumedNoise);
  const kinegraph::Model model = fourbar();
  const Truth truth = fall(model, 0, 0, 5);
  std::vector<std::string> header = {"σ_a in m/s²", "density in rad/s²/√Hz"};
  for (int percent = 0; percent <= 3; ++percent) header.push_back(fmt::format("{} %", percent));
  Table table("model_errors", header);
  kinegraph::report::Plot plot{
      "RMSE of the crank angle over the assumed process noise", "σ_a in m/s²", "RMSE in °", {}};
  plot.log_x = plot.log_y = true;
  for (int percent = 0; percent <= 3; ++percent) plot.curves.push_back({fmt::format("{} % error", percent), {}, {}});
  for (const double sigma : sigmas) {
    TrackSettings settings;
    settings.assumed_noise = kAssumedNoise;
    settings.density = sigma / kCrank * std::sqrt(settings.step);
    std::vector<std::string> row = {figure(sigma), figure(settings.density)};
    for (int percent = 0; percent <= 3; ++percent) {
      const double factor = 1 + 0.01 * percent;
      const auto wrong = model.with({{"crank_length", kCrank * factor}, {"crank.mass", 0.039 * factor}});
      const Tracker tracker(*wrong, settings);
      double mean = 0;
      for (const Score& s : scores(tracker, truth, 0, kRepetitions)) mean += s.rmse / kRepetitions;
      row.push_back(figure(mean));
      plot.curves[percent].x.push_back(sigma);
      plot.curves[percent].y.push_back(mean);
    }
    table.add(row);
  }
  record.show("004 Fig. 8", table);
  record.draw("004 Fig. 8", "model_errors", plot);
  std::vector<double> best(4), best_sigma(4);
  for (int percent = 0; percent <= 3; ++percent) {
    const kinegraph::report::Curve& curve = plot.curves[percent];
    best[percent] = *std::min_element(curve.y.begin(), curve.y.end());
    const auto first =
        std::find_if(curve.y.begin(), curve.y.end(), [&](double y) { return y <= kTold * best[percent]; });
    best_sigma[percent] = curve.x[first - curve.y.begin()];
  }
  bool rises = true;
  for (int percent = 0; percent <= 3; ++percent) {
    fmt::print("  {} %: best {} ° at σ_a = {} m/s²{}\n", percent, figure(best[percent]), figure(best_sigma[percent]),
               percent == 0 ? " (paper: about 0.3 °)" : "");
    record.compare({"004 Fig. 8", fmt::format("least RMSE, {} % error of the model", percent), "°",
                    percent == 0 ? 0.3 : NAN, best[percent],
                    fmt::format("at σ_a = {} m/s²", figure(best_sigma[percent]))});
    if (percent > 0) rises = rises && best_sigma[percent] >= best_sigma[percent - 1];
  }
  fmt::print("  asked: best at 0 % ≤ 0.3 ° ({}), the best σ_a does not fall as the error grows ({})\n",
             best[0] <= 0.3 ? "yes" : "NO", rises ? "yes" : "NO");
}
