#include <algorithm>
#include <cmath>

#include "kinegraph/solve/sqp_search.hpp"

namespace kinegraph {
namespace {

constexpr double kFirstDamping = 1e-4, kLargestDamping = 1e20, kSmallestDamping = 1e-20;
constexpr double kCompliance = 1e-9;

}  // namespace

// Raises δ until K has the inertia of a minimum. Redundant rows show as zero pivots: then C > 0 from there on.
bool SqpSearch::factor_newton() {
  static const Eigen::VectorXd none;
  const bool curved = options_.curvature == Curvature::constraints;
  if (inequalities_) sigma_ = z_.cwiseQuotient(s_);
  problem_.assemble(curved ? y_ : none, curved && inequalities_ ? z_ : none, sigma_, matrix_);
  // Without it, rows in N m per m/s (M/h of a robot's dynamics, thousands) beside costs of 1/50² let no pivot of a
  // slice pass, and all of them are passed on: four times the work of the elimination.
  elimination_.equilibrate(matrix_, equilibration_);
  double damping = extra_damping_;
  while (true) {
    diagonal_.head(n_).setConstant(damping);
    diagonal_.tail(hard_).setConstant(-compliance_);
    diagonal_.array() *= equilibration_.array().square();
    elimination_.factor(matrix_, {diagonal_.data(), static_cast<std::size_t>(diagonal_.size())});
    ++factorizations_;
    if (elimination_.is_minimum()) break;
    if (!elimination_.inertia().finite) return false;
    if (elimination_.inertia().zero > 0 && compliance_ == 0) {
      compliance_ = kCompliance;
      continue;
    }
    if (damping == extra_damping_) {
      damping = last_damping_ == 0 ? kFirstDamping : std::max(kSmallestDamping, last_damping_ / 3);
      damping = std::max(damping, 10 * extra_damping_);
    } else {
      damping *= last_damping_ == 0 ? 100 : 8;
    }
    if (damping > kLargestDamping) return false;
  }
  if (damping > 0) last_damping_ = damping;
  damping_ = damping;
  return true;
}

/// For violations c and g − s = `slack_rest`, with the factor at hand.
void SqpSearch::solve_newton(const Eigen::VectorXd& c, const Eigen::VectorXd& slack_rest, Eigen::VectorXd& dx,
                             Eigen::VectorXd& dy, Eigen::VectorXd& ds) {
  if (inequalities_) {
    target_ = problem_.gradient();
    pull_z_ = barrier_ * s_.cwiseInverse() - sigma_.cwiseProduct(slack_rest);
    problem_.add_transposed(y_, pull_z_, target_);
  } else {
    target_ = lagrangian_;
  }
  rhs_.head(n_) = -target_;
  rhs_.tail(hard_) = -c;
  rhs_.array() *= equilibration_.array();
  elimination_.solve(rhs_);
  rhs_.array() *= equilibration_.array();
  dx = rhs_.head(n_);
  dy = rhs_.tail(hard_);
  if (inequalities_) {
    problem_.multiply_inequality(dx, ds);
    ds += slack_rest;
  }
}

}  // namespace kinegraph
