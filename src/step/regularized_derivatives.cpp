#include <algorithm>

#include "kinegraph/step/regularized_implementation.hpp"

/// The step as an equation F(v⁺, λ; q, v, π) = 0, in which the size of friction that slips does not depend on v⁺:
///
///     K [dv⁺; dλ] = −∂F at fixed v⁺, λ        K = [M′ + BᵀDB  −Gᵀ; G⁺ Σ],   G⁺ = (∂g(q ⊞ h v⁺)/∂v⁺)/h
///
/// M′: linearize_spin(). The right-hand sides are in closed form for bodies and for hinges, balls and welds
/// (maximal::JointSlopes); for other joints, springs and loads they come from dual numbers that belong to one joint or
/// to one direction of the numbers. All are solved at once.
namespace kinegraph::step {

using maximal::BodyNumbers;
using maximal::FreedomNumbers;
using maximal::Grip;
using maximal::Joint;
using maximal::JointNumbers;
using maximal::Mechanism;

void RegularizedStep::set_directions(const Eigen::MatrixXd& directions) {
  directions_ = directions;
  const Mechanism& m = *mechanism_;
  const auto touches = [&](int direction, int first, int count) {
    return !directions_.col(direction).segment(first, count).isZero(0);
  };
  body_directions_.assign(m.bodies().size(), {});
  joint_directions_.assign(m.joints().size(), {});
  freedom_directions_ = joint_directions_;
  spring_directions_.assign(m.springs().size(), {});
  load_directions_.assign(m.loads().size(), {});
  for (int d = 0; d < static_cast<int>(directions_.cols()); ++d) {
    const bool down = touches(d, Mechanism::kGravity, 3);
    const auto moves_centre = [&](int body) {
      return body >= 0 && touches(d, m.bodies()[body].numbers + BodyNumbers::com, 3);
    };
    for (std::size_t i = 0; i < m.bodies().size(); ++i) {
      if (down || touches(d, m.bodies()[i].numbers, BodyNumbers::count)) body_directions_[i].push_back(d);
    }
    for (std::size_t i = 0; i < m.joints().size(); ++i) {
      const Joint& joint = m.joints()[i];
      const bool moved =
          moves_centre(joint.a) || moves_centre(joint.b) || touches(d, joint.numbers, JointNumbers::count);
      bool forced = false;
      for (int f = joint.freedom; f < joint.freedom + joint.freedoms; ++f) {
        forced = forced || touches(d, m.freedoms()[f].numbers, FreedomNumbers::count);
      }
      if (moved) joint_directions_[i].push_back(d);
      if (forced && !moved) freedom_directions_[i].push_back(d);
    }
    for (std::size_t i = 0; i < m.springs().size(); ++i) {
      const maximal::Spring& spring = m.springs()[i];
      if (moves_centre(spring.a) || moves_centre(spring.b) ||
          touches(d, spring.numbers, maximal::SpringNumbers::count)) {
        spring_directions_[i].push_back(d);
      }
    }
    for (std::size_t i = 0; i < m.loads().size(); ++i) {
      if (moves_centre(m.loads()[i].body) || touches(d, m.loads()[i].numbers, maximal::LoadNumbers::count)) {
        load_directions_[i].push_back(d);
      }
    }
  }
  const int columns = 2 * n_ + static_cast<int>(directions_.cols());
  impulse_columns_.resize(padded_n_, padded(columns));
  right_columns_.resize(padded_m_, padded(columns));
}

/// Joints that hold p_M = p_F: where the bodies are does not matter for anything else.
bool keeps_one_place(JointType type) {
  return type == JointType::revolute || type == JointType::continuous || type == JointType::ball ||
         type == JointType::universal || type == JointType::fixed;
}

/// Numbers with the derivative of one direction.
struct SeededNumbers {
  const double *value, *direction;

  void copy(int first, int count, Dual<1>* out) const {
    for (int i = 0; i < count; ++i) {
      out[i].a = value[first + i];
      out[i].v[0] = direction[first + i];
    }
  }
};

/// Numbers without derivatives.
struct PlainNumbers {
  const double* value;

