// Generated dynamics beside Pinocchio and MuJoCo, on one thread, in one run: times, operations, and what they must
// reach. Ours and Pinocchio's are each compiled by g++ and by clang++ where both are here; the better one of each is
// judged. With --strict the exit status is 1 if a line fails; another word picks the lines that hold it.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/instructions.hpp"
#include "bench/race.hpp"
#include "bench/robots.hpp"
#include "bench/table.hpp"
#include "kinegraph/codegen/compiled.hpp"
#include "kinegraph/codegen/generate.hpp"

namespace kinegraph::bench {
namespace {

using codegen::Compiled;
using codegen::Problem;
using Eigen::VectorXd;

constexpr int kStates = 64, kLanes = 8;
constexpr double kGain = 5;            // states per second of the batch over those of the form for one
constexpr double kSeconds = 1.0;       // per race
constexpr double kAgree = 1e-10;       // answers of all programs, relative
constexpr double kAgreeClosed = 1e-6;  // a proximal solver only approximates
int missed = 0;

enum class Kind { inverse, mass_matrix, forward, inverse_derivatives, forward_derivatives, closed };

struct Line {
  std::string robot;
  TreePointer tree;
  Kind kind;
  double target;  // ours over Pinocchio's
};

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::inverse:
      return "inverse";
    case Kind::mass_matrix:
      return "mass matrix";
    case Kind::forward:
      return "forward";
    case Kind::inverse_derivatives:
      return "inverse, derivatives";
    case Kind::forward_derivatives:
      return "forward, derivatives";
    case Kind::closed:
      return "forward, closed loop";
  }
  return "";
}

/// A state as a peer has it: of a floating base position and quaternion x y z w, linear before angular.
State for_peer(const State& s, bool floats) {
  if (!floats) return s;
  State t = s;
  t.q.head<7>() << s.q.segment<3>(4), s.q.segment<3>(1), s.q[0];
  for (VectorXd* x : {&t.v, &t.a, &t.tau}) {
    const Eigen::Vector3d angular = x->head<3>();
    x->head<3>() = x->segment<3>(3).eval();
    x->segment<3>(3) = angular;
  }
  return t;
}

const double* answer(Peer& peer, Kind kind, const State& s) {
  const double *q = s.q.data(), *v = s.v.data(), *a = s.a.data(), *tau = s.tau.data();
  switch (kind) {
    case Kind::inverse:
      return peer.inverse(q, v, a);
    case Kind::mass_matrix:
      return peer.mass_matrix(q);
    case Kind::forward:
      return peer.forward(q, v, tau);
    case Kind::inverse_derivatives:
      return peer.inverse_derivatives(q, v, a);
    case Kind::forward_derivatives:
      return peer.forward_derivatives(q, v, tau);
    case Kind::closed:
      return peer.forward_closed(q, v, tau);
  }
  return nullptr;
}

/// One function of ours with the arrays it reads and writes.
class Ours {
 public:
  Ours(std::string compiler, std::shared_ptr<const Compiled> code, const Line& line, const codegen::Program& program)
      : compiler_(std::move(compiler)), code_(std::move(code)), kind_(line.kind) {
    for (const codegen::Array& array : program.outputs) outputs_.emplace_back(VectorXd::Zero(array.values.size()));
    for (VectorXd& x : outputs_) pointers_.push_back(x.data());
  }
  void run(const State& s) {
    const bool inverse = kind_ == Kind::inverse || kind_ == Kind::inverse_derivatives;
    const double* inputs[] = {s.q.data(), s.v.data(), inverse ? s.a.data() : s.tau.data()};
    code_->run(inputs, pointers_.data());
  }
  const std::string& compiler() const { return compiler_; }
  const VectorXd& output(int k) const { return outputs_[k]; }

 private:
  std::string compiler_;
  std::shared_ptr<const Compiled> code_;
  Kind kind_;
  std::vector<VectorXd> outputs_;
  std::vector<double*> pointers_;
};

