// Inverse, forward and hybrid dynamics of spatial robots, on one thread, beside Pinocchio and MuJoCo in the same run
// (where the project was configured with -DKINEGRAPH_PEERS) and beside the times that paper 001 prints. Timed from
// (q, v, what is known) to the answer. With --strict the exit status is 1 if a line fails.
#include <fmt/format.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/race.hpp"
#include "bench/robots.hpp"
#include "bench/table.hpp"
#include "kinegraph/build/dynamics.hpp"

namespace kinegraph::bench {
namespace {

using build::Dynamics;
using build::Given;
using Eigen::VectorXd;

constexpr int kStates = 64;
const double kSeconds = quick() ? 0.3 : 1.0;           // per race
constexpr double kInverse = 1.2, kForward = 1.0;       // ours over Pinocchio's
constexpr double kLinear = 1.3;                        // time per link of a long chain over that of a short one
constexpr double kAgree = 1e-9, kAgreeLoosely = 1e-6;  // answers of all programs; of those that only approximate
constexpr double kNone = 0;

int missed = 0;

const char* verdict(bool fine) {
  missed += !fine;
  return fine ? "pass" : "FAIL";
}

/// One robot, what is known of it, and an order.
class Ours {
 public:
  Ours(TreePointer tree, const std::vector<Given>& given, const std::string& order = "")
      : tree_(std::move(tree)), dynamics_(make(tree_, given, order)) {
    surroundings_.gravity = tree_->gravity();
    surroundings_.joint_forces = false;
    dynamics_.elimination().set_parallel(false);
  }
  /// Answers where s has unknowns: s.a and s.tau are written.
  void run(State& s) { dynamics_.solve(s.q.data(), s.v.data(), s.a.data(), s.tau.data(), surroundings_); }
  void require_ok(State s) {
    const auto outcome = dynamics_.solve(s.q.data(), s.v.data(), s.a.data(), s.tau.data(), surroundings_);
    if (outcome.ok) return;
    fmt::print("no answer: {}\n", outcome.message);
    std::exit(1);
  }
  const linear::BlockPlan& plan() const { return dynamics_.plan(); }
  linear::BlockElimination& elimination() { return dynamics_.elimination(); }

