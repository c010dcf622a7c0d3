#include "kinegraph/linear/qr.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/linear/ordering.hpp"

namespace kinegraph::linear {

// Dense: a column x below row r becomes ∓‖x‖ e₁ under I − β v vᵀ with v = x ± ‖x‖ e₁, β = 2 / vᵀv. Reflections keep the
// length of whole columns, so what a column was can be read off it at any time.
int triangularise(Eigen::Ref<Eigen::MatrixXd> a, ColumnBlock block, bool pivoting, double tolerance, double floor) {
  const int end = block.first + block.count;
  Eigen::Index r = block.row;
  for (int c = block.first; c < end && r < a.rows(); ++c) {
    const Eigen::Index left = a.rows() - r;
    if (pivoting) {
      int best = c;
      for (int j = c + 1; j < end; ++j) {
        if (a.col(j).tail(left).squaredNorm() > a.col(best).tail(left).squaredNorm()) best = j;
      }
      if (best != c) a.col(c).swap(a.col(best));
    }
    auto x = a.col(c).tail(left);
    const double norm = x.norm();
    if (!(norm > tolerance * std::max(a.col(c).norm(), floor))) {
      x.setZero();
      continue;
    }
    const double head = x[0] > 0 ? -norm : norm;
    x[0] -= head;  // x is now v
    const double beta = 2 / x.squaredNorm();
    for (Eigen::Index j = c + 1; j < a.cols(); ++j) {
      auto y = a.col(j).tail(left);
      y -= (beta * x.dot(y)) * x;
    }
    x.setZero();
    x[0] = head;
    ++r;
  }
  return static_cast<int>(r) - block.row;
}

int dense_rank(const Eigen::MatrixXd& a, double tolerance) {
  if (a.size() == 0) return 0;
  Eigen::MatrixXd scaled = a;
  for (auto row : scaled.rowwise()) {
    if (const double norm = row.norm(); norm > 0) row /= norm;
  }
  const double floor = scaled.colwise().norm().maxCoeff();
  return triangularise(scaled, {0, 0, static_cast<int>(a.cols())}, true, tolerance, floor);
}

SquareRoot marginalise(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, std::span<const int> eliminate) {
  const int n = static_cast<int>(a.cols()), gone = static_cast<int>(eliminate.size());
  std::vector<char> eliminated(n, 0);
  for (int c : eliminate) eliminated[c] = 1;
  SquareRoot prior;
  for (int c = 0; c < n; ++c) {
    if (!eliminated[c]) prior.columns.push_back(c);
  }
  const int kept = static_cast<int>(prior.columns.size());
  Eigen::MatrixXd work(a.rows(), n + 1);  // [eliminated | kept | b]
  for (int j = 0; j < gone; ++j) work.col(j) = a.col(eliminate[j]);
  for (int j = 0; j < kept; ++j) work.col(gone + j) = a.col(prior.columns[j]);
  work.col(n) = b;
  const int r = triangularise(work, {0, 0, gone}, true);
  const int rank = triangularise(work, {r, gone, kept}, false);
  prior.R = work.block(r, gone, rank, kept);
  prior.d = work.block(r, n, rank, 1);
  return prior;
}

// Sparse: R is kept as one sparse row per pivot column. A new row whose first column is k is rotated with R's row k,
//
//     [ c  s ] [ R(k,·) ]        c = R(k,k)/h,  s = a(k)/h,  h = √(R(k,k)² + a(k)²),
//     [−s  c ] [  a(·)  ]
//
// which removes its entry k and goes on with its next, until it is empty or finds a column without a pivot, whose row
// it becomes (George and Heath, 1980). Fill stays within the structure of the symmetric elimination in the same order.
// What falls below the tolerance, relative to the row as it came, is round-off.
RowMergingQr::RowMergingQr(std::vector<int> order, double tolerance)
    : order_(std::move(order)), position_(inverse_order(order_)), r_(order_.size()), tolerance_(tolerance) {}

void RowMergingQr::add_row(std::span<const int> columns, std::span<const double> values, double rhs) {
  std::vector<std::pair<int, double>> sorted;
  double norm = 0;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    sorted.emplace_back(position_[columns[k]], values[k]);
    norm = std::hypot(norm, values[k]);
  }
  std::sort(sorted.begin(), sorted.end());
  incoming_ = {};
  for (const auto& [place, value] : sorted) {
    incoming_.place.push_back(place);
    incoming_.value.push_back(value);
  }
  incoming_.rhs = rhs;

