#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kinegraph/factor/common/pool.hpp"
#include "kinegraph/factor/screw/middle_curvature.hpp"
#include "kinegraph/graph/difference_curvature.hpp"

namespace kinegraph::screw {

/// A factor on the state, in the middle of a step: as a function of the states at both ends (MiddleState).
///
/// Slots: q v (a) of the one end, then of the other (one derivative more than the factor sees, at most three), then
/// those that the factor has behind its state; of a step whose length is unknown, the duration of its phase.
class AtMiddle final : public Factor {
 public:
  /// `levels`: of the state that the factor's first slots hold (1: q, 3: q v a).
  /// `nominal`: of a phase of unknown duration the one for which its steps are h long; 0: h it is.
  AtMiddle(std::shared_ptr<const Factor> factor, const StateSlots& state, int levels, double h, double nominal = 0)
      : AtMiddle(factor, state, levels, h, nominal, Map(*factor, state, levels, nominal > 0)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const auto work = pool_.borrow();
    work->set(*this, x, jacobian != nullptr);
    factor_->evaluate(work->slots, residual, jacobian ? work->jacobian.data() : nullptr);
    if (!jacobian) return;
    std::fill_n(jacobian, pattern().size(), 0.0);
    if (nominal_ > 0) {
      for (const auto& t : terms_) jacobian[t.to] += share_of(t, work->middle) * work->jacobian[t.from];
      add_duration_column(x, *work, jacobian);
    } else {
      for (const auto& t : terms_) jacobian[t.to] += t.share * work->jacobian[t.from];
    }
    for (const auto& t : pose_terms_) {
      for (int block = 0; block < 4; ++block) {
        for (int c = 0; c < 6; ++c) {
          jacobian[t.to[block] + c] += work->jacobian[t.from] * work->middle.pose_by[block](t.row, c);
        }
      }
    }
  }

  /// Tᵀ H T with H of the factor; that the pose of the middle bends with those of the ends is left out. Of a step of
  /// unknown length the solver takes differences.
  bool add_curvature(Slots x, const double* weight, double* hessian) const override {
    if (nominal_ > 0) return false;
    const auto work = pool_.borrow();
    work->set(*this, x, true);
    std::fill(work->hessian.begin(), work->hessian.end(), 0.0);
    if (!factor_->add_curvature(work->slots, weight, work->hessian.data())) {
      factor_->evaluate(work->slots, work->residual.data(), work->jacobian.data());
      differences_->add(*factor_, work->slots, work->jacobian.data(), weight, work->hessian.data(), work->differences);
    }
    curvature_->add(work->middle, work->hessian.data(), hessian, work->curvature);
    return true;
  }
  std::string row_name(int row) const override { return factor_->row_name(row); }

 private:
  struct Term {
    int from, to;
    double share;
    int level, other, end;  // of which the share is; level −1: not of the state
  };
  static double share_of(const Term& t, const MiddleState& middle) {
    if (t.level < 0) return 1;
    const MiddleState::Share s = middle.share(t.level);
    return t.end == 0 ? s.start[t.other] : s.end[t.other];
  }
  struct PoseTerm {
    int from, row, to[4];
  };
  /// Where the entries of the factor's Jacobian go.
  struct Map {
    Map(const Factor& factor, const StateSlots& state, int levels, bool with_duration)
        : outer(std::min(3, levels + 1)) {
      const int s = state.slots();
      for (int end = 0; end < 2; ++end) {
        const StateSizes sizes(state, outer);
        stored.insert(stored.end(), sizes.stored.begin(), sizes.stored.end());
      }
      for (std::size_t i = levels * s; i < factor.slot_sizes().size(); ++i) stored.push_back(factor.slot_sizes()[i]);
      const auto place = [&](int row, int slot, int column) {
        const auto [at, isnew] = known.try_emplace({row, slot, column}, static_cast<int>(pattern.size()));
        if (isnew) pattern.push_back({row, slot, column});
        return at->second;
      };
      const auto entries = factor.pattern();
      for (int e = 0; e < static_cast<int>(entries.size()); ++e) {
        const auto [row, slot, column] = entries[e];
        const int level = slot / s, which = slot % s;
        if (level >= levels) {
          terms.push_back({e, place(row, 2 * outer * s + slot - levels * s, column), 1, -1, 0, 0});
        } else if (level == 0 && state.floating && which == 0) {
          PoseTerm t{e, column, {}};
          const int slots[] = {0, s, outer * s, (outer + 1) * s};
          for (int b = 0; b < 4; ++b) {
            for (int c = 0; c < 6; ++c) {
              const int at = place(row, slots[b], c);
              if (c == 0) t.to[b] = at;
            }
          }
          pose_terms.push_back(t);
        } else {
          for (int other = 0; other < outer; ++other) {
            if (level == 0 ? other > 1 : other == 0) continue;
            for (int end = 0; end < 2; ++end) {
              terms.push_back({e, place(row, (end * outer + other) * s + which, column), 1, level, other, end});
            }
          }
        }
      }
      if (!with_duration) return;
      stored.push_back(1);
      for (int r = 0; r < factor.rows(); ++r) pattern.push_back({r, static_cast<int>(stored.size()) - 1, 0});
    }
    int outer;
    std::vector<int> stored;
    std::vector<JacobianEntry> pattern;
    std::map<std::tuple<int, int, int>, int> known;
    std::vector<Term> terms;
    std::vector<PoseTerm> pose_terms;
  };

