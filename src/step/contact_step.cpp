#include "kinegraph/step/contact_step.hpp"

#include <algorithm>

namespace kinegraph::step {

using Eigen::Vector3d;
using maximal::Contact;
using maximal::Grip;
using maximal::Mechanism;
using maximal::Pose;

namespace {

/// Friction can turn a slip around in a step if that is slower than this times what the forces add: then its direction
/// is told by both.
constexpr double kSlow = 10;

const Pose<double> kGround;

maximal::Regularization held_at_start(maximal::Regularization regularization) {
  regularization.hold = maximal::Hold::start;
  return regularization;
}

}  // namespace

ContactStep::ContactStep(std::shared_ptr<const Mechanism> mechanism, const maximal::Regularization& regularization,
                         const ContactOptions& options)
    : mechanism_(std::move(mechanism)),
      smooth_(loaded(*mechanism_), held_at_start(regularization)),
      finder_(*mechanism_),
      options_(options),
      input_(smooth_.mechanism(), 0) {
  options_.directions = std::max(4, options.directions + options.directions % 2);
  set_numbers(mechanism_->numbers());
  set_directions(Eigen::MatrixXd(numbers_.size(), 0));
}

std::shared_ptr<const Mechanism> ContactStep::loaded(const Mechanism& mechanism) {
  Robot robot = mechanism.tree().robot();
  const auto& links = mechanism.tree().links();
  for (int i = 0; i < static_cast<int>(mechanism.bodies().size()); ++i) {
    const auto first = std::find_if(links.begin(), links.end(), [&](const auto& link) { return link.body == i; });
    LinkLoad& load = robot.loads.emplace_back();
    load.on.link = LinkIndex{static_cast<int>(first - links.begin())};
  }
  return *Mechanism::make(robot);
}

/// The loads are the last numbers of a mechanism; these stay at the centres of mass.
Eigen::VectorXd ContactStep::extended(const Eigen::VectorXd& numbers) const {
  const int bodies = static_cast<int>(mechanism_->bodies().size());
  Eigen::VectorXd out(numbers.size() + 3 * bodies);
  out.head(numbers.size()) = numbers;
  for (int i = 0; i < bodies; ++i) {
    out.segment<3>(numbers.size() + 3 * i) =
        numbers.segment<3>(mechanism_->bodies()[i].numbers + maximal::BodyNumbers::com);
  }
  return out;
}

void ContactStep::set_numbers(const Eigen::VectorXd& numbers) {
  numbers_ = numbers;
  smooth_.set_numbers(extended(numbers));
}

void ContactStep::set_directions(const Eigen::MatrixXd& directions) {
  directions_ = directions;
  Eigen::MatrixXd all(smooth_.mechanism().numbers().size(), directions.cols());
  for (Eigen::Index k = 0; k < directions.cols(); ++k) all.col(k) = extended(directions.col(k));
  smooth_.set_directions(all);
}

bool ContactStep::advance(const double* q, const double* v, const StepInput& input, Grip* grip, double* after) {
  contacts_.clear();
  const std::size_t loads = mechanism_->loads().size();
  input_.h = input.h;
  input_.torque = input.torque, input_.control = input.control;
  input_.reference = input.reference, input_.target = input.target;
  for (std::size_t i = 0; i < input_.force.size(); ++i) {
    input_.force[i] = i < loads ? input.force[i] : Vector3d(Vector3d::Zero());
    input_.moment[i] = i < loads ? input.moment[i] : Vector3d(Vector3d::Zero());
  }
  if (!smooth_.advance(q, v, input_, grip, after)) return false;
  if (finder_.empty()) return true;
  find_contacts(q, v, input.h);
  if (contacts_.empty()) return true;
  q_ = Eigen::Map<const Eigen::VectorXd>(q, mechanism_->stored());
  v_ = Eigen::Map<const Eigen::VectorXd>(v, mechanism_->tangent());
  make_rows(v);
  make_problem(input.h);
  fill_constants(input.h);
  guess_basis();
  if (!solve() || !bounce(v, input.h)) return false;
  keep_basis();
  report_grips(grip);
  std::copy_n(after_.data(), after_.size(), after);
  return after_.allFinite();
}

bool ContactStep::complete(Grip* grip) {
  if (contacts_.empty()) return true;
  const std::size_t loads = mechanism_->loads().size();
  for (std::size_t i = loads; i < input_.force.size(); ++i) input_.force[i].setZero(), input_.moment[i].setZero();
  for (int c = 0; c < static_cast<int>(contacts_.size()); ++c) {
    const Vector3d force = impulse(c) / input_.h;
    const auto push = [&](int body, double sign) {
      if (body < 0) return;
      input_.force[loads + body] += sign * force;
      input_.moment[loads + body] += sign * (contacts_[c].touch.point - finder_.poses()[body].p).cross(force);
    };
    push(contacts_[c].b(), 1);
    push(contacts_[c].a(), -1);
  }
  return smooth_.advance(q_.data(), v_.data(), input_, grip, momentum_.setZero(v_.size()).data());
}

/// Contacts that the step could close: nearer than what is travelled twice over.
void ContactStep::find_contacts(const double* q, const double* v, double h) {
  double fastest = 0;
  const int bodies = static_cast<int>(mechanism_->bodies().size());
  for (const double* x : {v, smooth_.free_velocity().data()}) {
    for (int i = 0; i < bodies; ++i) {
      const Eigen::Map<const Vector3d> omega(x + 6 * i), velocity(x + 6 * i + 3);
      const Eigen::Map<const Vector3d> com(numbers_.data() + mechanism_->bodies()[i].numbers +
                                           maximal::BodyNumbers::com);
      fastest = std::max(fastest, velocity.norm() + omega.norm() * (finder_.bound(i) + com.norm()));
    }
  }
  finder_.find(numbers_, q, 4 * h * fastest, contacts_);
  std::erase_if(contacts_, [&](const Contact& contact) {
    const double approach = -contact.touch.normal.dot(slip(contact, v)),
                 free = -contact.touch.normal.dot(slip(contact, smooth_.free_velocity().data()));
    const double size = std::max(1e-3, 0.01 * std::max(contact.a() < 0 ? 0 : finder_.bound(contact.a()),
                                                       contact.b() < 0 ? 0 : finder_.bound(contact.b())));
    return contact.touch.gap > 2 * h * std::max({0.0, approach, free}) + size;
  });
}

/// How b moves against a at the point.
Vector3d ContactStep::slip(const Contact& contact, const double* v) const {
  const auto speed = [&](int body) -> Vector3d {
    if (body < 0) return Vector3d::Zero();
    const Pose<double>& pose = finder_.poses()[body];
    const Vector3d omega = pose.R * Eigen::Map<const Vector3d>(v + 6 * body);
    return Eigen::Map<const Vector3d>(v + 6 * body + 3) + omega.cross(contact.touch.point - pose.p);
  };
  return speed(contact.b()) - speed(contact.a());
}

double ContactStep::rate(const BaseRow& row, const double* v, int stride) const {
  double sum = 0;
  for (int k = 0; k < 6 && row.a >= 0; ++k) sum += row.G[k] * v[(6 * row.a + k) * stride];
  for (int k = 0; k < 6 && row.b >= 0; ++k) sum += row.G[6 + k] * v[(6 * row.b + k) * stride];
  return sum;
}

/// The first tangent is along the slip: in straight sliding the pyramid then is as good as the cone.
void ContactStep::make_rows(const double* v) {
  rows_.clear();
  tangents_.clear();
  const Mechanism& mechanism = *mechanism_;
  for (const Contact& contact : contacts_) {
    const Vector3d& n = contact.touch.normal;
    const auto in_plane = [&](const Vector3d& x) { return Vector3d(x - n * n.dot(x)); };
    const Vector3d free = in_plane(slip(contact, smooth_.free_velocity().data()));
    Vector3d t = in_plane(slip(contact, v));
    std::pair<double, Vector3d> tangent(1, Vector3d::Zero());
    if (t.norm() <= kSlow * (free - t).norm()) tangent.second = free - t, t = free;
    if (t.norm() < 1e-12)
      tangent = {0, std::abs(n[0]) < 0.8 ? Vector3d::UnitX() : Vector3d::UnitY()}, t = in_plane(tangent.second);
    t.normalize();
    tangents_.push_back(tangent);
    const Pose<double>& a = contact.a() < 0 ? kGround : finder_.poses()[contact.a()];
    const Pose<double>& b = contact.b() < 0 ? kGround : finder_.poses()[contact.b()];
    for (const Vector3d& along : {n, t, Vector3d(n.cross(t))}) {
      BaseRow& row = rows_.emplace_back();
      row.a = contact.a(), row.b = contact.b();
      maximal::direction_row<double>(a, b, contact.touch.point, along, row.G);
    }
  }
  dry_.clear();
  for (int f = 0; f < static_cast<int>(mechanism.freedoms().size()); ++f) {
    if (!(smooth_.dry_impulse(f) > 0)) continue;
    dry_.push_back(f);
    const maximal::Joint& joint = mechanism.joints()[mechanism.freedoms()[f].joint];
    BaseRow& row = rows_.emplace_back();
    row.a = joint.a, row.b = joint.b;
    std::copy_n(smooth_.freedom_row(f).G, 12, row.G);
  }
  multipliers_.clear();
  for (int c = 0; c < static_cast<int>(contacts_.size()); ++c) {
    multipliers_.push_back({3 * c, -1, 1, 0});
    for (int k = 0; k < options_.directions; ++k) {
      const double angle = 2 * M_PI * k / options_.directions;
      multipliers_.push_back({3 * c + 1, 3 * c + 2, std::cos(angle), std::sin(angle)});
    }
    multipliers_.push_back({});
  }
  for (int k = 0; k < static_cast<int>(dry_.size()); ++k) {
    const int row = 3 * static_cast<int>(contacts_.size()) + k;
    multipliers_.push_back({row, -1, 1, 0});
    multipliers_.push_back({row, -1, -1, 0});
    multipliers_.push_back({});
  }
}

/// The rate along x by an impulse along y.
double ContactStep::mobility(const Multiplier& x, const Multiplier& y) const {
  double sum = x.share * y.share * mobility_(x.row, y.row);
  if (x.second >= 0) sum += x.second_share * y.share * mobility_(x.second, y.row);
  if (y.second >= 0) sum += x.share * y.second_share * mobility_(x.row, y.second);
  if (x.second >= 0 && y.second >= 0) sum += x.second_share * y.second_share * mobility_(x.second, y.second);
  return sum;
}

/// M of the complementarity problem: N K⁻¹ Nᵀ along base rows, spread over the directions, and what ties them to σ.
void ContactStep::make_problem(double h) {
  const int rows = static_cast<int>(rows_.size()), n = static_cast<int>(multipliers_.size());
  const int tangent = mechanism_->tangent();
  response_.setZero(tangent, rows);
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < 6 && rows_[i].a >= 0; ++k) response_(6 * rows_[i].a + k, i) = rows_[i].G[k];
    for (int k = 0; k < 6 && rows_[i].b >= 0; ++k) response_(6 * rows_[i].b + k, i) = rows_[i].G[6 + k];
  }
  smooth_.respond(response_, response_multipliers_);
  mobility_.resize(rows, rows);
  free_rate_.resize(rows);
  for (int i = 0; i < rows; ++i) {
    free_rate_[i] = rate(rows_[i], smooth_.free_velocity().data(), 1);
    for (int j = 0; j < rows; ++j) mobility_(i, j) = rate(rows_[i], response_.data() + j, rows);
  }
  matrix_.setZero(n, n);
  for (int j = 0; j < n; ++j) {
    const Multiplier& y = multipliers_[j];
    if (y.row < 0) continue;
    for (int i = 0; i < n; ++i) {
      if (multipliers_[i].row >= 0) matrix_(i, j) = mobility(multipliers_[i], y);
    }
  }
  const maximal::Regularization soft{options_.compliance, 0, options_.relaxation, maximal::Hold::start};
  const double normal_softness = soft.softness(h, false);
  for (int c = 0; c < static_cast<int>(contacts_.size()); ++c) {
    const int first = c * per_contact(), last = first + per_contact() - 1;
    matrix_(first, first) += normal_softness;
    matrix_(last, first) = contacts_[c].friction;
    for (int k = first + 1; k < last; ++k) {
      matrix_(k, k) *= 1 + kCreep;
      matrix_(k, last) = 1;
      matrix_(last, k) = -1;
    }
  }
  for (int k = 0; k < static_cast<int>(dry_.size()); ++k) {
    const int first = dry_at(k), last = first + 2;
    for (int i = first; i < last; ++i) {
      matrix_(i, i) *= 1 + kCreep;
      matrix_(i, last) = 1;
      matrix_(last, i) = -1;
    }
  }
}

