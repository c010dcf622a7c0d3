#include "kinegraph/task/spatial_field.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kinegraph::task {
namespace {

/// Every part hangs on a floating joint, and no loop reaches the ground.
bool floats(const screw::Tree& tree) {
  return std::all_of(tree.bodies().begin(), tree.bodies().end(),
                     [](const screw::Body& b) { return b.parent >= 0 || b.joint.type == JointType::floating; }) &&
         std::all_of(tree.loops().begin(), tree.loops().end(),
                     [](const screw::Loop& l) { return l.a >= 0 && l.b >= 0; });
}

}  // namespace

SpatialField::SpatialField(std::shared_ptr<const screw::Tree> tree, int freedoms, const SpatialDrive& drive)
    : tree_(std::move(tree)),
      drive_(drive),
      dynamics_(tree_, build::given_forward(*tree_)),
      loops_(tree_, tree_->tree_freedoms() - freedoms),
      response_(tree_, freedoms),
      tau_(tree_->freedoms(), 0.0),
      loads_(tree_->bodies().size(), screw::Vector6d::Zero()),
      poses_(tree_->bodies().size()),
      floating_(floats(*tree_)) {
  surroundings_.gravity = tree_->gravity();
  if (drive_.has_loads()) surroundings_.loads = loads_.data();
}

bool SpatialField::rates(double t, const double* q, const double* v, double* a, double* extra) {
  drive_.torques(t, tau_.data());
  screw::body_poses(*tree_, q, poses_);
  if (drive_.has_loads()) drive_.loads(t, poses_, loads_);
  if (!accelerations(q, v, a)) return false;
  extra[0] = power(v);
  if (floating_) impulse_rate(extra + 1);
  return true;
}

bool SpatialField::accelerations(const double* q, const double* v, double* a) {
  by_code_ = compiled_ && compiled_.run(q, v, tau_.data(), a);
  if (by_code_) return true;
  const build::Dynamics::Outcome outcome = dynamics_.solve(q, v, a, tau_.data(), surroundings_);
  if (!outcome.ok) message_ = outcome.message;
  undetermined_ = std::max(undetermined_, outcome.undetermined);
  return outcome.ok;
}

void SpatialField::use(CompiledDynamics compiled) {
  if (compiled && drive_.has_loads()) compiled = CompiledDynamics::none("loads act on links");
  for (const screw::Body& body : tree_->bodies()) {
    // what passes through the joint of a floating base is told by its torques alone, see base_wrench()
    const bool plain = body.parent >= 0 || !floating_ || !body.joint.reversed;
    if (compiled && !plain) compiled = CompiledDynamics::none("the base hangs on its child");
  }
  compiled_ = std::move(compiled);
  looked_.resize(tree_->freedoms());
}

void SpatialField::look(const double* q, const double* v) {
  if (!by_code_) return;
  dynamics_.solve(q, v, looked_.data(), tau_.data(), surroundings_);
}

// Through the joint of a floating body S = 1:   F = τ − (damping, springs: of such a joint none) − armature · V̇, none
screw::Vector6d SpatialField::base_wrench(int body) const {
  if (!by_code_) return dynamics_.wrench(body);
  const screw::Coordinate& c = tree_->coordinates()[tree_->bodies()[body].joint.coordinate];
  return Eigen::Map<const screw::Vector6d>(tau_.data() + c.v);
}

double SpatialField::power(const double* v) const {
  double sum = 0;
  for (int i = 0; i < tree_->freedoms(); ++i) sum += tau_[i] * v[i];
  for (const screw::Coordinate& c : tree_->coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      JointDynamics losses = c.dynamics[k];
      losses.stiffness = 0;
      sum += screw::joint_force(losses, 0, v[c.v + k]) * v[c.v + k];
    }
  }
  if (!drive_.has_loads()) return sum;
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    sum += loads_[i].dot(dynamics_.motion().body(static_cast<int>(i)).V);
  }
  return sum;
}

// d(l, p)/dt = Σ (x × m g, m g) + Σ Ad⁻ᵀ loads + Σ Ad⁻ᵀ (wrench through the base joints)
void SpatialField::impulse_rate(double* rate) const {
  Eigen::Map<screw::Vector6d> sum(rate);
  sum.setZero();
  for (std::size_t i = 0; i < tree_->bodies().size(); ++i) {
    const screw::Body& body = tree_->bodies()[i];
    const Eigen::Vector3d weight = body.mass * tree_->gravity();
    sum.head<3>() += (poses_[i] * body.com).cross(weight);
    sum.tail<3>() += weight;
    if (drive_.has_loads()) sum += poses_[i].wrench(loads_[i]);
    if (body.parent < 0) sum += poses_[i].wrench(base_wrench(static_cast<int>(i)));
  }
}

void SpatialField::begin_step(const double* q) {
  if (!tree_->loops().empty()) loops_.prepare(q);
  response_prepared_ = false;
}

bool SpatialField::correct(double half, const double* q, const double* v, const double* g, double* delta) {
  if (!response_.any()) return false;
  if (!response_prepared_) response_.prepare(q);
  response_prepared_ = true;
  response_.correct(half, q, v, g, delta);
  return true;
}

bool SpatialField::project(double* q, double* v) {
  if (loops_.project(q, v)) return true;
  const step::LoopProjection::Opening worst = loops_.worst();
  message_ = fmt::format("the loop of joint '{}' does not stay closed: it is open by {:.3g} m and {:.3g} rad",
                         tree_->loops()[worst.loop].name, worst.metres, worst.radians);
  return false;
}

}  // namespace kinegraph::task
