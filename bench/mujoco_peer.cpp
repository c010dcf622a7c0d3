// MuJoCo, as its wheel brings it, through its C interface. Only the functions that inverse and forward dynamics need
// are called: mj_inverse and mj_forward would also look for contacts, constraints, actuators and sensors.
#include <mujoco/mujoco.h>

#include <Eigen/Geometry>
#include <stdexcept>
#include <string>

#include "bench/peer.hpp"

namespace kinegraph::bench {
namespace {

class MuJoCo : public Peer {
 public:
  explicit MuJoCo(const PeerRobot& robot) {
    spec_ = mj_makeSpec();
    // It has no massless bodies, and none whose moments of inertia break the triangle inequality: it changes those (of
    // the PUMA), and its answer then differs.
    spec_->compiler.boundmass = spec_->compiler.boundinertia = 1e-10;
    spec_->compiler.balanceinertia = 1;
    spec_->option.disableflags = mjDSBL_CONSTRAINT | mjDSBL_CONTACT | mjDSBL_SENSOR | mjDSBL_ACTUATION;
    for (int k = 0; k < 3; ++k) spec_->option.gravity[k] = robot.gravity[k];
    std::vector<mjsBody*> bodies;
    for (const PeerBody& body : robot.bodies) {
      bodies.push_back(mjs_addBody(body.parent < 0 ? mjs_findBody(spec_, "world") : bodies[body.parent], nullptr));
      fill(body, *bodies.back());
    }
    model_ = mj_compile(spec_, nullptr);
    if (model_ == nullptr) throw std::runtime_error(std::string("MuJoCo: ") + mjs_getError(spec_));
    data_ = mj_makeData(model_);
    right_.resize(model_->nv);
    answer_.resize(model_->nv);
  }
  ~MuJoCo() override {
    mj_deleteData(data_);
    mj_deleteModel(model_);
    mj_deleteSpec(spec_);
  }
  MuJoCo(const MuJoCo&) = delete;
  MuJoCo& operator=(const MuJoCo&) = delete;

  const double* inverse(const double* q, const double* v, const double* a) override {
    mju_copy(data_->qpos, q, model_->nq);
    mju_copy(data_->qvel, v, model_->nv);
    mju_copy(data_->qacc, a, model_->nv);
    mj_kinematics(model_, data_);
    mj_comPos(model_, data_);
    mj_comVel(model_, data_);
    mj_rne(model_, data_, 1, answer_.data());
    for (int i = 0; i < model_->nv; ++i) answer_[i] += model_->dof_armature[i] * a[i];
    return answer_.data();
  }
  const double* forward(const double* q, const double* v, const double* tau) override {
    mju_copy(data_->qpos, q, model_->nq);
    mju_copy(data_->qvel, v, model_->nv);
    mj_kinematics(model_, data_);
    mj_comPos(model_, data_);
    mj_makeM(model_, data_);
    mj_factorM(model_, data_);
    mj_comVel(model_, data_);
    mj_rne(model_, data_, 0, right_.data());
    mju_sub(right_.data(), tau, right_.data(), model_->nv);
    mj_solveM(model_, data_, answer_.data(), right_.data(), 1);
    return answer_.data();
  }

 private:
  static void fill(const PeerBody& from, mjsBody& to) {
    using RowMajor = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
    const Eigen::Quaterniond turn(Eigen::Matrix3d(Eigen::Map<const RowMajor>(from.in_parent.R)));
    const double quaternion[4] = {turn.w(), turn.x(), turn.y(), turn.z()};
    mju_copy(to.pos, from.in_parent.p, 3);
    mju_copy(to.quat, quaternion, 4);
    to.mass = from.mass;
    mju_copy(to.ipos, from.com, 3);
    const double* I = from.inertia;
    const double full[6] = {I[0], I[4], I[8], I[1], I[2], I[5]};
    mju_copy(to.fullinertia, full, 6);
    to.explicitinertial = 1;
    mjsJoint* joint = mjs_addJoint(&to, nullptr);
    joint->type = from.slides ? mjJNT_SLIDE : mjJNT_HINGE;
    joint->axis[0] = joint->axis[1] = 0;
    joint->axis[2] = 1;
    joint->armature = from.armature;
  }

  mjSpec* spec_ = nullptr;
  mjModel* model_ = nullptr;
  mjData* data_ = nullptr;
  std::vector<double> right_, answer_;
};

}  // namespace

std::unique_ptr<Peer> mujoco_peer(const PeerRobot& robot) { return std::make_unique<MuJoCo>(robot); }

}  // namespace kinegraph::bench
