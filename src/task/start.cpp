#include "kinegraph/task/start.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kinegraph/build/independent.hpp"
#include "kinegraph/factor/common/prior.hpp"
#include "kinegraph/factor/common/select.hpp"
#include "kinegraph/factor/natural/acceleration_constraint.hpp"
#include "kinegraph/factor/natural/labels.hpp"
#include "kinegraph/factor/natural/position_constraint.hpp"
#include "kinegraph/factor/natural/velocity_constraint.hpp"
#include "kinegraph/linear/rank.hpp"
#include "kinegraph/solve/optimizer.hpp"
#include "kinegraph/step/acceleration.hpp"

namespace kinegraph::task {
namespace {

constexpr Key kTime{Kind::time}, kQ{Kind::position}, kV{Kind::velocity}, kA{Kind::acceleration},
    kLambda{Kind::multiplier}, kHeld{Kind::user};

constexpr int kDenseChoice = 1000;  // coordinates up to which full pivoting is affordable

std::vector<double> to_vector(const Eigen::VectorXd& x) { return {x.begin(), x.end()}; }

/// A graph about one instant: time and what is held are known, a prior draws the unknown toward a guess.
struct Instant {
  std::shared_ptr<const natural::System> system;
  Graph graph;
  Values values;

  Instant(const natural::System& s, double t) : system(std::make_shared<natural::System>(s)) { known(kTime, t); }

  template <class T>
  void known(const Key& key, const T& value) {
    values.insert(key, value);
    graph.known().insert(key);
  }
  void hold(const Key& key, const std::vector<Held>& held) {
    if (held.empty()) return;
    std::vector<int> indices;
    Eigen::VectorXd target(held.size());
    for (std::size_t i = 0; i < held.size(); ++i) {
      indices.push_back(held[i].coordinate);
      target[i] = held[i].value;
    }
    known(kHeld, target);
    const auto factor =
        std::make_shared<Select>(system->coordinates(), indices, "held", natural::labels(*system));
    graph.add(factor, {key, kHeld}, Role::equality);
  }
  void prior(const Key& key, const Eigen::VectorXd& guess, double sigma) {
    values.insert(key, guess);
    graph.add(std::make_shared<Prior>(to_vector(guess), natural::labels(*system)), {key}, Role::cost,
              Noise::isotropic(sigma));
  }
};

double largest(const std::vector<double>& x, int& where) {
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i]) > most) most = std::abs(x[i]), where = static_cast<int>(i);
  }
  return most;
}

/// Newton steps by least norm onto Φ = 0: the last digits of an assembly.
void polish(const natural::System& system, double t, const std::vector<int>& redundant, Eigen::VectorXd& q) {
  step::Acceleration metric(std::make_shared<natural::System>(system), redundant);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(q.size()), u = Eigen::VectorXd::Zero(system.motors());
  Eigen::VectorXd v = zero;
  for (int i = 0; i < 2; ++i) {
    Eigen::VectorXd trial = q;
    if (!metric.solve(trial.data(), zero.data(), t, u.data(), nullptr, nullptr)) return;
    metric.project(trial.data(), v.data(), t);
    std::vector<double> before(system.constraints()), after(system.constraints());
    system.position(q.data(), t, before.data(), nullptr);
    system.position(trial.data(), t, after.data(), nullptr);
    int at = 0;
    if (!(largest(after, at) < largest(before, at))) return;
    q = trial;
  }
}

}  // namespace

