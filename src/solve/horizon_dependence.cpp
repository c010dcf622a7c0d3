#include "kinegraph/solve/horizon_dependence.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace kinegraph {
namespace {

constexpr double kAway = 0.2, kMove = 0.1;  // how far the points lie from x, and how far each direction is moved

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

const Dependence& dependence_of(const Factor& factor, Slots x, std::span<const Manifold> manifolds,
                                DependenceCache& cache) {
  const auto [at, isnew] = cache.try_emplace(&factor);
  Dependence& d = at->second;
  if (!isnew) return d;
  const auto pattern = factor.pattern();
  std::vector<double> residual(factor.rows()), before(pattern.size()), after(pattern.size());
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-kAway, kAway);
  int directions = 0;
  for (const Manifold& m : manifolds) directions += m.tangent();
  for (int point = 0; point < 2; ++point) {
    MovableSlots here(x, manifolds);
    for (std::size_t s = 0; s < manifolds.size(); ++s) {
      for (int t = 0; t < manifolds[s].tangent(); ++t) here.move(static_cast<int>(s), t, uniform(random));
    }
    factor.evaluate(here.slots(), residual.data(), before.data());
    for (int s = 0; s < static_cast<int>(manifolds.size()); ++s) {
      for (int t = 0; t < manifolds[s].tangent(); ++t) {
        const std::vector<double> kept = here[s];
        here.move(s, t, kMove);
        factor.evaluate(here.slots(), residual.data(), after.data());
        std::copy(kept.begin(), kept.end(), here[s].begin());
        bool changed = false;
        for (std::size_t e = 0; e < pattern.size(); ++e) {
          if (std::abs(after[e] - before[e]) <= 1e-13 * (std::abs(after[e]) + std::abs(before[e]))) continue;
          changed = true;
          d.pairs.push_back({{pattern[e].slot, pattern[e].column}, {s, t}});
        }
        if (changed) d.moves.push_back({s, t});
      }
    }
  }
  const auto tidy = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  tidy(d.moves);
  tidy(d.pairs);
  const std::vector<double> zero(factor.rows(), 0.0);
  std::vector<double> hessian(static_cast<std::size_t>(directions) * directions, 0.0);
  d.exact = factor.add_curvature(x, zero.data(), hessian.data());
  return d;
}

}  // namespace kinegraph