  while (!incoming_.place.empty()) {
    const int k = incoming_.place.front();
    if (std::abs(incoming_.value.front()) <= tolerance_ * norm) {
      incoming_.place.erase(incoming_.place.begin());
      incoming_.value.erase(incoming_.value.begin());
    } else if (r_[k].place.empty()) {
      std::swap(r_[k], incoming_);
      ++rank_;
      return;
    } else {
      rotate(r_[k], incoming_);
    }
  }
  rest_ = std::hypot(rest_, incoming_.rhs);
}

void RowMergingQr::rotate(Row& pivot, Row& row) {
  const double h = std::hypot(pivot.value[0], row.value[0]);
  const double c = pivot.value[0] / h, s = row.value[0] / h;
  Row &p = merged_pivot_, &q = merged_row_;
  p.place.assign(1, pivot.place[0]);
  p.value.assign(1, h);
  q.place.clear();
  q.value.clear();
  std::size_t i = 1, j = 1;
  while (i < pivot.place.size() || j < row.place.size()) {
    const int pi = i < pivot.place.size() ? pivot.place[i] : INT32_MAX;
    const int pj = j < row.place.size() ? row.place[j] : INT32_MAX;
    const double x = pi <= pj ? pivot.value[i++] : 0.0, y = pj <= pi ? row.value[j++] : 0.0;
    p.place.push_back(std::min(pi, pj));
    p.value.push_back(c * x + s * y);
    q.place.push_back(std::min(pi, pj));
    q.value.push_back(c * y - s * x);
  }
  p.rhs = c * pivot.rhs + s * row.rhs;
  q.rhs = c * row.rhs - s * pivot.rhs;
  std::swap(pivot, p);
  std::swap(row, q);
}

double RowMergingQr::residual_norm() const { return rest_; }

std::vector<int> RowMergingQr::undetermined() const {
  std::vector<int> columns;
  for (std::size_t k = 0; k < r_.size(); ++k) {
    if (r_[k].place.empty()) columns.push_back(order_[k]);
  }
  return columns;
}

Eigen::VectorXd RowMergingQr::solve() const {
  Eigen::VectorXd x = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(order_.size()));
  for (auto row = r_.rbegin(); row != r_.rend(); ++row) {
    if (row->place.empty()) continue;
    double sum = row->rhs;
    for (std::size_t j = 1; j < row->place.size(); ++j) sum -= row->value[j] * x[order_[row->place[j]]];
    x[order_[row->place[0]]] = sum / row->value[0];
  }
  return x;
}

SquareRoot RowMergingQr::after(int eliminated) const {
  SquareRoot prior;
  prior.columns.assign(order_.begin() + eliminated, order_.end());
  const auto rows = std::count_if(r_.begin() + eliminated, r_.end(), [](const Row& row) { return !row.place.empty(); });
  prior.R = Eigen::MatrixXd::Zero(rows, static_cast<Eigen::Index>(prior.columns.size()));
  prior.d.resize(rows);
  int at = 0;
  for (std::size_t k = eliminated; k < r_.size(); ++k) {
    if (r_[k].place.empty()) continue;
    for (std::size_t j = 0; j < r_[k].place.size(); ++j) prior.R(at, r_[k].place[j] - eliminated) = r_[k].value[j];
    prior.d[at++] = r_[k].rhs;
  }
  return prior;
}

SquareRoot marginalise(const SparseRows& a, const Eigen::VectorXd& b, std::span<const int> eliminate) {
  // Unknowns that do not occur must not widen the result: number those that do, the eliminated ones first.
  std::vector<int> local(a.columns, -1), original;
  std::vector<char> used(a.columns, 0);
  for (int c : a.column) used[c] = 1;
  const auto number = [&](int c) {
    if (!used[c] || local[c] >= 0) return;
    local[c] = static_cast<int>(original.size());
    original.push_back(c);
  };
  for (int c : eliminate) number(c);
  const int gone = static_cast<int>(original.size());
  for (int c = 0; c < a.columns; ++c) number(c);

  RowMergingQr qr(natural_order(static_cast<int>(original.size())));
  std::vector<int> columns;
  for (int i = 0; i < a.rows(); ++i) {
    columns.clear();
    for (int c : a.columns_of(i)) columns.push_back(local[c]);
    qr.add_row(columns, a.values_of(i), b[i]);
  }
  SquareRoot prior = qr.after(gone);
  for (int& c : prior.columns) c = original[c];
  return prior;
}

}  // namespace kinegraph::linear
