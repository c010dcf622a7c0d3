#include "kinegraph/identify/problem_kept.hpp"

#include <cmath>

#include "kinegraph/identify/problem_implementation.hpp"

// What is made of rows that were kept, in place of another evaluation of the steps.
namespace kinegraph::identify {

void Problem::expect_as(const Problem& other) {
  Implementation& all = *implementation_;
  const Implementation& its = *other.implementation_;
  if (its.grips.size() == all.grips.size()) all.grips = its.grips;
  if (its.misses.rows() == all.misses.rows() && its.misses.cols() == all.misses.cols()) all.misses = its.misses;
  all.lender = &its;
}

bool Problem::Implementation::can_borrow(const std::vector<double>& poses) const {
  if (!lender || hard || lender->hard || lender->kept.steps() != steps()) return false;
  const auto sized = [](const auto& a, const auto& b) { return a.rows() == b.rows() && a.cols() == b.cols(); };
  return lender->kept.unknowns() == n && lender->kept.parameters() == p && sized(lender->kept_numbers, numbers) &&
         sized(lender->kept_directions, directions) && lender->kept_at == poses && lender->kept_numbers == numbers &&
         lender->kept_directions == directions && lender->weight.length() == weight.length();
}

/// √κ M (v⁺ − φ) and its slopes, from those with another κ.
bool Problem::Implementation::borrow_step_rows(int k) {
  const ArrowRows from = lender->kept.step(k);
  const double share = root_kappa / lender->root_kappa;
  using Numbers = Eigen::Map<const Eigen::VectorXd>;
  impulses.col(k) = share * Numbers(from.residual, n);
  impulse_cost += impulses.col(k).squaredNorm();
  rows.clear();
  for (int i = 0; i < n; ++i) rows.add_open(impulses(i, k));
  Eigen::Map<Eigen::VectorXd>(rows.states(0), 3 * n * n) = share * Numbers(from.states, 3 * n * n);
  Eigen::Map<Eigen::VectorXd>(rows.border(0), n * p) = share * Numbers(from.border, n * p);
  return std::isfinite(impulse_cost);
}

}  // namespace kinegraph::identify
