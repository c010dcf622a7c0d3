#include "kinegraph/filter/particle_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::filter {
namespace {

constexpr double kSame = 1e-12;  // numbers of x that spread less are the same

/// P = L Lᵀ of a covariance that may have no spread along some directions: their columns of L are zero.
void root_of(const MatrixXd& P, double factor, MatrixXd& L) {
  const Eigen::Index d = P.rows();
  L.setZero(d, d);
  for (Eigen::Index c = 0; c < d; ++c) {
    double pivot = P(c, c);
    for (Eigen::Index k = 0; k < c; ++k) pivot -= L(c, k) * L(c, k);
    if (!(pivot > 1e-14 * P(c, c))) continue;
    L(c, c) = std::sqrt(pivot);
    for (Eigen::Index r = c + 1; r < d; ++r) {
      double sum = P(r, c);
      for (Eigen::Index k = 0; k < c; ++k) sum -= L(r, k) * L(c, k);
      L(r, c) = sum / L(c, c);
    }
  }
  L *= factor;
}

}  // namespace

void ParticleKernels::build(StateSpace& space, double t, const double* x, const double* w, int n, double width,
                            const Chart& offered) {
  const int d = space.tangent();
  stored_ = space.stored();
  x_ = x;
  kernel_.assign(n, {});
  delta_.resize(d, n);
  mean_.resize(d);
  part(x, w, n, 2 * d + 2);
  for (int c = 0; c < count_; ++c) fit(space, t, w, width, offered, clusters_[c]);
}

void ParticleKernels::widen(double factor) {
  for (int c = 0; c < count_; ++c) clusters_[c].root *= factor;
}

/// Halves the particles again and again, each time along the number in which they differ most.
void ParticleKernels::part(const double* x, const double* w, int n, int least) {
  order_.clear();
  scale_.assign(stored_, 0);
  for (int i = 0; i < n; ++i) {
    if (w[i] > 0) order_.push_back(i);
  }
  for (int k = 0; k < stored_; ++k) {
    double sum = 0, mean = 0, square = 0;
    for (int i : order_) sum += w[i], mean += w[i] * x[static_cast<std::ptrdiff_t>(i) * stored_ + k];
    mean /= sum;
    for (int i : order_) {
      const double off = x[static_cast<std::ptrdiff_t>(i) * stored_ + k] - mean;
      square += w[i] / sum * off * off;
    }
    if (square > kSame * kSame) scale_[k] = 1 / std::sqrt(square);
  }
  if (clusters_.empty()) clusters_.resize(1);
  count_ = 1;
  clusters_[0].first = 0;
  clusters_[0].last = static_cast<int>(order_.size());
  clusters_[0].sorted = -1;
  for (int c = 0; c < count_;) {
    if (count_ == static_cast<int>(clusters_.size())) clusters_.emplace_back();
    if (divide(clusters_[c], clusters_[count_], least)) {
      ++count_;
    } else {
      ++c;
    }
  }
}

/// low_ and high_ of a cluster.
void ParticleKernels::find_extent(const Cluster& cluster) {
  const auto row = [&](int j) { return x_ + static_cast<std::ptrdiff_t>(order_[j]) * stored_; };
  low_.assign(row(cluster.first), row(cluster.first) + stored_);
  high_ = low_;
  for (int j = cluster.first; j < cluster.last; ++j) {
    const double* x = row(j);
    for (int k = 0; k < stored_; ++k) low_[k] = std::min(low_[k], x[k]), high_[k] = std::max(high_[k], x[k]);
  }
}

/// Cuts at the widest gap of the middle third; no part has fewer than `least`.
bool ParticleKernels::divide(Cluster& cluster, Cluster& other, int least) {
  const int n = cluster.last - cluster.first;
  if (n < 2 * least) return false;
  find_extent(cluster);
  int widest = -1;
  double most = 0;
  for (int k = 0; k < stored_; ++k) {
    const double extent = (high_[k] - low_[k]) * scale_[k];  // no scale: all the same
    if (extent > most) most = extent, widest = k;
  }
  if (widest < 0) return false;
  const auto value = [&](int i) { return x_[static_cast<std::ptrdiff_t>(i) * stored_ + widest]; };
  if (cluster.sorted != widest) {  // by value, then by number
    keys_.resize(n);
    for (int j = 0; j < n; ++j) keys_[j] = {value(order_[cluster.first + j]), order_[cluster.first + j]};
    std::sort(keys_.begin(), keys_.end());
    for (int j = 0; j < n; ++j) order_[cluster.first + j] = keys_[j].second;
  }
  cluster.sorted = other.sorted = widest;
  const int margin = std::max(least, n / 3);
  int cut = cluster.first + n / 2;
  double gap = value(order_[cut]) - value(order_[cut - 1]);
  for (int j = cluster.first + margin; j <= cluster.last - margin; ++j) {
    const double here = value(order_[j]) - value(order_[j - 1]);
    if (here > gap) gap = here, cut = j;
  }
  other.first = cut, other.last = cluster.last;
  cluster.last = cut;
  return true;
}

void ParticleKernels::fit(StateSpace& space, double t, const double* w, double width, const Chart& offered,
                          Cluster& cluster) {
  const int d = space.tangent(), n = cluster.last - cluster.first;
  if (n < 2) return;
  int heaviest = order_[cluster.first];
  for (int j = cluster.first; j < cluster.last; ++j) {
    if (w[order_[j]] > w[heaviest]) heaviest = order_[j];
  }
  const double* origin = x_ + static_cast<std::ptrdiff_t>(heaviest) * stored_;
  cluster.chart = offered;
  if (!space.choose(t, origin, cluster.chart)) return;
  double sum = 0, squares = 0;
  mean_.setZero();
  for (int j = cluster.first; j < cluster.last; ++j) {
    const int i = order_[j];
    space.local(origin, cluster.chart, x_ + static_cast<std::ptrdiff_t>(i) * stored_, delta_.col(i).data());
    mean_ += w[i] * delta_.col(i);
    sum += w[i], squares += w[i] * w[i];
  }
  mean_ /= sum;
  cluster.P.setZero(d, d);
  for (int j = cluster.first; j < cluster.last; ++j) {
    const int i = order_[j];
    delta_.col(i) -= mean_;
    for (int c = 0; c < d; ++c) {
      for (int r = c; r < d; ++r) cluster.P(r, c) += w[i] / sum * delta_(r, i) * delta_(c, i);
    }
  }
  if (!cluster.P.allFinite()) return;
  // The best width for as many samples of a normal density in d dimensions (Silverman 1986, eq. 4.14).
  const double effective = sum * sum / squares;
  const double h = std::min(1.0, width * std::pow(4 / ((d + 2) * effective), 1.0 / (d + 4)));
  const double a = std::sqrt(1 - h * h);
  root_of(cluster.P, h, cluster.root);
  for (int j = cluster.first; j < cluster.last; ++j) {
    const int i = order_[j];
    delta_.col(i) = mean_ + a * delta_.col(i);
    kernel_[i] = {&cluster.chart, origin, &cluster.root, delta_.col(i).data()};
  }
}

}  // namespace kinegraph::filter
