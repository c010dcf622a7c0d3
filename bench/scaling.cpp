// Cost grows linearly: with the size of the mechanism (a chain of N four-bars, bench/chain.py) and with the horizon
// (10³ to 10⁶ steps of one four-bar). Times are the processor's, the best of several runs. With --strict the exit
// status is 1 if a line fails.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "bench/table.hpp"
#include "kinegraph/io/model_file.hpp"

namespace kinegraph::bench {
namespace {

constexpr double kFromTen = 1.5, kFromOne = 2;  // time per loop and step may grow by this
constexpr double kHorizon = 1.3;                // and per step with the horizon
constexpr double kEnergy = 1e-8;
constexpr double kMemoryMb = 1;  // pages that come and go; a horizon of 10⁶ kept would need hundreds
constexpr double kIterations = 0.05;
constexpr double kStartSeconds = 10;

struct Numbers {
  double step_us, start_s, iterations, energy_drift, constraint;
  int freedom;
};

Numbers numbers(const Cost& c) {
  return {c.step_us,
          c.start_s,
          c.summary.iterations_mean,
          c.summary.energy_drift,
          c.summary.constraint_max,
          c.summary.degrees_of_freedom};
}

Model chain(int loops, bool free) {
  const std::string command =
      fmt::format("{} {}/bench/chain.py {}{}", KINEGRAPH_PYTHON, KINEGRAPH_SOURCE_DIR, loops, free ? " --free" : "");
  FILE* script = popen(command.c_str(), "r");
  if (script == nullptr) std::abort();
  std::string text;
  std::array<char, 65536> part{};
  for (std::size_t n; (n = fread(part.data(), 1, part.size(), script)) > 0;) text.append(part.data(), n);
  if (pclose(script) != 0) std::exit(1);
  return require(parse_planar_yaml(text, "chain"), "chain");
}

const char* verdict(bool fine, int& failed) {
  failed += !fine;
  return fine ? "pass" : "FAIL";
}

task::SimulateOptions steps(long count, const std::string& integrator, int window) {
  task::SimulateOptions options;
  options.step = 1e-3;
  options.time = options.step * static_cast<double>(count);
  options.integrator = integrator;
  options.window = window;
  options.keep = false;
  return options;
}

int sizes(const std::string& integrator, int window) {
  section(fmt::format("loops, {}: chain of N four-bars, one degree of freedom, window {}", integrator, window));
  const MarkdownTable table(
      {"   N", "µs per step", "µs/step/loop", "vs 1", "vs 10", "iterations", "start s", "peak MB", "    "}, 0);
  int failed = 0;
  double at_one = 0, at_ten = 0;
  for (int n : quick() ? std::vector{1, 10, 100} : std::vector{1, 10, 100, 1000}) {
    const auto answer = in_child<Numbers>([&] {
      const Model model = chain(n, false);
      return numbers(best_of(n < 1000 ? 7 : 4, model, steps(n < 1000 ? 20000 / n : 200, integrator, window)));
    });
    const Numbers& v = answer.value;
    const double per_loop = v.step_us / n;
    if (n == 1) at_one = per_loop;
    if (n == 10) at_ten = per_loop;
    const bool fine = per_loop <= kFromOne * at_one && (n < 10 || per_loop <= kFromTen * at_ten) &&
                      v.start_s <= kStartSeconds && v.freedom == 1;
    table.row({fmt::format("{}", n), cell(v.step_us, 4), fmt::format("{:.3f}", per_loop),
               fmt::format("{:.2f}", per_loop / at_one), n < 10 ? "-" : fmt::format("{:.2f}", per_loop / at_ten),
               fmt::format("{:.3f}", v.iterations), fmt::format("{:.4f}", v.start_s),
               fmt::format("{:.1f}", answer.peak_mb), verdict(fine, failed)});
  }
  return failed;
}

void free_sizes() {
  section("loops, many freedoms: chain of N four-bars, N degrees of freedom, hermite-simpson, window 2 (no target)");
  const MarkdownTable table({"   N", "µs per step", "µs/step/loop", "iterations", "start s", "peak MB"}, 0);
  for (int n : quick() ? std::vector{1, 3, 10, 30} : std::vector{1, 3, 10, 30, 100, 300}) {
    const auto answer = in_child<Numbers>([&] {
      const Model model = chain(n, true);
      return numbers(best_of(n < 30 ? 5 : 2, model, steps(n < 30 ? 1000 / n : 20, "hermite-simpson", 2)));
    });
    const Numbers& v = answer.value;
    table.row({fmt::format("{}", n), cell(v.step_us, 4), fmt::format("{:.3f}", v.step_us / n),
               fmt::format("{:.3f}", v.iterations), fmt::format("{:.4f}", v.start_s),
               fmt::format("{:.1f}", answer.peak_mb)});
  }
}

int horizons(const std::string& integrator, int window, bool accurate) {
  section(fmt::format("horizon, {}, {}: four-bar, steps of 1 ms, window {}", integrator, window, window));
  const MarkdownTable table(
      {"  steps", "µs per step", "vs 1e3", "iterations", " energy", "constraint", "peak MB", "    "}, 0);
  int failed = 0;
  double first_time = 0, first_iterations = 0, first_peak = 0, sum_before = 0;
  long before = 0;
  for (long count : quick() ? std::vector{1000L, 10000L} : std::vector{1000L, 10000L, 100000L, 1000000L}) {
    const auto answer = in_child<Numbers>([&] {
      const Model model = require(read_model(std::string(KINEGRAPH_SOURCE_DIR) + "/models/fourbar.yaml"), "four-bar");
      return numbers(best_of(count <= 10000 ? 9 : count == 100000 ? 3 : 1, model, steps(count, integrator, window)));
    });
    const Numbers& v = answer.value;
    const double sum = v.iterations * static_cast<double>(count);
    const double late = (sum - sum_before) / static_cast<double>(count - before);  // of the steps past the last horizon
    if (before == 0) first_time = v.step_us, first_iterations = late, first_peak = answer.peak_mb;
    const bool fine = v.step_us <= kHorizon * first_time && answer.peak_mb <= first_peak + kMemoryMb &&
                      late <= first_iterations + kIterations && (!accurate || v.energy_drift <= kEnergy);
    table.row({fmt::format("{}", count), fmt::format("{:.3f}", v.step_us),
               fmt::format("{:.2f}", v.step_us / first_time), fmt::format("{:.3f}", late),
               fmt::format("{:.1e}", v.energy_drift), fmt::format("{:.1e}", v.constraint),
               fmt::format("{:.1f}", answer.peak_mb), verdict(fine, failed)});
    before = count;
    sum_before = sum;
  }
  return failed;
}

}  // namespace
}  // namespace kinegraph::bench

int main(int argc, char** argv) {
  using namespace kinegraph::bench;
  const bool strict = argc > 1 && std::string(argv[1]) == "--strict";
  int failed = 0;
  failed += sizes("hermite-simpson", 2);
  failed += sizes("trapezoidal", 10);
  free_sizes();
  failed += horizons("hermite-simpson", 2, true);
  failed += horizons("hermite-simpson", 10, true);
  failed += horizons("trapezoidal", 2, false);
  return strict && failed > 0 ? 1 : 0;
}
