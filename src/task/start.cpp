#include "kinegraph/task/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kinegraph/solve/optimizer.hpp"
#include "kinegraph/step/acceleration.hpp"

namespace kinegraph::task {
namespace {

using System = std::shared_ptr<const natural::System>;

constexpr int kPlanarNearby = 3;      // besides the pose itself, to tell a singular position from a redundancy
constexpr double kLargestMove = 0.2;  // a held coordinate (rad, m) is brought farther than this in stages
constexpr int kMostStages = 100;
constexpr int kBranchTries = 12;  // starts of the search for the directions in which a singular pose can be left

double largest(const std::vector<double>& x, int& where) {
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i]) > most) most = std::abs(x[i]), where = static_cast<int>(i);
  }
  return most;
}

/// By how much the constraint that is left open most is open.
double open(const natural::System& system, double t, const Eigen::VectorXd& q, int& worst) {
  std::vector<double> phi(system.constraints());
  system.position(q.data(), t, phi.data(), nullptr);
  return largest(phi, worst);
}

double held_miss(const Eigen::VectorXd& x, const std::vector<Held>& held) {
  double most = 0;
  for (const Held& h : held) most = std::max(most, std::abs(x[h.coordinate] - h.value));
  return most;
}

/// The last digits of an assembly: Newton steps by least norm onto Φ = 0, as long as they help.
void polish(const System& system, double t, const std::vector<int>& redundant, Eigen::VectorXd& q) {
  step::Acceleration metric(system, redundant);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(q.size()), u = Eigen::VectorXd::Zero(system->motors());
  Eigen::VectorXd v = zero;
  for (int i = 0; i < 2; ++i) {
    Eigen::VectorXd trial = q;
    if (!metric.solve(trial.data(), zero.data(), t, u.data(), nullptr, nullptr)) return;
    metric.project(trial.data(), v.data(), t);
    int at = 0;
    if (!(open(*system, t, trial, at) < open(*system, t, q, at))) return;
    q = trial;
  }
}

/// Poses that the mechanism can take near one.
std::vector<Eigen::VectorXd> nearby_poses(const System& system, double t, const Eigen::VectorXd& q) {
  std::vector<Eigen::VectorXd> poses = {q};
  for (int i = 1; i <= kPlanarNearby; ++i) {
    Eigen::VectorXd guess = q;
    for (int c = 0; c < q.size(); ++c) {
      guess[c] += 0.02 * i * system->typical_length() * std::sin(1.7 * c + 2.3 * i + 0.5);
    }
    if (auto pose = assemble(system, t, guess, {})) poses.push_back(std::move(*pose));
  }
  return poses;
}

Result<Eigen::VectorXd> solve_velocity(const System& system, double t, const Eigen::VectorXd& q,
                                       const Eigen::VectorXd& wish, const std::vector<Held>& held, bool singular) {
  build::Instant instant = build::velocity_problem(system, t, q, wish, held, singular);
  OptimizerOptions options;
  options.max_iterations = 200;
  const auto report = optimize(instant.graph, instant.values, options);
  if (!report) return report.failure();
  Eigen::VectorXd v = instant.velocity();
  std::vector<double> rate(system->constraints());
  system->velocity(q.data(), v.data(), t, rate.data(), nullptr, nullptr);
  int worst = 0;
  const double miss = largest(rate, worst), speed = 1 + v.lpNorm<Eigen::Infinity>();
  if (!v.allFinite() || miss > 1e-8 * speed * (1 + system->typical_length()) || held_miss(v, held) > 1e-8 * speed) {
    return Failure::no_answer(fmt::format("the initial rates contradict each other: 'rate of {}' is off by {:.3g}",
                                          system->constraint_name(worst), miss));
  }
  return v;
}

/// Accelerations and multipliers beside a singular pose, in the middle of both sides: on the branch that q̇ points along
/// the motion is smooth, so that is what they are at the pose itself. `force`: the largest multipliers met.
bool solve_aside(Start& start, step::Acceleration& acceleration, const std::vector<double>& u, double& force) {
  const natural::System& system = *start.system;
  start.a = Eigen::VectorXd::Zero(system.coordinates());
  start.lambda = Eigen::VectorXd::Zero(system.constraints());
  const double aside = 1e-4 * system.typical_length() / start.v.norm();
  for (double side : {-aside, aside}) {
    Eigen::VectorXd v = start.v, a = start.a, lambda = start.lambda;
    auto q = assemble(start.system, 0, start.q + side * start.v, {});
    if (!q) return false;
    for (int i = 0; i < 2; ++i) {
      if (!acceleration.solve(q->data(), v.data(), 0, u.data(), a.data(), lambda.data())) return false;
      acceleration.project(q->data(), v.data(), 0);
    }
    start.a += 0.5 * a;
    start.lambda += 0.5 * lambda;
    force = std::max(force, lambda.norm());
  }
  return true;
}

