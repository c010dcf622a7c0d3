#include "kinegraph/codegen/elimination.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::codegen {
namespace {

constexpr double kSteady = 1e-3;         // the matched row is taken where its pivot is at least so steady
constexpr long double kNothing = 1e-4L;  // of its random samples: where loops are closed this is zero
constexpr double kAtStartAlone = 1e-9;   // steadiness of what vanishes at the start alone: it is taken last of all

using Graph = ExpressionGraph;

bool is_unit(const Scalar& x) { return x.constant() && std::abs(x.value()) == 1; }

long double largest_at_random(const Scalar& x) {
  long double most = 0;
  for (int k = 0; k < Graph::kRandom; ++k) most = std::max(most, std::abs(x.sample(k)));
  return most;
}

/// Also where it is not a number.
bool vanishes(const Scalar& x, int k) { return !(std::abs(x.sample(k)) > kNothing * largest_at_random(x)); }

/// Of the samples where loops are closed, the start not among them.
bool vanishes_where_closed(const Scalar& x) {
  for (int k = Graph::kRandom; k + 1 < Graph::kSamples; ++k) {
    if (!vanishes(x, k)) return false;
  }
  return true;
}

}  // namespace

double steadiness(const Scalar& x) {
  if (x.constant()) return x.zero() ? 0 : 1;
  if (vanishes_where_closed(x)) return 0;
  if (vanishes(x, Graph::kSamples - 1)) return kAtStartAlone;
  long double least = std::abs(x.sample(0)), most = least;
  bool positive = false, negative = false;
  for (int k = 0; k < ExpressionGraph::kSamples; ++k) {
    const long double value = x.sample(k);
    least = std::min(least, std::abs(value));
    most = std::max(most, std::abs(value));
    (value < 0 ? negative : positive) = true;
  }
  // what changes sign passes through zero
  return static_cast<double>(least / most) * (positive && negative ? 0.01 : 1);
}

void LinearForm::add(const LinearForm& other, const Scalar& factor) {
  for (const auto& [unknown, coefficient] : other.terms) {
    Scalar& mine = terms[unknown];
    mine += factor * coefficient;
    if (mine.zero()) terms.erase(unknown);
  }
  known += factor * other.known;
}

bool LinearForm::is_alias() const { return terms.size() == 1 && is_unit(terms.begin()->second) && known.zero(); }

int SymbolicElimination::unknown() {
  holding_.emplace_back();
  matched_.push_back(-1);
  solved_by_.push_back(-1);
  solution_.emplace_back();
  has_solution_.push_back(false);
  return static_cast<int>(holding_.size()) - 1;
}

int SymbolicElimination::row(LinearForm form, int unknown) {
  const int r = static_cast<int>(rows_.size());
  for (const auto& [x, coefficient] : form.terms) holding_[x].insert(r);
  if (unknown >= 0) matched_[unknown] = r;
  rows_.push_back(std::move(form));
  used_.push_back(false);
  return r;
}

LinearForm SymbolicElimination::define(const LinearForm& form, std::vector<int>& defined) {
  if (form.is_known() || form.is_alias()) return form;
  const int x = unknown();
  LinearForm equation = LinearForm::of(x);
  equation.add(form, Scalar(-1));
  row(std::move(equation), x);
  defined.push_back(x);
  return LinearForm::of(x);
}

/// A row that holds nothing else, then the matched one, if ±1; then any ±1 of few terms; then the matched one if
/// steady; then the steadiest.
int SymbolicElimination::choose(int x) const {
  int best = -1;
  double most = -1;
  for (const int r : holding_[x]) {
    const Scalar& p = rows_[r].terms.at(x);
    const bool unit = is_unit(p), own = r == matched_[x], alone = rows_[r].terms.size() == 1;
    const double steady = steadiness(p);
    double merit = steady;
    if (own_rows_only_ && own && steady > 0) {
      merit = 1e7;
    } else if (unit) {
      merit = alone ? 1e6 : own ? 1e5 : 1e3 / static_cast<double>(rows_[r].terms.size());
    } else if (own && steady >= kSteady) {
      merit = 10;
    }
    if (merit > most) most = merit, best = r;
  }
  return most > 0 ? best : -1;
}

