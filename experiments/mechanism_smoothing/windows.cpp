// (000, section 7.1): the four-bar falls for 5 s, solved by a fixed-lag smoother. Table 1: its error and time by
// window, in dependent and independent coordinates; Figs. 7 and 8: the motion, its error, the constraints.
//
// The paper's reference is an Adams model with g = 9.80665 and links that are boxes 0.1 m wide. The distance of its
// slender bars (g = 9.81) from that model is what its Table 1 shows, whatever the method. So here: the distance from
// such a model, to compare, and that from the exact motion, which is the method's error.
#include <fmt/format.h>

#include <cmath>

#include "bench/measure.hpp"
#include "experiments/mechanism_smoothing/adams.hpp"
#include "experiments/record.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/model_file.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

namespace {

const std::vector<std::string> kPlaces = {"P1.x", "P1.y", "P2.x", "P2.y"},
                               kRates = {"P1.vx", "P1.vy", "P2.vx", "P2.vy"};
constexpr double kStep = 1e-3;

/// 000, Table 1.
constexpr double kDependentMm[] = {3.11773, 3.11807, 3.11818, 3.11822, 3.11823, 3.11824, 3.11824, 3.11824, 3.11824};
constexpr double kDependentMs[] = {1.4, 1.6, 1.8, 2.1, 2.3, 2.5, 2.8, 3.0, 3.2};
constexpr double kIndependentMm = 3.14719;
constexpr double kIndependentMs[] = {2.8, 3.3, 3.7, 4.2, 4.7, 5.5, 6.1, 6.4, 7.2};

/// By Runge-Kutta in tenths of the step, far below all differences here.
Trajectory fine(const Model& model) {
  task::SimulateOptions options;
  options.method = "step";
  options.step = kStep / 10;
  options.every = 10;
  return bench::require(task::simulate(model, options), "reference").trajectory;
}

/// √ of the mean of squares over samples and coordinates.
double rmse(const Trajectory& a, const Trajectory& b, const std::vector<std::string>& names) {
  double squares = 0;
  for (const std::string& name : names) {
    const int i = a.find(name), j = b.find(name);
    for (int k = 0; k < a.samples(); ++k) squares += std::pow(a.at(k, i) - b.at(k, j), 2);
  }
  return std::sqrt(squares / (static_cast<double>(names.size()) * a.samples()));
}

task::SimulateOptions options_of(const std::string& formulation, int window, const std::string& weights) {
  task::SimulateOptions options;
  options.formulation = formulation;
  options.integrator = "trapezoidal";
  options.window = window;
  options.weights = weights;
  return options;
}

/// Ours, and Adams's model dashed over it.
void both(report::Plot& plot, const Trajectory& ours, const Trajectory& adams, const std::vector<std::string>& names) {
  for (const std::string& name : names) plot.curves.push_back(curve(name, ours, name));
  for (const std::string& name : names) {
    plot.curves.push_back(curve(name + ", Adams's model", adams, name));
    plot.curves.back().dashed = true;
  }
}

void errors(report::Plot plot, Record& record, const std::string& file, const Trajectory& ours, const Trajectory& other,
            const std::vector<std::string>& names, const std::string& caption) {
  for (const std::string& name : names) {
    report::Curve difference = curve(name, ours, name);
    const std::vector<double> theirs = other.column(other.find(name));
    for (std::size_t k = 0; k < theirs.size(); ++k) difference.y[k] -= theirs[k];
    plot.curves.push_back(std::move(difference));
  }
  record.draw("000 Fig. 7", file, plot, caption);
}

/// ‖Φ‖ over time; Φ = |p − p'|² − L² of the three bars (000, eq. 41).
report::Curve constraints(const std::string& label, const Trajectory& m) {
  report::Curve norm{label, m.times(), {}};
  const auto at = [&](int k, const char* name) { return m.at(k, m.find(name)); };
  for (int k = 0; k < m.samples(); ++k) {
    const double x1 = at(k, "P1.x"), y1 = at(k, "P1.y"), x2 = at(k, "P2.x"), y2 = at(k, "P2.y");
    norm.y.push_back(std::hypot(x1 * x1 + y1 * y1 - 1, std::pow(x2 - x1, 2) + std::pow(y2 - y1, 2) - 4,
                                std::pow(x2 - 4, 2) + y2 * y2 - 13));
  }
  return norm;
}

}  // namespace