void ContactStep::fill_constants(double h) {
  const int n = static_cast<int>(multipliers_.size());
  constant_.setZero(n);
  for (int i = 0; i < n; ++i) {
    const Multiplier& x = multipliers_[i];
    if (x.row >= 0) constant_[i] = x.share * free_rate_[x.row];
    if (x.second >= 0) constant_[i] += x.second_share * free_rate_[x.second];
  }
  const maximal::Regularization soft{options_.compliance, 0, options_.relaxation, maximal::Hold::start};
  bound_.resize(contacts_.size());
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const double gap = contacts_[c].touch.gap;
    bound_[c] = gap > 0 ? gap / h : std::max(-options_.recovery, std::min(1.0, 4 * soft.gamma(h)) * gap / h);
    constant_[c * per_contact()] += bound_[c];
  }
  for (int k = 0; k < static_cast<int>(dry_.size()); ++k) constant_[dry_at(k) + 2] = smooth_.dry_impulse(dry_[k]);
}

bool ContactStep::solve() {
  if (!lemke_.solve(matrix_, constant_, multiplier_)) return false;
  base_impulse_.setZero(static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t i = 0; i < multipliers_.size(); ++i) {
    const Multiplier& x = multipliers_[i];
    if (x.row >= 0) base_impulse_[x.row] += x.share * multiplier_[i];
    if (x.second >= 0) base_impulse_[x.second] += x.second_share * multiplier_[i];
  }
  after_ = smooth_.free_velocity();
  after_.noalias() += response_ * base_impulse_;
  return true;
}