bool SymbolicElimination::eliminate(int x) {
  if (done(x)) return true;
  const int r = choose(x);
  if (r < 0) return false;
  pivot(x, r);
  return true;
}

void SymbolicElimination::eliminate_if_alone(const std::vector<int>& unknowns) {
  for (const int x : unknowns) {
    if (done(x) || own_rows_only_) continue;
    for (const int r : std::set<int>(holding_[x])) {
      if (rows_[r].terms.size() != 1 || !is_unit(rows_[r].terms.at(x))) continue;
      pivot(x, r);
      break;
    }
  }
}

void SymbolicElimination::eliminate_last(std::vector<int> unknowns) {
  while (goes_on()) {
    std::erase_if(unknowns, [&](int x) { return done(x); });
    int best = -1;
    double most = 0;
    for (const int x : unknowns) {
      const int r = choose(x);
      if (r < 0) continue;
      const Scalar& p = rows_[r].terms.at(x);
      const double merit = (is_unit(p) ? 10 : steadiness(p)) / static_cast<double>(rows_[r].terms.size());
      if (merit > most) most = merit, best = x;
    }
    if (best < 0) break;
    pivot(best, choose(best));
  }
  for (const int x : unknowns) solved_by_[x] = kFree;
  undetermined_ += static_cast<int>(unknowns.size());
}

bool SymbolicElimination::goes_on() {
  stopped_ = stopped_ || (asked_ && !asked_());
  return !stopped_;
}

void SymbolicElimination::pivot(int x, int r) {
  // The row that x was meant for is left to the unknown that this one was meant for.
  if (matched_[x] != r) {
    for (int& other : matched_) {
      if (other == r) other = matched_[x];
    }
    matched_[x] = r;
  }
  used_[r] = true;
  solved_by_[x] = r;
  const Scalar p = rows_[r].terms.at(x);
  if (!p.constant()) pivots_.push_back(p);
  const Scalar inverse = is_unit(p) ? p : Scalar(1) / p;
  for (const auto& [other, coefficient] : rows_[r].terms) holding_[other].erase(r);
  for (const int target : std::set<int>(holding_[x])) {
    if (!goes_on()) return;
    const Scalar factor = -(rows_[target].terms.at(x) * inverse);
    for (const auto& [other, coefficient] : rows_[r].terms) holding_[other].erase(target);
    rows_[target].add(rows_[r], factor);
    rows_[target].terms.erase(x);
    for (const auto& [other, coefficient] : rows_[r].terms) {
      if (rows_[target].terms.contains(other)) holding_[other].insert(target);
    }
  }
}

const LinearForm& SymbolicElimination::in_free(int x) {
  if (has_solution_[x]) return solution_[x];
  LinearForm value;
  if (const int r = solved_by_[x]; r == kFree) {
    value = LinearForm::of(x);
  } else if (r >= 0) {
    const Scalar& p = rows_[r].terms.at(x);
    const Scalar factor = is_unit(p) ? -p : -(Scalar(1) / p);
    LinearForm sum(rows_[r].known);
    for (const auto& [other, coefficient] : rows_[r].terms) {
      if (other != x) sum.add(in_free(other), coefficient);
    }
    value.add(sum, factor);
  }
  has_solution_[x] = true;
  return solution_[x] = std::move(value);
}

Scalar SymbolicElimination::solution(int x) {
  const LinearForm& form = in_free(x);
  for (const auto& [free, coefficient] : form.terms) {
    if (!vanishes_where_closed(coefficient)) depends_on_undetermined_ = true;
  }
  return form.known;
}

}  // namespace kinegraph::codegen
