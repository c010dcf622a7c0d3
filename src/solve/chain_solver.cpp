#include "kinegraph/solve/chain_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kinegraph {
namespace {

constexpr int kSmallBlocks = 40;  // free columns up to which slices are condensed to dense blocks
constexpr int kRelaxedIterations = 4;
constexpr int kPast = 4;  // knots that the extrapolation uses: cubic

}  // namespace

void ChainSolver::Group::add(const ChainFactor& f) {
  factors.push_back({f.factor.get(), f.slots, rows(), static_cast<int>(values.size())});
  residual.resize(residual.size() + f.factor->rows());
  values.resize(values.size() + f.factor->pattern().size());
}

ChainSolver::ChainSolver(std::shared_ptr<const Chain> chain, int capacity, ChainOptions options)
    : chain_(std::move(chain)), capacity_(capacity), options_(options) {
  const auto number = [](const std::vector<ChainVariable>& variables, std::vector<int>& column, std::vector<int>& place,
                         std::vector<int>& variable) {
    for (int v = 0; v < static_cast<int>(variables.size()); ++v) {
      for (int i = 0; i < variables[v].size; ++i) {
        column.push_back(variables[v].known ? -1 : static_cast<int>(place.size()));
        if (variables[v].known) continue;
        place.push_back(static_cast<int>(column.size()) - 1);
        variable.push_back(v);
      }
    }
  };
  number(chain_->knot(), column_, place_, variable_);
  number(chain_->middle(), middle_column_, middle_place_, middle_variable_);

  for (const ChainFactor& f : chain_->knot_factors()) {
    (f.role == Role::equality ? hard_knot_ : soft_knot_).add(f);
    if (f.role == Role::cost) knot_noise_.push_back(f.noise);
  }
  for (const ChainFactor& f : chain_->link_factors()) {
    (f.role == Role::equality ? hard_link_ : soft_link_).add(f);
    if (f.role == Role::cost) link_noise_.push_back(f.noise);
  }
  std::size_t most = 1;
  for (Group* g : {&hard_knot_, &hard_link_, &soft_knot_, &soft_link_}) {
    collect_terms(*g);
    for (const Bound& b : g->factors) most = std::max(most, b.slots.size());
  }
  pointers_.resize(most);
  const auto empty = [](const Group& g) { return std::vector<Entry>(g.values.size(), Entry{0, -1}); };
  knot_hard_ = linear::Condensation(hard_knot_.rows(), unknowns(), empty(hard_knot_));
  link_hard_ = linear::Condensation(hard_link_.rows(), static_cast<int>(middle_place_.size()), empty(hard_link_));
  using RowClass = linear::Condensation::RowClass;
  const auto classes = [](const Group& g) {
    std::vector<RowClass> classes;
    for (const Bound& b : g.factors) {
      const RowClass c = b.factor->may_lose_rank()       ? RowClass::weak
                         : b.factor->constant_jacobian() ? RowClass::definition
                                                         : RowClass::other;
      classes.insert(classes.end(), b.factor->rows(), c);
    }
    return classes;
  };
  knot_hard_.set_classes(classes(hard_knot_));
  link_hard_.set_classes(classes(hard_link_));
  pattern_.reserve(std::max(hard_knot_.values.size(), hard_link_.values.size()));
  set_patterns();

  preference_.assign(unknowns(), 1.0);
  knot_scale_.assign(hard_knot_.rows(), 0.0);
  link_scale_.assign(hard_link_.rows(), 0.0);
  typical_.assign(chain_->knot().size(), 0.0);
  middle_typical_.assign(chain_->middle().size(), 0.0);
  values_.assign(static_cast<std::size_t>(capacity_) * chain_->knot_size(), 0.0);
  middles_.assign(static_cast<std::size_t>(capacity_) * chain_->middle_size(), 0.0);
  past_.assign(static_cast<std::size_t>(kPast) * chain_->knot_size(), 0.0);
  past_middle_.assign(static_cast<std::size_t>(kPast) * chain_->middle_size(), 0.0);
  dirty_.assign(capacity_, 1);
  link_dirty_.assign(capacity_, 1);
  relaxed_.assign(capacity_, linear::Condensation::kRounding);
  link_relaxed_ = relaxed_;
  exclude_rows({});
}