/// Restitution, in a second problem: only contacts that push in the first one were hit.
bool ContactStep::bounce(const double* v, double h) {
  const double slowest = options_.slowest_bounce > 0 ? options_.slowest_bounce
                                                     : 1e-4 + 2 * h * numbers_.segment<3>(Mechanism::kGravity).norm();
  bool any = false;
  share_ = 0;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const double approach = -rate(rows_[3 * c], v, 1);
    const bool hit = contacts_[c].restitution > 0 && multiplier_[c * per_contact()] > 0 && approach > slowest;
    bound_[c] = hit ? std::min(0.0, -contacts_[c].restitution * approach - bound_[c]) : 0.0;
    any = any || bound_[c] < 0;
  }
  if (!any) return true;
  const double most = std::max(kinetic_energy(smooth_.free_velocity()), kinetic_energy(after_)) * (1 + 1e-12);
  // bound_ now says by how much a contact's constant changes
  const auto set_share = [&](double next) {
    for (std::size_t c = 0; c < contacts_.size(); ++c) constant_[c * per_contact()] += (next - share_) * bound_[c];
    share_ = next;
    return solve();
  };
  for (double next = 1; next > 0.1; next *= 0.7) {
    if (!set_share(next)) return false;
    if (kinetic_energy(after_) <= most) return true;
  }
  return set_share(0);
}

