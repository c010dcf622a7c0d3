#include "kinegraph/step/regularized_step.hpp"

#include <algorithm>

#include "kinegraph/step/regularized_implementation.hpp"

namespace kinegraph::step {

using maximal::BodyNumbers;
using maximal::Grip;
using maximal::Joint;
using maximal::Mechanism;
using maximal::Row;

StepInput::StepInput(const Mechanism& mechanism, double step)
    : h(step), force(mechanism.loads().size(), Eigen::Vector3d::Zero()), moment(force) {
  const auto freedoms = static_cast<Eigen::Index>(mechanism.freedoms().size());
  torque.setZero(freedoms);
  control.setZero(freedoms);
  reference.setZero(freedoms);
  target.setZero(freedoms);
}

RegularizedStep::RegularizedStep(std::shared_ptr<const Mechanism> mechanism,
                                 const maximal::Regularization& regularization)
    : mechanism_(std::move(mechanism)), regularization_(regularization) {
  const Mechanism& m = *mechanism_;
  const int freedoms = this->freedoms();
  for (int f = 0; f < freedoms; ++f) {
    if (m.freedoms()[f].drive >= 0) drives_.push_back(f);
  }
  n_ = m.tangent();
  m_ = spring_at(static_cast<int>(m.springs().size()));
  padded_n_ = padded(n_);
  padded_m_ = padded(m_);
  const std::size_t bodies = m.bodies().size();
  inertia_.resize(bodies);
  inverse_inertia_.resize(bodies);
  spun_.resize(bodies);
  spins_.resize(bodies);
  poses_.resize(bodies);
  ends_.resize(bodies);
  turns_.resize(bodies);
  turned_axes_.resize(bodies);
  endings_.resize(m.rows());
  end_frames_.resize(m.joints().size());
  for (Eigen::VectorXd* x : {&before_, &after_, &free_, &again_, &impulse_, &factored_at_}) x->setZero(n_);
  for (Eigen::VectorXd* x : {&lambda_, &free_lambda_, &again_lambda_, &right_}) x->setZero(m_);
  for (Eigen::VectorXd* x : {&friction_, &position_, &rate_, &dry_}) x->setZero(freedoms);
  for (Eigen::VectorXd* x : {&violation_, &end_, &given_}) x->setZero(m.rows());
  freedom_rows_.resize(freedoms);
  weights_.resize(freedoms);
  spring_weights_.resize(m.springs().size());
  spring_rows_.resize(m.springs().size());
  steps_.resize(freedoms);
  keep_.resize(freedoms);
  freedom_slopes_.resize(freedoms);
  rows_.resize(m_);
  mobile_rows_.resize(m_);
  dry_freedoms_.reserve(freedoms);
  for (const Joint& joint : m.joints()) {
    const auto place = [&](int row) { rows_[row].a = joint.a, rows_[row].b = joint.b; };
    for (int i = 0; i < joint.rows; ++i) place(joint.row + i);
    for (int f = 0; f < joint.freedoms; ++f) place(freedom_at(joint.freedom + f));
  }
  drive_rows_.assign(freedoms, -1);
  for (std::size_t d = 0; d < drives_.size(); ++d) {
    drive_rows_[drives_[d]] = drive_at(static_cast<int>(d));
    rows_[drive_at(static_cast<int>(d))].a = rows_[freedom_at(drives_[d])].a;
    rows_[drive_at(static_cast<int>(d))].b = rows_[freedom_at(drives_[d])].b;
  }
  for (std::size_t i = 0; i < m.springs().size(); ++i) {
    rows_[spring_at(static_cast<int>(i))].a = m.springs()[i].a;
    rows_[spring_at(static_cast<int>(i))].b = m.springs()[i].b;
  }
  for (int i = 0; i < m_; ++i) {
    for (int j = 0; j <= i; ++j) {
      const auto on = [&](int body) { return body >= 0 && (rows_[j].a == body || rows_[j].b == body); };
      if (i == j || on(rows_[i].a) || on(rows_[i].b)) coupled_.emplace_back(i, j);
    }
  }
  sparse_ = m_ > kMostDense;
  if (sparse_) {
    std::vector<Eigen::Triplet<double>> entries;
    for (const auto& [i, j] : coupled_) entries.emplace_back(i, j, i == j ? 1.0 : 0.0);
    pattern_.resize(m_, m_);
    pattern_.setFromTriplets(entries.begin(), entries.end());
    simplicial_.analyzePattern(pattern_);
  } else {
    factor_.setZero(padded_m_, padded_m_);
    across_.setZero(padded_n_, padded_m_);
    mobile_.setZero(padded_m_, padded_n_);
    mobile_end_ = mobile_;
    end_factor_ = factor_;
    ones_.setOnes(padded_m_);
  }
  set_numbers(m.numbers());
  find_mobilities();
  set_directions(Eigen::MatrixXd(m.numbers().size(), 0));
}

void RegularizedStep::set_numbers(const Eigen::VectorXd& numbers) {
  numbers_ = numbers;
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    inertia_[i] = maximal::inertia_of(numbers_.data() + mechanism_->bodies()[i].numbers + BodyNumbers::inertia);
    inverse_inertia_[i] = inertia_[i].inverse();
  }
}

