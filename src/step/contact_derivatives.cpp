#include "kinegraph/step/contact_step.hpp"

/// With the multipliers z of contacts fixed, v⁺ changes as RegularizedStep says under fixed loads, and because those
/// loads change with the contacts' points and directions. With these changes V of v⁺,
///
///     (N K⁻¹ Nᵀ + Σ)_αα dz_α = −(N V + dN v⁺ + dc)_α,      dv⁺ = V + K⁻¹ Nᵀ dz
///
/// where α is the basis of the complementarity problem. K holds the freedoms that dry friction holds.
namespace kinegraph::step {

using maximal::BodyNumbers;
using maximal::Feature;
using maximal::Grip;
using maximal::Pose;
using maximal::Vector3;

/// What the equations of a contact are made of.
template <class T>
struct ContactStep::Terms {
  T gap, approach;   // rate of the gap before the step
  T rate[3];         // v⁺ along the normal and the tangents
  Vector3<T> force;  // the impulse on b, and its moments about the centres of mass
  Vector3<T> moment_a, moment_b;
};

/// `before`: velocities of a and b.
template <class T>
ContactStep::Terms<T> ContactStep::terms(int contact, const Pose<T>& a, const Pose<T>& b, const T* com_a,
                                         const T* com_b, const T* before) const {
  using V = Vector3<T>;
  using std::sqrt;
  const Feature& feature = contacts_[contact].feature;
  const maximal::Touch<T> touch = maximal::touch_of<T>(feature, a, b, com_a, com_b);
  const auto speed = [&](const Pose<T>& pose, const T* v) -> V {
    const V omega = pose.R * Eigen::Map<const V>(v);
    return Eigen::Map<const V>(v + 3) + omega.cross(touch.point - pose.p);
  };
  T after[12];
  for (int k = 0; k < 6; ++k) {
    after[k] = T(feature.a < 0 ? 0.0 : after_[6 * feature.a + k]);
    after[6 + k] = T(feature.b < 0 ? 0.0 : after_[6 * feature.b + k]);
  }
  const auto slip_of = [&](const T* v) -> V {
    V sum = V::Zero();
    if (feature.b >= 0) sum += speed(b, v + 6);
    if (feature.a >= 0) sum -= speed(a, v);
    return sum;
  };
  const V slip_before = slip_of(before), slip_after = slip_of(after);
  const auto& [share, offset] = tangents_[contact];
  const V& n = touch.normal;
  V t = T(share) * slip_before + offset.template cast<T>();
  t = (t - n * n.dot(t)).eval();
  t = (t / sqrt(t.squaredNorm())).eval();
  const V second = n.cross(t);
  Terms<T> out;
  out.gap = touch.gap;
  out.approach = n.dot(slip_before);
  out.rate[0] = n.dot(slip_after), out.rate[1] = t.dot(slip_after), out.rate[2] = second.dot(slip_after);
  out.force = n * T(base_impulse_[3 * contact]) + t * T(base_impulse_[3 * contact + 1]) +
              second * T(base_impulse_[3 * contact + 2]);
  out.moment_a = -(touch.point - a.p).cross(out.force);
  out.moment_b = (touch.point - b.p).cross(out.force);
  return out;
}

/// By the poses and velocities of a (6 + 6) and b (6 + 6): directions 0, 6 of poses, 12, 18 of velocities.
ContactStep::Terms<Dual<24>> ContactStep::terms_by_state(int contact) const {
  using T = Dual<24>;
  const Feature& feature = contacts_[contact].feature;
  T com[6], before[12];
  const auto place = [&](int body, int first, T* centre, T* velocity) {
    Pose<T> out;
    for (int k = 0; k < 3; ++k) centre[k] = T(0.0);
    for (int k = 0; k < 6; ++k) velocity[k] = T(0.0);
    if (body < 0) return out;
    const Pose<double>& at = finder_.poses()[body];
    out.R = at.R.cast<T>();
    out.p = at.p.cast<T>();
    for (int k = 0; k < 3; ++k) {
      const Eigen::Matrix3d turned = at.R * skew<double>(Eigen::Vector3d(Eigen::Vector3d::Unit(k)));
      for (int i = 0; i < 9; ++i) out.R(i).v[first + k] = turned(i);
      out.p[k].v[first + 3 + k] = 1;
      centre[k] = T(numbers_[mechanism_->bodies()[body].numbers + BodyNumbers::com + k]);
    }
    for (int k = 0; k < 6; ++k) velocity[k] = T(v_[6 * body + k], 12 + first + k);
    return out;
  };
  const Pose<T> a = place(feature.a, 0, com, before), b = place(feature.b, 6, com + 3, before + 6);
  return terms<T>(contact, a, b, com, com + 3, before);
}

ContactStep::Terms<Dual<1>> ContactStep::terms_along(int contact, int direction) const {
  using T = Dual<1>;
  const Feature& feature = contacts_[contact].feature;
  T com[6], before[12];
  const auto place = [&](int body, T* centre, T* velocity) {
    Pose<T> out;
    for (int k = 0; k < 3; ++k) centre[k] = T(0.0);
    for (int k = 0; k < 6; ++k) velocity[k] = T(body < 0 ? 0.0 : v_[6 * body + k]);
    if (body < 0) return out;
    out.R = finder_.poses()[body].R.cast<T>();
    out.p = finder_.poses()[body].p.cast<T>();
    for (int k = 0; k < 3; ++k) {
      const int number = mechanism_->bodies()[body].numbers + BodyNumbers::com + k;
      centre[k].a = numbers_[number];
      centre[k].v[0] = directions_(number, direction);
    }
    return out;
  };
  const Pose<T> a = place(feature.a, com, before), b = place(feature.b, com + 3, before + 6);
  return terms<T>(contact, a, b, com, com + 3, before);
}

/// How the bound on the normal's rate changes with the gap; a contact that bounces does not ask for the gap.
double ContactStep::bound_slope(int contact) const {
  const maximal::Regularization soft{options_.compliance, 0, options_.relaxation, maximal::Hold::start};
  const double gap = contacts_[contact].touch.gap, h = input_.h;
  if (gap > 0) return 1 / h;
  const double slope = std::min(1.0, 4 * soft.gamma(h)) / h;
  return slope * gap > -options_.recovery ? slope : 0;
}

/// Adds derivative number k of a contact to the impulses and the constants of a column.
template <class T>
void ContactStep::scatter(int contact, const Terms<T>& terms, int k, int column) {
  const Feature& feature = contacts_[contact].feature;
  const auto push = [&](int body, const Vector3<T>& moment, double sign) {
    if (body < 0) return;
    const Eigen::Vector3d turn =
        finder_.poses()[body].R.transpose() * Eigen::Vector3d(moment[0].v[k], moment[1].v[k], moment[2].v[k]);
    for (int i = 0; i < 3; ++i) {
      changes_(6 * body + i, column) += turn[i];
      changes_(6 * body + 3 + i, column) += sign * terms.force[i].v[k];
    }
  };
  push(feature.a, terms.moment_a, -1);
  push(feature.b, terms.moment_b, 1);
  for (int i = 0; i < 3; ++i) constants_(3 * contact + i, column) += terms.rate[i].v[k];
  const bool bounces = bound_[contact] < 0;
  const double by_gap = (bounces ? 1 - share_ : 1.0) * bound_slope(contact);
  constants_(3 * contact, column) += by_gap * terms.gap.v[k];
  if (bounces) constants_(3 * contact, column) += share_ * contacts_[contact].restitution * terms.approach.v[k];
}

bool ContactStep::differentiate(Matrix& derivative) {
  if (contacts_.empty()) {
    smooth_.differentiate(derivative);
    return true;
  }
  const int count = static_cast<int>(contacts_.size()), size = count * per_contact();
  std::vector<Grip> grip(mechanism_->freedoms().size(), Grip::none);
  report_grips(grip.data());
  const std::vector<char> basis(lemke_.basis().begin(), lemke_.basis().begin() + size);
  if (!complete(grip.data())) return false;
  smooth_.differentiate(derivative);
  add_contact_changes(derivative);
  // The complementarity problem again, of contacts alone: K now holds what dry friction holds
  dry_.clear();
  rows_.resize(3 * count);
  multipliers_.resize(size);
  make_problem(input_.h);
  return let_multipliers_answer(basis, derivative) && derivative.allFinite();
}

/// With fixed multipliers: changes of the contacts' loads, and of what the multipliers must keep at zero.
void ContactStep::add_contact_changes(Matrix& derivative) {
  const int n = mechanism_->tangent(), count = static_cast<int>(contacts_.size());
  changes_.setZero(n, derivative.cols());
  constants_.setZero(3 * count, derivative.cols());
  for (int c = 0; c < count; ++c) {
    const Feature& feature = contacts_[c].feature;
    const Terms<Dual<24>> state = terms_by_state(c);
    for (int k = 0; k < 6; ++k) {
      if (feature.a >= 0) scatter(c, state, k, 6 * feature.a + k), scatter(c, state, 12 + k, n + 6 * feature.a + k);
      if (feature.b >= 0) scatter(c, state, 6 + k, 6 * feature.b + k), scatter(c, state, 18 + k, n + 6 * feature.b + k);
    }
    for (int d = 0; d < static_cast<int>(directions_.cols()); ++d) scatter(c, terms_along(c, d), 0, 2 * n + d);
  }
  smooth_.respond(changes_, change_multipliers_);
  derivative += changes_;
  for (int i = 0; i < 3 * count; ++i) {
    for (int k = 0; k < 6; ++k) {
      if (rows_[i].a >= 0) constants_.row(i) += rows_[i].G[k] * derivative.row(6 * rows_[i].a + k);
      if (rows_[i].b >= 0) constants_.row(i) += rows_[i].G[6 + k] * derivative.row(6 * rows_[i].b + k);
    }
  }
}

/// Contacts that slip have the multipliers of their basis. Those that stick are held in both tangents: which sides of
/// the pyramid carry that does not matter.
bool ContactStep::let_multipliers_answer(const std::vector<char>& basis, Matrix& derivative) {
  const int count = static_cast<int>(contacts_.size());
  std::vector<Multiplier> active;
  std::vector<int> number;  // in the complementarity problem; −1: a tangent that is held
  for (int c = 0; c < count; ++c) {
    const int first = c * per_contact(), last = first + per_contact() - 1;
    if (!basis[first]) continue;
    for (int i = first; i <= last; ++i) {
      if (basis[i] && (i == first || basis[last])) active.push_back(multipliers_[i]), number.push_back(i);
    }
    for (int k = 1; k < 3 && !basis[last]; ++k) active.push_back({3 * c + k, -1, 1, 0}), number.push_back(-1);
  }
  const int m = static_cast<int>(active.size());
  if (m == 0) return true;
  Eigen::MatrixXd square = Eigen::MatrixXd::Zero(m, m), right = Eigen::MatrixXd::Zero(m, derivative.cols());
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) {
      if (number[i] >= 0 && number[j] >= 0) {
        square(i, j) = matrix_(number[i], number[j]);
      } else if (active[i].row >= 0 && active[j].row >= 0) {
        square(i, j) = mobility(active[i], active[j]) * (i == j ? 1 + kCreep : 1.0);
      }
    }
    if (active[i].row >= 0) right.row(i) -= active[i].share * constants_.row(active[i].row);
    if (active[i].second >= 0) right.row(i) -= active[i].second_share * constants_.row(active[i].second);
  }
  right = square.partialPivLu().solve(right).eval();
  Eigen::MatrixXd impulses = Eigen::MatrixXd::Zero(3 * count, derivative.cols());
  for (int i = 0; i < m; ++i) {
    if (active[i].row >= 0) impulses.row(active[i].row) += active[i].share * right.row(i);
    if (active[i].second >= 0) impulses.row(active[i].second) += active[i].second_share * right.row(i);
  }
  derivative.noalias() += response_ * impulses;
  return true;
}

}  // namespace kinegraph::step
