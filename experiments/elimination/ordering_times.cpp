// (001, Tables I to III): inverse and forward dynamics of a PUMA 560 by elimination in different orders, from (q, q̇,
// what is known) to the answer, on one thread. All orders run by turns, so that what disturbs one disturbs the others.
#include <fmt/format.h>

#include <cmath>
#include <deque>

#include "bench/race.hpp"
#include "bench/robots.hpp"
#include "experiments/record.hpp"
#include "kinegraph/build/dynamics.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

namespace {

using build::Given;
constexpr int kStates = 64;
constexpr double kSeconds = 2;

struct Order {
  const char* name;   ///< as screw_order() names it
  const char* label;  ///< as the paper does
  double paper_us;
};

/// Orders of one problem side by side: time of each, and how far their answers differ.
void race(Record& record, const std::string& result, const bench::TreePointer& tree, Given given,
          const std::vector<Order>& orders) {
  const std::vector<Given> all(tree->coordinates().size(), given);
  const std::vector<bench::State> states = bench::random_states(*tree, kStates);
  screw::Surroundings surroundings;
  surroundings.gravity = tree->gravity();
  surroundings.joint_forces = false;
  std::deque<build::Dynamics> dynamics;
  std::deque<std::vector<bench::State>> work;
  std::vector<bench::Runner> runners;
  for (const Order& order : orders) {
    const auto problem = build::screw_problem(tree, all);
    auto& solver =
        dynamics.emplace_back(tree, all, bench::require(build::screw_order(problem, order.name), order.name));
    solver.elimination().set_parallel(false);
    auto& own = work.emplace_back(states);
    runners.push_back({order.label, [&solver, &own, &surroundings](int i) {
                         bench::State& s = own[i];
                         solver.solve(s.q.data(), s.v.data(), s.a.data(), s.tau.data(), surroundings);
                       }});
  }
  const std::vector<bench::Timing> times = bench::race(runners, kStates, kSeconds);
  Table table("ordering_times_" + std::string(given == Given::torque ? "forward" : "inverse"),
              {"order", "paper, of the first", "ours, of the first", "flops", "fill"});
  double apart = 0;
  for (std::size_t k = 0; k < orders.size(); ++k) {
    record.compare(
        {result, fmt::format("{}, time per solve", orders[k].label), "µs", orders[k].paper_us, 1e-3 * times[k].ns});
    table.add({orders[k].label, figure(orders[k].paper_us / orders[0].paper_us), figure(1 / times[k].ratio),
               std::to_string(dynamics[k].plan().flops()), std::to_string(dynamics[k].plan().fill())});
    for (int i = 0; i < kStates; ++i) {
      const auto& mine = given == Given::torque ? work[k][i].a : work[k][i].tau;
      const auto& first = given == Given::torque ? work[0][i].a : work[0][i].tau;
      apart = std::max(apart, (mine - first).cwiseAbs().maxCoeff() / first.cwiseAbs().maxCoeff());
    }
  }
  record.compare({result, "largest difference between answers of the orders, relative", "", NAN, apart,
                  "the same solution under every order"});
  record.show(result, table);
}

/// Hybrid dynamics under the two orders of Table III and ABA's.
void hybrid(Record& record) {
  const bench::TreePointer tree = bench::own_robot("three_r.urdf");
  const std::vector<Given> given = {Given::acceleration, Given::torque, Given::torque};
  const auto problem = build::screw_problem(tree, given);
  screw::Surroundings surroundings;
  surroundings.gravity = tree->gravity();
  const std::vector<std::vector<std::string>> orders = {{"t1", "a2", "a3", "V3", "F1", "V1", "F2", "V2", "F3"},
                                                        {"t1", "a2", "a3", "F1", "V1", "V3", "F3", "V2", "F2"}};
  build::Dynamics reference(tree, given);
  double apart = 0;
  for (const auto& names : orders) {
    build::Dynamics dynamics(tree, given, bench::require(build::screw_order(problem, "custom", names), "order"));
    for (bench::State s : bench::random_states(*tree, kStates)) {
      bench::State r = s;
      const bool ok = dynamics.solve(s.q.data(), s.v.data(), s.a.data(), s.tau.data(), surroundings).ok &&
                      reference.solve(r.q.data(), r.v.data(), r.a.data(), r.tau.data(), surroundings).ok;
      if (!ok) continue;
      const double scale = r.tau.cwiseAbs().maxCoeff() + r.a.cwiseAbs().maxCoeff();
      apart = std::max(apart, ((s.a - r.a).cwiseAbs().maxCoeff() + (s.tau - r.tau).cwiseAbs().maxCoeff()) / scale);
    }
  }
  record.compare({"001 Table III", "largest difference of both orders' answers from ABA's, relative", "", NAN, apart});
}

}  // namespace

int main() {
  Record record("ordering_times");
  hybrid(record);
  const bench::TreePointer puma = bench::shared_robot("synthetic/puma560_corke.urdf");
  if (!puma) return record.skip("the model of the PUMA 560 is not here", {"001 Table I", "001 Table II"});
  race(record, "001 Table I", puma, Given::acceleration,
       {{"rnea", "RNEA", 26.6}, {"colamd", "COLAMD", 11.0}, {"metis", "ND", 11.7}});
  record.missing("001 Table I", "its line for RBDL: that library is not used here; peers are timed by make bench.");
  race(record, "001 Table II", puma, Given::torque,
       {{"crba", "CRBA", 51.8}, {"aba", "ABA", 25.5}, {"colamd", "COLAMD", 11.2}, {"metis", "ND", 12.1}});
}