const double* RegularizedStep::com(int body) const {
  static constexpr double kZero[3] = {};
  return body < 0 ? kZero : numbers_.data() + mechanism_->bodies()[body].numbers + BodyNumbers::com;
}

void RegularizedStep::set_poses(const double* q) {
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    poses_[i].R = SO3::load(q + 7 * i).matrix();
    poses_[i].p = Eigen::Map<const Eigen::Vector3d>(q + 7 * i + 4);
  }
}

bool RegularizedStep::advance(const double* q, const double* v, const StepInput& input, Grip* grip, double* after,
                              const double* guess) {
  set_poses(q);
  std::copy_n(v, n_, before_.data());
  h_ = input.h;
  bool found = false;
  if (guess && is_near(guess)) {
    tried_.assign(grip, grip + freedoms());
    assemble(v, input, false);
    found = advance_from(guess, grip);
    // it leaves the grips of where it gave up
    if (!found) std::copy(tried_.begin(), tried_.end(), grip);
  }
  if (!found) {
    assemble(v, input, true);
    factor();
    if (!respond_to_loads(grip)) return false;
    if (regularization_.hold == maximal::Hold::end && !hold_at_end(grip, true)) return false;
  }
  for (int f = 0; f < freedoms(); ++f)
    steps_[f].grip = grip[f], steps_[f].held = grip[f] == Grip::held ? friction_[f] : 0;
  for (std::size_t d = 0; d < drives_.size(); ++d) steps_[drives_[d]].driven = lambda_[drive_at(static_cast<int>(d))];
  std::copy_n(after_.data(), n_, after);
  return after_.allFinite();
}

/// The step with right_ as it is: without dry friction, then with it.
bool RegularizedStep::respond_to_loads(Grip* grip) {
  free_ = impulse_;
  free_lambda_ = right_;
  solve(free_.data(), free_lambda_.data(), 1);
  if (!free_.allFinite()) return false;
  find_loads();
  prepare_friction(grip);
  return settle(free_, free_lambda_, grip);
}

/// Whether a search may start from this guess of v⁺.
bool RegularizedStep::is_near(const double* guess) const {
  if (regularization_.hold != maximal::Hold::end || is_loaded()) return false;
  for (int i = 0; i < n_; ++i) {
    if (!(std::abs(guess[i] - before_[i]) * h_ < kFarGuess)) return false;
  }
  return true;
}

/// Newton's method from a guess of v⁺ alone: what the step would be if constraints held at its start is not asked for.
bool RegularizedStep::advance_from(const double* guess, Grip* grip) {
  std::copy_n(guess, n_, after_.data());
  lambda_.setZero();
  if (!sparse_) place_rows();
  choose_dry(grip);
  return hold_at_end(grip, false);
}