void ChainSolver::set_patterns() {
  const auto set = [this](linear::Condensation& hard, const Group& g, const std::vector<Term>& terms) {
    pattern_.assign(g.values.size(), Entry{0, -1});
    for (const Term& t : terms) pattern_[t.value] = {t.row, t.column};
    hard.set_pattern(pattern_);
  };
  set(knot_hard_, hard_knot_, hard_knot_.to);
  set(link_hard_, hard_link_, hard_link_.middle);
}

void ChainSolver::restructure() {
  for (Group* g : {&hard_knot_, &hard_link_, &soft_knot_, &soft_link_}) {
    for (auto* terms : {&g->from, &g->middle, &g->to}) terms->clear();
    collect_terms(*g);
  }
  set_patterns();
  unrolled_.reset();
  chosen_ = link_chosen_ = false;
  std::fill(dirty_.begin(), dirty_.end(), 1);
  std::fill(link_dirty_.begin(), link_dirty_.end(), 1);
}

// Which Jacobian values of a group lie in unknown columns, by the place of their slot.
void ChainSolver::collect_terms(Group& group) {
  for (const Bound& b : group.factors) {
    const auto pattern = b.factor->pattern();
    for (int e = 0; e < static_cast<int>(pattern.size()); ++e) {
      const ChainSlot& s = b.slots[pattern[e].slot];
      const bool middle = s.place == Place::middle;
      const int offset = middle ? chain_->middle_offset(s.variable) : chain_->knot_offset(s.variable);
      const int column = (middle ? middle_column_ : column_)[offset + pattern[e].column];
      if (column < 0) continue;
      const bool knot = &group == &hard_knot_ || &group == &soft_knot_;
      auto& terms = middle ? group.middle : knot || s.place == Place::to ? group.to : group.from;
      terms.push_back({b.row + pattern[e].row, column, b.entry + e});
    }
  }
}

void ChainSolver::set_preference(int variable, int component, double weight) {
  const int column = column_[chain_->knot_offset(variable) + component];
  if (column >= 0) preference_[column] = weight;
}

void ChainSolver::exclude_rows(const std::vector<int>& rows, const std::vector<int>& middle_rows) {
  knot_hard_.exclude_rows(rows);
  link_hard_.exclude_rows(middle_rows);
  middle_rank_ = hard_link_.rows() - static_cast<int>(middle_rows.size());
  excluded_.assign(hard_knot_.rows(), 0);
  for (int r : rows) excluded_[r] = 1;
  chosen_ = link_chosen_ = false;
  const int hard = hard_knot_.rows() - static_cast<int>(rows.size());
  free_ = std::max(0, unknowns() - hard);
  const std::size_t n = many_freedoms() ? 0 : capacity_, f = many_freedoms() ? 0 : free_, middle = middle_place_.size();
  particular_.assign(n * unknowns(), 0.0);
  basis_.assign(n * unknowns() * f, 0.0);
  inner_particular_.assign(n * middle, 0.0);
  inner_basis_.assign(n * middle * 2 * f, 0.0);
  soft_e_.assign(n * soft_link_.rows(), 0.0);
  soft_from_.assign(n * soft_link_.rows() * f, 0.0);
  soft_to_.assign(n * soft_link_.rows() * f, 0.0);
  local_e_.assign(n * soft_knot_.rows(), 0.0);
  local_basis_.assign(n * soft_knot_.rows() * f, 0.0);
  diagonal_.assign(n * f * f, 0.0);
  coupling_.assign(n * f * f, 0.0);
  rhs_.assign(n * f, 0.0);
  work_.assign(std::max<std::size_t>(unknowns(), middle) * (2 * f + 1) + 1, 0.0);
  delta_.assign(std::max<std::size_t>(unknowns(), middle), 0.0);
}

