#include "kinegraph/solve/marginal_prior.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <unordered_set>

#include "kinegraph/linear/qr.hpp"
#include "kinegraph/solve/linearize.hpp"

namespace kinegraph {
namespace {

std::vector<int> stored_sizes(const Values& values, const std::vector<Key>& keys) {
  std::vector<int> sizes;
  for (const Key& key : keys) sizes.push_back(static_cast<int>(values.at(key).size()));
  return sizes;
}

std::vector<int> tangent_sizes(const Values& values, const std::vector<Key>& keys) {
  std::vector<int> sizes;
  for (const Key& key : keys) sizes.push_back(values.manifold(values.find(key)).tangent());
  return sizes;
}

/// Rows A x = b over the columns [eliminated | kept].
struct Dense {
  Eigen::MatrixXd a;
  Eigen::VectorXd b;
};

Dense dense(const Linearization::Rows& rows, const std::vector<int>& place) {
  Dense d{Eigen::MatrixXd::Zero(rows.matrix.rows(), rows.matrix.columns), Eigen::VectorXd(rows.matrix.rows())};
  for (int r = 0; r < rows.matrix.rows(); ++r) {
    for (int k = 0; k < rows.matrix.size_of(r); ++k) {
      d.a(r, place[rows.matrix.columns_of(r)[k]]) += rows.matrix.values_of(r)[k];
    }
    d.b[r] = -rows.residual[r];
  }
  return d;
}

/// Solves hard rows for as many of the first `count` columns as they determine, and puts that into the soft rows:
///
///     Qᵀ A_e P = [R₁ R₂; 0 0]:   e₁ = R₁⁻¹ (b₁ − R₂ e₂ − S₁ k),   and what is left, S₂ k = b₂, is hard on the kept
///     ones
///
/// Afterwards the soft rows have zero columns in e₁, and `hard` holds only the rows on kept columns.
void eliminate_hard(Dense& hard, Dense& soft, int count) {
  for (Eigen::Index r = 0; r < hard.a.rows(); ++r) {
    const double norm = hard.a.row(r).norm();
    if (norm > 0) hard.a.row(r) /= norm, hard.b[r] /= norm;
  }
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(hard.a.leftCols(count));
  qr.setThreshold(1e-11);
  const Eigen::Index rank = qr.rank(), kept = hard.a.cols() - count;
  const Eigen::MatrixXd rotated = qr.householderQ().adjoint() * hard.a.rightCols(kept);
  const Eigen::VectorXd b = qr.householderQ().adjoint() * hard.b;
  const Eigen::MatrixXd r = qr.matrixR().topRows(rank);
  const auto r1 = r.leftCols(rank).triangularView<Eigen::Upper>();

  Eigen::MatrixXd permuted = soft.a.leftCols(count) * qr.colsPermutation();
  const Eigen::MatrixXd first = permuted.leftCols(rank);
  permuted.rightCols(count - rank) -= first * r1.solve(r.rightCols(count - rank));
  permuted.leftCols(rank).setZero();
  soft.a.rightCols(kept) -= first * r1.solve(rotated.topRows(rank));
  soft.b -= first * r1.solve(b.head(rank));
  soft.a.leftCols(count) = permuted * qr.colsPermutation().transpose();

  const Eigen::Index rest = hard.a.rows() - rank;
  hard.a = Eigen::MatrixXd::Zero(rest, count + kept);
  hard.a.rightCols(kept) = rotated.bottomRows(rest);
  hard.b = b.tail(rest);
}

/// The independent ones among rows over the kept columns, or null if there is none.
std::shared_ptr<const Factor> hard_prior(const Dense& hard, const Values& values, const std::vector<Key>& keys) {
  Eigen::Index kept = 0;
  for (int size : tangent_sizes(values, keys)) kept += size;
  if (hard.a.rows() == 0 || kept == 0) return nullptr;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(hard.a.rows(), kept);
  qr.setThreshold(1e-11);
  qr.compute(hard.a.rightCols(kept));
  // Rows were scaled to one: what is left of a dependent row is rounding, however large that is beside the others.
  Eigen::Index rank = 0;
  while (rank < std::min(hard.a.rows(), kept) && std::abs(qr.matrixR()(rank, rank)) > 1e-11) ++rank;
  if (rank == 0) return nullptr;
  const Eigen::MatrixXd r = qr.matrixR().topRows(rank).triangularView<Eigen::Upper>();
  const Eigen::VectorXd d = (qr.householderQ().adjoint() * hard.b).head(rank);
  return std::make_shared<MarginalPrior>("marginal constraint", values, keys, r * qr.colsPermutation().transpose(), d);
}

}  // namespace

MarginalPrior::MarginalPrior(std::string name, const Values& values, const std::vector<Key>& keys, Eigen::MatrixXd R,
                             Eigen::VectorXd d)
    : Factor(std::move(name), static_cast<int>(R.rows()), stored_sizes(values, keys),
             dense(static_cast<int>(R.rows()), tangent_sizes(values, keys))),
      R_(std::move(R)),
      d_(std::move(d)) {
  int column = 0;
  for (const Key& key : keys) {
    const Manifold& manifold = values.manifold(values.find(key));
    const auto x = values.at(key);
    slots_.push_back({manifold, {x.begin(), x.end()}, column});
    column += manifold.tangent();
    linear_ &= manifold.type() == Manifold::Type::real || manifold.type() == Manifold::Type::so2;
  }
}

void MarginalPrior::evaluate(Slots x, double* residual, double* jacobian) const {
  Eigen::Map<Eigen::VectorXd> e(residual, rows());
  e = -d_;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    const int n = slot.manifold.tangent();
    if (slot.manifold.type() == Manifold::Type::real) {
      for (int k = 0; k < n; ++k) e += R_.col(slot.column + k) * (x[i][k] - slot.point[k]);
      if (jacobian)
        Eigen::Map<Eigen::MatrixXd>(jacobian + slot.column * rows(), rows(), n) = R_.middleCols(slot.column, n);
      continue;
    }
    double delta[6], derivative[36];
    slot.manifold.local(slot.point.data(), x[i], delta);
    for (int k = 0; k < n; ++k) e += R_.col(slot.column + k) * delta[k];
    if (!jacobian) continue;
    slot.manifold.local_jacobian(slot.point.data(), x[i], derivative);
    Eigen::Map<Eigen::MatrixXd>(jacobian + slot.column * rows(), rows(), n).noalias() =
        R_.middleCols(slot.column, n).lazyProduct(Eigen::Map<const Eigen::MatrixXd>(derivative, n, n));
  }
}

