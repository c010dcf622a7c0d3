#include "kinegraph/identify/knowable.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>

namespace kinegraph::identify {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Directions of x, in two steps. With the information scaled to a diagonal of 1, S̃ = D^-½ S D^-½ = Q Λ Qᵀ, whatever
// units x has:
//
//   Λ ≈ 0: no row sees N = D^-½ Q₀, up to round-off;
//   else x = W u with W = D^-½ Q Λ^-½, where u has the covariance 1. The singular values of V W (V: quantities over
//   their scales, by x) are deviations along directions, in units of the scales. What N can make up for does not
//   count. The large ones are not seen either.
struct Directions {
  MatrixXd unseen;  // V n: changes of quantities over their scales, one column each
  MatrixXd root;    // root rootᵀ: covariance of x; unseen directions count with the most that is allowed
  int rank = 0;
};

Directions find_directions(const MatrixXd& S, const MatrixXd& V, const KnowableOptions& options) {
  const int p = static_cast<int>(S.rows());
  VectorXd unit(p);
  for (int i = 0; i < p; ++i) unit[i] = S(i, i) > 0 ? 1 / std::sqrt(S(i, i)) : 1;
  const MatrixXd scaled = unit.asDiagonal() * (0.5 * (S + S.transpose())) * unit.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(scaled);
  const double nothing = options.least_share * std::max(eigen.eigenvalues()[p - 1], 0.0);
  int zeros = 0;
  while (zeros < p && !(eigen.eigenvalues()[zeros] > nothing)) ++zeros;
  const int seen = p - zeros;

  const MatrixXd N = unit.asDiagonal() * eigen.eigenvectors().leftCols(zeros);
  const MatrixXd W = unit.asDiagonal() * eigen.eigenvectors().rightCols(seen) *
                     eigen.eigenvalues().tail(seen).cwiseSqrt().cwiseInverse().asDiagonal();
  MatrixXd D(V.rows(), p);  // unseen ones first
  Directions result;
  result.root.resize(p, p);
  for (int k = 0; k < zeros; ++k) {
    const VectorXd change = V * N.col(k);
    const double size = change.norm();
    D.col(k) = size > 0 ? VectorXd(change / size) : change;
    result.root.col(k) = size > 0 ? VectorXd(options.most_deviation / size * N.col(k)) : VectorXd(VectorXd::Zero(p));
  }
  MatrixXd spread = V * W;
  if (zeros > 0) {
    Eigen::ColPivHouseholderQR<MatrixXd> span(D.leftCols(zeros));
    const MatrixXd Q = MatrixXd(span.householderQ()).leftCols(span.rank());
    spread -= Q * (Q.transpose() * spread);
  }
  int unseen = zeros;
  if (seen > 0) {
    const Eigen::JacobiSVD<MatrixXd> svd(spread, Eigen::ComputeFullV);
    for (int k = 0; k < seen; ++k) {  // largest deviation first
      const double deviation = k < svd.singularValues().size() ? svd.singularValues()[k] : 0;
      const VectorXd direction = W * svd.matrixV().col(k);
      const bool too_much = deviation > options.most_deviation;
      result.root.col(zeros + k) = too_much ? VectorXd(options.most_deviation / deviation * direction) : direction;
      if (too_much) D.col(unseen++) = V * direction / deviation;
    }
  }
  result.unseen = D.leftCols(unseen);
  result.rank = p - unseen;
  return result;
}

// Gauss-Jordan elimination of columns: D E = [1; R], 1 in the rows of the pivots. Every vector of the basis then names
// one quantity that the others do not, and parts that have nothing to do with each other come apart.
struct SparseBasis {
  MatrixXd columns;
  std::vector<int> pivots;  // row of each column
};

SparseBasis sparse_basis(MatrixXd D, double least_part) {
  SparseBasis basis;
  std::vector<bool> used(D.cols(), false);
  std::vector<int> order;
  for (Eigen::Index step = 0; step < D.cols(); ++step) {
    int row = -1, column = -1;
    double best = 1e-9;
    for (int j = 0; j < D.cols(); ++j) {
      // of entries that are nearly as large the last one: quantities named first stay in the combinations' front
      for (int i = 0; !used[j] && i < D.rows(); ++i) {
        if (std::abs(D(i, j)) > best * (i > row ? 0.99 : 1.0)) row = i, column = j, best = std::abs(D(i, j));
      }
    }
    if (row < 0) break;  // the rest moves no quantity
    used[column] = true;
    order.push_back(column);
    basis.pivots.push_back(row);
    D.col(column) /= D(row, column);
    for (int j = 0; j < D.cols(); ++j) {
      if (j != column) D.col(j) -= D(row, j) * D.col(column);
    }
  }
  basis.columns.resize(D.rows(), static_cast<Eigen::Index>(order.size()));
  for (std::size_t k = 0; k < order.size(); ++k) {
    VectorXd column = D.col(order[k]);
    column = (column.array().abs() < least_part).select(0.0, column);
    basis.columns.col(static_cast<Eigen::Index>(k)) = column;
  }
  return basis;
}

std::string term(double coefficient, const std::string& name, bool first) {
  std::string text = first ? (coefficient < 0 ? "−" : "") : (coefficient < 0 ? " − " : " + ");
  const std::string size = fmt::format("{:.3g}", std::abs(coefficient));
  if (size != "1") text += size + " ";
  return text + name;
}

class Analysis {
 public:
  Analysis(const Evidence& evidence, const KnowableOptions& options) : evidence_(evidence), options_(options) {}