/// By Newton's method, linearised at the last v⁺, with what friction does then:
///
///     (g⁺ − g)/h + Σ λ = −g/(h + τ)                                       constraints hold at the end of the step
///     J (ω⁺ − ω) + h m × J m = impulses,   m = (ω + ω⁺)/2                  gyroscopic terms are those of its middle
///
/// `balanced`: v⁺ and λ are those of a step already, of which only these two are wrong.
bool RegularizedStep::hold_at_end(Grip* grip, bool balanced) {
  for (std::size_t i = 0; i < poses_.size(); ++i) {  // what the first guess takes for h m × J m
    spins_[i].by_after.setZero();
    spins_[i].at_rest.noalias() = inertia_[i] * (Eigen::Map<const Eigen::Vector3d>(before_.data() + 6 * i) - spun_[i]);
  }
  factored_ = false;
  double far = 0, before = 0;
  for (const maximal::Pose<double>& pose : poses_) far = std::max(far, pose.p.lpNorm<Eigen::Infinity>());
  for (int round = 0;; ++round) {
    find_end();
    double left = spin_left();
    for (int r = 0; r < mechanism_->rows(); ++r) {
      const double change = (end_[r] - violation_[r]) / h_;
      const double wrong = std::abs(change + rows_[r].softness * lambda_[r] - given_[r]);
      if (!(wrong <= left)) left = wrong;  // not a number, too
      right_[r] = given_[r] - change;
    }
    if (!std::isfinite(left)) return false;
    const double fast = 1 + after_.lpNorm<Eigen::Infinity>();
    // no less than rounding of places, over h
    if ((balanced || round > 0) &&
        left <= kSameEnding * fast + 16 * std::numeric_limits<double>::epsilon() * (1 + far) / h_) {
      return true;
    }
    // or of the system itself, where it is badly scaled: then it falls no more
    if (round == kMostEndings || (round > 1 && left > 0.25 * before)) {
      if (left <= kPoorEnding * fast) return true;
      if (round == kMostEndings) return false;
    }
    before = left;
    // near the answer the last linearisation will do: by what is left it is wrong, which counts times what is left
    const bool again = round == 0 || left > kNearEnding * fast;
    for (std::size_t i = 0; i < poses_.size(); ++i) linearize_spin(static_cast<int>(i), again);
    if (again) find_endings(), factor_at_end(), factored_at_ = after_, factored_ = true;
    for (int r = 0; r < mechanism_->rows(); ++r) right_[r] += rate_along(endings_, r);
    again_ = impulse_;
    for (std::size_t i = 0; i < poses_.size(); ++i) {
      again_.segment<3>(6 * i) +=
          inertia_[i] * (Eigen::Map<const Eigen::Vector3d>(before_.data() + 6 * i) - spun_[i]) - spins_[i].at_rest;
    }
    again_lambda_ = right_;
    if (again && !dry_freedoms_.empty()) {
      solve_with_friction();
    } else {
      solve_at_end(again_.data(), again_lambda_.data(), 1);
    }
    if (!again_.allFinite()) return false;
    if (!settle(again_, again_lambda_, grip)) return false;
  }
}

/// h m × J m of a body.
Eigen::Vector3d RegularizedStep::spin_impulse(int body) const {
  const Eigen::Vector3d middle = 0.5 * (before_.segment<3>(6 * body) + after_.segment<3>(6 * body));
  return h_ * middle.cross(inertia_[body] * middle);
}

/// By how much, rad/s, their linearisation is wrong.
double RegularizedStep::spin_left() const {
  double left = 0;
  for (int i = 0; i < static_cast<int>(poses_.size()); ++i) {
    const Eigen::Vector3d taken = spins_[i].at_rest + spins_[i].by_after * after_.segment<3>(6 * i);
    const double wrong = (inverse_inertia_[i] * (taken - spin_impulse(i))).norm();
    if (!(wrong <= left)) left = wrong;
  }
  return left;
}

/// h m × J m ≈ c + S ω⁺,   S = (h/2) (m^ J − (J m)^)
void RegularizedStep::linearize_spin(int body, bool slope) {
  const Eigen::Matrix3d& J = inertia_[body];
  Spin& spin = spins_[body];
  if (slope) {
    const Eigen::Vector3d middle = 0.5 * (before_.segment<3>(6 * body) + after_.segment<3>(6 * body));
    spin.by_after = (0.5 * h_) * (skew<double>(middle) * J - skew<double>(Eigen::Vector3d(J * middle)));
    spin.inverse = (J + spin.by_after).inverse();
  }
  spin.at_rest = spin_impulse(body) - spin.by_after * after_.segment<3>(6 * body);
}

