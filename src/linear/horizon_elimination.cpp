#include "kinegraph/linear/horizon_elimination.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace kinegraph::linear {
namespace {

constexpr double kAccurate = 1e-13;  // a residual below this share of its terms is not refined
constexpr int kChunk = 8;            // slices worked on together

/// Σ a[i] b[i], in eight sums: one after the other each would wait for the last.
double dot(const double* a, const double* b, int count) {
  double sum[8] = {};
  int i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int k = 0; k < 8; ++k) sum[k] += a[i + k] * b[i + k];
  }
  for (; i < count; ++i) sum[i % 8] += a[i] * b[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

int stride_of(int size) { return (size + 7) / 4 * 4; }

}  // namespace

/// One per thread.
struct HorizonElimination::Scratch {
  std::vector<double> a, diagonal, off, v;
  std::vector<int> place;
  HorizonPivoting pivoting;
  std::vector<std::vector<double>> spare;  // updates that a parent has taken in: still in the cache

  void reserve(int size) {
    const std::size_t n = static_cast<std::size_t>(stride_of(size));
    if (a.size() < n * (n + 4)) a.resize(n * (n + 4) * 5 / 4);
    for (auto* x : {&diagonal, &off, &v}) {
      if (x->size() < n) x->resize(n * 5 / 4);
    }
    if (place.size() < n) place.resize(n * 5 / 4);
  }
};

HorizonElimination::HorizonElimination(const HorizonPlan& plan) : plan_(&plan), nodes_(plan.nodes().size()) {
  scale_.resize(plan.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const int parent = plan.nodes()[i].parent;
    nodes_[i].lends =
        parent >= 0 && std::find(plan.separators().begin(), plan.separators().end(), parent) == plan.separators().end();
  }
  std::size_t border = 0;
  for (const HorizonNode& node : plan.nodes()) border = std::max(border, node.border.size());
  largest_update_ = (border * 3 / 2 + 8) * (border * 3 / 2 + 8);
  for (auto* v : {&right_, &residual_, &best_}) v->setZero(plan.size());
  set_threads(1);
}

HorizonElimination::~HorizonElimination() = default;

void HorizonElimination::set_threads(int threads) {
  workers_.set_threads(threads);
  scratch_.resize(workers_.threads());
  for (Scratch& s : scratch_) s.spare.reserve(64);
}

// Slices, segments, separators; downward the other way round. Where segments alone keep all threads at work, a slice is
// done right before the node that it passes into.
void HorizonElimination::run(const std::function<void(int, Scratch&)>& work, bool upward) {
  const auto segments = joined() ? plan_->joined_segments() : plan_->segments();
  const auto slices = joined() ? plan_->loose_slices() : plan_->slices();
  const auto separators = plan_->separators();
  const int chunks = (static_cast<int>(slices.size()) + kChunk - 1) / kChunk;
  const auto chunk = [&](int c, int worker) {
    const int end = std::min((c + 1) * kChunk, static_cast<int>(slices.size()));
    for (int i = c * kChunk; i < end; ++i) work(slices[i], scratch_[worker]);
  };
  const auto segment = [&](int s, int worker) {
    const std::vector<int>& nodes = segments[s];
    const int count = static_cast<int>(nodes.size());
    for (int i = 0; i < count; ++i) work(nodes[upward ? i : count - 1 - i], scratch_[worker]);
  };
  const int parts = static_cast<int>(segments.size()), last = static_cast<int>(separators.size());
  if (upward) {
    workers_.run(chunks, std::cref(chunk));
    workers_.run(parts, std::cref(segment));
    for (int i = 0; i < last; ++i) work(separators[i], scratch_[0]);
  } else {
    for (int i = last - 1; i >= 0; --i) work(separators[i], scratch_[0]);
    workers_.run(parts, std::cref(segment));
    workers_.run(chunks, std::cref(chunk));
  }
}

bool HorizonElimination::joined() const { return workers_.threads() <= static_cast<int>(plan_->segments().size()); }

