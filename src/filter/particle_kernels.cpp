#include "kinegraph/filter/particle_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace kinegraph::filter {
namespace {

constexpr double kSame = 1e-12;     // numbers of x that spread less are the same
constexpr int kFewKeys = 64;        // up to here they are sorted at once
constexpr int kRootsOfAPart = 2;    // so that no part has far more to do than others
constexpr int kWorthSharing = 512;  // particles
constexpr int kMostClusters = 512;  // so fine that what is around a particle is local

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

void ParticleKernels::build(const Team& team, const std::vector<StateSpace*>& spaces, double t, const double* x,
                            const double* w, int n, double width, const Chart& offered) {
  const int d = spaces[0]->tangent(), least = std::max(2 * d + 2, n / kMostClusters), parts = team.parts();
  stored_ = spaces[0]->stored();
  given_ = {t, x, w, width, &offered};
  kernel_.resize(n);
  delta_.resize(d, n);
  works_.resize(std::max<std::size_t>(works_.size(), kRootsOfAPart * parts));
  order_.resize(n);
  team.share(n, [&](int p, int first, int last) {
    Work& work = works_[p];
    work.first = work.last = first;
    for (int i = first; i < last; ++i) {
      kernel_[i] = {};
      if (w[i] > 0) order_[work.last++] = i;
    }
  });
  int living = 0;
  for (int p = 0; p < parts; living += works_[p].last - works_[p].first, ++p) {
    if (living == works_[p].first) continue;
    std::copy(order_.begin() + works_[p].first, order_.begin() + works_[p].last, order_.begin() + living);
  }
  order_.resize(living);
  find_scales(team);
  const int roots = part_evenly(team, least);
  team.run(parts, [&](int p) {
    Work& work = works_[p];
    part(work, roots, p, parts, least);
    for (int c = 0; c < work.count; ++c) fit(*spaces[p], work.clusters[c], work);
  });
}

void ParticleKernels::widen(double factor) {
  for (Work& work : works_) {
    for (int c = 0; c < work.count; ++c) work.clusters[c].root *= factor;
  }
}

/// 1 / standard deviation of each number.
void ParticleKernels::find_scales(const Team& team) {
  const int n = static_cast<int>(order_.size());
  const double* w = given_.w;
  const auto add_up = [&](VectorXd& all) {
    all = works_[0].sums;
    for (int p = 1; p < team.parts(); ++p) all += works_[p].sums;
  };
  team.share(n, [&](int p, int first, int last) {
    VectorXd& sums = works_[p].sums;
    sums.setZero(stored_ + 1);
    for (int j = first; j < last; ++j) {
      const int i = order_[j];
      const double* x = row(i);
      for (int k = 0; k < stored_; ++k) sums[k] += w[i] * x[k];
      sums[stored_] += w[i];
    }
  });
  add_up(mean_);
  const double sum = mean_[stored_];
  mean_ /= sum;
  team.share(n, [&](int p, int first, int last) {
    VectorXd& sums = works_[p].sums;
    sums.setZero(stored_ + 1);
    for (int j = first; j < last; ++j) {
      const double *x = row(order_[j]), share = w[order_[j]] / sum;
      for (int k = 0; k < stored_; ++k) sums[k] += share * (x[k] - mean_[k]) * (x[k] - mean_[k]);
    }
  });
  add_up(scale_);
  for (double& s : scale_) s = s > kSame * kSame ? 1 / std::sqrt(s) : 0;
}

/// roots_: all particles, halved until there is work for every part; returns how many there are.
int ParticleKernels::part_evenly(const Team& team, int least) {
  const int n = static_cast<int>(order_.size());
  const int most = n < kWorthSharing ? 1 : kRootsOfAPart * team.parts();
  roots_.resize(std::max<std::size_t>(roots_.size(), 2 * most));
  roots_[0].first = 0, roots_[0].last = n, roots_[0].sorted = -1;
  int count = 1;
  for (bool halved = true; halved && 2 * count <= most;) {
    team.run(count, [&](int r) {
      Cluster& other = roots_[count + r];
      other.first = other.last = 0;
      divide(roots_[r], other, least, works_[r]);
    });
    const int before = count;
    halved = false;
    for (int r = before; r < 2 * before; ++r) {
      if (roots_[r].last == roots_[r].first) continue;
      halved = true;
      if (r != count) std::swap(roots_[r], roots_[count]);
      ++count;
    }
  }
  return count;
}

/// The clusters of some roots: halves them again and again, each time along the number in which they differ most.
void ParticleKernels::part(Work& work, int roots, int first_root, int step, int least) const {
  work.count = 0;
  const auto room = [&] {
    if (work.count == static_cast<int>(work.clusters.size())) work.clusters.emplace_back();
  };
  for (int r = first_root; r < roots; r += step) {
    room();
    int c = work.count++;
    work.clusters[c].first = roots_[r].first;
    work.clusters[c].last = roots_[r].last;
    work.clusters[c].sorted = roots_[r].sorted;
    while (c < work.count) {
      room();
      if (divide(work.clusters[c], work.clusters[work.count], least, work)) {
        ++work.count;
      } else {
        ++c;
      }
    }
  }
}

/// low and high of a cluster, some numbers of x at a time: so many as stay in registers.
void ParticleKernels::find_extent(const Cluster& cluster, Work& work) const {
  const double* begin = row(order_[cluster.first]);
  work.low.assign(begin, begin + stored_);
  work.high = work.low;
  const auto find = [&]<int count>(int k, std::integral_constant<int, count>) {
    std::array<double, count> low, high;
    std::copy_n(begin + k, count, low.begin());
    high = low;
    for (int j = cluster.first; j < cluster.last; ++j) {
      const double* x = row(order_[j]) + k;
      for (int i = 0; i < count; ++i) low[i] = std::min(low[i], x[i]), high[i] = std::max(high[i], x[i]);
    }
    std::copy_n(low.begin(), count, work.low.begin() + k);
    std::copy_n(high.begin(), count, work.high.begin() + k);
  };
  int k = 0;
  for (; k + 6 <= stored_; k += 6) find(k, std::integral_constant<int, 6>());
  for (; k + 2 <= stored_; k += 2) find(k, std::integral_constant<int, 2>());
  if (k < stored_) find(k, std::integral_constant<int, 1>());
}

/// By one number of x, then by the particles' own. Many are first spread over heaps by their value.
void ParticleKernels::sort(Cluster& cluster, int by, Work& work) const {
  const int n = cluster.last - cluster.first;
  Keys& keys = work.keys;
  keys.resize(n);
  for (int j = 0; j < n; ++j) keys[j] = {row(order_[cluster.first + j])[by], order_[cluster.first + j]};
  const double low = work.low[by], factor = n / (work.high[by] - low);
  if (n <= kFewKeys || !std::isfinite(factor)) {
    std::sort(keys.begin(), keys.end());
  } else {
    const auto heap = [&](double value) { return std::min(static_cast<int>((value - low) * factor), n - 1); };
    std::vector<int>& end = work.heaps;  // of each heap; while they are filled, where its next one goes
    end.assign(n + 1, 0);
    work.heaped.resize(n);
    for (const auto& key : keys) ++end[heap(key.first) + 1];
    for (int h = 0; h < n; ++h) end[h + 1] += end[h];
    for (const auto& key : keys) work.heaped[end[heap(key.first)]++] = key;
    for (int h = 0, begin = 0; h < n; begin = end[h++]) {
      if (end[h] - begin > 1) std::sort(work.heaped.begin() + begin, work.heaped.begin() + end[h]);
    }
    keys.swap(work.heaped);
  }
  for (int j = 0; j < n; ++j) order_[cluster.first + j] = keys[j].second;
  cluster.sorted = by;
}

/// Cuts at the widest gap of the middle third; no part has fewer than `least`.
bool ParticleKernels::divide(Cluster& cluster, Cluster& other, int least, Work& work) const {
  const int n = cluster.last - cluster.first;
  if (n < 2 * least) return false;
  find_extent(cluster, work);
  int widest = -1;
  double most = 0;
  for (int k = 0; k < stored_; ++k) {
    const double extent = (work.high[k] - work.low[k]) * scale_[k];  // no scale: all the same
    if (extent > most) most = extent, widest = k;
  }
  if (widest < 0) return false;
  if (cluster.sorted != widest) sort(cluster, widest, work);
  other.sorted = widest;
  const auto value = [&](int j) { return row(order_[j])[widest]; };
  const int margin = std::max(least, n / 3);
  int cut = cluster.first + n / 2;
  double gap = value(cut) - value(cut - 1);
  for (int j = cluster.first + margin; j <= cluster.last - margin; ++j) {
    const double here = value(j) - value(j - 1);
    if (here > gap) gap = here, cut = j;
  }
  other.first = cut, other.last = cluster.last;
  cluster.last = cut;
  return true;
}

void ParticleKernels::fit(StateSpace& space, Cluster& cluster, Work& work) {
  const int d = space.tangent(), n = cluster.last - cluster.first;
  if (n < 2) return;
  const double* w = given_.w;
  int heaviest = order_[cluster.first];
  for (int j = cluster.first; j < cluster.last; ++j) {
    if (w[order_[j]] > w[heaviest]) heaviest = order_[j];
  }
  const double* origin = row(heaviest);
  cluster.chart = *given_.offered;
  if (!space.choose(given_.t, origin, cluster.chart)) return;
  double sum = 0, squares = 0;
  VectorXd& mean = work.mean;
  mean.setZero(d);
  for (int j = cluster.first; j < cluster.last; ++j) {
    const int i = order_[j];
    space.local(origin, cluster.chart, row(i), delta_.col(i).data());
    mean += w[i] * delta_.col(i);
    sum += w[i], squares += w[i] * w[i];
  }
  mean /= sum;
  cluster.P.setZero(d, d);
  for (int j = cluster.first; j < cluster.last; ++j) {
    const int i = order_[j];
    delta_.col(i) -= mean;
    for (int c = 0; c < d; ++c) {
      for (int r = c; r < d; ++r) cluster.P(r, c) += w[i] / sum * delta_(r, i) * delta_(c, i);
    }
  }
  if (!cluster.P.allFinite()) return;
  // The best width for as many samples of a normal density in d dimensions (Silverman 1986, eq. 4.14).
  const double effective = sum * sum / squares;
  const double h = std::min(1.0, given_.width * std::pow(4 / ((d + 2) * effective), 1.0 / (d + 4)));
  const double a = std::sqrt(1 - h * h);
  root_of(cluster.P, h, cluster.root);
  for (int j = cluster.first; j < cluster.last; ++j) {
    const int i = order_[j];
    delta_.col(i) = mean + a * delta_.col(i);
    kernel_[i] = {&cluster.chart, origin, &cluster.root, delta_.col(i).data()};
  }
}

}  // namespace kinegraph::filter