Result<Marginalisation> marginalise(const Graph& graph, const Values& values, const std::vector<Key>& eliminate) {
  const std::unordered_set<Key> old(eliminate.begin(), eliminate.end());
  Marginalisation result;
  Graph part;
  part.known() = graph.known();
  for (int f = 0; f < graph.size(); ++f) {
    const BoundFactor& bound = graph[f];
    if (std::none_of(bound.keys.begin(), bound.keys.end(), [&](const Key& k) { return old.contains(k); })) continue;
    result.used.push_back(f);
    part.add(bound.factor, bound.keys, bound.role, bound.noise, bound.loss);
  }
  Values here = values;
  auto linearization = Linearization::make(part, here);
  if (!linearization) return std::move(linearization).failure();
  Eigen::VectorXd residual;
  const Evaluation evaluation = linearization->linearize(residual);
  if (!evaluation.finite()) return Failure::no_answer(linearization->describe_fault(evaluation));

  // Columns: eliminated variables first, then those that are kept, each in the order of Values.
  const Structure& s = linearization->structure();
  std::vector<int> place(s.unknowns, -1);
  int count = 0, next = 0;
  for (const bool kept : {false, true}) {
    for (int i = 0; i < here.count(); ++i) {
      if (s.variable[i] < 0 || old.contains(here.key(i)) == kept) continue;
      for (int k = 0; k < here.manifold(i).tangent(); ++k) place[s.variable[i] + k] = next++;
      if (kept) result.keys.push_back(here.key(i));
    }
    if (!kept) count = next;
  }
  Dense hard = dense(linearization->rows(Role::equality), place), soft = dense(linearization->rows(Role::cost), place);
  if (hard.a.rows() > 0) eliminate_hard(hard, soft, count);
  result.hard = hard_prior(hard, here, result.keys);

  std::vector<int> columns(count);
  for (int i = 0; i < count; ++i) columns[i] = i;
  const linear::SquareRoot root = linear::marginalise(soft.a, soft.b, columns);
  if (root.R.rows() == 0 || next == count) return result;
  Eigen::MatrixXd r = Eigen::MatrixXd::Zero(root.R.rows(), next - count);
  for (std::size_t i = 0; i < root.columns.size(); ++i)
    r.col(root.columns[i] - count) = root.R.col(static_cast<Eigen::Index>(i));
  result.soft = std::make_shared<MarginalPrior>("marginal prior", here, result.keys, r, root.d);
  return result;
}

}  // namespace kinegraph