double ContactStep::kinetic_energy(const Eigen::VectorXd& velocity) {
  momentum_.resize(velocity.size());
  smooth_.multiply_mass(velocity.data(), momentum_.data());
  return 0.5 * momentum_.dot(velocity);
}

/// What each contact did in the last step is the guess for this one.
void ContactStep::guess_basis() {
  if (known_.empty()) return lemke_.forget();
  basis_.assign(multipliers_.size(), 0);
  const auto copy = [&](int from, int to, int count) {
    std::copy_n(known_basis_.begin() + from, count, basis_.begin() + to);
  };
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const auto it = std::lower_bound(known_.begin(), known_.end(), std::pair(contacts_[c].key, -1));
    if (it != known_.end() && it->first == contacts_[c].key) {
      copy(it->second, static_cast<int>(c) * per_contact(), per_contact());
    }
  }
  for (std::size_t k = 0; k < dry_.size(); ++k) {
    for (const auto& [freedom, place] : known_dry_) {
      if (freedom == dry_[k]) copy(place, dry_at(static_cast<int>(k)), 3);
    }
  }
  lemke_.guess(basis_);
}

void ContactStep::keep_basis() {
  known_basis_ = lemke_.basis();
  known_.clear();
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    known_.emplace_back(contacts_[c].key, static_cast<int>(c) * per_contact());
  }
  std::sort(known_.begin(), known_.end());
  known_dry_.clear();
  for (std::size_t k = 0; k < dry_.size(); ++k) known_dry_.emplace_back(dry_[k], dry_at(static_cast<int>(k)));
}

void ContactStep::report_grips(Grip* grip) const {
  for (std::size_t k = 0; k < dry_.size(); ++k) {
    const int at = dry_at(static_cast<int>(k));
    if (multiplier_[at + 2] > 0) {
      grip[dry_[k]] = multiplier_[at] > multiplier_[at + 1] ? Grip::backward : Grip::forward;
    } else {
      grip[dry_[k]] = Grip::held;
    }
  }
}

Vector3d ContactStep::impulse(int contact) const {
  Vector3d sum = Vector3d::Zero();
  for (int k = 0; k < 3; ++k) {
    sum += base_impulse_[3 * contact + k] * Eigen::Map<const Vector3d>(rows_[3 * contact + k].G + 9);
  }
  return sum;
}

}  // namespace kinegraph::step
