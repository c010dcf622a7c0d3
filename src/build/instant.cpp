#include "kinegraph/build/instant.hpp"

#include "kinegraph/build/independent.hpp"
#include "kinegraph/factor/common/prior.hpp"
#include "kinegraph/factor/common/select.hpp"
#include "kinegraph/factor/natural/acceleration_constraint.hpp"
#include "kinegraph/factor/natural/labels.hpp"
#include "kinegraph/factor/natural/position_constraint.hpp"
#include "kinegraph/factor/natural/velocity_constraint.hpp"
#include "kinegraph/linear/rank.hpp"

namespace kinegraph::build {
namespace {

constexpr Key kTime{Kind::time}, kQ{Kind::position}, kV{Kind::velocity}, kA{Kind::acceleration},
    kLambda{Kind::multiplier}, kHeld{Kind::user};
constexpr int kDenseChoice = 1000;  // coordinates up to which full pivoting is affordable

template <class T>
void known(Instant& instant, const Key& key, const T& value) {
  instant.values.insert(key, value);
  instant.graph.known().insert(key);
}

void hold(Instant& instant, const Key& key, const std::vector<Held>& held) {
  if (held.empty()) return;
  std::vector<int> indices;
  Eigen::VectorXd target(held.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    indices.push_back(held[i].coordinate);
    target[i] = held[i].value;
  }
  known(instant, kHeld, target);
  const natural::System& system = *instant.system;
  instant.graph.add(std::make_shared<Select>(system.coordinates(), indices, "held", natural::labels(system)),
                    {key, kHeld}, Role::equality);
}

void prior(Instant& instant, const Key& key, const Eigen::VectorXd& guess, double sigma) {
  instant.values.insert(key, guess);
  instant.graph.add(
      std::make_shared<Prior>(std::vector<double>(guess.begin(), guess.end()), natural::labels(*instant.system)), {key},
      Role::cost, Noise::isotropic(sigma));
}

linear::RankPose jacobian_at(const natural::System& system, double t, const Eigen::VectorXd& q) {
  const auto pattern = system.jacobian_pattern();
  std::vector<double> values(pattern.size()), phi(system.constraints());
  system.position(q.data(), t, phi.data(), values.data());
  linear::RankPose pose;
  pose.rows.columns = system.coordinates();
  std::size_t e = 0;  // the pattern is sorted by rows
  for (int r = 0; r < system.constraints(); ++r) {
    for (; e < pattern.size() && pattern[e].row == r; ++e) pose.rows.push(pattern[e].column, values[e]);
    pose.rows.end_row();
  }
  return pose;
}

}  // namespace

Eigen::VectorXd Instant::position() const { return values.vector(kQ); }
Eigen::VectorXd Instant::velocity() const { return values.vector(kV); }

Instant position_problem(std::shared_ptr<const natural::System> system, double t, const Eigen::VectorXd& guess,
                         const std::vector<Held>& held, bool open) {
  Instant instant{std::move(system), {}, {}};
  known(instant, kTime, t);
  prior(instant, kQ, guess, open ? 1e6 * instant.system->typical_length() : 1.0);
  instant.graph.add(std::make_shared<natural::PositionConstraint>(instant.system), {kQ, kTime},
                    open ? Role::cost : Role::equality);
  hold(instant, kQ, held);
  return instant;
}

Instant velocity_problem(std::shared_ptr<const natural::System> system, double t, const Eigen::VectorXd& q,
                         const Eigen::VectorXd& wish, const std::vector<Held>& held, bool singular) {
  Instant instant{std::move(system), {}, {}};
  known(instant, kTime, t);
  known(instant, kQ, q);
  prior(instant, kV, wish, 1.0);
  instant.graph.add(std::make_shared<natural::VelocityConstraint>(instant.system), {kQ, kV, kTime}, Role::equality);
  hold(instant, kV, held);
  if (singular) {
    prior(instant, kA, Eigen::VectorXd::Zero(q.size()), 1e3);
    known(instant, kLambda, Eigen::VectorXd::Zero(instant.system->constraints()).eval());
    instant.graph.add(std::make_shared<natural::AccelerationConstraint>(instant.system), {kQ, kV, kA, kLambda, kTime},
                      Role::equality);
  }
  return instant;
}

Mobility mobility(const natural::System& system, double t, const std::vector<Eigen::VectorXd>& poses,
                  int relative_coordinates) {
  std::vector<linear::RankPose> jacobians;
  for (const Eigen::VectorXd& q : poses) jacobians.push_back(jacobian_at(system, t, q));
  const linear::RankReport rank = linear::rank(jacobians);
  Mobility result;
  result.coordinates = system.coordinates();
  result.constraints = system.constraints();
  result.rank = rank.rank;
  result.degrees_of_freedom = rank.freedom();
  result.singular_here = rank.singular_here();
  for (const linear::RedundantRow& r : rank.redundant) result.redundant.push_back(r.row);
  if (result.coordinates <= kDenseChoice) {
    result.independent =
        IndependentChoice(system, relative_coordinates, result.redundant).choose(poses.front().data(), t);
  }
  return result;
}

}  // namespace kinegraph::build