 private:
  static Dynamics make(const TreePointer& tree, const std::vector<Given>& given, const std::string& order) {
    if (order.empty()) return Dynamics(tree, given);
    const auto problem = build::screw_problem(tree, given);
    return Dynamics(tree, given, require(build::screw_order(problem, order), order.c_str()));
  }
  TreePointer tree_;
  Dynamics dynamics_;
  screw::Surroundings surroundings_;
};

std::vector<Given> all(const screw::Tree& tree, Given given) { return {tree.coordinates().size(), given}; }

Runner runner(const std::string& name, Ours& ours, std::vector<State>& states) {
  ours.require_ok(states[0]);
  return {name, [&ours, &states](int i) { ours.run(states[i]); }};
}

double ns(Ours& ours, std::vector<State> states, double seconds = 0.2) {
  return race({runner("", ours, states)}, static_cast<int>(states.size()), seconds)[0].ns;
}

enum class Kind { inverse, forward, closed };

const double* answer(Peer& peer, Kind kind, const State& s) {
  switch (kind) {
    case Kind::inverse:
      return peer.inverse(s.q.data(), s.v.data(), s.a.data());
    case Kind::forward:
      return peer.forward(s.q.data(), s.v.data(), s.tau.data());
    case Kind::closed:
      return peer.forward_closed(s.q.data(), s.v.data(), s.tau.data());
  }
  return nullptr;
}

/// Largest difference between the peer's and our answers, over the largest number of ours.
double disagreement(Peer& peer, Kind kind, Ours& ours, std::vector<State> states, int numbers) {
  double worst = 0;
  for (State& s : states) {
    const VectorXd theirs = Eigen::Map<const VectorXd>(answer(peer, kind, s), numbers);
    ours.run(s);
    const VectorXd mine = (kind == Kind::inverse ? s.tau : s.a).head(numbers);
    worst = std::max(worst, (theirs - mine).cwiseAbs().maxCoeff() / mine.cwiseAbs().maxCoeff());
  }
  return worst;
}

struct Candidate {
  std::string name;
  TreePointer tree;
};

std::vector<Candidate> arms() {
  std::vector<Candidate> all = {{"our arm7", own_robot("arm7.urdf")}};
  for (const auto& [name, file] : {std::pair("PUMA 560", "synthetic/puma560_corke.urdf"),
                                   std::pair("iiwa 14", "arms/iiwa14_primitive_collision.urdf"),
                                   std::pair("iiwa (Drake)", "arms/drake_kuka_iiwa_bench.urdf")}) {
    if (const TreePointer tree = shared_robot(file)) all.push_back({name, tree});
  }
  return all;
}

/// A race of ours against all peers; the target is for each Pinocchio.
void against_peers(const MarkdownTable& table, const Candidate& robot, Kind kind, double target) {
  const auto description = describe(*robot.tree);
  Ours ours(robot.tree, all(*robot.tree, kind == Kind::inverse ? Given::acceleration : Given::torque));
  std::vector<State> states = random_states(*robot.tree, kStates);
  std::vector<Contestant> contestants;
  if (description) contestants = peers(*description);
  std::erase_if(contestants, [&](const Contestant& c) {
    return (kind != Kind::forward && c.name.ends_with("world")) || answer(*c.peer, kind, states[0]) == nullptr;
  });
  std::vector<Runner> runners = {runner("ours", ours, states)};
  for (Contestant& c : contestants) {
    runners.push_back({c.name, [&states, kind, peer = c.peer.get()](int i) { answer(*peer, kind, states[i]); }});
  }
  const std::vector<Timing> times = race(runners, kStates, kSeconds);
  table.row({robot.name, "ours", fmt::format("{:.0f}", times[0].ns)});
  for (std::size_t k = 0; k < contestants.size(); ++k) {
    const std::string& name = contestants[k].name;
    const double difference = disagreement(*contestants[k].peer, kind, ours, states, robot.tree->tree_freedoms());
    const bool judged = name.starts_with("Pinocchio");
    const bool agree = difference < (kind == Kind::closed ? kAgreeLoosely : kAgree);
    table.row({"", name, fmt::format("{:.0f}", times[k + 1].ns), fmt::format("{:.2f}", times[k + 1].ratio),
               fmt::format("{:.1e}", difference), judged ? fmt::format("{:.1f}", target) : "-",
               judged ? verdict(agree && times[k + 1].ratio <= target) : ""});
  }
}

MarkdownTable head(const std::string& title) {
  section(title);
  return MarkdownTable(
      {"robot       ", "                       ", "  ns", "ours/theirs", "difference", "target", "    "}, 2);
}

void open_chains() {
  const std::vector<Candidate> robots = arms();
  const MarkdownTable inverse = head("inverse: RNEA's order; Pinocchio: rnea; MuJoCo: kinematics, comPos, comVel, rne");
  for (const Candidate& robot : robots) against_peers(inverse, robot, Kind::inverse, kInverse);
  const MarkdownTable forward = head(
      "forward: ABA's order; Pinocchio: aba in the joints' frames or the world's; MuJoCo: makeM, factorM, rne, solveM");
  for (const Candidate& robot : robots) against_peers(forward, robot, Kind::forward, kForward);
}

void closed_chains() {
  const MarkdownTable table =
      head("closed loops: forward dynamics; Pinocchio: constraintDynamics, the closing hinge as CONTACT_3D");
  std::vector<Candidate> robots = {{"four-bar", closed_chain({0.2, 0.5, 0.4}, 0.45)},
                                   {"five-bar", closed_chain({0.3, 0.5, 0.5, 0.3}, 0.4)}};
  if (const TreePointer tree = shared_robot("synthetic/five_bar.sdf")) robots.push_back({"the paper's", tree});
  for (const Candidate& robot : robots) against_peers(table, robot, Kind::closed, 1.0);
}

struct PaperTime {
  Given given;
  std::string order;
  double paper_us;
};

/// Tables I and II of the paper: PUMA 560, one thread of its machine.
const std::vector<PaperTime> kPaper = {
    {Given::acceleration, "rnea", 26.6}, {Given::acceleration, "colamd", 11.0}, {Given::acceleration, "metis", 11.7},
    {Given::acceleration, "amd", kNone}, {Given::torque, "crba", 51.8},         {Given::torque, "aba", 25.5},
    {Given::torque, "colamd", 11.2},     {Given::torque, "metis", 12.1},        {Given::torque, "amd", kNone}};

void orders(const Candidate& robot) {
  section(fmt::format("orders: {}, orders of elimination (paper: PUMA 560; RBDL's RNEA there 20.2 µs)", robot.name));
  const MarkdownTable table({"       ", "order ", "   µs", "paper µs", "paper/ours", "flops", "fill"}, 2);
  for (const PaperTime& line : kPaper) {
    Ours ours(robot.tree, all(*robot.tree, line.given), line.order);
    const double us = 1e-3 * ns(ours, random_states(*robot.tree, kStates));
    const bool known = line.paper_us != kNone;
    table.row({line.given == Given::torque ? "forward" : "inverse", line.order, fmt::format("{:.3f}", us),
               known ? fmt::format("{:.1f}", line.paper_us) : "-",
               known ? fmt::format("{:.0f}", line.paper_us / us) : "-", fmt::format("{}", ours.plan().flops()),
               fmt::format("{}", ours.plan().fill())});
  }
}

void hybrid_masks(const Candidate& robot) {
  section(
      fmt::format("hybrid: {}, accelerations of some joints given, torques of the others (ABA's order)", robot.name));
  const MarkdownTable table({"accelerations given", "  ns", "of forward"});
  double forward = 0;
  const int n = static_cast<int>(robot.tree->coordinates().size());
  for (const std::string which : {"none", "the first", "every other", "all but the last", "all"}) {
    std::vector<Given> given = all(*robot.tree, Given::torque);
    for (int i = 0; i < n; ++i) {
      const bool known = which == "all" || (which == "the first" && i == 0) || (which == "every other" && i % 2 == 0) ||
                         (which == "all but the last" && i + 1 < n);
      if (known) given[i] = Given::acceleration;
    }
    Ours ours(robot.tree, given, "aba");
    const double time = ns(ours, random_states(*robot.tree, kStates));
    if (which == "none") forward = time;
    table.row({which, fmt::format("{:.0f}", time), fmt::format("{:.2f}", time / forward)});
  }
}

void long_chains() {
  section("chains: ns per link");
  const MarkdownTable table({"links", "inverse", "vs 10", "forward", "vs 10", "target", "    "}, 0);
  double first[2] = {0, 0};
  for (const int links : {10, 30, 100, 300, 1000}) {
    const TreePointer tree = chain(links);
    const std::vector<State> states = random_states(*tree, std::clamp(2000 / links, 4, kStates));
    double per_link[2], growth[2];
    for (const int k : {0, 1}) {
      Ours ours(tree, all(*tree, k == 0 ? Given::acceleration : Given::torque));
      per_link[k] = ns(ours, states, 0.5) / links;
      if (links == 10) first[k] = per_link[k];
      growth[k] = per_link[k] / first[k];
    }
    table.row({fmt::format("{}", links), fmt::format("{:.1f}", per_link[0]), fmt::format("{:.2f}", growth[0]),
               fmt::format("{:.1f}", per_link[1]), fmt::format("{:.2f}", growth[1]), fmt::format("{:.1f}", kLinear),
               verdict(growth[0] <= kLinear && growth[1] <= kLinear)});
  }
}

/// Subtrees that do not depend on each other, side by side: wall time, and the same bits.
void subtrees() {
  section(fmt::format("subtrees: in parallel, forward dynamics, the elimination alone, µs by the wall, {} processors",
                      std::thread::hardware_concurrency()));
  const MarkdownTable table({"   links", "pieces", " one", " all", "speed-up", "same bits"}, 0);
  for (const int chains : {2, 4}) {
    const TreePointer tree = chain(1000, chains);
    State s = random_states(*tree, 1)[0];
    Ours ours(tree, all(*tree, Given::torque));
    std::vector<double> times[2];
    Eigen::VectorXd answers[2];
    for (int round = 0; round < 100; ++round) {
      for (const int parallel : {0, 1}) {
        ours.elimination().set_parallel(parallel == 1);
        ours.run(s);
        const auto begin = std::chrono::steady_clock::now();
        ours.elimination().run();
        times[parallel].push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
        answers[parallel] = s.a;
      }
    }
    const double one = median(times[0]), all = median(times[1]);
    table.row({fmt::format("{} x 1000", chains), fmt::format("{}", ours.plan().pieces()), fmt::format("{:.0f}", one),
               fmt::format("{:.0f}", all), fmt::format("{:.2f}", one / all), verdict(answers[0] == answers[1])});
  }
}

}  // namespace
}  // namespace kinegraph::bench

int main(int argc, char** argv) {
  using namespace kinegraph::bench;
  const bool strict = argc > 1 && std::string(argv[1]) == "--strict";
  fmt::print("Compiled with {}.\n", KINEGRAPH_BENCH_FLAGS);
  if (peers({}).empty()) {
    fmt::print("No peers: built without KINEGRAPH_PEERS (make bench brings them when pip can), ours alone is timed\n");
  }
  open_chains();
  closed_chains();
  const Candidate puma = {"PUMA 560", shared_robot("synthetic/puma560_corke.urdf")};
  const Candidate arm = puma.tree ? puma : Candidate{"our arm7", own_robot("arm7.urdf")};
  orders(arm);
  hybrid_masks(arm);
  long_chains();
  subtrees();
  return strict && missed > 0 ? 1 : 0;
}
