#include "kinegraph/task/maximal_watch.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::task {
namespace {

using maximal::BodyNumbers;
using maximal::FreedomNumbers;
using maximal::SpringNumbers;
using Map3 = Eigen::Map<const Eigen::Vector3d>;

/// A place of a body, and how fast it moves.
struct PlaceMotion {
  Eigen::Vector3d at, speed = Eigen::Vector3d::Zero(), omega = Eigen::Vector3d::Zero();

  PlaceMotion(const maximal::Mechanism& m, int body, const double* place, const double* q, const double* v)
      : at(Map3(place)) {
    if (body < 0) return;
    const Eigen::Matrix3d R = SO3::load(q + 7 * body).matrix();
    const Map3 com(m.numbers().data() + m.bodies()[body].numbers + BodyNumbers::com);
    const Eigen::Vector3d arm = R * (at - com);
    at = Map3(q + 7 * body + 4) + arm;
    omega = R * Map3(v + 6 * body);
    speed = Map3(v + 6 * body + 3) + omega.cross(arm);
  }
};

}  // namespace

MaximalWatch::MaximalWatch(const maximal::Mechanism& mechanism) : mechanism_(mechanism), middle_(mechanism.tangent()) {
  for (const maximal::Joint& joint : mechanism.joints()) {
    for (int i = 0; i < joint.rows; ++i) angular_.push_back(maximal::angular_row(joint.type, i));
  }
  int row = mechanism.rows() + static_cast<int>(mechanism.freedoms().size());
  for (const maximal::Freedom& freedom : mechanism.freedoms()) drive_row_.push_back(freedom.drive >= 0 ? row++ : -1);
}

/// Of all that is neither inertia nor weight nor an elastic spring, at the velocity in the middle of the step:
///
///     Σ [h (K u + τ) − damping − h c |ω| ω⁺ + dry friction + drive] (ω + ω⁺)/2 + loads and dampers
double MaximalWatch::step_work(const double* q, const double* before, const double* after,
                               const step::RegularizedStep& step, const step::StepInput& input) const {
  const Eigen::VectorXd& numbers = mechanism_.numbers();
  const double h = input.h;
  double work = 0;
  for (std::size_t f = 0; f < mechanism_.freedoms().size(); ++f) {
    const maximal::Freedom& freedom = mechanism_.freedoms()[f];
    const maximal::Joint& joint = mechanism_.joints()[freedom.joint];
    const double* n = numbers.data() + freedom.numbers;
    const double* G = step.freedom_row(static_cast<int>(f)).G;
    double faster = 0;
    for (int k = 0; k < 6; ++k) {
      if (joint.a >= 0) faster += G[k] * after[6 * joint.a + k];
      if (joint.b >= 0) faster += G[6 + k] * after[6 * joint.b + k];
    }
    const double rate = step.rate()[f];
    double impulse = h * (n[FreedomNumbers::gain] * input.control[f] + input.torque[f]) + step.friction()[f];
    const maximal::Damping<double> damping(n[FreedomNumbers::damping], step.freedom(static_cast<int>(f)).mobility, h);
    impulse -= damping.before * rate + (damping.after + h * n[FreedomNumbers::quadratic] * std::abs(rate)) * faster;
    if (drive_row_[f] >= 0) impulse += step.impulses()[drive_row_[f]];
    work += impulse * 0.5 * (rate + faster);
  }
  for (std::size_t i = 0; i < mechanism_.loads().size(); ++i) {
    const maximal::Load& load = mechanism_.loads()[i];
    const PlaceMotion at(mechanism_, load.body, numbers.data() + load.numbers, q, middle_.data());
    work += h * (input.force[i].dot(at.speed) + input.moment[i].dot(at.omega));
  }
  for (std::size_t i = 0; i < mechanism_.springs().size(); ++i) {
    const maximal::Spring& spring = mechanism_.springs()[i];
    const double* n = numbers.data() + spring.numbers;
    if (n[SpringNumbers::damping] == 0) continue;
    const auto rate = [&](const double* v) {
      const PlaceMotion a(mechanism_, spring.a, n + SpringNumbers::a, q, v);
      const PlaceMotion b(mechanism_, spring.b, n + SpringNumbers::b, q, v);
      const Eigen::Vector3d line = b.at - a.at;
      const double length = line.norm();
      return length > 0 ? line.dot(b.speed - a.speed) / length : 0.0;
    };
    const maximal::Damping<double> damping(n[SpringNumbers::damping], step.spring_mobility(static_cast<int>(i)), h);
    work -= (damping.before * rate(before) + damping.after * rate(after)) * rate(middle_.data());
  }
  return work;
}

// What acts in a step changes the velocity from half a step before to half a step after its knot: half of its work is
// done there.
void MaximalWatch::add(double t, const double* q, const double* q_tree, const double* before, const double* after,
                       const step::RegularizedStep& step, const step::StepInput& input,
                       const std::vector<maximal::Grip>& grip, const step::ContactStep* contacts) {
  const Eigen::Index n = middle_.size();
  middle_ = 0.5 * (Eigen::Map<const Eigen::VectorXd>(before, n) + Eigen::Map<const Eigen::VectorXd>(after, n));
  const maximal::Energy energy = maximal::energy_of(mechanism_, mechanism_.numbers(), q, middle_.data(), q_tree);
  now_ = energy.kinetic + energy.potential;
  const double work = step_work(q, before, after, step, input);
  if (!begun_) {
    begun_ = true;
    balance_.start(now_, energy.kinetic);
  } else {
    work_ += 0.5 * (last_work_ + work);
  }
  last_work_ = work;
  double yielded = 0;
  for (std::size_t i = 0; i < angular_.size(); ++i) {
    const double force = step.impulses()[static_cast<Eigen::Index>(i)] / input.h;
    const maximal::Regularization& give = step.regularization();
    yielded += 0.5 * (angular_[i] ? give.angular_compliance : give.compliance) * force * force;
    double& largest = angular_[i] ? gap_rad_ : gap_m_;
    largest = std::max(largest, std::abs(step.violation()[static_cast<Eigen::Index>(i)]));
  }
  yielded_max_ = std::max(yielded_max_, yielded);
  if (std::find(grip.begin(), grip.end(), maximal::Grip::held) != grip.end()) ++held_;
  if (contacts) {
    int pressing = 0;
    for (std::size_t i = 0; i < contacts->contacts().size(); ++i) {
      penetration_ = std::max(penetration_, -contacts->contacts()[i].touch.gap);
      if (contacts->impulse(static_cast<int>(i)).norm() > 0) ++pressing;
    }
    contacts_max_ = std::max(contacts_max_, pressing);
    if (pressing > 0) ++contact_steps_, touched_ = true;
  }
  if (touched_) {  // what impacts take is not measured
    balance_.pass(now_, energy.kinetic, work_);
  } else {
    balance_.add(t, now_, energy.kinetic, work_);
  }
}

void MaximalWatch::tell(SimulateSummary& s) const {
  balance_.tell(s, yielded_max_);
  s.closure_m = gap_m_;
  s.closure_rad = gap_rad_;
  s.held_steps = held_;
  s.contact_steps = contact_steps_;
  s.contacts_max = contacts_max_;
  s.penetration_max = penetration_;
}

}  // namespace kinegraph::task