Result<Eigen::VectorXd> assemble(const natural::System& system, double t, const Eigen::VectorXd& guess,
                                 const std::vector<Held>& held) {
  std::vector<double> phi(system.constraints());
  const double tolerance = 1e-9 * std::max(1.0, system.typical_length() * system.typical_length());
  int worst = 0;
  const auto open = [&](const Eigen::VectorXd& q) {
    system.position(q.data(), t, phi.data(), nullptr);
    return largest(phi, worst);
  };
  bool kept = true;
  for (const Held& h : held) kept = kept && guess[h.coordinate] == h.value;
  if (kept && open(guess) < 1e-14 * tolerance * 1e9) return guess;

  Instant instant(system, t);
  instant.prior(kQ, guess, 1.0);
  instant.graph.add(std::make_shared<natural::PositionConstraint>(instant.system), {kQ, kTime}, Role::equality);
  instant.hold(kQ, held);
  OptimizerOptions options;
  options.max_iterations = 300;
  const auto report = optimize(instant.graph, instant.values, options);
  if (!report) return report.failure();
  Eigen::VectorXd q = instant.values.vector(kQ);
  const double miss = open(q);
  double held_miss = 0;
  for (const Held& h : held) held_miss = std::max(held_miss, std::abs(q[h.coordinate] - h.value));
  if (!q.allFinite() || miss > tolerance || held_miss > 1e-9) {
    return Failure::no_answer(fmt::format(
        "cannot be assembled: '{}' stays open by {:.3g} {}", system.constraint_name(worst), miss,
        held.empty() ? "(nearest pose found)" : "(nearest pose found with the given coordinates held)"));
  }
  return q;
}

Mobility mobility(const natural::System& system, double t, const Eigen::VectorXd& q) {
  Mobility result;
  result.coordinates = system.coordinates();
  result.constraints = system.constraints();
  const auto pattern = system.jacobian_pattern();
  std::vector<double> phi(result.constraints);
  const auto jacobian_at = [&](const Eigen::VectorXd& pose) {
    std::vector<double> values(pattern.size());
    system.position(pose.data(), t, phi.data(), values.data());
    linear::RankPose rows;
    rows.rows.columns = result.coordinates;
    std::size_t e = 0;  // the pattern is sorted by rows
    for (int r = 0; r < result.constraints; ++r) {
      for (; e < pattern.size() && pattern[e].row == r; ++e) rows.rows.push(pattern[e].column, values[e]);
      rows.rows.end_row();
    }
    return rows;
  };
  // Poses that the mechanism can take nearby: a redundancy that holds at all of them is one of its geometry.
  std::vector<linear::RankPose> poses = {jacobian_at(q)};
  for (int i = 1; i <= 3; ++i) {
    Eigen::VectorXd nearby = q;
    for (int c = 0; c < result.coordinates; ++c) {
      nearby[c] += 0.02 * i * system.typical_length() * std::sin(1.7 * c + 2.3 * i + 0.5);
    }
    if (auto pose = assemble(system, t, nearby, {})) poses.push_back(jacobian_at(*pose));
  }
  const linear::RankReport rank = linear::rank(poses);
  result.rank = rank.rank;
  for (const linear::RedundantRow& r : rank.redundant) result.redundant.push_back(r.row);
  result.singular_here = rank.singular_here();
  result.degrees_of_freedom = result.coordinates - result.rank;
  return result;
}