void ChainSolver::touch() {
  history_ = 0;
  std::fill(dirty_.begin(), dirty_.end(), 1);
  std::fill(link_dirty_.begin(), link_dirty_.end(), 1);
}

std::string ChainSolver::hard_row_name(int row) const {
  for (const Bound& b : hard_knot_.factors) {
    if (row >= b.row && row < b.row + b.factor->rows()) return b.factor->row_name(row - b.row);
  }
  return "row " + std::to_string(row);
}

// x ← the polynomial through the last knots, one step on. Past rows are newest first.
void ChainSolver::extrapolate(const std::vector<double>& past, int size, const std::vector<int>& places,
                              double* x) const {
  static constexpr double kCoefficients[kPast + 1][kPast] = {
      {0, 0, 0, 0}, {1, 0, 0, 0}, {2, -1, 0, 0}, {3, -3, 1, 0}, {4, -6, 4, -1}};
  const int order = std::min(history_, kPast);
  for (int p : places) {
    double sum = 0;
    for (int i = 0; i < order; ++i) sum += kCoefficients[order][i] * past[static_cast<std::size_t>(i) * size + p];
    x[p] = sum;
  }
}

void ChainSolver::advance() {
  const int size = chain_->knot_size(), middle_size = chain_->middle_size();
  const auto remember = [](std::vector<double>& past, const double* x, int n) {
    std::copy_backward(past.begin(), past.end() - n, past.end());
    std::copy(x, x + n, past.begin());
  };
  if (count_ > 0) {
    remember(past_, knot(count_ - 1), size);
    if (count_ > 1) remember(past_middle_, middle(count_ - 2), middle_size);
    history_ = std::min(history_ + 1, kPast);
  }
  if (count_ == capacity_) {
    base_ = slot(1);
  } else {
    ++count_;
  }
  const int last = count_ - 1;
  dirty_[slot(last)] = 1;
  link_dirty_[slot(last)] = 1;
  relaxed_[slot(last)] = link_relaxed_[slot(last)] = linear::Condensation::kRounding;
  if (last == 0) return;
  link_dirty_[slot(last - 1)] = 1;
  std::copy(past_.begin(), past_.begin() + size, knot(last));
  extrapolate(past_, size, place_, knot(last));
  if (middle_size > 0) {
    std::copy(past_middle_.begin(), past_middle_.begin() + middle_size, middle(last - 1));
    --history_;  // there is one middle less than there are knots
    extrapolate(past_middle_, middle_size, middle_place_, middle(last - 1));
    ++history_;
  }
}

