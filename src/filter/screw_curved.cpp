#include "kinegraph/filter/screw_curved.hpp"

#include "kinegraph/base/dual.hpp"

namespace kinegraph::filter {

CurvedJoints::CurvedJoints(const screw::Tree& tree) : freedoms_(tree.freedoms()) {
  for (const screw::Coordinate& c : tree.coordinates()) {
    if (c.stored > c.freedoms) joints_.push_back({c.v, c.type == JointType::floating});
  }
}

namespace {

/// Calls f(group, δ of it, first row) for the joint's group.
template <class F>
void visit_group(bool floating, int v, const double* delta, F&& f) {
  if (floating) {
    f(SE3(), Eigen::Matrix<double, 6, 1>(Eigen::Map<const Eigen::Matrix<double, 6, 1>>(delta + v)));
  } else {
    f(SO3(), Eigen::Vector3d(Eigen::Map<const Eigen::Vector3d>(delta + v)));
  }
}

template <class Square>
void multiply_rows(const Square& matrix, int first, Eigen::MatrixXd& x) {
  constexpr int n = Square::RowsAtCompileTime;
  for (Eigen::Index c = 0; c < x.cols(); ++c) {
    Eigen::Map<Eigen::Matrix<double, n, 1>> rows(x.data() + x.rows() * c + first);
    rows = (matrix * rows).eval();
  }
}

template <class T>
SO3T<T> group_of(const SO3&) {
  return {};
}
template <class T>
SE3T<T> group_of(const SE3&) {
  return {};
}

}  // namespace

void CurvedJoints::right_jacobian(const double* delta, Eigen::MatrixXd& matrix) const {
  matrix.setIdentity(freedoms_, freedoms_);
  for (const CurvedJoint& joint : joints_) {
    visit_group(joint.floating, joint.v, delta, [&](auto group, const auto& d) {
      using Group = decltype(group);
      matrix.template block<Group::kTangent, Group::kTangent>(joint.v, joint.v) = Group::right_jacobian(d);
    });
  }
}

void CurvedJoints::rates(const double* delta, const double* v, double* rate) const {
  for (const CurvedJoint& joint : joints_) {
    visit_group(joint.floating, joint.v, delta, [&](auto group, const auto& d) {
      using Group = decltype(group);
      using Tangent = Eigen::Matrix<double, Group::kTangent, 1>;
      const Tangent own = Eigen::Map<const Tangent>(v + joint.v);
      Eigen::Map<Tangent>(rate + joint.v) = Group::right_jacobian_inverse(d) * own;
    });
  }
}

void CurvedJoints::by_right(const double* delta, Eigen::MatrixXd& x) const {
  for (const CurvedJoint& joint : joints_) {
    visit_group(joint.floating, joint.v, delta,
                [&](auto group, const auto& d) { multiply_rows(decltype(group)::right_jacobian(d), joint.v, x); });
  }
}

void CurvedJoints::by_right_inverse(const double* delta, Eigen::MatrixXd& x) const {
  for (const CurvedJoint& joint : joints_) {
    visit_group(joint.floating, joint.v, delta, [&](auto group, const auto& d) {
      multiply_rows(decltype(group)::right_jacobian_inverse(d), joint.v, x);
    });
  }
}

void CurvedJoints::by_left_inverse(const double* delta, Eigen::MatrixXd& x) const {
  for (const CurvedJoint& joint : joints_) {
    visit_group(joint.floating, joint.v, delta, [&](auto group, const auto& d) {
      multiply_rows(decltype(group)::left_jacobian_inverse(d), joint.v, x);
    });
  }
}

void CurvedJoints::add_rate_changes(const double* delta, const double* v, const Eigen::MatrixXd& y,
                                    Eigen::MatrixXd& x) const {
  for (const CurvedJoint& joint : joints_) {
    visit_group(joint.floating, joint.v, delta, [&](auto group, const auto& d) {
      constexpr int n = decltype(group)::kTangent;
      using T = Dual<n>;
      using Group = decltype(group_of<T>(group));
      Eigen::Matrix<T, n, 1> dual, own;
      for (int k = 0; k < n; ++k) {
        dual[k] = T(d[k], k);
        own[k] = T(v[joint.v + k]);
      }
      const Eigen::Matrix<T, n, 1> rate = Group::right_jacobian_inverse(dual) * own;
      Eigen::Matrix<double, n, n> by_delta;
      for (int r = 0; r < n; ++r) by_delta.row(r) = rate[r].v.transpose();
      for (Eigen::Index c = 0; c < x.cols(); ++c) {
        x.col(c).template segment<n>(joint.v) += by_delta * y.col(c).template segment<n>(joint.v);
      }
    });
  }
}

}  // namespace kinegraph::filter