/// g at q⁺ = q ⊞ h v⁺.
void RegularizedStep::find_end() {
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    const double* v = after_.data() + 6 * i;
    turns_[i] = SO3::exp(h_ * Eigen::Map<const Eigen::Vector3d>(v)).matrix();
    ends_[i].R.noalias() = poses_[i].R * turns_[i];
    ends_[i].p = poses_[i].p + h_ * Eigen::Map<const Eigen::Vector3d>(v + 3);
  }
  maximal::WorldRow<double> found[6];
  for (std::size_t j = 0; j < mechanism_->joints().size(); ++j) {
    const Joint& joint = mechanism_->joints()[j];
    if (joint.rows == 0) continue;
    const maximal::JointPlace<double> place(end(joint.a), end(joint.b), com(joint.a), com(joint.b),
                                            numbers_.data() + joint.numbers);
    end_frames_[j] = {place.F, place.M};
    if (maximal::JointSlopes::known(joint.type)) {
      maximal::constraint_values(joint, place.F, place.M, end_.data() + joint.row);
      continue;
    }
    maximal::constraint_rows(joint, maximal::RowMaker<double>(place.F, place.M), found);
    for (int i = 0; i < joint.rows; ++i) end_[joint.row + i] = found[i].value;
  }
}

/// ∂g/∂v⁺/h where find_end() was asked last: G(q⁺), with turns times Jᵣ(h ω⁺).
void RegularizedStep::find_endings() {
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    const Eigen::Vector3d turn = h_ * Eigen::Map<const Eigen::Vector3d>(after_.data() + 6 * i);
    turned_axes_[i].noalias() = ends_[i].R * SO3::right_jacobian(turn);
  }
  maximal::Row<double> found[6];
  for (std::size_t j = 0; j < mechanism_->joints().size(); ++j) {
    const Joint& joint = mechanism_->joints()[j];
    if (joint.rows == 0) continue;
    // rows are turned into axes in which turns are those by ω⁺
    auto& [F, M] = end_frames_[j];
    if (joint.a >= 0) F.body = turned_axes_[joint.a];
    if (joint.b >= 0) M.body = turned_axes_[joint.b];
    maximal::constraint_rows(joint, maximal::RowMaker<double>(F, M), found);
    for (int i = 0; i < joint.rows; ++i) std::copy_n(found[i].G, 12, endings_[joint.row + i].data());
  }
}

double RegularizedStep::rate_along(const std::vector<std::array<double, 12>>& rows, int r) const {
  const SystemRow& row = rows_[r];
  double sum = 0;
  for (int k = 0; k < 6 && row.a >= 0; ++k) sum += rows[r][k] * after_[6 * row.a + k];
  for (int k = 0; k < 6 && row.b >= 0; ++k) sum += rows[r][6 + k] * after_[6 * row.b + k];
  return sum;
}

/// Fills the rows, impulse_ = M v′ + h f + what does not depend on v⁺, and right_. `turned`: v′ is v turned on by the
/// gyroscopic term; without, v itself, which does where Newton's method adds that term anyway.
void RegularizedStep::assemble(const double* v, const StepInput& input, bool turned) {
  h_ = input.h;
  gamma_ = regularization_.gamma(h_);
  correction_ = regularization_.correction(h_);
  curved_ = regularization_.curvature(h_);
  const double* gravity = numbers_.data() + Mechanism::kGravity;
  for (std::size_t i = 0; i < poses_.size(); ++i) {  // body_balance() of a body that comes to rest
    const Eigen::Map<const Eigen::Vector3d> spin(v + 6 * i);
    spun_[i] = turned ? maximal::free_spin<double>(inertia_[i], spin, h_) : Eigen::Vector3d(spin);
    impulse_.segment<3>(6 * i).noalias() = inertia_[i] * spun_[i];
    for (int k = 0; k < 3; ++k)
      impulse_[6 * i + 3 + k] = mass(static_cast<int>(i)) * (v[6 * i + 3 + k] + h_ * gravity[k]);
  }
  right_.setZero();
  for (std::size_t j = 0; j < mechanism_->joints().size(); ++j) add_joint(static_cast<int>(j), v, input);
  for (std::size_t d = 0; d < drives_.size(); ++d) {
    const int f = drives_[d], row = drive_at(static_cast<int>(d));
    std::copy_n(freedom_rows_[f].G, 12, rows_[row].G);
    rows_[row].softness = regularization_.softness(h_, mechanism_->freedoms()[f].angular);
    right_[row] = (input.target[f] - position_[f]) / h_;
  }
  add_forces(v, input);
}

