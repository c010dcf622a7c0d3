#include "kinegraph/graph/difference_curvature.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace kinegraph {
namespace {

constexpr double kAway = 0.2, kMove = 0.1;  // how far the points lie from x, and how far each direction is moved
constexpr double kStep = 1e-6;

/// The slots of a factor with room to move them.
class MovableSlots {
 public:
  MovableSlots(Slots x, std::span<const Manifold> manifolds) : manifolds_(manifolds) {
    for (std::size_t s = 0; s < x.size(); ++s) values_.emplace_back(x[s], x[s] + manifolds[s].stored());
    for (auto& v : values_) pointers_.push_back(v.data());
  }
  void move(int slot, int tangent, double by) {
    std::vector<double> delta(manifolds_[slot].tangent(), 0.0);
    delta[tangent] = by;
    manifolds_[slot].retract(values_[slot].data(), delta.data(), values_[slot].data());
  }
  std::vector<double>& operator[](int slot) { return values_[slot]; }
  Slots slots() const { return pointers_; }

 private:
  std::span<const Manifold> manifolds_;
  std::vector<std::vector<double>> values_;
  std::vector<const double*> pointers_;
};

}  // namespace

DifferenceCurvature::DifferenceCurvature(const Factor& factor, Slots x, std::span<const Manifold> manifolds)
    : manifolds_(manifolds.begin(), manifolds.end()) {
  for (int s = 0; s < static_cast<int>(manifolds_.size()); ++s) {
    first_.push_back(directions());
    for (int t = 0; t < manifolds_[s].tangent(); ++t) all_.push_back({s, t});
  }
  const int n = directions();
  std::vector<char> coupled(static_cast<std::size_t>(n) * n, 0);
  probe(factor, x, coupled);
  for (int b = 0; b < n; ++b) {
    for (int a = b; a < n; ++a) {
      if (coupled[a * n + b]) pairs_.emplace_back(a, b);
    }
  }
  choose_groups(coupled);
}

void DifferenceCurvature::probe(const Factor& factor, Slots x, std::vector<char>& coupled) const {
  const auto pattern = factor.pattern();
  const int n = directions();
  std::vector<double> residual(factor.rows()), before(pattern.size()), after(pattern.size());
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-kAway, kAway);
  for (int point = 0; point < 2; ++point) {
    MovableSlots here(x, manifolds_);
    for (const Direction& d : all_) here.move(d.slot, d.tangent, uniform(random));
    factor.evaluate(here.slots(), residual.data(), before.data());
    for (int i = 0; i < n; ++i) {
      const Direction& d = all_[i];
      const std::vector<double> kept = here[d.slot];
      here.move(d.slot, d.tangent, kMove);
      factor.evaluate(here.slots(), residual.data(), after.data());
      std::copy(kept.begin(), kept.end(), here[d.slot].begin());
      for (std::size_t e = 0; e < pattern.size(); ++e) {
        if (std::abs(after[e] - before[e]) <= 1e-13 * (std::abs(after[e]) + std::abs(before[e]))) continue;
        const int j = first_[pattern[e].slot] + pattern[e].column;
        coupled[i * n + j] = coupled[j * n + i] = 1;
      }
    }
  }
}

/// Two directions of one variable that is no vector: the order of moves matters.
bool DifferenceCurvature::on_group(int a, int b) const {
  return a != b && all_[a].slot == all_[b].slot && manifolds_[all_[a].slot].type() != Manifold::Type::real;
}

void DifferenceCurvature::choose_groups(const std::vector<char>& coupled) {
  const int n = directions();
  const auto meet = [&](int a, int b) { return coupled[a * n + b] != 0; };
  std::vector<int> degree(n, 0);
  for (const auto& [a, b] : pairs_) ++degree[a], degree[b] += a != b;
  // What must be moved: a cover of all pairs.
  std::vector<char> moved(n, 0);
  for (const auto& [a, b] : pairs_) {
    if (a == b || on_group(a, b)) moved[a] = moved[b] = 1;
  }
  for (const auto& [a, b] : pairs_) {
    if (!moved[a] && !moved[b]) moved[degree[a] > degree[b] ? a : b] = 1;
  }
  std::vector<int> order;
  for (int i = 0; i < n; ++i) {
    if (moved[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return degree[a] > degree[b]; });
  std::vector<int> rank(n, n);
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<int>(i);
  // A pair of which both are moved is read from the one with more neighbours; a group shares no row that is read.
  const auto reads = [&](int d, int o) { return meet(d, o) && (rank[o] >= rank[d] || on_group(d, o)); };
  const auto apart = [&](int d, int e) {
    if (on_group(d, e)) return false;
    for (int o = 0; o < n; ++o) {
      if ((reads(d, o) && meet(e, o)) || (reads(e, o) && meet(d, o))) return false;
    }
    return true;
  };
  for (const int d : order) {
    const auto fits = [&](const Group& g) {
      return std::all_of(g.moves.begin(), g.moves.end(), [&](int e) { return apart(d, e); });
    };
    auto group = std::find_if(groups_.begin(), groups_.end(), fits);
    if (group == groups_.end()) group = groups_.emplace(groups_.end());
    group->moves.push_back(d);
    for (int o = 0; o < n; ++o) {
      if (reads(d, o)) group->reads.push_back({d, o, on_group(d, o) ? 0.5 : 1.0});
    }
  }
}

void DifferenceCurvature::add(const Factor& factor, Slots x, const double* jacobian, const double* weight,
                              double* hessian, Work& work) const {
  const auto pattern = factor.pattern();
  const int n = directions();
  work.residual.resize(factor.rows());
  work.jacobian.resize(pattern.size());
  work.gradient.resize(n);
  for (const Group& group : groups_) {
    int stored = 0, tangent = 0;
    for (const Manifold& m : manifolds_) stored += m.stored(), tangent += m.tangent();
    work.slots.assign(x.begin(), x.end());
    work.moved.resize(stored);
    work.delta.assign(tangent, 0.0);
    const auto step_of = [&](int d) {
      const bool real = manifolds_[all_[d].slot].type() == Manifold::Type::real;
      return kStep * std::max(1.0, real ? std::abs(x[all_[d].slot][all_[d].tangent]) : 1.0);
    };
    for (const int d : group.moves) work.delta[d] = step_of(d);
    double* to = work.moved.data();
    for (std::size_t s = 0; s < manifolds_.size(); to += manifolds_[s].stored(), ++s) {
      const double* delta = work.delta.data() + first_[s];
      if (std::all_of(delta, delta + manifolds_[s].tangent(), [](double y) { return y == 0; })) continue;
      manifolds_[s].retract(x[s], delta, to);
      work.slots[s] = to;
    }
    factor.evaluate(work.slots, work.residual.data(), work.jacobian.data());
    std::fill(work.gradient.begin(), work.gradient.end(), 0.0);
    for (std::size_t e = 0; e < pattern.size(); ++e) {
      work.gradient[first_[pattern[e].slot] + pattern[e].column] +=
          weight[pattern[e].row] * (work.jacobian[e] - jacobian[e]);
    }
    for (const Read& r : group.reads) {
      const auto [low, high] = std::minmax(r.moved, r.other);
      hessian[static_cast<std::size_t>(low) * n + high] += r.share * work.gradient[r.other] / work.delta[r.moved];
    }
  }
}

}  // namespace kinegraph