  struct Work {
    Work(const AtMiddle& of)
        : middle(of.state_, of.h_),
          slots(of.factor_->slot_sizes().size()),
          residual(of.rows()),
          jacobian(of.factor_->pattern().size()) {
      const int s = of.state_.slots();
      double* const parts[] = {middle.q.data(), middle.v.data(), middle.a.data()};
      for (int level = 0; level < of.levels_; ++level) {
        double* at = parts[level];
        for (int i = 0; i < s; ++i) {
          slots[level * s + i] = at;
          at += of.factor_->slot_sizes()[level * s + i];
        }
      }
    }
    void set(const AtMiddle& of, Slots x, bool derivatives) {
      if (of.nominal_ > 0) middle.set_step(of.h_ * x.back()[0] / of.nominal_);
      middle.set(x, of.outer_levels_, derivatives);
      const int s = of.state_.slots(), behind = 2 * of.outer_levels_ * s;
      for (std::size_t i = of.levels_ * s; i < slots.size(); ++i) slots[i] = x[behind + i - of.levels_ * s];
    }
    MiddleState middle;
    std::vector<const double*> slots;
    std::vector<double> residual, jacobian, hessian, by_step;
    DifferenceCurvature::Work differences;
    MiddleCurvature::Work curvature;
  };

  /// ∂e/∂T = h/T₀ Σ ∂e/∂(middle) ∂(middle)/∂h: its entries are the last.
  void add_duration_column(Slots x, Work& work, double* jacobian) const {
    const int n = state_.freedoms(), s = state_.slots();
    work.by_step.resize(3 * static_cast<std::size_t>(n));
    work.middle.by_step(x, outer_levels_, work.by_step.data());
    double* const column = jacobian + pattern().size() - rows();
    const auto entries = factor_->pattern();
    for (std::size_t e = 0; e < entries.size(); ++e) {
      const auto [row, slot, c] = entries[e];
      if (slot >= levels_ * s) continue;
      const int freedom = c + (slot % s == 0 ? 0 : 6);  // joints follow a base that floats
      column[row] += h_ / nominal_ * work.jacobian[e] * work.by_step[(slot / s) * n + freedom];
    }
  }

  AtMiddle(const std::shared_ptr<const Factor>& factor, const StateSlots& state, int levels, double h, double nominal,
           const Map& map)
      : Factor(factor->name(), factor->rows(), map.stored, map.pattern),
        factor_(factor),
        state_(state),
        levels_(levels),
        outer_levels_(map.outer),
        h_(h),
        nominal_(nominal),
        pose_terms_(map.pose_terms),
        pool_([this] {
          auto work = std::make_unique<Work>(*this);
          if (differences_)
            work->hessian.resize(static_cast<std::size_t>(differences_->directions()) * differences_->directions());
          return work;
        }) {
    const MiddleState middle(state, h);
    terms_ = map.terms;
    for (Term& t : terms_) t.share = share_of(t, middle);
    find_differences();
  }

  /// At rest in the origin: only structure is looked for.
  void find_differences() {
    std::vector<Manifold> manifolds;
    if (state_.floating) manifolds.push_back(Manifold::se3());
    if (state_.joints > 0) manifolds.push_back(Manifold::real(state_.joints));
    for (std::size_t i = manifolds.size(); i < factor_->slot_sizes().size(); ++i) {
      manifolds.push_back(Manifold::real(factor_->slot_sizes()[i]));
    }
    std::vector<std::vector<double>> values;
    std::vector<const double*> x;
    for (const Manifold& m : manifolds) {
      values.emplace_back(m.stored(), 0.0);
      if (m.type() == Manifold::Type::se3) values.back()[0] = 1;
    }
    for (const auto& v : values) x.push_back(v.data());
    differences_ = std::make_unique<DifferenceCurvature>(*factor_, x, manifolds);
    curvature_ = std::make_unique<MiddleCurvature>(state_, levels_, outer_levels_, differences_->directions(),
                                                   differences_->pairs());
    pool_.borrow()->hessian.resize(static_cast<std::size_t>(differences_->directions()) * differences_->directions());
  }

  std::shared_ptr<const Factor> factor_;
  StateSlots state_;
  int levels_, outer_levels_;
  double h_, nominal_;
  std::vector<Term> terms_;
  std::vector<PoseTerm> pose_terms_;
  std::unique_ptr<DifferenceCurvature> differences_;
  std::unique_ptr<MiddleCurvature> curvature_;
  Pool<Work> pool_;
};

}  // namespace kinegraph::screw
