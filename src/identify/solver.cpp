#include "kinegraph/identify/solver.hpp"

#include <chrono>
#include <cmath>
#include <limits>

#include "kinegraph/identify/solver_implementation.hpp"

namespace kinegraph::identify {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Strictly within the bounds.
Eigen::VectorXd inside(const Parameters& parameters, Eigen::VectorXd x) {
  for (int i = 0; i < static_cast<int>(x.size()); ++i) {
    const double lower = parameters.lower()[i], upper = parameters.upper()[i], range = upper - lower;
    if (!(range > 0)) continue;
    const double margin = std::min(kMargin * std::max(1.0, std::abs(x[i])), 0.25 * range);
    x[i] = std::min(std::max(x[i], lower + margin), upper - margin);
  }
  return x;
}

}  // namespace

Solver::Solver(const Parameters& parameters, std::vector<Problem>& problems, const SolverOptions& options)
    : parameters_(parameters),
      problems_(problems),
      options_(options),
      arrows_(options.memory ? *options.memory : own_) {
  arrows_.resize(problems.size());
  for (std::size_t r = 0; r < problems.size(); ++r) {
    arrows_[r].reset(problems[r].unknowns(), problems[r].knots(), parameters.size());
  }
}

Result<SolverReport> Solver::run(Eigen::VectorXd& x, std::vector<std::vector<double>>& poses) {
  const Clock::time_point start = Clock::now();
  x_ = inside(parameters_, x);
  poses_ = poses;
  trial_ = poses;
  Result<MachinePoint> first = parameters_.at(x_);
  if (!first) return first.failure();
  machine_ = std::move(*first);
  for (std::size_t r = 0; r < problems_.size(); ++r) problems_[r].follow(machine_, poses_[r]);
  std::size_t numbers = 0;
  for (const Problem& problem : problems_) numbers += problem.row_numbers(parameters_.size());
  const bool keep = (options_.measure || options_.lend) && numbers <= options_.most_kept;
  for (Problem& problem : problems_) problem.keep_rows(keep);
  cost_ = linearize(machine_, x_, poses_);
  if (!std::isfinite(cost_)) return no_start();
  report_.first_cost = cost_;
  remember();
  while (report_.why_stopped.empty()) {
    if (options_.progress && !options_.progress(static_cast<double>(report_.iterations) / options_.most_iterations)) {
      return Failure::interrupted();
    }
    if (report_.iterations >= options_.most_iterations) {
      report_.why_stopped = "the most iterations were done";
      break;
    }
    iterate();
  }
  for (Problem& problem : problems_) problem.recall();
  report_.cost = cost_;
  report_.seconds = seconds_since(start);
  report_.at_bound = at_bound_;
  x = x_;
  poses = poses_;
  const bool measured = measure();
  for (Problem& problem : problems_) {
    if (!options_.lend) problem.keep_rows(false);
  }
  if (!measured) return Failure::no_answer("the motion cannot be told from the readings: " + undetermined_);
  return std::move(report_);
}

Failure Solver::no_start() const {
  std::string why = "the parameters are too far from their priors";
  for (const Problem& problem : problems_) {
    if (!problem.is_finite()) why = problem.fault();
  }
  return Failure::no_answer("no fit starts from this model and recording: " + why +
                            "; look at axes, signs, units and gains");
}

double Solver::prior_cost(const Eigen::VectorXd& x) const {
  double sum = 0;
  for (int i = 0; i < static_cast<int>(x.size()); ++i) {
    const double sigma = parameters_.prior()[i];
    if (std::isfinite(sigma) && sigma > 0) sum += std::pow((x[i] - parameters_.start()[i]) / sigma, 2);
  }
  return sum;
}

double Solver::linearize(const MachinePoint& machine, const Eigen::VectorXd& x,
                         const std::vector<std::vector<double>>& poses) {
  double sum = prior_cost(x);
  for (std::size_t r = 0; r < problems_.size() && std::isfinite(sum); ++r) {
    sum += problems_[r].linearize(machine, poses[r], arrows_[r]);
  }
  return sum;
}

/// Where it is above `most`, some number above that.
double Solver::cost(const MachinePoint& machine, const Eigen::VectorXd& x,
                    const std::vector<std::vector<double>>& poses, double most) {
  double sum = prior_cost(x);
  for (std::size_t r = 0; r < problems_.size() && std::isfinite(sum) && sum <= most; ++r) {
    sum += problems_[r].cost_up_to(most - sum, machine, poses[r]);
  }
  return sum;
}

/// The residuals' variance, from all that is left of them, where the search is.
void Solver::find_variance() {
  long rows = 0;
  for (const Problem& problem : problems_) {
    rows += problem.impulse_rows() + problem.reading_rows() - static_cast<long>(problem.knots()) * problem.unknowns();
  }
  variance_ = cost_ / static_cast<double>(std::max(1L, rows));
}