// Every second run at the same time, then the others.
template <class Work>
void HorizonElimination::over_entries(const Work& work) const {
  const auto runs = plan_->runs();
  const int count = static_cast<int>(runs.size());
  for (const int odd : {0, 1}) {
    const auto one = [&](int i, int) { work(runs[2 * i + odd].first, runs[2 * i + odd].second); };
    workers_.run((count + 1 - odd) / 2, std::cref(one));
  }
}

// The largest entry of every row, diagonal included: what a pivot is measured by.
void HorizonElimination::find_scale() {
  for (int i = 0; i < plan_->size(); ++i) scale_[i] = std::abs(diagonal_[i]);
  over_entries([this, entries = plan_->entry()](int first, int end) {
    for (int e = first; e < end; ++e) {
      const double size = std::abs(values_[e]);
      scale_[entries[e].row] = std::max(scale_[entries[e].row], size);
      scale_[entries[e].column] = std::max(scale_[entries[e].column], size);
    }
  });
}

void HorizonElimination::equilibrate(std::vector<double>& values, Eigen::VectorXd& D) const {
  const auto entries = plan_->entry();
  D.setZero(plan_->size());
  over_entries([&](int first, int end) {
    for (int e = first; e < end; ++e) {
      const double size = std::abs(values[e]);
      D[entries[e].row] = std::max(D[entries[e].row], size);
      D[entries[e].column] = std::max(D[entries[e].column], size);
    }
  });
  for (double& d : D) d = d > 0 && std::isfinite(d) ? std::ldexp(1.0, -((std::ilogb(d) + 1) >> 1)) : 1;
  over_entries([&](int first, int end) {
    for (int e = first; e < end; ++e) values[e] *= D[entries[e].row] * D[entries[e].column];
  });
}

const HorizonInertia& HorizonElimination::factor(std::span<const double> values, std::span<const double> diagonal) {
  values_ = values, diagonal_ = diagonal;
  find_scale();
  run([this](int i, Scratch& s) { assemble(i, s), eliminate(i, s); }, true);
  inertia_ = {};
  for (const Node& node : nodes_) inertia_.add(node.inertia);
  return inertia_;
}

// A front [own | passed on by children | border].
void HorizonElimination::assemble(int i, Scratch& scratch) {
  const HorizonNode& plan = plan_->nodes()[i];
  Node& node = nodes_[i];
  const int own = static_cast<int>(plan.own.size());
  node.passed = 0;
  for (int c : plan.children) node.passed += nodes_[c].candidates - nodes_[c].eliminated;
  node.candidates = own + node.passed;
  node.size = plan.size() + node.passed;
  node.id.resize(node.size);
  std::copy(plan.own.begin(), plan.own.end(), node.id.begin());
  std::copy(plan.border.begin(), plan.border.end(), node.id.begin() + node.candidates);

  scratch.reserve(node.size);
  const std::ptrdiff_t stride = stride_of(node.size);
  double* a = scratch.a.data();
  for (int j = 0; j < node.size; ++j) std::fill(a + j * (stride + 1), a + (j + 1) * stride, 0.0);
  for (const HorizonNode::Term& t : plan.terms) {
    const int row = t.row < own ? t.row : t.row + node.passed;
    const int column = t.column < own ? t.column : t.column + node.passed;
    a[column * stride + row] += values_[t.value];
  }
  for (int u = 0; u < own; ++u) a[u * (stride + 1)] += diagonal_[plan.own[u]];
  int first = own;
  for (int c : plan.children) {
    const Node& from = nodes_[c];
    const int passed = from.candidates - from.eliminated;
    std::copy_n(from.id.begin() + from.eliminated, passed, node.id.begin() + first);
    add_child(plan, plan_->nodes()[c], from, first, scratch);
    first += passed;
    if (joined() && from.lends) scratch.spare.push_back(std::move(nodes_[c].update));
  }
}