void RegularizedStep::add_joint(int index, const double* v, const StepInput& input) {
  const Joint& joint = mechanism_->joints()[index];
  const maximal::JointPlace<double> place(pose<double>(joint.a), pose<double>(joint.b), com(joint.a), com(joint.b),
                                          numbers_.data() + joint.numbers);
  double both[12];
  gather(joint, v, both);
  const maximal::PairMotion<double> motion(place.F, place.M, both);
  const maximal::RowMaker<double> make(place.F, place.M, &motion);
  maximal::WorldRow<double> found[6];
  maximal::constraint_rows(joint, make, found);
  for (int i = 0; i < joint.rows; ++i) {
    SystemRow& row = rows_[joint.row + i];
    std::copy_n(make.in_bodies(found[i]).G, 12, row.G);
    row.softness = regularization_.softness(h_, maximal::angular_row(joint.type, i));
    violation_[joint.row + i] = found[i].value;
    given_[joint.row + i] = gamma_ * found[i].rate(motion.a, motion.b, motion.relative) - correction_ * found[i].value;
    right_[joint.row + i] = given_[joint.row + i] - curved_ * found[i].curvature;
  }
  maximal::freedom_rows(joint, make, freedom_rows_.data() + joint.freedom);
  for (int f = joint.freedom; f < joint.freedom + joint.freedoms; ++f) {
    const maximal::Freedom& freedom = mechanism_->freedoms()[f];
    const Row<double>& row = freedom_rows_[f];
    steps_[f] = {.torque = input.torque[f],
                 .control = input.control[f],
                 .reference = input.reference[f],
                 .target = input.target[f],
                 .mobility = freedom_mobility_[f]};
    rate_[f] = row.rate(both);
    position_[f] = maximal::continued(row.value, freedom.angular, input.reference[f]);
    const maximal::FreedomImpulse<double> force(numbers_.data() + freedom.numbers, row.value, rate_[f], freedom.angular,
                                                steps_[f], h_);
    dry_[f] = force.dry;
    weights_[f].drag = force.drag;
    for (int k = 0; k < 6 && joint.a >= 0; ++k) impulse_[6 * joint.a + k] += row.G[k] * force.given;
    for (int k = 0; k < 6 && joint.b >= 0; ++k) impulse_[6 * joint.b + k] += row.G[6 + k] * force.given;
    weights_[f].mobility = mobility(rows_[freedom_at(f)].a, rows_[freedom_at(f)].b, row.G);
    weights_[f].hold = kHold * weights_[f].mobility;
    weigh_freedom(f, false);
  }
}

void RegularizedStep::add_forces(const double* v, const StepInput& input) {
  for (int i = 0; i < static_cast<int>(mechanism_->springs().size()); ++i) add_spring(i, v);
  force_ = input.force;
  moment_ = input.moment;
  for (std::size_t i = 0; i < mechanism_->loads().size(); ++i) {
    const maximal::Load& load = mechanism_->loads()[i];
    if (load.body < 0) continue;
    const Eigen::Map<const Eigen::Vector3d> at(numbers_.data() + load.numbers), centre(com(load.body));
    maximal::load_balance<double>(poses_[load.body], Eigen::Vector3d(at - centre), force_[i], moment_[i], h_,
                                  impulse_.data() + 6 * load.body);
  }
}

void RegularizedStep::multiply_mass(const double* x, double* out) const {
  for (std::size_t i = 0; i < poses_.size(); ++i, x += 6, out += 6) {
    Eigen::Map<Eigen::Vector3d>{out} = inertia_[i] * Eigen::Map<const Eigen::Vector3d>(x);
    for (int k = 3; k < 6; ++k) out[k] = mass(static_cast<int>(i)) * x[k];
  }
}

}  // namespace kinegraph::step
