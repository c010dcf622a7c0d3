// Elimination in time: the cost per knot does not grow with the horizon (50 to 5000 knots), and two threads do it
// faster than one, with the same bits. A small system (the cart-pole's size) and one of a quadruped's. Times are the
// best of several runs: the processor's for the growth, the wall clock's for threads. With --strict the exit status is
// 1 if a line fails.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>

#include "bench/table.hpp"
#include "kinegraph/linear/horizon_systems_test.hpp"

namespace kinegraph::bench {
namespace {

using linear::HorizonElimination;
using linear::HorizonPlan;
using linear::test::HorizonSystem;
using linear::test::LinearQuadratic;

constexpr double kGrowth = 1.3, kSpeedUp = 1.6;

struct Run {
  double us = 0, processor_us = 0;  // per knot: factor and solve
  Eigen::VectorXd x;
};

Run run(const HorizonSystem& s, int threads, int repetitions) {
  const HorizonPlan plan = s.plan();
  HorizonElimination elimination(plan);
  elimination.set_threads(threads);
  Run best{1e300, 1e300, {}};
  for (int i = 0; i <= repetitions; ++i) {
    best.x = s.rhs;
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t processor = std::clock();
    elimination.factor(s.values, s.diagonal);
    elimination.solve(best.x);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    if (i == 0) continue;  // the first one allocates
    best.us = std::min(best.us, time.count() / s.knots);
    const double spent = 1e6 * static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
    best.processor_us = std::min(best.processor_us, spent / s.knots);
  }
  return best;
}

int growth() {
  int failed = 0;
  double first = 0;
  section("growth: 4 states, 1 control, one thread");
  const MarkdownTable table({"knots", "µs per knot", "vs 50", "    "}, 0);
  for (int knots : {50, 200, 1000, 5000}) {
    const Run r = run(LinearQuadratic::random(1, 4, 1, knots).system(), 1, 100000 / knots);
    if (first == 0) first = r.processor_us;
    const bool fine = r.processor_us <= kGrowth * first;
    failed += !fine;
    table.row({fmt::format("{}", knots), fmt::format("{:.2f}", r.processor_us),
               fmt::format("{:.2f}", r.processor_us / first), fine ? "pass" : "FAIL"});
  }
  return failed;
}

int speed_up() {
  int failed = 0;
  section("threads: µs per knot by the clock on the wall, on one thread and on two");
  const MarkdownTable table({"states", "controls", "knots", "  one", "  two", "speed-up", "bits ", "    "}, 0);
  for (const auto& [states, controls, knots] : {std::tuple{4, 1, 5000}, {36, 24, 600}}) {
    const HorizonSystem s = LinearQuadratic::random(1, states, controls, knots).system();
    const Run one = run(s, 1, 5), two = run(s, 2, 5);
    const bool same = (one.x.array() == two.x.array()).all(), large = states > 10;
    const bool fine = same && (!large || one.us >= kSpeedUp * two.us);
    failed += !fine;
    table.row({fmt::format("{}", states), fmt::format("{}", controls), fmt::format("{}", knots),
               fmt::format("{:.2f}", one.us), fmt::format("{:.2f}", two.us), fmt::format("{:.2f}", one.us / two.us),
               same ? "same" : "OTHER", fine ? "pass" : "FAIL"});
  }
  return failed;
}

}  // namespace
}  // namespace kinegraph::bench

int main(int argc, char** argv) {
  const bool strict = argc > 1 && std::string(argv[1]) == "--strict";
  const int failed = kinegraph::bench::growth() + kinegraph::bench::speed_up();
  return strict && failed > 0 ? 1 : 0;
}