  Knowable run();

 private:
  bool given() const;
  void add_bias();
  void find_groups(const SparseBasis& basis);
  void describe(UnknownGroup& group, const SparseBasis& basis, const std::vector<int>& columns);
  KnownCombination combination(int quantity, const SparseBasis& basis, const std::vector<int>& columns) const;
  void describe_quantities();
  void correlate();

  const Evidence& evidence_;
  const KnowableOptions& options_;
  MatrixXd slopes_, covariance_, sandwich_;  // of all quantities
  VectorXd scales_;
  Knowable result_;
};

bool Analysis::given() const {
  return evidence_.information.allFinite() && evidence_.scatter.allFinite() && evidence_.values.allFinite() &&
         slopes_.allFinite() && scales_.allFinite();
}

Knowable Analysis::run() {
  const int count = static_cast<int>(evidence_.names.size()), p = static_cast<int>(evidence_.information.rows());
  assert(evidence_.values.size() == count && evidence_.information.cols() == p);
  slopes_ = evidence_.slopes.size() ? evidence_.slopes : MatrixXd(MatrixXd::Identity(count, p));
  assert(slopes_.rows() == count && slopes_.cols() == p);
  scales_ = evidence_.values.cwiseAbs();
  for (int i = 0; i < count; ++i) {
    if (evidence_.scales.size() && evidence_.scales[i] > 0) scales_[i] = evidence_.scales[i];
    if (!(scales_[i] > 0)) scales_[i] = 1;
    result_.quantities.emplace_back();
    result_.quantities.back().name = evidence_.names[i];
    result_.quantities.back().value = evidence_.values[i];
  }
  result_.covariance = result_.correlation = covariance_ = MatrixXd::Zero(count, count);
  if (count == 0 || p == 0) return result_;
  if (!given()) {
    for (KnownQuantity& each : result_.quantities) each.identifiable = false, each.remark = "not seen by the data";
    return result_;
  }
  const Directions directions =
      find_directions(evidence_.information, scales_.cwiseInverse().asDiagonal() * slopes_, options_);
  result_.rank = directions.rank;
  const MatrixXd root = slopes_ * directions.root;
  covariance_ = root * root.transpose();
  if (evidence_.scatter.size()) {
    const MatrixXd through = root * directions.root.transpose();
    sandwich_ = through * evidence_.scatter * through.transpose();
  }
  add_bias();
  find_groups(sparse_basis(directions.unseen, options_.least_part));
  describe_quantities();
  correlate();
  return result_;
}

// A bias counts as a deviation does, all quantities together.
void Analysis::add_bias() {
  if (evidence_.bias.size() == 0 || !evidence_.bias.allFinite()) return;
  const VectorXd moved = slopes_ * evidence_.bias;
  if (sandwich_.size() == 0) sandwich_ = covariance_;
  sandwich_ += moved * moved.transpose();
  for (std::size_t i = 0; i < result_.quantities.size(); ++i) {
    result_.quantities[i].bias = moved[static_cast<Eigen::Index>(i)];
  }
}

// Columns that share a quantity belong to one group.
void Analysis::find_groups(const SparseBasis& basis) {
  const int columns = static_cast<int>(basis.pivots.size());
  std::vector<int> group(columns, -1);
  for (int seed = 0; seed < columns; ++seed) {
    if (group[seed] >= 0) continue;
    std::vector<int> members = {seed};
    group[seed] = seed;
    for (std::size_t at = 0; at < members.size(); ++at) {
      for (int other = 0; other < columns; ++other) {
        const bool shared =
            (basis.columns.col(members[at]).array() * basis.columns.col(other).array()).cwiseAbs().maxCoeff() > 0;
        if (group[other] < 0 && shared) group[other] = seed, members.push_back(other);
      }
    }
    UnknownGroup one;
    for (int i = 0; i < basis.columns.rows(); ++i) {
      const bool moves = std::any_of(members.begin(), members.end(), [&](int k) { return basis.columns(i, k) != 0; });
      if (moves) one.quantities.push_back(i);
    }
    describe(one, basis, members);
    result_.unknown.push_back(std::move(one));
  }
  std::sort(result_.unknown.begin(), result_.unknown.end(),
            [](const UnknownGroup& a, const UnknownGroup& b) { return a.quantities < b.quantities; });
}

// With the pivots free, yᵢ − Σ Rᵢₖ y_pivot(k) is the same along all unseen directions, for every other quantity i.
KnownCombination Analysis::combination(int quantity, const SparseBasis& basis, const std::vector<int>& columns) const {
  std::vector<std::pair<int, double>> parts = {{quantity, 1.0}};
  for (const int k : columns) {
    const double along = basis.columns(quantity, k);
    const int pivot = basis.pivots[k];
    if (along != 0) parts.push_back({pivot, -along * scales_[quantity] / scales_[pivot]});
  }
  std::sort(parts.begin() + 1, parts.end());
  KnownCombination result;
  VectorXd weights = VectorXd::Zero(evidence_.values.size());
  for (const auto& [index, coefficient] : parts) {
    result.text += term(coefficient, evidence_.names[index], result.quantities.empty());
    result.quantities.push_back(index);
    result.coefficients.push_back(coefficient);
    weights[index] = coefficient;
  }
  result.value = weights.dot(evidence_.values);
  result.deviation = std::sqrt(std::max(weights.dot(covariance_ * weights), 0.0));
  if (sandwich_.size()) result.sandwich = std::sqrt(std::max(weights.dot(sandwich_ * weights), 0.0));
  return result;
}

void Analysis::describe(UnknownGroup& group, const SparseBasis& basis, const std::vector<int>& columns) {
  group.directions.resize(static_cast<Eigen::Index>(group.quantities.size()),
                          static_cast<Eigen::Index>(columns.size()));
  std::string names;
  for (std::size_t i = 0; i < group.quantities.size(); ++i) {
    const int quantity = group.quantities[i];
    KnownQuantity& one = result_.quantities[quantity];
    one.identifiable = false;
    one.remark = group.quantities.size() == 1 ? "not seen by the data" : "known only in combinations";
    names += (i == 0 ? "" : i + 1 == group.quantities.size() ? " and " : ", ") + one.name;
    bool pivot = false;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      group.directions(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) =
          scales_[quantity] * basis.columns(quantity, columns[k]);
      pivot = pivot || basis.pivots[columns[k]] == quantity;
    }
    if (!pivot) group.known.push_back(combination(quantity, basis, columns));
  }
  if (group.known.empty()) {
    group.text = names + ": not seen by the data";
    return;
  }
  group.text = names + " cannot be told apart, only ";
  for (std::size_t i = 0; i < group.known.size(); ++i) {
    const KnownCombination& known = group.known[i];
    group.text += (i == 0 ? "" : "; ") + known.text + " = " +
                  with_deviation(known.value, told_deviation(known.deviation, known.sandwich));
  }
}