  template <class T>
  void copy(int first, int count, T* out) const {
    for (int i = 0; i < count; ++i) out[i] = T(value[first + i]);
  }
};

void RegularizedStep::differentiate(Matrix& derivative) {
  bool held = false, loaded = false;
  for (int f : dry_freedoms_) {
    held = held || steps_[f].grip == Grip::held;
    loaded = loaded || (steps_[f].load > 0 && steps_[f].grip != Grip::held);
  }
  if (loaded) find_load_changes();
  if (held) {
    for (int f : dry_freedoms_) weigh_freedom(f, steps_[f].grip == Grip::held);
    factor();
  }
  at_end_ = regularization_.hold == maximal::Hold::end;
  fill_columns(after_, lambda_);
  if (loaded) add_load_changes();
  if (at_end_) {
    // where the search for the step ended next to where it was linearised last, that factor is this one
    const bool known =
        !held && factored_ && h_ * (after_ - factored_at_).lpNorm<Eigen::Infinity>() <= kSameLinearization;
    if (!known) {
      for (std::size_t i = 0; i < poses_.size(); ++i) linearize_spin(static_cast<int>(i), true);
      find_endings();
      factor_at_end();
    }
    solve_at_end_padded(impulse_columns_.data(), right_columns_.data(), static_cast<int>(impulse_columns_.cols()));
  } else {
    solve_padded(impulse_columns_.data(), right_columns_.data(), static_cast<int>(impulse_columns_.cols()));
  }
  derivative = impulse_columns_.topLeftCorner(n_, 2 * n_ + directions_.cols());
}

/// −∂F by q, v and the directions, at fixed `after` and `lambda` and the grips of steps_.
void RegularizedStep::fill_columns(const Eigen::VectorXd& after, const Eigen::VectorXd& lambda) {
  impulse_columns_.setZero();
  right_columns_.setZero();
  fixed_after_ = &after;
  fixed_lambda_ = &lambda;
  find_freedom_slopes();
  for (int i = 0; i < static_cast<int>(mechanism_->bodies().size()); ++i) body_columns(i);
  for (int i = 0; i < static_cast<int>(mechanism_->joints().size()); ++i) {
    const Joint& joint = mechanism_->joints()[i];
    if (joint.rows + joint.freedoms == 0) continue;
    const bool grounded = joint.a < 0 || joint.b < 0, shifts = !keeps_one_place(joint.type);
    const bool closed = maximal::JointSlopes::known(joint.type);
    if (closed) {
      closed_columns(i);
    } else if (shifts) {
      grounded ? joint_columns_by_pose<6>(i, true) : joint_columns_by_pose<12>(i, true);
    } else {
      grounded ? joint_columns_by_pose<3>(i, false) : joint_columns_by_pose<6>(i, false);
    }
    joint_columns_by_velocity(i);
    for (int d : joint_directions_[i]) {
      if (!closed) joint_column(i, d);
    }
    for (int d : freedom_directions_[i]) freedom_column(i, d);
  }
  for (int i = 0; i < static_cast<int>(mechanism_->springs().size()); ++i) spring_columns(i);
  for (int i = 0; i < static_cast<int>(mechanism_->loads().size()); ++i) load_columns(i);
}

/// With F(ω′) = J (ω′ − ω) + h m × J m = 0, m = (ω + ω′)/2, and S = (h/2) (m^ J − (J m)^):
///
///     (J + S) dω′ = (J − S) dω − dJ (ω′ − ω) − h m × dJ m
///
/// and J (dω⁺ − dω′) = …; where the gyroscopic term is that of the middle of the step, ω′ is ω⁺ itself.
void RegularizedStep::body_columns(int body) {
  const double* v = before_.data() + 6 * body;
  const Eigen::Map<const Eigen::Vector3d> omega(v), after(fixed_after_->data() + 6 * body), shift(v + 3),
      after_shift(fixed_after_->data() + 6 * body + 3);
  const Eigen::Matrix3d& J = inertia_[body];
  const Eigen::Vector3d spun = at_end_ ? Eigen::Vector3d(after) : spun_[body], middle = 0.5 * (omega + spun);
  const Eigen::Matrix3d S = (0.5 * h_) * (skew<double>(middle) * J - skew<double>(Eigen::Vector3d(J * middle)));
  const Eigen::Matrix3d answer =  // of impulses by what stands on the right
      at_end_ ? Eigen::Matrix3d(Eigen::Matrix3d::Identity()) : Eigen::Matrix3d(J * (J + S).inverse());
  impulse_columns_.block<3, 3>(6 * body, n_ + 6 * body) += answer * (J - S);
  for (int k = 3; k < 6; ++k) impulse_columns_(6 * body + k, n_ + 6 * body + k) += mass(body);
  const Eigen::Map<const Eigen::Vector3d> down(numbers_.data() + Mechanism::kGravity);
  for (int d : body_directions_[body]) {
    const double* change = directions_.col(d).data();
    const double* its = change + mechanism_->bodies()[body].numbers;
    const Eigen::Matrix3d dJ = maximal::inertia_of(its + BodyNumbers::inertia);
    const Eigen::Vector3d turn = dJ * (spun - after) - answer * (dJ * (spun - omega) + h_ * middle.cross(dJ * middle));
    const Eigen::Map<const Eigen::Vector3d> moved_down(change + Mechanism::kGravity);
    const Eigen::Vector3d push =
        its[BodyNumbers::mass] * (shift - after_shift + h_ * down) + (mass(body) * h_) * moved_down;
    for (int k = 0; k < 3; ++k) {
      impulse_columns_(6 * body + k, 2 * n_ + d) += turn[k];
      impulse_columns_(6 * body + 3 + k, 2 * n_ + d) += push[k];
    }
  }
}

template <class T, class Numbers>
void RegularizedStep::balance_joint(int index, const Numbers& number, const maximal::Pose<T>& a,
                                    const maximal::Pose<T>& b, JointBalance<T>& out) const {
  const Joint& joint = mechanism_->joints()[index];
  T frames[JointNumbers::count], com_a[3] = {T(0.0), T(0.0), T(0.0)}, com_b[3] = {T(0.0), T(0.0), T(0.0)};
  T freedom[3 * FreedomNumbers::count];
  bool angular[3] = {};
  number.copy(joint.numbers, JointNumbers::count, frames);
  if (joint.a >= 0) number.copy(mechanism_->bodies()[joint.a].numbers + BodyNumbers::com, 3, com_a);
  if (joint.b >= 0) number.copy(mechanism_->bodies()[joint.b].numbers + BodyNumbers::com, 3, com_b);
  for (int f = 0; f < joint.freedoms; ++f) {
    const maximal::Freedom& its = mechanism_->freedoms()[joint.freedom + f];
    number.copy(its.numbers, FreedomNumbers::count, freedom + f * FreedomNumbers::count);
    angular[f] = its.angular;
  }
  double both[12], after[12];
  gather(joint, before_.data(), both);
  const maximal::JointStep step = joint_step(index, after);
  const maximal::JointPlace<T> place(a, b, com_a, com_b, frames);
  maximal::joint_balance(joint, place, freedom, angular, both, step, out.impulse, out.left, out.held, out.driven);
  if (!at_end_ || joint.rows == 0) return;
  const auto later = [&](const maximal::Pose<T>& pose, int body) {
    maximal::Pose<T> moved;
    if (body < 0) return moved;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        moved.R(i, j) =
            pose.R(i, 0) * turns_[body](0, j) + pose.R(i, 1) * turns_[body](1, j) + pose.R(i, 2) * turns_[body](2, j);
      }
      moved.p[i] = pose.p[i] + T(h_ * (*fixed_after_)[6 * body + 3 + i]);
    }
    return moved;
  };
  const maximal::JointPlace<T> ending(later(a, joint.a), later(b, joint.b), com_a, com_b, frames);
  maximal::WorldRow<T> rows[6];
  maximal::constraint_rows(joint, maximal::RowMaker<T>(ending.F, ending.M), rows);
  for (int i = 0; i < joint.rows; ++i) out.left[i] -= rows[i].value / h_;
}