codegen::Generated generate(const Line& line) {
  codegen::Request request;
  const bool inverse = line.kind == Kind::inverse || line.kind == Kind::inverse_derivatives;
  request.problem = inverse                          ? Problem::inverse
                    : line.kind == Kind::mass_matrix ? Problem::mass_matrix
                                                     : Problem::forward;
  if (inverse) request.given.assign(line.tree->coordinates().size(), build::Given::acceleration);
  request.options.joint_forces = false;
  request.options.derivatives = line.kind == Kind::inverse_derivatives || line.kind == Kind::forward_derivatives;
  return require(codegen::generate(line.tree, request), line.robot.c_str());
}

std::vector<std::pair<std::string, std::shared_ptr<const Compiled>>> compile(const codegen::Program& program,
                                                                             int lanes) {
  std::vector<std::pair<std::string, std::shared_ptr<const Compiled>>> all;
  for (const char* compiler : {"g++", "clang++"}) {
    setenv("KINEGRAPH_CXX", compiler, 1);
    if (auto code = Compiled::make(program, lanes)) all.emplace_back(compiler, *code);
  }
  return all;
}

/// Largest difference over the largest number. Of a mass matrix or its inverse the upper triangle, whatever the peer
/// leaves below it; of derivatives those by q, by v and by what is given.
double disagreement(Peer& peer, const Line& line, Ours& ours, const std::vector<State>& states, bool floats) {
  const int n = line.kind == Kind::closed ? line.tree->tree_freedoms() : line.tree->freedoms();
  const auto place = [&](int k) { return floats && k < 6 ? (k + 3) % 6 : k; };  // number k of the peer, in ours
  double worst = 0;
  for (const State& s : states) {
    const double* theirs = answer(peer, line.kind, for_peer(s, floats));
    ours.run(s);
    // the peer's number (r, c) stands at [by_row r + by_column c]
    const auto compare = [&](const VectorXd& mine, const double* their, int by_row, int by_column, bool triangle) {
      const int columns = static_cast<int>(mine.size()) / n;
      double difference = 0;
      for (int r = 0; r < n; ++r) {
        for (int c = triangle ? r : 0; c < columns; ++c) {
          const double own = mine[columns == 1 ? place(r) : place(r) * n + place(c)];
          difference = std::max(difference, std::abs(their[by_row * r + by_column * c] - own));
        }
      }
      worst = std::max(worst, difference / mine.cwiseAbs().maxCoeff());
    };
    const bool derivatives = line.kind == Kind::inverse_derivatives || line.kind == Kind::forward_derivatives;
    if (!derivatives) {
      const bool triangle = line.kind == Kind::mass_matrix;
      compare(ours.output(0), theirs, 1, n, triangle);
      continue;
    }
    const Peer::Others others = peer.other_derivatives();
    compare(ours.output(1), theirs, n, 1, false);
    if (others.by_v) compare(ours.output(2), others.by_v, n, 1, false);
    if (others.by_given) compare(ours.output(3), others.by_given, n, 1, true);
  }
  return worst;
}

