#include "kinegraph/step/regularized_implementation.hpp"

/// Columns of RegularizedStep::fill_columns() that are known in closed form.
namespace kinegraph::step {

using maximal::BodyNumbers;
using maximal::FreedomNumbers;
using maximal::Grip;
using maximal::Joint;

maximal::JointStep RegularizedStep::joint_step(int index, double* after) const {
  const Joint& joint = mechanism_->joints()[index];
  maximal::JointStep step;
  step.h = h_;
  step.gamma = gamma_;
  step.correction = correction_;
  step.curved = curved_;
  step.at_end = at_end_;
  for (int i = 0; i < joint.rows; ++i) {
    step.softness[i] = rows_[joint.row + i].softness;
    step.lambda[i] = (*fixed_lambda_)[joint.row + i];
  }
  for (int f = 0; f < joint.freedoms; ++f) step.freedom[f] = steps_[joint.freedom + f];
  gather(joint, fixed_after_->data(), after);
  step.after = after;
  return step;
}

/// Hinges, balls and welds.
void RegularizedStep::closed_columns(int index) {
  const Joint& joint = mechanism_->joints()[index];
  double before[12], after[12];
  gather(joint, before_.data(), before);
  const maximal::JointStep step = joint_step(index, after);
  maximal::JointMotion motion;
  motion.joint = &joint;
  motion.a = pose<double>(joint.a), motion.b = pose<double>(joint.b);
  motion.com_a = com(joint.a), motion.com_b = com(joint.b);
  motion.frames = numbers_.data() + joint.numbers;
  motion.before = before, motion.after = after;
  if (at_end_ && joint.a >= 0) motion.turned_a = turns_[joint.a];
  if (at_end_ && joint.b >= 0) motion.turned_b = turns_[joint.b];
  const maximal::JointSlopes slopes(motion, step, freedom_slopes_.data() + joint.freedom);
  if (joint.a >= 0) add_closed_columns(index, slopes, 0);
  if (joint.b >= 0) add_closed_columns(index, slopes, 1);
  static constexpr double kZero[3] = {};
  for (int d : joint_directions_[index]) {
    const double* moved = directions_.col(d).data();
    const auto com_of = [&](int body) {
      return body < 0 ? kZero : moved + mechanism_->bodies()[body].numbers + BodyNumbers::com;
    };
    maximal::JointSlopes::Direction direction{moved + joint.numbers, com_of(joint.a), com_of(joint.b), {}};
    for (int f = 0; f < joint.freedoms; ++f) {
      direction.freedoms[f] = moved + mechanism_->freedoms()[joint.freedom + f].numbers;
    }
    const maximal::JointSlopes::Change change = slopes.along(direction);
    const int column = 2 * n_ + d;
    for (int k = 0; k < 3; ++k) {
      if (joint.a >= 0) impulse_columns_(6 * joint.a + k, column) += change.turn_a[k];
      if (joint.b >= 0) impulse_columns_(6 * joint.b + k, column) += change.turn_b[k];
    }
    for (int i = 0; i < joint.rows; ++i) right_columns_(joint.row + i, column) += change.left[i];
    for (int f = 0; f < joint.freedoms; ++f) {
      const double share = held_share(joint.freedom + f);
      if (share != 0) right_columns_(freedom_at(joint.freedom + f), column) += share * change.held[f];
      if (drive_rows_[joint.freedom + f] >= 0)
        right_columns_(drive_rows_[joint.freedom + f], column) += change.driven[f];
    }
  }
}

/// By the turn and shift of body a (side 0) or b.
void RegularizedStep::add_closed_columns(int index, const maximal::JointSlopes& slopes, int side) {
  const Joint& joint = mechanism_->joints()[index];
  const int column = 6 * (side == 0 ? joint.a : joint.b);
  if (joint.a >= 0) impulse_columns_.block<3, 3>(6 * joint.a, column) += slopes.turn_a[side];
  if (joint.b >= 0) impulse_columns_.block<3, 3>(6 * joint.b, column) += slopes.turn_b[side];
  const double slope = side == 0 ? -slopes.by_shift : slopes.by_shift;
  for (int k = 0; k < 3; ++k) right_columns_(joint.row + k, column + 3 + k) += slope;
  for (int i = 0; i < joint.rows; ++i) {
    right_columns_.row(joint.row + i).segment<3>(column) += slopes.left[side].row(i);
    if (!at_end_) right_columns_.row(joint.row + i).segment<3>(n_ + column) += slopes.bend[side].row(i);
  }
  for (int f = 0; f < joint.freedoms; ++f) {
    const double share = held_share(joint.freedom + f);
    const int drive = drive_rows_[joint.freedom + f];
    if (share != 0) {
      right_columns_.row(freedom_at(joint.freedom + f)).segment<3>(column) += share * slopes.held[f][side];
    }
    if (drive >= 0) right_columns_.row(drive).segment<3>(column) += slopes.driven[f][side];
  }
}

/// s B dv + (s²/w) y = s ℓ with w ℓ = (what is left)/Σ: only friction that holds is an equation of its own.
double RegularizedStep::held_share(int f) const {
  const RateRow& row = weights_[f];
  return steps_[f].grip == Grip::held && row.weight > row.drag ? row.scale / (row.hold * row.weight) : 0.0;
}

void RegularizedStep::find_freedom_slopes() {
  for (int f = 0; f < freedoms(); ++f) {
    const maximal::Freedom& freedom = mechanism_->freedoms()[f];
    freedom_slopes_[f] = {numbers_.data() + freedom.numbers,
                          freedom_rows_[f].value,
                          rate_[f],
                          rate_after(f, fixed_after_->data(), 1),
                          freedom.angular,
                          steps_[f],
                          h_};
  }
}

/// A direction that changes friction, springs or motors of a joint, but not where it is.
void RegularizedStep::freedom_column(int index, int direction) {
  const Joint& joint = mechanism_->joints()[index];
  for (int f = joint.freedom; f < joint.freedom + joint.freedoms; ++f) {
    const maximal::FreedomSlopes& slopes = freedom_slopes_[f];
    const double* moved = directions_.col(direction).data() + mechanism_->freedoms()[f].numbers;
    double change = 0;
    for (int k = 0; k < FreedomNumbers::count; ++k) change += slopes.by_number[k] * moved[k];
    const double* G = freedom_rows_[f].G;
    for (int k = 0; k < 6 && joint.a >= 0; ++k) impulse_columns_(6 * joint.a + k, 2 * n_ + direction) += change * G[k];
    for (int k = 0; k < 6 && joint.b >= 0; ++k)
      impulse_columns_(6 * joint.b + k, 2 * n_ + direction) += change * G[6 + k];
  }
}

}  // namespace kinegraph::step
