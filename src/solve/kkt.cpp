#include "kinegraph/solve/kkt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kinegraph {
namespace {

/// The user's order of variables as an order of the rows of K: a hard row follows the first of its variables.
Result<std::vector<int>> expand(const Linearization& l, const std::vector<Key>& keys) {
  const Structure& s = l.structure();
  std::vector<int> rank(l.unknowns(), -1);  // per column
  int next = 0;
  for (const Key& key : keys) {
    const int i = l.values().find(key);
    if (i < 0 || s.variable[i] < 0)
      return Failure::bad_input(fmt::format("order: {} is not an unknown", to_string(key)));
    if (rank[s.variable[i]] >= 0) return Failure::bad_input(fmt::format("order: {} is named twice", to_string(key)));
    for (int k = 0; k < l.values().manifold(i).tangent(); ++k) rank[s.variable[i] + k] = next++;
  }
  for (int column = 0; column < l.unknowns(); ++column) {
    if (rank[column] < 0) {
      return Failure::bad_input(fmt::format("order: {} is missing", to_string(l.values().key(s.columns[column]))));
    }
  }
  std::vector<int> first(l.hard_rows(), next);
  for (const auto& e : l.hard_entries()) first[e.row] = std::min(first[e.row], rank[e.column]);
  std::vector<int> order(l.unknowns() + l.hard_rows());
  for (int i = 0; i < static_cast<int>(order.size()); ++i) order[i] = i;
  const auto place = [&](int i) { return i < l.unknowns() ? rank[i] : first[i - l.unknowns()]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return place(a) < place(b); });
  return order;
}

}  // namespace

Result<KktSystem> KktSystem::make(const Linearization& l, const OrderingOptions& ordering,
                                  const Eigen::VectorXd& damping, const Eigen::VectorXd& compliance) {
  KktSystem system;
  linear::PlanOptions options;
  options.ordering = ordering.method;
  if (ordering.method == linear::OrderingMethod::user) {
    auto order = expand(l, ordering.order);
    if (!order) return std::move(order).failure();
    options.user_order = *std::move(order);
  }
  if (ordering.method == linear::OrderingMethod::colamd) options.rows = l.row_structure();
  system.damp(l, damping, compliance);
  auto plan = linear::Plan::make(l.pattern(), system.matrix_, std::move(options));
  if (!plan) return std::move(plan).failure();
  system.plan_ = std::make_unique<linear::Plan>(*std::move(plan));
  system.elimination_ = std::make_unique<linear::Elimination>(*system.plan_);
  return system;
}

void KktSystem::damp(const Linearization& l, const Eigen::VectorXd& damping, const Eigen::VectorXd& compliance) {
  matrix_.assign(l.matrix().begin(), l.matrix().end());
  const auto diagonal = l.diagonal();
  for (int i = 0; i < l.unknowns(); ++i) matrix_[diagonal[i]] += damping[i];
  for (int i = 0; i < l.hard_rows(); ++i) matrix_[diagonal[l.unknowns() + i]] -= compliance[i];
}

bool KktSystem::factor(const Linearization& l, const Eigen::VectorXd& damping, const Eigen::VectorXd& compliance) {
  damp(l, damping, compliance);
  linear::FactorReport report = elimination_->factor(matrix_);
  if (report.finite && report.stale) {
    plan_->refresh(matrix_);
    report = elimination_->factor(matrix_);
  }
  return report.finite && report.zero == 0 && report.negative == l.hard_rows();
}

bool KktSystem::solve(Eigen::VectorXd& rhs) {
  elimination_->solve(rhs);
  return rhs.allFinite();
}

}  // namespace kinegraph
