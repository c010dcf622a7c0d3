#include "kinegraph/graph/manifold.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "kinegraph/lie/se3.hpp"
#include "kinegraph/lie/so2.hpp"
#include "kinegraph/lie/so3.hpp"

namespace kinegraph {
namespace {

template <class G>
void retract_group(const double* x, const double* delta, double* result) {
  (G::load(x) * G::exp(Eigen::Map<const typename G::Tangent>(delta))).store(result);
}

template <class G>
typename G::Tangent local_group(const double* x, const double* y) {
  return (G::load(x).inverse() * G::load(y)).log();
}

// log(x⁻¹ y exp(δ)) ≈ l + Jᵣ⁻¹(l) δ,  l = log(x⁻¹ y)
template <class G>
void local_jacobian_group(const double* x, const double* y, double* jacobian) {
  Eigen::Map<typename G::Square>{jacobian} = G::right_jacobian_inverse(local_group<G>(x, y));
}

}  // namespace

Manifold Manifold::real(int size) {
  if (size < 0) throw std::invalid_argument(fmt::format("size: must be >= 0, is {}", size));
  return {Type::real, size, size};
}

void Manifold::retract(const double* x, const double* delta, double* result) const {
  switch (type_) {
    case Type::real:
    case Type::so2:
      for (int i = 0; i < stored_; ++i) result[i] = x[i] + delta[i];
      return;
    case Type::so3:
      return retract_group<SO3>(x, delta, result);
    case Type::se3:
      return retract_group<SE3>(x, delta, result);
  }
}

void Manifold::local(const double* x, const double* y, double* delta) const {
  switch (type_) {
    case Type::real:
      for (int i = 0; i < stored_; ++i) delta[i] = y[i] - x[i];
      return;
    case Type::so2:
      delta[0] = wrap_angle(y[0] - x[0]);
      return;
    case Type::so3:
      Eigen::Map<SO3::Tangent>{delta} = local_group<SO3>(x, y);
      return;
    case Type::se3:
      Eigen::Map<SE3::Tangent>{delta} = local_group<SE3>(x, y);
      return;
  }
}

void Manifold::local_jacobian(const double* x, const double* y, double* jacobian) const {
  switch (type_) {
    case Type::real:
    case Type::so2:
      Eigen::Map<Eigen::MatrixXd>(jacobian, tangent_, tangent_).setIdentity();
      return;
    case Type::so3:
      return local_jacobian_group<SO3>(x, y, jacobian);
    case Type::se3:
      return local_jacobian_group<SE3>(x, y, jacobian);
  }
}

std::string Manifold::to_string() const {
  switch (type_) {
    case Type::real:
      return fmt::format("R{}", stored_);
    case Type::so2:
      return "SO2";
    case Type::so3:
      return "SO3";
    case Type::se3:
      return "SE3";
  }
  return {};
}

}  // namespace kinegraph