void judge(const Line& line, const MarkdownTable& table) {
  const codegen::Generated generated = generate(line);
  const codegen::OperationCount cost = generated.program.cost();
  std::vector<Ours> ours;
  for (auto& [compiler, code] : compile(generated.program, 0))
    ours.emplace_back(compiler, code, line, generated.program);
  if (ours.empty()) return;
  const std::vector<State> states = random_states(*line.tree, kStates);
  const auto description = describe(*line.tree);
  const bool floats = description && !description->bodies.empty() && description->bodies[0].floats;
  std::vector<State> others;
  for (const State& s : states) others.push_back(for_peer(s, floats));
  std::vector<Contestant> contestants;
  if (description) contestants = peers(*description);
  std::erase_if(contestants, [&](const Contestant& c) {
    return (floats && !c.name.starts_with("Pinocchio")) || answer(*c.peer, line.kind, others[0]) == nullptr;
  });
  std::vector<Runner> runners;
  for (Ours& o : ours) runners.push_back({o.compiler(), [&o, &states](int i) { o.run(states[i]); }});
  for (Contestant& c : contestants) {
    runners.push_back({c.name, [&, peer = c.peer.get()](int i) { answer(*peer, line.kind, others[i]); }});
  }
  const std::vector<Timing> times = race(runners, kStates, kSeconds);
  double mine = std::numeric_limits<double>::infinity(), theirs = mine, mujoco = mine, difference = 0;
  for (std::size_t k = 0; k < ours.size(); ++k) mine = std::min(mine, times[k].ns);
  for (std::size_t k = 0; k < contestants.size(); ++k) {
    const double ns = times[ours.size() + k].ns;
    if (!contestants[k].name.starts_with("Pinocchio")) {
      mujoco = std::min(mujoco, ns);
      continue;
    }
    theirs = std::min(theirs, ns);
    difference = std::max(difference, disagreement(*contestants[k].peer, line, ours[0], states, floats));
  }
  std::string both;
  for (std::size_t k = 0; k < ours.size(); ++k) both += fmt::format("{}{:.0f}", k ? " / " : "", times[k].ns);
  const bool judged = theirs < std::numeric_limits<double>::infinity();
  const bool fine =
      !judged || (mine <= line.target * theirs && difference < (line.kind == Kind::closed ? kAgreeClosed : kAgree));
  missed += !fine;
  const auto shown = [](double ns) { return ns < 1e12 ? fmt::format("{:.0f}", ns) : std::string("-"); };
  const std::optional<long> counted = instructions(generated.program, "g++");
  table.row({line.robot, name_of(line.kind), std::to_string(cost.flops()), counted ? std::to_string(*counted) : "-",
             both, shown(theirs), shown(mujoco), judged ? fmt::format("{:.3f}", mine / theirs) : "-",
             fmt::format("{}", line.target), judged ? fmt::format("{:.1e}", difference) : "-",
             !judged ? ""
             : fine  ? "pass"
                     : "FAIL"});
}

/// As docs/codegen.md advises for batches: vectors of eight numbers that straddle no cache lines.
struct Packed {
  explicit Packed(long size) : numbers(static_cast<double*>(std::aligned_alloc(64, 64 * size)), &std::free) {}
  double* data() const { return numbers.get(); }
  double& operator[](std::size_t k) const { return numbers.get()[k]; }
  std::unique_ptr<double[], void (*)(void*)> numbers;
};

/// States per second of the form for eight at once, against the form for one, by the same compiler. Both are asked for
/// eight states at a time, so that what asking costs is the same for both.
void batch(const std::string& robot, const TreePointer& tree, Kind kind, const MarkdownTable& table) {
  const Line line{robot, tree, kind, 0};
  const codegen::Generated generated = generate(line);
  const int n = tree->freedoms();
  const std::vector<State> states = random_states(*tree, kStates);
  const auto field = [&](int state, int f) -> const VectorXd& {
    const State& s = states[state];
    return f == 0 ? s.q : f == 1 ? s.v : kind == Kind::inverse ? s.a : s.tau;
  };
  std::vector<Packed> packed[3];
  for (int first = 0; first < kStates; first += kLanes) {
    for (int f = 0; f < 3; ++f) {
      const long numbers = field(first, f).size();
      Packed x(numbers);
      for (long k = 0; k < numbers * kLanes; ++k) x[k] = field(first + static_cast<int>(k % kLanes), f)[k / kLanes];
      packed[f].push_back(std::move(x));
    }
  }
  for (auto& [compiler, code] : compile(generated.program, kLanes)) {
    VectorXd out(n);
    const Packed out_packed(n);
    double* one[] = {out.data()};
    double* many[] = {out_packed.data()};
    const auto times =
        race({{"one",
               [&, code = code](int group) {
                 for (int s = kLanes * group; s < kLanes * (group + 1); ++s) {
                   const double* in[] = {field(s, 0).data(), field(s, 1).data(), field(s, 2).data()};
                   code->run(in, one);
                 }
               }},
              {"batch",
               [&, code = code](int group) {
                 const double* in[] = {packed[0][group].data(), packed[1][group].data(), packed[2][group].data()};
                 code->run_batch(in, many);
               }}},
             kStates / kLanes, kSeconds);
    const double gain = times[0].ns / times[1].ns;
    missed += gain < kGain;
    table.row({robot, name_of(kind), compiler, fmt::format("{:.1f}", times[0].ns / kLanes),
               fmt::format("{:.1f}", times[1].ns / kLanes), fmt::format("{:.2f}", gain), fmt::format("{}", kGain),
               gain < kGain ? "FAIL" : "pass"});
  }
}