void HorizonElimination::add_child(const HorizonNode& plan, const HorizonNode& child, const Node& from, int first,
                                   Scratch& scratch) const {
  const int own = static_cast<int>(plan.own.size()), passed = from.candidates - from.eliminated;
  const int count = from.size - from.eliminated;
  int* place = scratch.place.data();
  int total = 0;  // passed on by all children
  for (int c : plan.children) total += nodes_[c].candidates - nodes_[c].eliminated;
  for (int i = 0; i < passed; ++i) place[i] = first + i;
  for (int i = passed; i < count; ++i) {
    const int at = child.parent_place[i - passed];
    place[i] = at < own ? at : at + total;
  }
  const std::ptrdiff_t stride = stride_of(plan.size() + total);
  double* a = scratch.a.data();
  const double* update = from.update.data();
  for (int j = 0; j < count; ++j, update += count) {
    const int pj = place[j];
    for (int i = j; i < count; ++i) {
      const int pi = place[i];
      a[pi >= pj ? pj * stride + pi : pi * stride + pj] += update[i];
    }
  }
}

void HorizonElimination::eliminate(int i, Scratch& scratch) {
  Node& node = nodes_[i];
  const int stride = stride_of(node.size);
  HorizonFront front;
  front.a = scratch.a.data();
  front.size = node.size, front.stride = stride, front.candidates = node.candidates;
  front.id = node.id;
  front.scale = scale_;
  // Where more and more is passed on (unknowns that nothing weighs), fronts must not grow with the horizon.
  front.threshold = node.passed > 2 * plan_->nodes()[i].size() ? 1e-6 * threshold_ : threshold_;
  front.last = plan_->nodes()[i].parent < 0;
  front.diagonal = scratch.diagonal.data(), front.off = scratch.off.data();
  node.inertia = {};
  node.eliminated = scratch.pivoting.eliminate(front, node.inertia);

  const int e = node.eliminated, rest = node.size - e;
  node.diagonal.assign(front.diagonal, front.diagonal + e);
  node.off.assign(front.off, front.off + e);
  node.panel.resize(static_cast<std::size_t>(e) * (node.size + rest - 1) / 2);
  double* panel = node.panel.data();
  for (int k = 0; k < e; ++k) {
    const double* from = front.a + static_cast<std::ptrdiff_t>(k) * stride;
    panel = std::copy(from + k + 1, from + node.size, panel);
  }
  reserve_update(node, static_cast<std::size_t>(rest) * rest, scratch);
  for (int k = 0; k < rest; ++k) {
    const double* from = front.a + static_cast<std::ptrdiff_t>(e + k) * stride + e;
    std::copy(from + k, from + rest, node.update.data() + static_cast<std::ptrdiff_t>(k) * rest + k);
  }
}

// A parent takes updates in one after the other, so that few are needed at a time: all of the size of the largest, with
// room for what is passed on.
void HorizonElimination::reserve_update(Node& node, std::size_t size, Scratch& scratch) {
  if (joined() && node.lends && node.update.empty() && !scratch.spare.empty()) {
    node.update = std::move(scratch.spare.back());
    scratch.spare.pop_back();
  }
  if (node.update.size() < size) node.update.resize(joined() && node.lends ? std::max(size, largest_update_) : size);
}