namespace {

/// Velocities with Φ̇ = 0 nearest to what the file gives, some held. Where the mechanism may branch they must also leave
/// accelerations possible: Φ̈ = 0 decides between the branches.
Result<Eigen::VectorXd> solve_velocity(const natural::System& system, double t, const Eigen::VectorXd& q,
                                       const Eigen::VectorXd& wish, const std::vector<Held>& held, bool singular) {
  Instant instant(system, t);
  instant.known(kQ, q);
  instant.prior(kV, wish, 1.0);
  instant.graph.add(std::make_shared<natural::VelocityConstraint>(instant.system), {kQ, kV, kTime}, Role::equality);
  instant.hold(kV, held);
  if (singular) {
    instant.prior(kA, Eigen::VectorXd::Zero(q.size()), 1e3);
    instant.known(kLambda, Eigen::VectorXd::Zero(system.constraints()).eval());
    instant.graph.add(std::make_shared<natural::AccelerationConstraint>(instant.system), {kQ, kV, kA, kLambda, kTime},
                      Role::equality);
  }
  OptimizerOptions options;
  options.max_iterations = 200;
  const auto report = optimize(instant.graph, instant.values, options);
  if (!report) return report.failure();
  Eigen::VectorXd v = instant.values.vector(kV);
  std::vector<double> rate(system.constraints());
  system.velocity(q.data(), v.data(), t, rate.data(), nullptr, nullptr);
  int worst = 0;
  const double miss = largest(rate, worst);
  double held_miss = 0;
  for (const Held& h : held) held_miss = std::max(held_miss, std::abs(v[h.coordinate] - h.value));
  const double speed = 1 + v.cwiseAbs().maxCoeff();
  if (!v.allFinite() || miss > 1e-8 * speed * (1 + system.typical_length()) || held_miss > 1e-8 * speed) {
    return Failure::no_answer(fmt::format("the initial rates contradict each other: 'rate of {}' is off by {:.3g}",
                                          system.constraint_name(worst), miss));
  }
  return v;
}

/// Accelerations and multipliers at the start. Exactly at a position where the mechanism may branch they are not
/// determined, but on the branch that q̇ points along they are smooth: the mean of the two sides.
Result<Start> with_acceleration(Start start) {
  const natural::System& system = *start.system;
  step::Acceleration acceleration(start.system, start.mobility.redundant);
  std::vector<double> u(system.motors());
  for (int j = 0; j < system.motors(); ++j) u[j] = system.motor_law(j, 0);
  start.a = Eigen::VectorXd::Zero(system.coordinates());
  start.lambda = Eigen::VectorXd::Zero(system.constraints());
  if (!start.mobility.singular_here || start.v.norm() == 0) {
    if (!acceleration.solve(start.q.data(), start.v.data(), 0, u.data(), start.a.data(), start.lambda.data())) {
      return Failure::no_answer("the accelerations at the start are not determined");
    }
    return start;
  }
  const double aside = 1e-4 * system.typical_length() / start.v.norm();
  for (double side : {-aside, aside}) {
    Eigen::VectorXd v = start.v, a = start.a, lambda = start.lambda;
    auto q = assemble(system, 0, start.q + side * start.v, {});
    if (!q) return std::move(q).failure();
    for (int i = 0; i < 2; ++i) {
      if (!acceleration.solve(q->data(), v.data(), 0, u.data(), a.data(), lambda.data())) {
        return Failure::no_answer("the accelerations at the start are not determined");
      }
      acceleration.project(q->data(), v.data(), 0);
    }
    start.a += 0.5 * a;
    start.lambda += 0.5 * lambda;
  }
  return start;
}

}  // namespace

Result<Start> make_start(const Model& model) {
  Start start;
  start.system = std::make_shared<natural::System>(model);
  const natural::System& system = *start.system;
  std::vector<Held> positions, rates;
  for (const InitialValue& i : model.initial) {
    const int c = system.index_of(i.coordinate);
    if (c < 0) continue;
    (i.rate ? rates : positions).push_back({c, i.value});
  }
  Eigen::VectorXd guess = system.guess(), wish = Eigen::VectorXd::Zero(system.coordinates());
  for (int p = 0; p < static_cast<int>(model.points.size()); ++p) {
    const int x = system.index_of({CoordinateRef::What::point_x, p});
    if (x >= 0) wish.segment<2>(x) = model.points[p].velocity;
  }
  auto q = assemble(system, 0, guess, positions);
  if (!q) return std::move(q).failure();
  start.q = std::move(*q);
  start.mobility = mobility(system, 0, start.q);
  polish(system, 0, start.mobility.redundant, start.q);
  if (system.coordinates() <= kDenseChoice) {
    build::IndependentChoice choice(system, static_cast<int>(model.relative.size()), start.mobility.redundant);
    start.mobility.independent = choice.choose(start.q.data(), 0);
  }
  auto v = solve_velocity(system, 0, start.q, wish, rates, start.mobility.singular_here);
  if (!v) return std::move(v).failure();
  start.v = std::move(*v);
  return with_acceleration(std::move(start));
}

}  // namespace kinegraph::task