void Solver::remember() {
  find_variance();
  failed_fall_ = -1;
  for (Problem& problem : problems_) problem.remember();
  report_.costs.push_back(cost_);
  report_.path.push_back(x_);
  if (options_.watch) options_.watch(report_.iterations, cost_, x_);
}

void Solver::iterate() {
  ++report_.iterations;
  Eigen::VectorXd d;
  if (!propose(d)) return worsen();
  Result<MachinePoint> machine = approach(d);
  if (!machine) return worsen();
  if (options_.blind) {
    x_ += d;
    return stop(true, "one step was asked for");
  }
  double fall = move(*machine, d);
  const bool last = is_small(d, fall), modest = fall <= kModestFall * variance_;
  // Nearly all steps are good: their normal equations are found at once with their cost. The first one, those after one
  // that was not, and those that promise little are tried first, and shortened: far from the answer steps overshoot.
  const bool careful = report_.iterations == 1 || nu_ > kFirstNu || modest;
  if (careful && has_failed(d, fall)) return fail(last, modest);
  failed_ = d, failed_fall_ = careful ? fall : -1;
  // of a long step that is not good it does not matter how bad it is
  const double most = last || modest ? std::numeric_limits<double>::infinity() : cost_;
  double next = careful ? cost(*machine, x_ + d, trial_, most) : 0;
  const int shorter = !careful ? 0 : modest ? kFewShorter : kMostShorter;
  for (int i = 0; i < shorter && !(next < cost_); ++i) {
    d *= 0.5;
    Result<MachinePoint> nearer = parameters_.at(x_ + d);
    if (!nearer) break;
    machine = std::move(nearer);
    fall = move(*machine, d);
    next = cost(*machine, x_ + d, trial_, most);
  }
  const Eigen::VectorXd x = x_ + d;
  const bool linearized = !careful || next < cost_;
  if (linearized) next = linearize(*machine, x, trial_);
  const bool good = next < cost_;
  if (!good && linearized) cost_ = linearize(machine_, x_, poses_);
  if (!std::isfinite(next)) {  // no motion there: that says nothing of how near the answer is
    failed_fall_ = -1;
    return worsen();
  }
  if (!good) return fail(last, modest);
  const double gain = fall > 0 ? (cost_ - next) / fall : 1;
  damping_ = std::max(kLeastDamping, damping_ * std::max(1.0 / 3, 1 - std::pow(2 * gain - 1, 3)));
  nu_ = kFirstNu;
  slow_ = cost_ - next <= kSlowFall * variance_ ? slow_ + 1 : 0;
  cost_ = next, x_ = x, machine_ = std::move(*machine);
  poses_.swap(trial_);
  remember();
  if (last) return stop(true, "the last step was small");
  if (slow_ >= kMostSlow) return stop(true, "the residuals hardly fall any more");
  if (cost_ <= kNothing * report_.first_cost) stop(true, "nothing is left of the residuals");
}

/// A step that was not good.
void Solver::fail(bool last, bool modest) {
  if (last) return stop(true, "no step makes the residuals smaller");
  slow_ = modest ? slow_ + 1 : 0;
  if (slow_ >= kMostSlow) return stop(true, "the residuals hardly fall any more");
  worsen();
}

/// Poses after a step of the parameters; returns by how much the cost should fall.
double Solver::move(const MachinePoint& machine, const Eigen::VectorXd& d) {
  double fall = prior_cost(x_) - prior_cost(x_ + d);
  for (std::size_t r = 0; r < problems_.size(); ++r) {
    arrows_[r].substitute(d);
    fall += arrows_[r].predicted_fall();
    problems_[r].retract(machine, poses_[r], arrows_[r], trial_[r]);
  }
  return fall;
}