/// A singular pose can be left along several branches. Of those found from different starts, the one with the smallest
/// joint forces is taken: on the others they grow without bound toward the pose.
Result<Start> leave_singular_pose(Start start, const Eigen::VectorXd& wish, const std::vector<Held>& rates) {
  step::Acceleration acceleration(start.system, start.mobility.redundant);
  std::vector<double> u(start.system->motors());
  for (int j = 0; j < start.system->motors(); ++j) u[j] = start.system->motor_law(j, 0);
  std::optional<Start> best;
  double best_force = 0;
  Failure reason = Failure::no_answer("the initial rates contradict each other at a singular position");
  for (int attempt = 0; attempt < kBranchTries; ++attempt) {
    Eigen::VectorXd guess = wish;
    for (int i = 0; attempt > 0 && i < guess.size(); ++i) {
      double scale = 0;
      for (const Held& h : rates) scale = std::max(scale, std::abs(h.value) * start.system->typical_length());
      guess[i] += scale * std::sin(12.9898 * (i + 1) + 78.233 * attempt);
    }
    auto v = solve_velocity(start.system, 0, start.q, guess, rates, true);
    if (!v) {
      reason = v.failure();
      continue;
    }
    Start candidate = start;
    candidate.v = std::move(*v);
    if (candidate.v.norm() == 0) return candidate;
    double force = 0;
    if (!solve_aside(candidate, acceleration, u, force)) continue;
    if (!best || force < 0.99 * best_force) best = std::move(candidate), best_force = force;
    if (rates.empty()) break;
  }
  if (!best) return reason;
  return *best;
}

}  // namespace

namespace {

/// By how much a constraint is open, in metres: how far one of its points must go until it holds, the others at rest.
///     Φᵣ(q + s u) = 0,  u along ∂Φᵣ of the point that changes it most
/// A constraint of no point (a driver of an angle) is open by an angle.
std::string gap(const natural::System& system, double t, const Eigen::VectorXd& q, int row) {
  std::vector<double> phi(system.constraints()), values(system.jacobian_pattern().size());
  const auto gradient = [&](const Eigen::VectorXd& at) {
    Eigen::VectorXd g = Eigen::VectorXd::Zero(q.size());
    system.position(at.data(), t, phi.data(), values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Entry& entry = system.jacobian_pattern()[i];
      if (entry.row == row) g[entry.column] += values[i];
    }
    return g;
  };
  const Eigen::VectorXd g = gradient(q);
  Eigen::VectorXd u = Eigen::VectorXd::Zero(q.size());
  for (int i = 0; i + 1 < q.size(); ++i) {
    const std::string &x = system.coordinate_name(i), &y = system.coordinate_name(i + 1);
    if (!x.ends_with(".x") || !y.ends_with(".y") || !(g.segment<2>(i).norm() > u.norm())) continue;
    u.setZero();
    u.segment<2>(i) = g.segment<2>(i);
  }
  if (u.norm() == 0) return fmt::format("{:.3g} (rad, m)", std::abs(phi[row]));
  const double first = std::abs(phi[row]) / u.norm();
  u.normalize();
  double s = 0;
  for (int i = 0; i < 50; ++i) {
    const double slope = gradient(q + s * u).dot(u);
    if (!(std::abs(slope) > 0)) return fmt::format("{:.3g} m", first);
    s -= phi[row] / slope;
  }
  gradient(q + s * u);
  const bool holds = std::isfinite(s) && std::abs(phi[row]) < 1e-6 * g.norm() * system.typical_length();
  return fmt::format("{:.3g} m", holds ? std::abs(s) : first);
}

/// Says which constraint stays open most, and by how much, where all together are open least.
Failure not_assembled(const System& system, double t, const Eigen::VectorXd& guess, const std::vector<Held>& held) {
  build::Instant instant = build::position_problem(system, t, guess, held, true);
  OptimizerOptions options;
  options.max_iterations = 300;
  int worst = 0;
  double miss = open(*system, t, guess, worst);
  Eigen::VectorXd where = guess;
  if (optimize(instant.graph, instant.values, options) && instant.position().allFinite()) {
    where = instant.position();
    miss = open(*system, t, where, worst);
  }
  const char* with = held.empty() ? "" : " with the given coordinates held";
  if (miss < 1e-6 * system->typical_length()) {
    return Failure::no_answer(
        fmt::format("cannot be assembled as drawn{}: draw it nearer to where it should be", with));
  }
  return Failure::no_answer(fmt::format("cannot be assembled: '{}' stays open by {}{}", system->constraint_name(worst),
                                        gap(*system, t, where, worst), with));
}

/// One solve of the position problem.
Result<Eigen::VectorXd> assemble_at_once(const System& system, double t, const Eigen::VectorXd& guess,
                                         const std::vector<Held>& held) {
  const double length = system->typical_length();
  const double scale = std::max(length, length * length);
  int worst = 0;
  if (held_miss(guess, held) == 0 && open(*system, t, guess, worst) < 1e-14 * scale && system->proper(guess.data())) {
    return guess;
  }
  build::Instant instant = build::position_problem(system, t, guess, held);
  OptimizerOptions options;
  options.max_iterations = 300;
  const auto report = optimize(instant.graph, instant.values, options);
  if (!report) return report.failure();
  Eigen::VectorXd q = instant.position();
  const double miss = open(*system, t, q, worst);
  const bool closed = q.allFinite() && miss < 1e-9 * scale && held_miss(q, held) <= 1e-9;
  if (closed && system->proper(q.data())) return q;
  return not_assembled(system, t, guess, held);
}

}  // namespace