TreePointer first_of(const TreePointer& a, const TreePointer& b) { return a ? a : b; }

std::vector<Line> lines() {
  std::vector<Line> all;
  const auto arm = [&](const std::string& name, const TreePointer& tree) {
    if (!tree) return;
    all.push_back({name, tree, Kind::inverse, 0.25});
    all.push_back({name, tree, Kind::mass_matrix, 0.3});
    all.push_back({name, tree, Kind::forward, 0.28});
    all.push_back({name, tree, Kind::inverse_derivatives, 0.5});
    all.push_back({name, tree, Kind::forward_derivatives, 0.5});
  };
  arm("our arm7", own_robot("arm7.urdf"));
  arm("PUMA 560", shared_robot("synthetic/puma560_corke.urdf"));
  arm("iiwa 14", shared_robot("arms/iiwa14_primitive_collision.urdf"));
  const auto legged = [&](const std::string& name, const TreePointer& tree, double target) {
    if (!tree) return;
    all.push_back({name, tree, Kind::inverse, target});
    all.push_back({name, tree, Kind::forward, target});
  };
  legged("quadruped", own_robot("quadruped.urdf", true), 0.35);
  legged("solo12", shared_robot("legged/solo12.urdf", true), 0.35);
  legged("humanoid", shared_robot("legged/simple_humanoid.urdf", true), 0.5);
  all.push_back({"four-bar", closed_chain({0.2, 0.5, 0.4}, 0.45), Kind::closed, 0.05});
  return all;
}

int run(bool strict, const std::string& only) {
  section("one state, one thread");
  fmt::print(
      "ns of ours by g++ / clang++, of Pinocchio the best of its builds and conventions; instr.: callgrind's count of "
      "a "
      "call, by g++ for AVX2\n\n");
  const MarkdownTable one({"robot       ", "problem               ", "flops ", "instr.", "ours       ", "Pinocchio",
                           "MuJoCo", "ratio", "asked", "difference", "    "},
                          2);
  for (const Line& line : lines()) {
    if ((line.robot + " " + name_of(line.kind)).find(only) != std::string::npos) judge(line, one);
  }
  section("eight states at once");
  fmt::print("ns per state\n\n");
  const MarkdownTable many({"robot       ", "problem", "compiler", "  one", "of a batch", " gain", "asked", "    "}, 3);
  const TreePointer arm = first_of(shared_robot("arms/iiwa14_primitive_collision.urdf"), own_robot("arm7.urdf"));
  batch("arm", arm, Kind::inverse, many);
  batch("arm", arm, Kind::forward, many);
  if (missed > 0) fmt::print("\n{} lines missed their target\n", missed);
  return strict && missed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace kinegraph::bench

int main(int argc, char** argv) {
  const bool strict = argc > 1 && std::string(argv[1]) == "--strict";
  const std::string only = argc > 1 && !strict ? argv[1] : "";
  // what it compiles is kept in a folder of its own, and only as long as it runs
  std::string folder = (std::filesystem::temp_directory_path() / "kinegraph_bench_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  const int status = kinegraph::bench::run(strict, only);
  std::filesystem::remove_all(folder);
  return status;
}