/// The step of the parameters, states eliminated, within bounds and inequalities to first order.
bool Solver::propose(Eigen::VectorXd& d) {
  const int p = parameters_.size();
  linear::BarrierProblem problem;
  problem.S = Eigen::MatrixXd::Zero(p, p);
  problem.g = Eigen::VectorXd::Zero(p);
  for (linear::Arrowhead& arrow : arrows_) {
    if (!arrow.eliminate(damping_)) return false;
    if (p == 0) continue;
    problem.S += arrow.schur();
    problem.g += arrow.reduced_gradient();
  }
  // Coordinates are of order one: what no row tells of stays near.
  problem.S.diagonal().array() += kRidge * variance_;
  for (int i = 0; i < p; ++i) {
    const double sigma = parameters_.prior()[i];
    if (!std::isfinite(sigma) || !(sigma > 0)) continue;
    problem.S(i, i) += (1 + damping_) / (sigma * sigma);
    problem.g[i] += (x_[i] - parameters_.start()[i]) / (sigma * sigma);
  }
  if (!problem.S.allFinite() || !problem.g.allFinite()) return false;
  problem.lower = parameters_.lower() - x_;
  problem.upper = parameters_.upper() - x_;
  const auto is_frozen = [&](int i) { return !options_.frozen.empty() && options_.frozen[i]; };
  for (int i = 0; i < p; ++i) {
    if (!is_frozen(i)) continue;
    problem.S.row(i).setZero(), problem.S.col(i).setZero();
    problem.S(i, i) = 1, problem.g[i] = 0;
  }
  for (MatrixInequality& inequality : parameters_.inequalities(x_)) {
    linear::MatrixInequality made{std::move(inequality.value), {}};
    for (int i = 0; i < static_cast<int>(inequality.slope.size()); ++i) {
      if (!inequality.slope[i].isZero(0)) made.terms.push_back({i, std::move(inequality.slope[i])});
    }
    problem.inequalities.push_back(std::move(made));
  }
  linear::BarrierStep step = linear::barrier_step(problem);
  at_bound_.assign(p, false);
  for (int i = 0; i < p; ++i) {
    at_bound_[i] = step.bounds[i] == linear::BoundState::lower || step.bounds[i] == linear::BoundState::upper;
  }
  report_.at_edge = step.inequalities;
  // one that reaches its bound, by rounding, would never leave it
  d = inside(parameters_, x_ + step.d) - x_;
  for (int i = 0; i < p; ++i) {
    if (is_frozen(i)) d[i] = 0, at_bound_[i] = false;
  }
  return d.allFinite();
}

/// The machine after a step, which is halved until the machine is a possible one.
Result<MachinePoint> Solver::approach(Eigen::VectorXd& d) const {
  for (int i = 0; i < kMostHalvings; ++i, d *= 0.5) {
    bool possible = true;
    for (const MatrixInequality& inequality : parameters_.inequalities(x_ + d)) {
      const Eigen::LLT<Eigen::MatrixXd> factor(inequality.value);
      possible = possible && inequality.value.allFinite() && factor.info() == Eigen::Success;
    }
    if (!possible) continue;
    Result<MachinePoint> machine = parameters_.at(x_ + d);
    if (machine && machine->numbers.allFinite() && machine->directions.allFinite()) return machine;
  }
  return Failure::no_answer("no possible machine is near");
}

/// Whether a step changes next to nothing: parameters by a share of themselves, or all by a share of what noise does.
bool Solver::is_small(const Eigen::VectorXd& d, double fall) const {
  if (fall <= kSmallFall * variance_) return true;
  if (d.size() == 0) return fall <= options_.tolerance * options_.tolerance * cost_;
  return ((d.cwiseAbs() - options_.tolerance * x_.cwiseAbs()).array() <= 1e-3 * options_.tolerance).all();
}

/// Whether a step is the last one again, which was not good: more damping did not change it.
bool Solver::has_failed(const Eigen::VectorXd& d, double fall) const {
  return failed_fall_ > 0 && std::abs(fall - failed_fall_) <= kSameStep * failed_fall_ &&
         (d - failed_).norm() <= kSameStep * failed_.norm();
}

void Solver::worsen() {
  damping_ = std::max(damping_ * nu_, kRaisedDamping);
  nu_ = std::min(2 * nu_, kMostNu);
  if (damping_ > kMostDamping) stop(false, "no step makes the residuals smaller, however short");
}

void Solver::stop(bool converged, const char* why) {
  report_.converged = converged;
  report_.why_stopped = why;
}

/// What the rows at the answer say of the parameters, undamped.
bool Solver::measure() {
  const int p = parameters_.size();
  report_.information = report_.scatter = Eigen::MatrixXd::Zero(p, p);
  if (!options_.measure && !options_.absorbed) return true;
  for (std::size_t r = 0; r < problems_.size(); ++r) {
    linear::Arrowhead& arrow = arrows_[r];
    bool done = false;
    // directions that no row sees need something to hold them
    for (double damping = 0; !done && damping < 1e-6; damping = damping == 0 ? 1e-13 : 10 * damping) {
      done = arrow.eliminate(damping);
    }
    if (!done) {
      undetermined_ = "knot " + std::to_string(arrow.worst_pivot().knot) + " moves freely";
      return false;
    }
    if (options_.absorbed) {
      const Eigen::VectorXd one = problems_[r].absorbed(machine_, poses_[r], arrow);
      if (r == 0) report_.absorbed.setZero(one.size());
      report_.absorbed += one;
    }
    if (p == 0 || !options_.measure) continue;
    arrow.find_border_response();
    const int second = static_cast<int>(std::ceil(1 / problems_[r].step_length()));
    problems_[r].measure(machine_, poses_[r], arrow, std::max(second, problems_[r].steps() / 50), report_.information,
                         report_.scatter);
  }
  return report_.information.allFinite() && report_.scatter.allFinite();
}

Result<SolverReport> solve(const Parameters& parameters, std::vector<Problem>& problems, Eigen::VectorXd& x,
                           std::vector<std::vector<double>>& poses, const SolverOptions& options) {
  return Solver(parameters, problems, options).run(x, poses);
}

}  // namespace kinegraph::identify