/// Adds derivative number `k` of what is left of a joint's equations to column `column`.
template <class T>
void RegularizedStep::scatter_joint(int index, const JointBalance<T>& left, int k, int column) {
  const Joint& joint = mechanism_->joints()[index];
  for (int i = 0; i < 6 && joint.a >= 0; ++i) impulse_columns_(6 * joint.a + i, column) += left.impulse[i].v[k];
  for (int i = 0; i < 6 && joint.b >= 0; ++i) impulse_columns_(6 * joint.b + i, column) += left.impulse[6 + i].v[k];
  for (int i = 0; i < joint.rows; ++i) right_columns_(joint.row + i, column) += left.left[i].v[k];
  for (int f = 0; f < joint.freedoms; ++f) {
    const double share = held_share(joint.freedom + f);
    const int drive = drive_rows_[joint.freedom + f];
    if (share != 0) right_columns_(freedom_at(joint.freedom + f), column) += share * left.held[f].v[k];
    if (drive >= 0) right_columns_(drive, column) += left.driven[f].v[k];
  }
}

/// Dual numbers of N directions: turns, and shifts too unless these only move p_M − p_F in constraints that say it is
/// 0.
template <int N>
void RegularizedStep::joint_columns_by_pose(int index, bool shifts) {
  using T = Dual<N>;
  const Joint& joint = mechanism_->joints()[index];
  const int count = shifts ? 6 : 3, second = joint.a < 0 ? 0 : count;
  JointBalance<T> left;
  balance_joint<T>(index, PlainNumbers{numbers_.data()}, pose<T>(joint.a, 0, shifts), pose<T>(joint.b, second, shifts),
                   left);
  for (int k = 0; k < count && joint.a >= 0; ++k) scatter_joint(index, left, k, 6 * joint.a + k);
  for (int k = 0; k < count && joint.b >= 0; ++k) scatter_joint(index, left, second + k, 6 * joint.b + k);
  if (shifts) return;
  for (int k = 0; k < 3; ++k) {
    const double slope = correction_;
    if (joint.a >= 0) right_columns_(joint.row + k, 6 * joint.a + 3 + k) += slope;
    if (joint.b >= 0) right_columns_(joint.row + k, 6 * joint.b + 3 + k) -= slope;
  }
}

