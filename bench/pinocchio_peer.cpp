// Pinocchio from its headers, a shared library that shows nothing but its factory (bench/peer.map): it is built twice,
// with the flags of our own libraries and with -march=native. None of Pinocchio's compiled libraries is linked.
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

#include "bench/peer.hpp"

namespace kinegraph::bench {
namespace {

using Numbers = Eigen::Map<const Eigen::VectorXd>;
using Eigen::Matrix3d;
using Eigen::Vector3d;

pinocchio::SE3 frame(const PeerFrame& f) {
  using RowMajor = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  return {Matrix3d(Eigen::Map<const RowMajor>(f.R)), Vector3d(f.p[0], f.p[1], f.p[2])};
}

pinocchio::Model model_of(const PeerRobot& robot) {
  pinocchio::Model model;
  model.gravity.linear() = Vector3d(robot.gravity[0], robot.gravity[1], robot.gravity[2]);
  for (std::size_t i = 0; i < robot.bodies.size(); ++i) {
    const PeerBody& body = robot.bodies[i];
    const auto parent = static_cast<pinocchio::JointIndex>(body.parent + 1);
    const std::string name = "j" + std::to_string(i + 1);
    const auto joint = body.floats
                           ? model.addJoint(parent, pinocchio::JointModelFreeFlyer(), frame(body.in_parent), name)
                       : body.slides ? model.addJoint(parent, pinocchio::JointModelPZ(), frame(body.in_parent), name)
                                     : model.addJoint(parent, pinocchio::JointModelRZ(), frame(body.in_parent), name);
    model.inertias[joint] = pinocchio::Inertia(body.mass, Vector3d(body.com[0], body.com[1], body.com[2]),
                                               Matrix3d(Eigen::Map<const Matrix3d>(body.inertia)));
    if (!body.floats) model.armature[model.joints[joint].idx_v()] = body.armature;
  }
  return model;
}

class Pinocchio : public Peer {
 public:
  Pinocchio(const PeerRobot& robot, pinocchio::Convention convention)
      : model_(model_of(robot)), data_(model_), convention_(convention), proximal_(1e-10, 1e-12, 1) {
    for (const PeerLoop& loop : robot.loops) {
      loops_.emplace_back(pinocchio::CONTACT_3D, model_, static_cast<pinocchio::JointIndex>(loop.a + 1),
                          frame(loop.in_a), static_cast<pinocchio::JointIndex>(loop.b + 1), frame(loop.in_b),
                          pinocchio::LOCAL);
      loop_data_.emplace_back(loops_.back());
    }
    if (!loops_.empty()) pinocchio::initConstraintDynamics(model_, data_, loops_, loop_data_);
  }
  const double* inverse(const double* q, const double* v, const double* a) override {
    return pinocchio::rnea(model_, data_, Numbers(q, model_.nq), Numbers(v, model_.nv), Numbers(a, model_.nv)).data();
  }
  const double* forward(const double* q, const double* v, const double* tau) override {
    return pinocchio::aba(model_, data_, Numbers(q, model_.nq), Numbers(v, model_.nv), Numbers(tau, model_.nv),
                          convention_)
        .data();
  }
  const double* forward_closed(const double* q, const double* v, const double* tau) override {
    const Numbers Q(q, model_.nq), V(v, model_.nv), Tau(tau, model_.nv);
    return pinocchio::constraintDynamics(model_, data_, Q, V, Tau, loops_, loop_data_, proximal_).data();
  }
  const double* mass_matrix(const double* q) override {
    return pinocchio::crba(model_, data_, Numbers(q, model_.nq), convention_).data();
  }
  const double* inverse_derivatives(const double* q, const double* v, const double* a) override {
    pinocchio::computeRNEADerivatives(model_, data_, Numbers(q, model_.nq), Numbers(v, model_.nv),
                                      Numbers(a, model_.nv));
    inverse_ = true;
    return data_.dtau_dq.data();
  }
  const double* forward_derivatives(const double* q, const double* v, const double* tau) override {
    pinocchio::computeABADerivatives(model_, data_, Numbers(q, model_.nq), Numbers(v, model_.nv),
                                     Numbers(tau, model_.nv));
    inverse_ = false;
    return data_.ddq_dq.data();
  }
  Others other_derivatives() override {
    by_v_ = inverse_ ? data_.dtau_dv : data_.ddq_dv;
    if (inverse_) {
      by_given_ = data_.M;
    } else {
      by_given_ = data_.Minv;
    }
    return {by_v_.data(), by_given_.data()};
  }

 private:
  pinocchio::Model model_;
  pinocchio::Data data_;
  pinocchio::Convention convention_;
  bool inverse_ = false;                                                                    // the last derivatives
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_v_, by_given_;  // of them
  // A planar loop leaves one row of the three dependent: mu deals with that. More iterations would cost time and win
  // nothing: one leaves an error of 1e-10 at most.
  pinocchio::ProximalSettings proximal_;
  std::vector<pinocchio::RigidConstraintModel, Eigen::aligned_allocator<pinocchio::RigidConstraintModel>> loops_;
  std::vector<pinocchio::RigidConstraintData, Eigen::aligned_allocator<pinocchio::RigidConstraintData>> loop_data_;
};

}  // namespace
}  // namespace kinegraph::bench

/// `world`: its recursions in the world's frame instead of the joints'.
extern "C" kinegraph::bench::Peer* KINEGRAPH_PEER_FACTORY(const kinegraph::bench::PeerRobot& robot, bool world) {
  return new kinegraph::bench::Pinocchio(robot, world ? pinocchio::Convention::WORLD : pinocchio::Convention::LOCAL);
}