// x += δ; the largest change relative to what its variable has been.
double ChainSolver::move(double* x, const double* delta, const std::vector<int>& place,
                         const std::vector<int>& variable, std::vector<double>& typical) {
  double largest = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    double& value = x[place[i]];
    value += delta[i];
    double& t = typical[variable[i]];
    t = std::max(t, std::abs(value));
    if (std::abs(delta[i]) > largest * t) largest = t > 0 ? std::abs(delta[i]) / t : 1;
    if (!std::isfinite(delta[i])) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

double ChainSolver::update() {
  const int f = free_, nx = unknowns(), m = soft_link_.rows(), ny = static_cast<int>(middle_place_.size());
  double step = 0;
  // What was relaxed keeps its first linearisation once newer knots have come: solving it again only gathers noise.
  const auto held = [&](double epsilon, int k) { return epsilon > linear::Condensation::kRounding && k < count_ - 1; };
  for (int k = 1; k < count_; ++k) {
    const double* s = row_of(rhs_, slot(k), f);
    double* p = row_of(particular_, slot(k), nx);
    const double* n = row_of(basis_, slot(k), nx * f);
    for (int i = 0; i < nx; ++i) {
      double d = p[i];
      for (int j = 0; j < f; ++j) d += n[i * f + j] * s[j];
      delta_[i] = d;
      p[i] = 0;
    }
    const double moved = move(knot(k), delta_.data(), place_, variable_, typical_);
    dirty_[slot(k)] = moved > options_.step && !held(relaxed_[slot(k)], k);
    step = std::max(step, moved);
    if (soft_knot_.rows() == 0) continue;
    const int ml = soft_knot_.rows();
    double* e = row_of(local_e_, slot(k), ml);
    const double* basis = row_of(local_basis_, slot(k), ml * f);
    for (int i = 0; i < ml; ++i) {
      for (int j = 0; j < f; ++j) e[i] += basis[i * f + j] * s[j];
    }
  }
  for (int k = 0; k + 1 < count_; ++k) {
    const double *s0 = row_of(rhs_, slot(k), f), *s1 = row_of(rhs_, slot(k + 1), f);
    const double on = k > 0 ? 1 : 0;
    double* y = row_of(inner_particular_, slot(k), ny);
    const double* basis = row_of(inner_basis_, slot(k), ny * 2 * f);
    for (int i = 0; i < ny; ++i) {
      double d = y[i];
      for (int j = 0; j < f; ++j) d += on * basis[i * 2 * f + j] * s0[j] + basis[i * 2 * f + f + j] * s1[j];
      delta_[i] = d;
      y[i] = 0;
    }
    double moved = 0;
    if (ny > 0) moved = move(middle(k), delta_.data(), middle_place_, middle_variable_, middle_typical_);
    const bool changed = moved > options_.step || dirty_[slot(k + 1)] || (k > 0 && dirty_[slot(k)]);
    link_dirty_[slot(k)] = changed && !held(link_relaxed_[slot(k)], k + 1);
    step = std::max(step, moved);
    double* e = row_of(soft_e_, slot(k), m);
    const double *from = row_of(soft_from_, slot(k), m * f), *to = row_of(soft_to_, slot(k), m * f);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < f; ++j) e[i] += on * from[i * f + j] * s0[j] + to[i * f + j] * s1[j];
    }
  }
  return step;
}

// The hard rows of every knot and interval that moved, at their new values.
void ChainSolver::check_residuals(ChainOutcome& outcome) {
  outcome.residual = 0;
  const auto settled_anyway = [&](double epsilon) {
    return epsilon > linear::Condensation::kRounding && outcome.iterations >= kRelaxedIterations;
  };
  const auto worst = [&](const Group& g, const std::vector<double>& scale, bool knot) {
    for (int r = 0; r < g.rows(); ++r) {
      const double share = std::abs(g.residual[r]) / (scale[r] + 1e-300);
      if (share <= outcome.residual || (knot ? excluded_[r] != 0 : link_order_[r] < 0)) continue;
      outcome.residual = share;
      outcome.worst_residual = std::abs(g.residual[r]);
      outcome.worst_row = knot ? r : -1 - r;
    }
  };
  for (int k = 1; k < count_; ++k) {
    if (!dirty_[slot(k)] || settled_anyway(relaxed_[slot(k)])) continue;
    evaluate(hard_knot_, k, false, false);
    worst(hard_knot_, knot_scale_, true);
  }
  for (int k = 0; k + 1 < count_ && !middle_place_.empty(); ++k) {
    if (!link_dirty_[slot(k)] || settled_anyway(link_relaxed_[slot(k)])) continue;
    evaluate(hard_link_, k, true, false);
    worst(hard_link_, link_scale_, false);
  }
}

void ChainSolver::relax(double epsilon) {
  relaxed_[slot(count_ - 1)] = std::max(epsilon, linear::Condensation::kRounding);
  if (count_ > 1) link_relaxed_[slot(count_ - 2)] = relaxed_[slot(count_ - 1)];
}

