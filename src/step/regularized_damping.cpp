#include <algorithm>
#include <cmath>

#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/step/regularized_implementation.hpp"

/// What grows with rates: the rows of freedoms and springs.
namespace kinegraph::step {

using maximal::FreedomNumbers;

/// Per freedom and spring the rate that a unit impulse gives it, constraints and drives rigid, in the machine as it was
/// made and where it starts. It decides how damping acts (maximal::Damping), and so depends on neither the numbers nor
/// the motion.
void RegularizedStep::find_mobilities() {
  constexpr int kAtOnce = 64;
  constexpr double kRigid = 1e-13;  // Σ over the mobility of the bodies alone: next to a light link that is large
  const int springs = static_cast<int>(mechanism_->springs().size()), count = freedoms() + springs;
  freedom_mobility_.setZero(freedoms());
  spring_mobility_.setZero(springs);
  Eigen::VectorXd q(mechanism_->stored());
  maximal::poses_of(*mechanism_, numbers_, mechanism_->tree().start_position().data(), q.data());
  set_poses(q.data());
  assemble(before_.data(), StepInput(*mechanism_, 1e-3), false);
  for (int r = 0; r < m_; ++r) {
    const double alone = mobility(rows_[r].a, rows_[r].b, rows_[r].G);
    rows_[r].softness = alone > 0 ? kRigid * alone : 1;
  }
  for (int f = 0; f < freedoms(); ++f) {
    weights_[f].drag = numbers_[mechanism_->freedoms()[f].numbers + FreedomNumbers::armature];
    weigh_freedom(f, false);
  }
  for (int i = 0; i < springs; ++i) {
    spring_weights_[i].weight = 0;
    weigh(spring_weights_[i], spring_rows_[i].data(), rows_[spring_at(i)]);
  }
  factor();
  const auto row = [&](int i) { return i < freedoms() ? freedom_at(i) : spring_at(i - freedoms()); };
  const auto along = [&](int i) { return i < freedoms() ? freedom_rows_[i].G : spring_rows_[i - freedoms()].data(); };
  for (int first = 0; first < count; first += kAtOnce) {
    const int columns = std::min(kAtOnce, count - first);
    Matrix velocity = Matrix::Zero(n_, columns), multiplier = Matrix::Zero(m_, columns);
    for (int c = 0; c < columns; ++c) push_along(rows_[row(first + c)], along(first + c), velocity, c);
    solve(velocity.data(), multiplier.data(), columns);
    for (int c = 0; c < columns; ++c) {
      const int i = first + c;
      const double rate = rate_along(rows_[row(i)], along(i), velocity.data() + c, columns);
      (i < freedoms() ? freedom_mobility_[i] : spring_mobility_[i - freedoms()]) = rate > 0 ? rate : 0;
    }
  }
}

double RegularizedStep::mobility(int a, int b, const double* G) const {
  double sum = 0;
  const auto add = [&](int body, const double* g) {
    if (body < 0) return;
    const Eigen::Map<const Eigen::Vector3d> turn(g), shift(g + 3);
    sum += turn.dot(inverse_inertia_[body] * turn) + shift.squaredNorm() / mass(body);
  };
  add(a, G);
  add(b, G + 6);
  return sum;
}

void RegularizedStep::weigh_freedom(int f, bool held) {
  RateRow& its = weights_[f];
  its.weight = its.drag + (held ? 1 / its.hold : 0.0);
  weigh(its, freedom_rows_[f].G, rows_[freedom_at(f)]);
}

/// s = √w, but no more than 1/√mobility: a freedom that is held then has a row like a constraint's.
void RegularizedStep::weigh(RateRow& its, const double* G, SystemRow& row) {
  its.scale = std::min(std::sqrt(its.weight), 1 / std::sqrt(its.mobility));
  row.softness = its.weight > 0 ? its.scale * its.scale / its.weight : 1.0;
  for (int k = 0; k < 12; ++k) row.G[k] = its.scale * G[k];
}

/// What does not depend on v⁺ goes to impulse_, damping by the rate after is a row.
void RegularizedStep::add_spring(int index, const double* v) {
  static constexpr double kRest[12] = {};
  const maximal::Spring& spring = mechanism_->springs()[index];
  const double* n = numbers_.data() + spring.numbers;
  const maximal::Pose<double> a = pose<double>(spring.a), b = pose<double>(spring.b);
  double both[12], impulse[12] = {};
  gather(spring, v, both);
  maximal::spring_balance(a, b, com(spring.a), com(spring.b), n, both, kRest, spring_mobility_[index], h_, impulse);
  for (int k = 0; k < 6 && spring.a >= 0; ++k) impulse_[6 * spring.a + k] += impulse[k];
  for (int k = 0; k < 6 && spring.b >= 0; ++k) impulse_[6 * spring.b + k] += impulse[6 + k];
  double* G = spring_rows_[index].data();
  std::fill_n(G, 12, 0.0);
  maximal::SpringLine<double>(a, b, com(spring.a), com(spring.b), n).pull(a, b, -1, G);
  RateRow& its = spring_weights_[index];
  its.mobility = mobility(spring.a, spring.b, G);
  its.weight = maximal::Damping<double>(n[maximal::SpringNumbers::damping], spring_mobility_[index], h_).after;
  weigh(its, G, rows_[spring_at(index)]);
}

}  // namespace kinegraph::step
