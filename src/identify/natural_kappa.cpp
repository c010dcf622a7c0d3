#include "kinegraph/identify/natural_kappa.hpp"

#include <cmath>

#include "kinegraph/mechanics/maximal/balance.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"

namespace kinegraph::identify {
namespace {

using maximal::BodyNumbers;

constexpr double kShare = 30;           // c
constexpr double kOtherwise = 0.15;     // s
constexpr double kOtherKappa = 100;     // nothing moves
constexpr double kLeastImpulse = 1e-9;  // of the largest: links without mass

/// What moves along one freedom.
struct Motion {
  double impulse = 0;  ///< |M V|²
  double inertia = 0;  ///< Vᵀ M V
  double mass = 0;
};

Motion motion_of(const maximal::Mechanism& mechanism, const Eigen::VectorXd& v) {
  Motion sum;
  for (std::size_t b = 0; b < mechanism.bodies().size(); ++b) {
    const double* numbers = mechanism.numbers().data() + mechanism.bodies()[b].numbers;
    const Eigen::Vector3d spin = v.segment<3>(6 * static_cast<Eigen::Index>(b));
    const Eigen::Vector3d speed = v.segment<3>(6 * static_cast<Eigen::Index>(b) + 3);
    if (spin.isZero(0) && speed.isZero(0)) continue;
    const Eigen::Vector3d turn = maximal::inertia_of(numbers + BodyNumbers::inertia) * spin;
    const double mass = numbers[BodyNumbers::mass];
    sum.impulse += turn.squaredNorm() + mass * mass * speed.squaredNorm();
    sum.inertia += spin.dot(turn) + mass * speed.squaredNorm();
    sum.mass += mass;
  }
  return sum;
}

}  // namespace

double natural_kappa(const maximal::Mechanism& mechanism) {
  const screw::Tree& tree = mechanism.tree();
  const Eigen::VectorXd q = tree.start_position();
  Eigen::VectorXd rate = Eigen::VectorXd::Zero(tree.freedoms()), v(mechanism.tangent());
  std::vector<std::pair<Motion, bool>> all;  // and whether it turns
  double largest = 0;
  for (const maximal::Freedom& freedom : mechanism.freedoms()) {
    rate.setZero();
    rate[freedom.velocity] = 1;
    maximal::velocities_of(mechanism, mechanism.numbers(), q.data(), rate.data(), v.data());
    all.emplace_back(motion_of(mechanism, v), freedom.angular);
    largest = std::max(largest, all.back().first.impulse);
  }
  double impulses = 0, lengths = 0;
  int count = 0, axes = 0;
  for (const auto& [motion, turns] : all) {
    if (!(motion.impulse > kLeastImpulse * kLeastImpulse * largest)) continue;
    impulses += std::log(motion.impulse), ++count;
    if (turns && motion.mass > 0) lengths += 0.5 * std::log(motion.inertia / motion.mass), ++axes;
  }
  if (count == 0) return kOtherKappa;
  const double g = mechanism.numbers().segment<3>(maximal::Mechanism::kGravity).norm();
  const double T2 = g > 0 && axes > 0 ? std::exp(lengths / axes) / g : kOtherwise * kOtherwise;
  const double kappa = kShare * T2 / std::exp(impulses / count);
  return std::isfinite(kappa) && kappa > 0 ? kappa : kOtherKappa;
}

}  // namespace kinegraph::identify
