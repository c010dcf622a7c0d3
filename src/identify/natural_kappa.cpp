#include "kinegraph/identify/natural_kappa.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/identify/problem_weight.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"

namespace kinegraph::identify {
namespace {

using maximal::BodyNumbers;

constexpr double kOtherwise = 0.15;     // s
constexpr double kOtherKappa = 100;     // nothing moves
constexpr double kLeastImpulse = 1e-9;  // of the largest: links without mass

/// What moves along one freedom.
struct Motion {
  double impulse = 0;  ///< |M V|²
  double inertia = 0;  ///< Vᵀ M V
  double mass = 0;
};

Motion motion_of(const maximal::Mechanism& mechanism, const Eigen::VectorXd& v, double length) {
  Motion sum;
  for (std::size_t b = 0; b < mechanism.bodies().size(); ++b) {
    const double* numbers = mechanism.numbers().data() + mechanism.bodies()[b].numbers;
    const Eigen::Vector3d spin = v.segment<3>(6 * static_cast<Eigen::Index>(b));
    const Eigen::Vector3d speed = v.segment<3>(6 * static_cast<Eigen::Index>(b) + 3);
    if (spin.isZero(0) && speed.isZero(0)) continue;
    const Eigen::Vector3d turn = maximal::inertia_of(numbers + BodyNumbers::inertia) * spin;
    const double mass = numbers[BodyNumbers::mass];
    sum.impulse += turn.squaredNorm() / (length * length) + mass * mass * speed.squaredNorm();
    sum.inertia += spin.dot(turn) + mass * speed.squaredNorm();
    sum.mass += mass;
  }
  return sum;
}

template <class F>
void for_each_freedom(const maximal::Mechanism& mechanism, const F& f) {
  const screw::Tree& tree = mechanism.tree();
  const Eigen::VectorXd q = tree.start_position();
  Eigen::VectorXd rate = Eigen::VectorXd::Zero(tree.freedoms()), v(mechanism.tangent());
  for (const maximal::Freedom& freedom : mechanism.freedoms()) {
    rate.setZero();
    rate[freedom.velocity] = 1;
    maximal::velocities_of(mechanism, mechanism.numbers(), q.data(), rate.data(), v.data());
    f(freedom, v);
  }
}

/// P²; 0 where nothing moves.
double unit_impulse(const maximal::Mechanism& mechanism, double length) {
  std::vector<double> squares;
  for_each_freedom(mechanism, [&](const maximal::Freedom&, const Eigen::VectorXd& v) {
    squares.push_back(motion_of(mechanism, v, length).impulse);
  });
  if (squares.empty()) return 0;
  const double least = kLeastImpulse * kLeastImpulse * *std::max_element(squares.begin(), squares.end());
  double sum = 0;
  int count = 0;
  for (const double square : squares) {
    if (square > least) sum += std::log(square), ++count;
  }
  return count > 0 ? std::exp(sum / count) : 0;
}

/// Σ |M Δv|² over the steps of one run.
double squared_impulses(const maximal::Mechanism& mechanism, const Run& run, const std::vector<double>& poses,
                        double length) {
  const int n = mechanism.tangent(), bodies = n / 6, stored = mechanism.stored();
  const ImpulseWeight weight(mechanism, 1, length);
  Eigen::VectorXd before(n), after(n), impulse(n);
  double sum = 0;
  for (int k = -1; k + 1 < run.knots(); ++k) {
    const double* q = poses.data() + static_cast<std::size_t>(k + 1) * stored;
    maximal::local(bodies, q, q + stored, after.data());
    after /= run.step(std::max(k, 0));
    if (k >= 0) {
      before = after - before;
      weight.apply(before.data(), impulse.data());
      if (impulse.allFinite()) sum += impulse.squaredNorm();
    }
    before.swap(after);
  }
  return sum;
}

}  // namespace

double natural_length(const maximal::Mechanism& mechanism) {
  double logarithms = 0;
  int count = 0;
  const auto add = [&](double inertia, double mass) {
    const double length = std::sqrt(inertia / mass);
    if (mass > 0 && std::isfinite(length) && length > 0) logarithms += std::log(length), ++count;
  };
  for_each_freedom(mechanism, [&](const maximal::Freedom& freedom, const Eigen::VectorXd& v) {
    const Motion motion = motion_of(mechanism, v, 1);
    if (freedom.angular) add(motion.inertia, motion.mass);
  });
  for (std::size_t b = 0; count == 0 && b < mechanism.bodies().size(); ++b) {
    const double* numbers = mechanism.numbers().data() + mechanism.bodies()[b].numbers;
    add(maximal::inertia_of(numbers + BodyNumbers::inertia).trace() / 2, numbers[BodyNumbers::mass]);
  }
  return count > 0 ? std::exp(logarithms / count) : 1;
}

double natural_kappa(const maximal::Mechanism& mechanism, const std::vector<Run>& runs,
                     const std::vector<std::vector<double>>& poses, double noise, double length) {
  double sum = 0;
  long steps = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    sum += squared_impulses(mechanism, runs[r], poses[r], length);
    steps += runs[r].knots() - 1;
  }
  const double g = mechanism.numbers().segment<3>(maximal::Mechanism::kGravity).norm();
  const double T2 = g > 0 ? natural_length(mechanism) / g : kOtherwise * kOtherwise;
  const double still = unit_impulse(mechanism, length) * noise * noise / T2;
  const double moving = sum / static_cast<double>(std::max(steps, 1L));
  const double kappa = noise * noise / (kNaturalShare * kNaturalShare * (moving + still));
  return std::isfinite(kappa) && kappa > 0 ? kappa : kOtherKappa;
}

}  // namespace kinegraph::identify