/// Velocities before the step act through each freedom's rate and, where constraints hold at its start, through Υ G v
/// and through Ġ v.
void RegularizedStep::joint_columns_by_velocity(int index) {
  const Joint& joint = mechanism_->joints()[index];
  const auto each = [&](auto&& visit) {
    for (int k = 0; k < 6 && joint.a >= 0; ++k) visit(k, 6 * joint.a + k);
    for (int k = 0; k < 6 && joint.b >= 0; ++k) visit(6 + k, 6 * joint.b + k);
  };
  for (int i = joint.row; i < joint.row + joint.rows && !at_end_; ++i) {
    each([&](int k, int column) { right_columns_(i, n_ + column) += gamma_ * rows_[i].G[k]; });
  }
  if (!at_end_ && joint.rows > 0 && !maximal::JointSlopes::known(joint.type)) bend_by_velocity(index);
  for (int f = joint.freedom; f < joint.freedom + joint.freedoms; ++f) {
    const double slope = freedom_slopes_[f].by_rate;
    if (slope == 0) continue;
    each([&](int k, int row) {
      const double push = slope * freedom_rows_[f].G[k];
      each([&](int c, int column) { impulse_columns_(row, n_ + column) += push * freedom_rows_[f].G[c]; });
    });
  }
}

/// Ġ v is a quadratic form c of v, whose slope is exactly (c(v + e) − c(v − e))/2.
void RegularizedStep::bend_by_velocity(int index) {
  const Joint& joint = mechanism_->joints()[index];
  const maximal::JointPlace<double> place(pose<double>(joint.a), pose<double>(joint.b), com(joint.a), com(joint.b),
                                          numbers_.data() + joint.numbers);
  const bool shifts = !keeps_one_place(joint.type);
  double both[12];
  gather(joint, before_.data(), both);
  for (int k = 0; k < 12; ++k) {
    const int body = k < 6 ? joint.a : joint.b;
    if (body < 0 || (k % 6 >= 3 && !shifts)) continue;
    for (const double by : {1.0, -1.0}) {
      const double was = both[k];
      both[k] += by;
      const maximal::PairMotion<double> motion(place.F, place.M, both);
      both[k] = was;
      maximal::WorldRow<double> rows[6];
      maximal::constraint_rows(joint, maximal::RowMaker<double>(place.F, place.M, &motion), rows);
      for (int i = 0; i < joint.rows; ++i) {
        right_columns_(joint.row + i, n_ + 6 * body + k % 6) -= 0.5 * by * curved_ * rows[i].curvature;
      }
    }
  }
}

