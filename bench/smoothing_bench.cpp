// A batch smoother beside Ceres (Debian's) on the same graph: the same variables at every instant (position, velocity,
// acceleration, forces of the constraints), residuals, Jacobians, weights and start. The four-bar swings; its crank
// angle is read every fifth instant. Mechanism and motion are heavy costs, for Ceres knows no hard rows; ours is
// measured with hard ones besides. Told: the processor's seconds, and those until the cost is within 1e-6 of the lowest
// of all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bench/clock.hpp"
#include "bench/smoothing_peer.hpp"
#include "bench/table.hpp"
#include "kinegraph/graph/function_factor.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/solve/optimizer.hpp"
#include "kinegraph/task/motion.hpp"

namespace kinegraph::bench {
namespace {

constexpr double kStep = 5e-3;      // s
constexpr double kNoise = 0.01;     // rad, of a reading
constexpr int kMost = 200;          // iterations
constexpr int kReadEvery = 5;       // instants
constexpr double kWrong = 0.05;     // rad, by which the first guess starts off
constexpr double kNear = 1 + 1e-6;  // of the lowest cost

/// Covariances of the soft graph: rows of the motion, the dynamics, the mechanism.
constexpr build::SoftWeights kWeights = {1e-6, 1e-4, 1e-6, 1e2};

build::NaturalOptions options_of(const task::Start& start, bool soft) {
  build::NaturalOptions options;
  options.integrator = build::Integrator::trapezoidal;
  options.step = kStep;
  options.redundant = start.mobility.redundant;
  options.soft = soft;
  options.weights = kWeights;
  return options;
}

/// A free motion of the model over so many knots: the numbers of all knots, one after the other.
std::vector<double> free_motion(const Model& model, bool soft, int knots) {
  const task::Start start = require(task::make_start(model), "start");
  task::Motion motion(start, options_of(start, soft), static_cast<int>(model.relative.size()), 2);
  motion.begin(0, start.q, start.v, start.a, start.lambda);
  const int size = motion.names().chain->knot_size();
  std::vector<double> numbers(motion.solver().knot(0), motion.solver().knot(0) + size);
  for (int k = 1; k < knots; ++k) {
    motion.advance(k * kStep);
    if (!motion.solve().converged) std::abort();
    const double* last = motion.solver().knot(motion.last());
    numbers.insert(numbers.end(), last, last + size);
  }
  return numbers;
}

struct Problem {
  Graph graph;
  Values values;
};

/// r = (θ − y)/σ at one knot.
std::shared_ptr<const Factor> reading(int coordinates, int place, double y) {
  return std::make_shared<FunctionFactor>("reading", 1, std::vector{coordinates},
                                          [=](Slots x, double* residual, double* jacobian) {
                                            residual[0] = x[0][place] - y;
                                            if (!jacobian) return;
                                            std::fill_n(jacobian, coordinates, 0.0);
                                            jacobian[place] = 1;
                                          });
}

/// All of a graph's rows as costs, those that were hard with the weight of the mechanism's; or, with hard rows, its
/// costs with the weight of the motion's.
Graph weighed(const Graph& plain, bool soft) {
  Graph graph;
  graph.known() = plain.known();
  const Noise motion = Noise::isotropic(std::sqrt(kWeights.integrator));
  const Noise mechanism = Noise::isotropic(std::sqrt(kWeights.constraint));
  for (const BoundFactor& f : plain.factors()) {
    if (soft) {
      graph.add(f.factor, f.keys, Role::cost, f.role == Role::equality ? mechanism : f.noise);
    } else {
      graph.add(f.factor, f.keys, f.role, f.role == Role::cost ? motion : f.noise);
    }
  }
  return graph;
}

Problem smoothing(const Model& model, bool soft, int knots) {
  const Model wrong = require(model.with({{"theta.q", kWrong}}), "theta.q");
  const task::Start start = require(task::make_start(model), "start");
  const build::NaturalChain names = build::natural_chain(start.system, options_of(start, soft));
  const std::vector<double> truth = free_motion(model, soft, knots), guess = free_motion(wrong, soft, knots);
  Problem problem{weighed(unroll(*names.chain, knots), soft), unroll_values(*names.chain, knots, guess, {})};
  const int n = start.system->coordinates(), theta = n - 1;
  const int place = names.chain->knot_offset(names.q) + theta;
  std::mt19937 generator(1);
  std::normal_distribution<double> noise(0, kNoise);
  for (int k = 0; k < knots; k += kReadEvery) {
    const double y = truth[static_cast<std::size_t>(k) * names.chain->knot_size() + place] + noise(generator);
    problem.graph.add(reading(n, theta, y), {knot_key(*names.chain, names.q, k)}, Role::cost, Noise::isotropic(kNoise));
  }
  return problem;
}

SmoothingRun ours(const Problem& problem, int most) {
  Values values = problem.values;
  OptimizerOptions options;
  options.max_iterations = most;
  options.cost_tolerance = 1e-10;
  SmoothingRun run;
  const double start = cpu_seconds();
  const Report report = require(optimize(problem.graph, values, options), "optimize");
  run.seconds = cpu_seconds() - start;
  run.iterations = report.iterations;
  run.cost = report.cost_after;
  run.converged = report.converged();
  return run;
}

/// Seconds of the shortest run that ends at this cost.
double seconds_until(const Problem& problem, double cost, int most) {
  if (ours(problem, most).cost > cost) return 0;
  int low = 0;
  while (most - low > 1) {
    const int middle = (low + most) / 2;
    (ours(problem, middle).cost <= cost ? most : low) = middle;
  }
  return ours(problem, most).seconds;
}

void row(const MarkdownTable& table, int knots, const std::string& who, const SmoothingRun& r) {
  table.row({who, fmt::format("{}", knots), fmt::format("{}", r.iterations), cell(r.seconds), cell(r.near_seconds),
             fmt::format("{:.6f}", r.cost), r.converged ? "yes" : "no"});
}

void compare(const MarkdownTable& table, const Model& model, int knots) {
  const Problem soft = smoothing(model, true, knots), hard = smoothing(model, false, knots);
  SmoothingRun own = ours(soft, kMost);
  Values values = soft.values;
  const double lowest = std::min(own.cost, ceres(soft.graph, values, 0).cost);
  values = soft.values;
  const SmoothingRun peer = ceres(soft.graph, values, kNear * lowest);
  own.near_seconds = seconds_until(soft, kNear * lowest, own.iterations);
  row(table, knots, "ours", own);
  row(table, knots, "Ceres", peer);
  row(table, knots, "ours, hard rows", ours(hard, kMost));
}

}  // namespace
}  // namespace kinegraph::bench

int main() {
  using namespace kinegraph::bench;
  const kinegraph::Model model =
      require(kinegraph::read_model(KINEGRAPH_SOURCE_DIR "/models/fourbar.yaml"), "models/fourbar.yaml");
  const MarkdownTable table(
      {"solver         ", "instants", "iterations", "      s", "s to lowest", "      cost", "converged"});
  for (const int knots : quick() ? std::vector{200} : std::vector{100, 300, 1000}) compare(table, model, knots);
  return 0;
}