int main() {
  Record record("windows");
  const Model model = bench::require(read_model(KINEGRAPH_SOURCE_DIR "/models/fourbar.yaml"), "model");
  const Trajectory exact = fine(model), adams = fine(as_in_adams(model));
  const std::string table_file = shared_file("data/fourbar_exact.csv");
  if (!table_file.empty()) {
    const Trajectory table = bench::require(read_csv(table_file), "exact motion");
    double most = 0;
    for (int k = 0; k < table.samples(); ++k) {
      most = std::max(most, std::abs(table.at(k, table.find("x1")) - exact.at(k, exact.find("P1.x"))));
    }
    record.compare(
        {"000 Table 1", "our fine reference: largest distance from the motion in 80-bit arithmetic", "m", NAN, most});
  }
  record.compare({"000 Table 1", "distance of Adams's model from the paper's, no method involved", "mm", NAN,
                  1e3 * rmse(exact, adams, kPlaces), "what every line of the paper's table shows"});

  Table table("windows", {"window", "dependent: from the exact motion in mm", "as soft factors", "independent",
                          "µs per step, dependent", "as soft factors", "independent"});
  for (int window = 2; window <= 10; ++window) {
    std::vector<std::string> accuracy, time;
    for (const auto& [formulation, weights] :
         {std::pair("natural", "hard"), std::pair("natural", "soft"), std::pair("independent", "hard")}) {
      const task::SimulateOptions options = options_of(formulation, window, weights);
      const bench::Cost cost = bench::best_of(3, model, options);
      const Trajectory motion = bench::require(task::simulate(model, options), "simulate").trajectory;
      accuracy.push_back(figure(1e3 * rmse(motion, exact, kPlaces)));
      time.push_back(figure(cost.step_us));
      const bool independent = options.formulation == "independent";
      if (options.weights == "soft") continue;
      const char* label = independent ? "independent" : "dependent";
      record.compare({"000 Table 1", fmt::format("{}, window {}: RMSE from Adams's model", label, window), "mm",
                      independent ? kIndependentMm : kDependentMm[window - 2], 1e3 * rmse(motion, adams, kPlaces)});
      record.compare({"000 Table 1", fmt::format("{}, window {}: time per step", label, window), "ms",
                      (independent ? kIndependentMs : kDependentMs)[window - 2], 1e-3 * cost.step_us});
    }
    accuracy.insert(accuracy.begin(), std::to_string(window));
    accuracy.insert(accuracy.end(), time.begin(), time.end());
    table.add(accuracy);
  }
  record.show("000 Table 1", table);

  const Trajectory hard =
      bench::require(task::simulate(model, options_of("natural", 2, "hard")), "simulate").trajectory;
  const Trajectory soft =
      bench::require(task::simulate(model, options_of("natural", 2, "soft")), "simulate").trajectory;
  report::Plot places{"(a) Coordinates", "t in s", "m", {}}, rates{"(b) Velocities", "t in s", "m/s", {}};
  both(places, hard, adams, kPlaces);
  both(rates, hard, adams, kRates);
  record.draw("000 Fig. 7", "fourbar_positions", places);
  record.draw("000 Fig. 7", "fourbar_velocities", rates);
  errors({"(c) Coordinates less those of Adams's model", "t in s", "m", {}}, record, "fourbar_error_q", hard, adams,
         kPlaces, "what the paper's Fig. 7c shows");
  errors({"(d) Velocities less those of Adams's model", "t in s", "m/s", {}}, record, "fourbar_error_v", hard, adams,
         kRates, "what the paper's Fig. 7d shows");
  errors({"Coordinates less the exact ones", "t in s", "m", {}}, record, "fourbar_error_exact", hard, exact, kPlaces,
         "the error of the method: trapezoidal rule, window 2, 1 ms");
  record.compare({"000 Fig. 7", "RMSE of q from Adams's model", "m", 0.0031, rmse(hard, adams, kPlaces), "", "≈ "});
  record.compare({"000 Fig. 7", "RMSE of q̇ from Adams's model", "m/s", 0.026, rmse(hard, adams, kRates), "", "≈ "});
  record.compare({"000 Fig. 7", "RMSE of q from the exact motion", "m", NAN, rmse(hard, exact, kPlaces)});
  record.compare({"000 Fig. 7", "RMSE of q̇ from the exact motion", "m/s", NAN, rmse(hard, exact, kRates)});

  report::Plot norm{"‖Φ(q)‖: equations that hold, and soft factors", "t in s", "m²", {}};
  norm.log_y = true;
  norm.curves = {constraints("hard (ours)", hard), constraints("soft (paper)", soft)};
  record.draw("000 Fig. 8", "fourbar_constraints", norm, "soft: the covariances of 000, Table 2");
  for (const report::Curve& c : norm.curves) {
    record.compare({"000 Fig. 8", "largest ‖Φ‖, " + c.label, "m²", NAN, *std::max_element(c.y.begin(), c.y.end())});
  }
}
