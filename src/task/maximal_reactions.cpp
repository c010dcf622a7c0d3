#include "kinegraph/task/maximal_reactions.hpp"

namespace kinegraph::task {
namespace {

using maximal::BodyNumbers;
using maximal::FreedomNumbers;
using maximal::Mechanism;
using Map3 = Eigen::Map<const Eigen::Vector3d>;

constexpr double kGround[3] = {};

maximal::Pose<double> pose_of(const double* q, int body) {
  maximal::Pose<double> pose;
  if (body < 0) return pose;
  pose.R = SO3::load(q + 7 * body).matrix();
  pose.p = Map3(q + 7 * body + 4);
  return pose;
}

}  // namespace

MaximalReactions::MaximalReactions(const Mechanism& mechanism)
    : wrenches_(Eigen::VectorXd::Zero(6 * static_cast<Eigen::Index>(mechanism.joints().size()))) {
  int drives = 0;
  for (const maximal::Freedom& freedom : mechanism.freedoms()) drive_of_.push_back(freedom.drive >= 0 ? drives++ : -1);
}

const Eigen::VectorXd& MaximalReactions::find(const step::RegularizedStep& step, const double* q, const double* v,
                                              const step::StepInput& input) {
  const Mechanism& m = step.mechanism();
  const Eigen::VectorXd& numbers = m.numbers();
  const auto com = [&](int body) {
    return body < 0 ? kGround : numbers.data() + m.bodies()[body].numbers + BodyNumbers::com;
  };
  const int freedoms = static_cast<int>(m.freedoms().size());
  for (std::size_t j = 0; j < m.joints().size(); ++j) {
    const maximal::Joint& joint = m.joints()[j];
    const maximal::JointPlace<double> place(pose_of(q, joint.a), pose_of(q, joint.b), com(joint.a), com(joint.b),
                                            numbers.data() + joint.numbers);
    double before[12] = {}, after[12] = {}, impulse[12] = {}, left[6] = {}, held[3] = {}, driven[3] = {};
    for (int k = 0; k < 6; ++k) {
      if (joint.a >= 0) before[k] = v[6 * joint.a + k], after[k] = step.after()[6 * joint.a + k];
      if (joint.b >= 0) before[6 + k] = v[6 * joint.b + k], after[6 + k] = step.after()[6 * joint.b + k];
    }
    maximal::JointStep found;
    found.h = input.h;
    found.after = after;
    for (int i = 0; i < joint.rows; ++i) found.lambda[i] = step.impulses()[joint.row + i];
    double of_freedoms[3 * FreedomNumbers::count] = {};
    bool angular[3] = {};
    for (int k = 0; k < joint.freedoms; ++k) {
      const int f = joint.freedom + k;
      found.freedom[k].torque = input.torque[f];
      found.freedom[k].control = input.control[f];
      found.freedom[k].reference = input.reference[f];
      found.freedom[k].held = step.friction()[f];
      found.freedom[k].mobility = step.freedom(f).mobility;
      if (drive_of_[f] >= 0) found.freedom[k].driven = step.impulses()[m.rows() + freedoms + drive_of_[f]];
      angular[k] = m.freedoms()[f].angular;
      std::copy_n(numbers.data() + m.freedoms()[f].numbers, FreedomNumbers::count,
                  of_freedoms + k * FreedomNumbers::count);
    }
    maximal::joint_balance<double>(joint, place, of_freedoms, angular, before, found, impulse, left, held, driven);

    // of a joint of the tree: on its body, at the body's frame; of a loop: on b, at M
    const bool in_tree = j < m.bodies().size();
    const bool on_a = in_tree && joint.a == static_cast<int>(j);
    const maximal::Frame<double>& at = on_a ? place.F : place.M;
    const double* own = impulse + (on_a ? 0 : 6);
    const Eigen::Vector3d force = Map3(own + 3) / input.h, arm = at.arm;
    const Eigen::Vector3d moment = at.body * Map3(own) / input.h - arm.cross(force);
    wrenches_.segment<3>(6 * j) = at.R.transpose() * moment;
    wrenches_.segment<3>(6 * j + 3) = at.R.transpose() * force;
  }
  return wrenches_;
}

}  // namespace kinegraph::task
