#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/build/plan_parts.hpp"
#include "kinegraph/factor/goal/friction_cone.hpp"
#include "kinegraph/factor/screw/contact_point.hpp"

namespace kinegraph::build {
namespace {

/// 1/s: how fast a standing point takes back what the rule of integration lets it drift.
constexpr double kSettling = 20;
constexpr double kNear = 1e-3, kSlow = 1e-2;  // m, m/s, of what stands at the start: taken back within a few knots

void add_forces(PlanProblem& problem, int index) {
  const PlanSetting& setting = *problem.setting;
  const PlanContact& contact = setting.contacts[index];
  const auto cone = std::make_shared<FrictionCone>(contact.name, contact.friction);
  each_moment(setting, [&](int knot, bool middle) {
    if (!setting.bears(contact, knot, middle)) return;
    problem.graph.add(cone, {PlanKeys{knot, middle}.force(index)}, Role::inequality);
  });
}

/// Where it comes to stand it is on the ground and at rest; from then on it stays.
void add_standing(PlanProblem& problem, const PlanContact& contact, const Noise& noise) {
  const PlanSetting& setting = *problem.setting;
  const auto height = std::make_shared<screw::PointHeight>(contact.name, setting.tree, contact.point, contact.ground);
  const auto velocity = std::make_shared<screw::PointVelocity>(contact.name, setting.tree, contact.point);
  const std::shared_ptr<const Factor> stay =
      std::make_shared<screw::PointAcceleration>(contact.name, setting.tree, contact.point, kSettling, contact.ground);
  for (const auto& [first, last] : contact.closed) {
    if (first == 0) continue;
    const PlanKeys at{first, false};
    std::vector<Key> keys;
    at.add_position(setting.state, keys);
    problem.graph.add(height, keys, Role::equality, noise);
    at.add_rate(setting.state, keys);
    problem.graph.add(velocity, keys, Role::equality, noise);
  }
  std::shared_ptr<const Factor> stay_in_middle;
  const PlanPhase* phase = nullptr;  // of that
  each_moment(setting, [&](int knot, bool middle) {
    if (!setting.stands(contact, knot, middle)) return;
    std::vector<Key> keys;
    PlanKeys{knot, middle}.add_state(setting, keys);
    add_duration(setting, knot, middle, keys);
    if (middle && (!stay_in_middle || phase != setting.phase_of(knot))) {
      phase = setting.phase_of(knot);
      stay_in_middle = at_moment(setting, knot, true, stay);
    }
    problem.graph.add(middle ? stay_in_middle : stay, keys, Role::equality, noise);
  });
}

/// Between, it is lifted: at least as high as (4 s (1 − s))³ of the height that is asked for. At both ends that has
/// neither speed nor acceleration, as the point has none when it leaves and arrives.
void add_swinging(PlanProblem& problem, const PlanContact& contact) {
  const PlanSetting& setting = *problem.setting;
  int left = -1;  // the last knot at which it stood
  std::vector<std::pair<int, int>> swings;
  for (const auto& [first, last] : contact.closed) {
    if (first > 0) swings.emplace_back(left, first);
    left = last;
  }
  if (left < setting.task.steps) swings.emplace_back(left, setting.knots());
  for (const auto& [from, to] : swings) {
    for (int k = from + 1; k < to; ++k) {
      const bool between = from >= 0 && to < setting.knots();
      const double s = between ? static_cast<double>(k - from) / (to - from) : 0;
      const auto height = std::make_shared<screw::PointHeight>(
          contact.name, setting.tree, contact.point, contact.ground + contact.swing * std::pow(4 * s * (1 - s), 3));
      std::vector<Key> keys;
      PlanKeys{k, false}.add_position(setting.state, keys);
      if (k > 0) problem.graph.add(height, keys, Role::inequality);
    }
  }
}

}  // namespace

void add_contacts(PlanProblem& problem, const Noise& noise) {
  for (std::size_t i = 0; i < problem.setting->contacts.size(); ++i) {
    const PlanContact& contact = problem.setting->contacts[i];
    add_forces(problem, static_cast<int>(i));
    add_standing(problem, contact, noise);
    add_swinging(problem, contact);
  }
}

void find_loose_contacts(const PlanSetting& setting, std::vector<Diagnostic>& faults) {
  for (const PlanContact& contact : setting.contacts) {
    if (!setting.stands(contact, 0, false)) continue;
    screw::ChainMotion chain(setting.tree, contact.point.body);
    chain.set(setting.start_q.data(), setting.start_v.data(), nullptr);
    const screw::PointState at = screw::point_state(chain, contact.point.at);
    const double high = at.p[2] - contact.ground, speed = at.velocity.norm();
    std::string how;
    if (std::abs(high) > kNear) how = fmt::format("is {:.4g} m {} it", std::abs(high), high > 0 ? "above" : "below");
    if (speed > kSlow) how += fmt::format("{}moves at {:.4g} m/s", how.empty() ? "" : " and ", speed);
    if (how.empty()) continue;
    faults.push_back(
        {Severity::error, contact.where,
         fmt::format("contact {}: stands on its ground from the start, where it {}", quote(contact.name), how)});
  }
}

bool PlanSetting::stands(const PlanContact& contact, int knot, bool middle) const {
  return std::any_of(contact.closed.begin(), contact.closed.end(), [&](const std::pair<int, int>& interval) {
    return knot >= interval.first && (middle ? knot < interval.second : knot <= interval.second);
  });
}

bool PlanSetting::bears(const PlanContact& contact, int knot, bool middle) const {
  if (middle) return stands(contact, knot, true);
  return std::any_of(contact.closed.begin(), contact.closed.end(), [&](const std::pair<int, int>& interval) {
    const bool after = knot > interval.first || (knot == 0 && interval.first == 0);
    const bool before = knot < interval.second || (knot == task.steps && interval.second == task.steps);
    return after && before;
  });
}

std::vector<int> PlanSetting::bearing(int knot, bool middle) const {
  std::vector<int> all;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (bears(contacts[c], knot, middle)) all.push_back(static_cast<int>(c));
  }
  return all;
}

}  // namespace kinegraph::build