// L z = b. What a node takes from its border goes to the parent in `rest`; unknowns passed on keep theirs in x.
void HorizonElimination::forward(int i, Scratch& scratch) {
  const HorizonNode& plan = plan_->nodes()[i];
  Node& node = nodes_[i];
  const int own = static_cast<int>(plan.own.size()), border = static_cast<int>(plan.border.size());
  node.rest.assign(border, 0.0);
  for (int c : plan.children) {
    const std::vector<int>& place = plan_->nodes()[c].parent_place;
    const std::vector<double>& rest = nodes_[c].rest;
    for (std::size_t b = 0; b < rest.size(); ++b) {
      (place[b] < own ? x_[plan.own[place[b]]] : node.rest[place[b] - own]) += rest[b];
    }
  }
  double* v = scratch.v.data();
  for (int k = 0; k < node.candidates; ++k) v[k] = x_[node.id[k]];
  std::copy(node.rest.begin(), node.rest.end(), v + node.candidates);
  const double* l = node.panel.data();
  for (int k = 0; k < node.eliminated; ++k) {
    const int below = node.size - k - 1;
    const double x = v[k];
    double* to = v + k + 1;
    for (int r = 0; r < below; ++r) to[r] -= l[r] * x;
    l += below;
  }
  for (int k = 0; k < node.candidates; ++k) x_[node.id[k]] = v[k];
  std::copy_n(v + node.candidates, border, node.rest.begin());
}

// D Lᵀ x = z
void HorizonElimination::backward(int i, Scratch& scratch) {
  Node& node = nodes_[i];
  double* v = scratch.v.data();
  for (int k = 0; k < node.size; ++k) v[k] = x_[node.id[k]];
  for (int k = 0; k < node.eliminated; ++k) {
    const double p = node.diagonal[k], q = node.off[k];
    if (q != 0) {
      const double r = node.diagonal[k + 1], determinant = p * r - q * q, x = v[k], y = v[k + 1];
      v[k] = (r * x - q * y) / determinant;
      v[k + 1] = (p * y - q * x) / determinant;
      ++k;
    } else {
      v[k] = p == 0 ? 0 : v[k] / p;
    }
  }
  const double* l = node.panel.data() + node.panel.size();
  for (int k = node.eliminated - 1; k >= 0; --k) {
    const int below = node.size - k - 1;
    l -= below;
    v[k] -= dot(l, v + k + 1, below);
    x_[node.id[k]] = v[k];
  }
}

void HorizonElimination::substitute(Eigen::VectorXd& x) {
  x_ = x.data();
  run([this](int i, Scratch& s) { s.reserve(nodes_[i].size), forward(i, s); }, true);
  run([this](int i, Scratch& s) { s.reserve(nodes_[i].size), backward(i, s); }, false);
}

void HorizonElimination::subtract_product(const Eigen::VectorXd& x, Eigen::VectorXd& r) const {
  for (int i = 0; i < plan_->size(); ++i) r[i] -= diagonal_[i] * x[i];
  over_entries([&, entries = plan_->entry()](int first, int end) {
    for (int e = first; e < end; ++e) {
      const auto [i, j] = entries[e];
      r[i] -= values_[e] * x[j];
      if (i != j) r[j] -= values_[e] * x[i];
    }
  });
}

double HorizonElimination::solve(Eigen::VectorXd& x, int refinements) {
  right_ = x;
  const double size = right_.lpNorm<Eigen::Infinity>();
  if (x.size() == 0) return 0;
  const double largest = *std::max_element(scale_.begin(), scale_.end());
  substitute(x);
  if (!x.allFinite()) return INFINITY;
  const double terms = size + largest * x.lpNorm<Eigen::Infinity>();
  double before = INFINITY;
  for (int i = 0;; ++i) {
    residual_ = right_;
    subtract_product(x, residual_);
    const double now = residual_.lpNorm<Eigen::Infinity>();
    if (!(now < before)) {
      if (i > 0) x = best_;
      return terms > 0 ? before / terms : 0;
    }
    before = now;
    if (i >= refinements || now <= kAccurate * terms) return terms > 0 ? now / terms : 0;
    best_ = x;
    substitute(residual_);
    x += residual_;
  }
}

int HorizonElimination::passed_on() const {
  int sum = 0;
  for (const Node& node : nodes_) sum += node.candidates - node.eliminated;
  return sum;
}

double HorizonElimination::operations() const {
  double sum = 0;
  for (const Node& node : nodes_) {
    for (int k = 0; k < node.eliminated; ++k) sum += 0.5 * (node.size - k) * (node.size - k);
  }
  return sum;
}

}  // namespace kinegraph::linear