void Analysis::describe_quantities() {
  for (std::size_t i = 0; i < result_.quantities.size(); ++i) {
    KnownQuantity& each = result_.quantities[i];
    if (!each.identifiable) continue;
    const auto at = static_cast<Eigen::Index>(i);
    each.deviation = std::sqrt(std::max(covariance_(at, at), 0.0));
    if (sandwich_.size()) each.sandwich = std::sqrt(std::max(sandwich_(at, at), 0.0));
    const double deviation = told_deviation(*each.deviation, each.sandwich);
    const double size = evidence_.sizes.size() ? evidence_.sizes[at] : 0;
    each.weak = deviation > options_.weak * std::max(std::abs(each.value), size);
    if (each.weak) each.remark = "weakly known";
  }
}

void Analysis::correlate() {
  const int count = static_cast<int>(result_.quantities.size());
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      if (!result_.quantities[i].identifiable || !result_.quantities[j].identifiable) continue;
      const double size = std::sqrt(covariance_(i, i)) * std::sqrt(covariance_(j, j));
      result_.covariance(i, j) = covariance_(i, j);
      result_.correlation(i, j) = i == j ? 1 : size > 0 ? std::clamp(covariance_(i, j) / size, -1.0, 1.0) : 0;
      if (i < j && std::abs(result_.correlation(i, j)) > options_.correlated) {
        result_.correlated.push_back({i, j, result_.correlation(i, j)});
      }
    }
  }
  std::stable_sort(result_.correlated.begin(), result_.correlated.end(),
                   [](const CorrelatedPair& a, const CorrelatedPair& b) {
                     return std::abs(a.correlation) > std::abs(b.correlation);
                   });
}

}  // namespace

Knowable what_is_knowable(const Evidence& evidence, const KnowableOptions& options) {
  return Analysis(evidence, options).run();
}

std::string with_deviation(double value, double deviation) {
  if (!(deviation > 0) || !std::isfinite(deviation) || !std::isfinite(value)) return fmt::format("{:.6g}", value);
  const double size = std::max(std::abs(value), deviation);
  const int place = static_cast<int>(std::floor(std::log10(deviation))) - 1;  // of the deviation's second digit
  if (size >= 1e-4 && size < 1e7 && place >= -12) {
    const int decimals = std::max(-place, 0);
    return fmt::format("{:.{}f} ± {:.{}f}", value, decimals, deviation, decimals);
  }
  const int digits = std::clamp(static_cast<int>(std::floor(std::log10(size))) - place + 1, 2, 15);
  return fmt::format("{:.{}g} ± {:.2g}", value, digits, deviation);
}

}  // namespace kinegraph::identify