Result<Eigen::VectorXd> assemble(std::shared_ptr<const natural::System> system, double t, const Eigen::VectorXd& guess,
                                 const std::vector<Held>& held) {
  double way = 0;
  for (const Held& h : held) way = std::max(way, std::abs(h.value - guess[h.coordinate]));
  const int stages = static_cast<int>(std::clamp(std::ceil(way / kLargestMove), 1.0, double(kMostStages)));
  Eigen::VectorXd q = guess;
  std::vector<Held> on_the_way = held;
  for (int stage = 1; stage <= stages && stages > 1; ++stage) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      const double from = guess[held[i].coordinate];
      on_the_way[i].value = stage == stages ? held[i].value : from + (held[i].value - from) * stage / stages;
    }
    auto next = assemble_at_once(system, t, q, on_the_way);
    if (!next) {  // it may still be reached in one leap; if not, this is where the way ends
      auto leap = assemble_at_once(system, t, q, held);
      return leap ? leap : next;
    }
    q = std::move(*next);
  }
  return assemble_at_once(system, t, q, held);
}

Result<Eigen::VectorXd> assemble_drawing(std::shared_ptr<const natural::System> system, const std::vector<Held>& held) {
  const Eigen::VectorXd drawn = system->guess();
  auto q = assemble(system, 0, drawn, held);
  for (const double share : {0.01, 0.1}) {
    if (q || q.failure().kind == Failure::Kind::interrupted) break;
    Eigen::VectorXd aside = drawn;
    for (int i = 0; i < aside.size(); ++i) {
      const std::string& name = system->coordinate_name(i);
      if (!name.ends_with(".x") && !name.ends_with(".y")) continue;
      aside[i] += share * system->typical_length() * std::sin(12.9898 * (i + 1));
    }
    if (auto found = assemble(system, 0, aside, held)) q = std::move(found);
  }
  return q;
}

Result<Start> make_start(const Model& model) {
  Start start;
  start.system = std::make_shared<natural::System>(model);
  const natural::System& system = *start.system;
  std::vector<Held> positions, rates;
  for (const InitialValue& i : model.initial) {
    const int c = system.index_of(i.coordinate);
    if (c >= 0) (i.rate ? rates : positions).push_back({c, i.value});
  }
  Eigen::VectorXd wish = Eigen::VectorXd::Zero(system.coordinates());
  for (int p = 0; p < static_cast<int>(model.points.size()); ++p) {
    const int x = system.index_of({CoordinateRef::What::point_x, p});
    if (x >= 0) wish.segment<2>(x) = model.points[p].velocity;
  }
  auto q = assemble_drawing(start.system, positions);
  if (!q) return std::move(q).failure();
  start.q = std::move(*q);
  start.mobility =
      build::mobility(system, 0, nearby_poses(start.system, 0, start.q), static_cast<int>(model.relative.size()));
  polish(start.system, 0, start.mobility.redundant, start.q);
  if (start.mobility.singular_here) {
    auto left = leave_singular_pose(start, wish, rates);
    if (!left || left->a.size() > 0) return left;
    start = std::move(*left);
  } else {
    auto v = solve_velocity(start.system, 0, start.q, wish, rates, false);
    if (!v) return std::move(v).failure();
    start.v = std::move(*v);
  }
  std::vector<double> u(system.motors());
  for (int j = 0; j < system.motors(); ++j) u[j] = system.motor_law(j, 0);
  start.a.setZero(system.coordinates());
  start.lambda.setZero(system.constraints());
  step::Acceleration acceleration(start.system, start.mobility.redundant);
  if (!acceleration.solve(start.q.data(), start.v.data(), 0, u.data(), start.a.data(), start.lambda.data())) {
    return Failure::no_answer("the accelerations at the start are not finite");
  }
  if (start.mobility.singular_here) {
    return Failure::no_answer(
        "starts at rest in a singular position, from which it could move along more than one branch; give it a rate, "
        "or "
        "start it a little aside");
  }
  if (const int row = acceleration.undetermined(); row >= 0) {
    const std::string what =
        row < system.coordinates() ? system.coordinate_name(row) : system.constraint_name(row - system.coordinates());
    return Failure::no_answer(
        fmt::format("the motion is not determined at '{}': has everything that can move there a mass?", what));
  }
  return start;
}

}  // namespace kinegraph::task
