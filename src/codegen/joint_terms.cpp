#include "kinegraph/codegen/joint_terms.hpp"

namespace kinegraph::codegen {
namespace {

using screw::ScrewJoint;

Matrix3s rotation_z(const Scalar& angle) {
  const Scalar c = cos(angle), s = sin(angle);
  Matrix3s R = Matrix3s::Identity();
  R(0, 0) = R(1, 1) = c;
  R(0, 1) = -s;
  R(1, 0) = s;
  return R;
}

/// 1 + sin θ a^ + (1 − cos θ) a^²
Matrix3s rotation_about(const Eigen::Vector3d& axis, const Scalar& angle) {
  const Eigen::Matrix3d hat = skew<double>(axis), square = hat * hat;
  const Scalar s = sin(angle), versine = Scalar(1) - cos(angle);
  Matrix3s R = Matrix3s::Identity();
  for (int k = 0; k < 9; ++k) R(k / 3, k % 3) += s * Scalar(hat(k / 3, k % 3)) + versine * Scalar(square(k / 3, k % 3));
  return R;
}

/// Of a unit quaternion w x y z: 1 + 2 w (v^) + 2 (v^)²
Matrix3s rotation_of_quaternion(const Scalar* q) {
  const Scalar w = q[0], x = q[1], y = q[2], z = q[3], two(2), one(1);
  Matrix3s R;
  R << one - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y),  //
      two * (x * y + w * z), one - two * (x * x + z * z), two * (y * z - w * x),   //
      two * (x * z - w * y), two * (y * z + w * x), one - two * (x * x + y * y);
  return R;
}

/// Ad(X) y = (R ω, p × R ω + R v)
Vector6s carried(const JointTerms& joint, const Vector6s& y) {
  Vector6s x;
  const Vector3s w = joint.R * y.head<3>(), v = joint.R * y.tail<3>();
  x << w, v + cross(joint.p, w);
  return x;
}

/// The file's child is nearer to the ground: X⁻¹, S' = −Ad(X) S, as in screw::Motion.
void reverse(JointTerms& joint) {
  for (int k = 0; k < joint.S.cols(); ++k) joint.S.col(k) = -carried(joint, Vector6s(joint.S.col(k)));
  joint.bias = -carried(joint, joint.bias);
  const Matrix3s back = joint.R.transpose();
  joint.p = -(back * joint.p);
  joint.R = back;
}

}  // namespace

JointTerms joint_terms(const ScrewJoint& joint, const Scalar* all_q, const Scalar* all_v) {
  JointTerms t;
  const Scalar* v = all_v + joint.v;
  const Scalar* q = all_q + joint.q;
  const Scalar ratio(joint.ratio);
  t.S.setZero(6, joint.freedoms);
  switch (joint.type) {
    case JointType::fixed:
      break;
    case JointType::revolute:
    case JointType::continuous:
      t.R = rotation_z(ratio * q[0] + Scalar(joint.offset));
      t.S(2, 0) = ratio;
      break;
    case JointType::prismatic:
      t.p[2] = ratio * q[0] + Scalar(joint.offset);
      t.S(5, 0) = ratio;
      break;
    case JointType::screw: {
      const Scalar angle = ratio * q[0] + Scalar(joint.offset);
      t.R = rotation_z(angle);
      t.p[2] = Scalar(joint.shape.pitch) * angle;
      t.S(2, 0) = ratio;
      t.S(5, 0) = Scalar(joint.shape.pitch) * ratio;
      break;
    }
    case JointType::cylindrical:
      t.R = rotation_z(q[0]);
      t.p[2] = q[1];
      t.S(2, 0) = t.S(5, 1) = Scalar(1);
      break;
    case JointType::universal: {
      // S = [(w, 0) (a, 0)], w = R₂ᵀ e_z;  Ṡ v = −v₁ v₂ a × w
      const Matrix3s second = rotation_about(joint.shape.axis2, q[1]);
      const Vector3s a = joint.shape.axis2.cast<Scalar>(), w = second.row(2).transpose();
      t.R = rotation_z(q[0]) * second;
      t.S.topLeftCorner<3, 1>() = w;
      t.S.topRightCorner<3, 1>() = a;
      t.bias.head<3>() = -(v[0] * v[1]) * cross(a, w);
      break;
    }
    case JointType::planar: {
      // S = [(0, Rᵀ e_x) (0, Rᵀ e_y) (e_z, 0)];  Ṡ v = −v₃ e_z × Rᵀ (v₁, v₂, 0)
      t.R = rotation_z(q[2]);
      t.p << q[0], q[1], Scalar(0);
      t.S.block<3, 2>(3, 0) = t.R.transpose().leftCols<2>();
      t.S(2, 2) = Scalar(1);
      const Vector3s u = t.R.transpose() * Vector3s(v[0], v[1], Scalar(0));
      t.bias[3] = v[2] * u[1];
      t.bias[4] = -(v[2] * u[0]);
      break;
    }
    case JointType::ball:
      t.R = rotation_of_quaternion(q);
      t.S.topLeftCorner<3, 3>().setIdentity();
      break;
    case JointType::floating:
      t.R = rotation_of_quaternion(q);
      t.p << q[4], q[5], q[6];
      t.S.setIdentity();
      break;
  }
  if (joint.reversed) reverse(t);
  for (int k = 0; k < joint.freedoms; ++k) t.twist += t.S.col(k) * v[k];
  return t;
}

}  // namespace kinegraph::codegen