void RegularizedStep::joint_column(int index, int direction) {
  using T = Dual<1>;
  const Joint& joint = mechanism_->joints()[index];
  JointBalance<T> left;
  balance_joint<T>(index, SeededNumbers{numbers_.data(), directions_.col(direction).data()}, pose<T>(joint.a),
                   pose<T>(joint.b), left);
  scatter_joint(index, left, 0, 2 * n_ + direction);
}

void RegularizedStep::spring_columns(int index) {
  const maximal::Spring& spring = mechanism_->springs()[index];
  double both[12], after[12];
  gather(spring, before_.data(), both);
  gather(spring, fixed_after_->data(), after);
  const auto evaluate = [&]<class T>(const auto& number, const maximal::Pose<T>& a, const maximal::Pose<T>& b,
                                     const T* before, T* impulse) {
    T numbers[maximal::SpringNumbers::count], com_a[3] = {T(0.0), T(0.0), T(0.0)}, com_b[3] = {T(0.0), T(0.0), T(0.0)};
    number.copy(spring.numbers, maximal::SpringNumbers::count, numbers);
    if (spring.a >= 0) number.copy(mechanism_->bodies()[spring.a].numbers + BodyNumbers::com, 3, com_a);
    if (spring.b >= 0) number.copy(mechanism_->bodies()[spring.b].numbers + BodyNumbers::com, 3, com_b);
    for (int k = 0; k < 12; ++k) impulse[k] = T(0.0);
    maximal::spring_balance(a, b, com_a, com_b, numbers, before, after, spring_mobility_[index], h_, impulse);
  };
  const auto scatter = [&](const auto* impulse, int k, int column) {
    for (int i = 0; i < 6 && spring.a >= 0; ++i) impulse_columns_(6 * spring.a + i, column) += impulse[i].v[k];
    for (int i = 0; i < 6 && spring.b >= 0; ++i) impulse_columns_(6 * spring.b + i, column) += impulse[6 + i].v[k];
  };
  using Wide = Dual<12>;
  Wide before[12], impulse[12];
  for (const bool by_velocity : {false, true}) {
    for (int k = 0; k < 12; ++k) before[k] = by_velocity ? Wide(both[k], k) : Wide(both[k]);
    evaluate(PlainNumbers{numbers_.data()}, pose<Wide>(spring.a, by_velocity ? -1 : 0),
             pose<Wide>(spring.b, by_velocity ? -1 : 6), before, impulse);
    const int shift = by_velocity ? n_ : 0;
    for (int k = 0; k < 6 && spring.a >= 0; ++k) scatter(impulse, k, shift + 6 * spring.a + k);
    for (int k = 0; k < 6 && spring.b >= 0; ++k) scatter(impulse, 6 + k, shift + 6 * spring.b + k);
  }
  for (int d : spring_directions_[index]) {
    using One = Dual<1>;
    One speed[12], push[12];
    for (int k = 0; k < 12; ++k) speed[k] = One(both[k]);
    evaluate(SeededNumbers{numbers_.data(), directions_.col(d).data()}, pose<One>(spring.a), pose<One>(spring.b), speed,
             push);
    scatter(push, 0, 2 * n_ + d);
  }
}