bool ChainSolver::many_freedoms() const { return free_ > kSmallBlocks; }

// A row without a pivot has not moved anything: that it holds must be seen.
bool ChainSolver::passed_over_rows_hold(ChainOutcome& outcome) {
  const int row = knot_hard_.passed_over(), newest = count_ - 1;
  if (row < 0 || newest < 1 || relaxed_[slot(newest)] > linear::Condensation::kRounding) return true;
  evaluate(hard_knot_, newest, false, false);
  outcome.worst_row = row;
  outcome.worst_residual = std::abs(hard_knot_.residual[row]);
  outcome.residual = outcome.worst_residual / (knot_scale_[row] + 1e-300);
  return outcome.worst_residual <= 1e-6 * (knot_scale_[row] + 1e-6);
}

ChainOutcome ChainSolver::solve_unrolled() {
  if (!unrolled_ || unrolled_->knots() != count_) unrolled_ = std::make_unique<Unrolled>(*chain_, count_);
  const int size = chain_->knot_size(), middle_size = chain_->middle_size();
  const auto each = [&](auto copy) {
    double* x = unrolled_->values();
    for (int k = 0; k < count_; ++k, x += size + middle_size) {
      copy(knot(k), x, size);
      if (k + 1 < count_) copy(middle(k), x + size, middle_size);
    }
  };
  each([](double* ours, double* theirs, int n) { std::copy(ours, ours + n, theirs); });
  ChainOutcome outcome;
  double before = std::numeric_limits<double>::infinity();
  while (!outcome.converged && outcome.iterations < options_.max_iterations) {
    const Unrolled::Step step = unrolled_->step();
    ++outcome.iterations;
    outcome.residual = step.residual;
    outcome.worst_residual = step.worst;
    outcome.worst_row = -1;
    outcome.step = step.moved;
    if (!step.solved) return outcome;
    const bool holds = step.residual <= options_.residual;
    const bool stuck = outcome.iterations > 2 && step.residual <= 1e4 * options_.residual && step.moved > 0.5 * before;
    outcome.converged = step.moved <= options_.step || (holds && step.moved <= 1e-5) || stuck;
    before = step.moved;
  }
  each([](double* ours, double* theirs, int n) { std::copy(theirs, theirs + n, ours); });
  return outcome;
}

ChainOutcome ChainSolver::solve() {
  if (many_freedoms()) return solve_unrolled();
  ChainOutcome outcome;
  double before = std::numeric_limits<double>::infinity(), step_before = before;
  while (outcome.iterations < options_.max_iterations) {
    ++outcome.iterations;
    for (int k = 1; k < count_; ++k) {
      if (dirty_[slot(k)] && !linearize_knot(k)) return outcome;
    }
    for (int k = 0; k + 1 < count_; ++k) {
      if (link_dirty_[slot(k)] && !linearize_link(k)) return outcome;
    }
    if (free_ > 0 && !solve_in_time()) return outcome;
    outcome.step = update();
    if (!std::isfinite(outcome.step)) return outcome;
    if (outcome.step <= options_.step) {
      outcome.converged = passed_over_rows_hold(outcome);
      return outcome;
    }
    check_residuals(outcome);
    const bool holds = outcome.residual <= options_.residual;
    const bool stuck = outcome.residual <= 1e3 * options_.residual && outcome.residual > 0.5 * before;
    // Near a singular position the weak direction never settles below rounding; that the rows hold is enough.
    const bool settled = outcome.step <= 1e-5 || (outcome.iterations > 2 && outcome.step > 0.5 * step_before);
    if ((holds || stuck) && settled) {
      outcome.converged = true;
      return outcome;
    }
    before = outcome.residual;
    step_before = outcome.step;
  }
  return outcome;
}

}  // namespace kinegraph