void RegularizedStep::load_columns(int index) {
  const maximal::Load& load = mechanism_->loads()[index];
  if (load.body < 0) return;
  const Eigen::Map<const Eigen::Vector3d> at(numbers_.data() + load.numbers), centre(com(load.body));
  const Eigen::Vector3d arm = at - centre;
  using Six = Dual<6>;
  Six impulse[6];
  maximal::load_balance<Six>(pose<Six>(load.body, 0), maximal::Vector3<Six>(arm.cast<Six>()), force_[index],
                             moment_[index], h_, impulse);
  for (int k = 0; k < 6; ++k) {
    for (int i = 0; i < 6; ++i) impulse_columns_(6 * load.body + i, 6 * load.body + k) += impulse[i].v[k];
  }
  for (int d : load_directions_[index]) {
    const auto column = directions_.col(d);
    const Eigen::Vector3d moved =
        column.segment<3>(load.numbers) - column.segment<3>(mechanism_->bodies()[load.body].numbers + BodyNumbers::com);
    const Eigen::Matrix3d& R = poses_[load.body].R;
    const Eigen::Vector3d turn = R.transpose() * (R * moved).cross(h_ * force_[index]);
    for (int k = 0; k < 3; ++k) impulse_columns_(6 * load.body + k, 2 * n_ + d) += turn[k];
  }
}

/// How the force through each joint, without dry friction, changes: |F|, F = Σ λᵢ eᵢ / h. The directions eᵢ are fixed
/// in the world or turn together with F's body, which does not change the length of F: dλ is all.
void RegularizedStep::find_load_changes() {
  for (int f : dry_freedoms_) keep_[f] = steps_[f], steps_[f].grip = Grip::none, steps_[f].held = 0;
  at_end_ = false;  // loads are those of the first guess
  fill_columns(free_, free_lambda_);
  solve_padded(impulse_columns_.data(), right_columns_.data(), static_cast<int>(impulse_columns_.cols()));
  load_changes_.setZero(freedoms(), impulse_columns_.cols());
  for (int f : dry_freedoms_) {
    steps_[f] = keep_[f];
    if (!(steps_[f].load > 0)) continue;
    const Joint& joint = mechanism_->joints()[mechanism_->freedoms()[f].joint];
    const Eigen::Vector3d force = joint_force(mechanism_->freedoms()[f].joint);
    const Eigen::Vector3d along = force.normalized();
    for (int i = joint.row; i < joint.row + joint.rows; ++i) {
      const double share = along.dot(Eigen::Map<const Eigen::Vector3d>(rows_[i].G + 9)) / h_;
      load_changes_.row(f) += share * right_columns_.row(i);
    }
  }
}

void RegularizedStep::add_load_changes() {
  for (int f : dry_freedoms_) {
    if (!(steps_[f].load > 0) || steps_[f].grip == Grip::held) continue;
    const double sign = steps_[f].grip == Grip::forward ? -1 : 1;
    const double share = sign * h_ * numbers_[mechanism_->freedoms()[f].numbers + FreedomNumbers::load_friction];
    const SystemRow& row = rows_[freedom_at(f)];
    const double* G = freedom_rows_[f].G;
    for (int k = 0; k < 6 && row.a >= 0; ++k)
      impulse_columns_.row(6 * row.a + k) += share * G[k] * load_changes_.row(f);
    for (int k = 0; k < 6 && row.b >= 0; ++k)
      impulse_columns_.row(6 * row.b + k) += share * G[6 + k] * load_changes_.row(f);
  }
}

}  // namespace kinegraph::step
