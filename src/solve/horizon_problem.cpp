#include "kinegraph/solve/horizon_problem.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace kinegraph {

using linear::HorizonPlace;
using linear::RowKind;

Result<std::unique_ptr<HorizonProblem>> HorizonProblem::make(const Graph& graph, const Values& values) {
  auto structure = graph.structure(values);
  if (!structure) return std::move(structure).failure();
  std::unique_ptr<HorizonProblem> p(new HorizonProblem);
  p->graph_ = &graph;
  p->values_ = values;
  p->structure_ = *std::move(structure);
  if (auto fault = p->find_places()) return *std::move(fault);
  p->add_terms();
  p->make_plan();
  p->set_threads(1);
  p->gradient_.setZero(p->unknowns());
  p->column_norm_.setZero(p->unknowns());
  return p;
}

void HorizonProblem::set_threads(int threads) {
  workers_.set_threads(threads);
  scratch_.resize(workers_.threads());
}

// Knots are the steps that unknown variables have, in order. A hard row stands where the unknowns of its pattern do.
std::optional<Failure> HorizonProblem::find_places() {
  std::map<int, int> knot;
  for (int i = 0; i < values_.count(); ++i) {
    if (structure_.variable[i] >= 0 && values_.key(i).step != kNoStep) knot[values_.key(i).step] = 0;
  }
  for (auto& [step, k] : knot) k = knots_++;
  knot_of_.assign(values_.count(), -1);
  for (int i = 0; i < values_.count(); ++i) {
    if (structure_.variable[i] >= 0 && values_.key(i).step != kNoStep) knot_of_[i] = knot[values_.key(i).step];
  }
  knots_ = std::max(knots_, 1);
  const auto place = [](int low, int high) -> HorizonPlace {
    if (high < 0) return {HorizonPlace::Type::border, 0};
    return {low == high ? HorizonPlace::Type::knot : HorizonPlace::Type::link, low};
  };
  const auto is_half = [&](int variable) { return knot_of_[variable] >= 0 && values_.key(variable).half; };
  place_.resize(unknowns() + hard_rows());
  for (int c = 0; c < unknowns(); ++c) {
    const int variable = structure_.columns[c];
    place_[c] = place(knot_of_[variable], knot_of_[variable]);
    if (is_half(variable)) place_[c].type = HorizonPlace::Type::interval;
    has_border_ |= place_[c].type == HorizonPlace::Type::border;
  }

  Failure faults{Failure::Kind::bad_input, {}};
  for (int f = 0; f < graph_->size(); ++f) {
    if (structure_.row[f] < 0) continue;
    const BoundFactor& bound = (*graph_)[f];
    std::set<int> touched;
    for (const Key& key : bound.keys) touched.insert(knot_of_[values_.find(key)]);
    touched.erase(-1);
    if (!touched.empty() && *touched.rbegin() - *touched.begin() > 1) {
      faults.diagnostics.push_back(
          {Severity::error, {}, to_string(bound) + ": touches steps that are not neighbours; at most two can be tied"});
      continue;
    }
    // the middle of an interval meets the knots at its ends alone
    for (const Key& key : bound.keys) {
      if (!is_half(values_.find(key)) || knot_of_[values_.find(key)] <= *touched.begin()) continue;
      faults.diagnostics.push_back(
          {Severity::error, {}, to_string(bound) + ": touches the middle of an interval and the step before it"});
      break;
    }
    if (bound.role != Role::equality) continue;
    std::vector<std::pair<int, int>> range(bound.factor->rows(), {knots_, -1});
    std::vector<char> half(bound.factor->rows(), 0);
    for (const JacobianEntry& e : bound.factor->pattern()) {
      const int variable = values_.find(bound.keys[e.slot]), k = knot_of_[variable];
      if (k < 0) continue;
      range[e.row] = {std::min(range[e.row].first, k), std::max(range[e.row].second, k)};
      if (is_half(variable)) half[e.row] = 1;
    }
    for (int r = 0; r < bound.factor->rows(); ++r) {
      HorizonPlace& at = place_[unknowns() + structure_.row[f] + r];
      at = place(range[r].first, range[r].second);
      if (half[r]) at.type = HorizonPlace::Type::interval;
    }
  }
  if (!faults.diagnostics.empty()) return faults;
  return std::nullopt;
}

void HorizonProblem::add_terms() {
  for (int f = 0; f < graph_->size(); ++f) {
    if (structure_.row[f] < 0) continue;
    Term t;
    t.bound = &(*graph_)[f];
    t.factor = f;
    t.first_row = structure_.row[f];
    t.group = knots_;
    for (const Key& key : t.bound->keys) {
      const int k = knot_of_[values_.find(key)];
      if (k >= 0) t.group = std::min(t.group, k);
    }
    terms_.push_back(std::move(t));
  }
  std::stable_sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.group < b.group; });
  groups_.resize(knots_ + 1);
  std::size_t raw = 0;
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    Term& t = terms_[i];
    Group& group = groups_[t.group];
    if (group.end == group.first) group.first = static_cast<int>(i);
    group.end = static_cast<int>(i) + 1;
    t.slots = static_cast<int>(slots_.size());
    for (const Key& key : t.bound->keys) slots_.push_back(values_.data(values_.find(key)));
    t.raw = static_cast<int>(raw);
    raw += t.bound->factor->pattern().size() + t.bound->factor->rows();
    for (const JacobianEntry& e : t.bound->factor->pattern()) {
      const int first = structure_.variable[values_.find(t.bound->keys[e.slot])];
      t.local.push_back(first < 0 || graph_->known().contains(t.bound->keys[e.slot]) ? -1 : first + e.column);
      if (t.local.back() >= 0) t.columns.push_back(t.local.back());
    }
    std::sort(t.columns.begin(), t.columns.end());
    t.columns.erase(std::unique(t.columns.begin(), t.columns.end()), t.columns.end());
    for (int& l : t.local) l = l < 0 ? -1 : local_of(t, l);
    if (t.bound->role != Role::cost && !t.bound->factor->constant_jacobian()) find_curvature(t);
  }
  raw_.assign(raw, 0.0);
  loss_weight_.assign(terms_.size(), 1.0);
}

int HorizonProblem::local_of(const Term& t, int column) {
  const auto at = std::lower_bound(t.columns.begin(), t.columns.end(), column);
  return at != t.columns.end() && *at == column ? static_cast<int>(at - t.columns.begin()) : -1;
}

// What changes the Jacobian of a factor is asked once per factor object. Places are found in make_plan().
void HorizonProblem::find_curvature(Term& t) {
  const Factor& factor = *t.bound->factor;
  const Slots x(slots_.data() + t.slots, t.bound->keys.size());
  std::vector<Manifold> manifolds;
  std::vector<int> column;  // per direction: local, −1 if known
  for (const Key& key : t.bound->keys) {
    const int i = values_.find(key), first = structure_.variable[i];
    manifolds.push_back(values_.manifold(i));
    for (int k = 0; k < manifolds.back().tangent(); ++k) column.push_back(first < 0 ? -1 : local_of(t, first + k));
  }
  auto& found = differences_[&factor];
  if (!found) found = std::make_unique<DifferenceCurvature>(factor, x, manifolds);
  t.differences = found.get();
  const int n = t.differences->directions();
  const std::vector<double> nothing(factor.rows(), 0.0);
  std::vector<double> hessian(static_cast<std::size_t>(n) * n, 0.0);
  t.exact = factor.add_curvature(x, nothing.data(), hessian.data());
  for (const auto& [a, b] : t.differences->pairs()) {
    if (column[a] < 0 || column[b] < 0) continue;
    const auto [low, high] = std::minmax(column[a], column[b]);
    t.pairs.push_back({high, low, -1});
    t.bends.push_back({b * n + a, static_cast<int>(t.pairs.size()) - 1, a != b && high == low ? 2.0 : 1.0});
  }
}

// Entries of the matrix, group by group, each once per group.
void HorizonProblem::make_plan() {
  std::vector<Entry> entries;
  std::vector<int> number(place_.size(), -1), table, members;
  for (Group& group : groups_) {
    group.first_value = static_cast<int>(entries.size());
    members.clear();
    const auto member = [&](int u) {
      if (number[u] < 0) {
        number[u] = static_cast<int>(members.size());
        members.push_back(u);
      }
    };
    for (int i = group.first; i < group.end; ++i) {
      for (int c : terms_[i].columns) member(c);
    }
    group.columns = members;
    for (int i = group.first; i < group.end; ++i) {
      if (terms_[i].bound->role != Role::equality) continue;
      for (int r = 0; r < terms_[i].bound->factor->rows(); ++r) member(unknowns() + terms_[i].first_row + r);
    }
    const std::size_t m = members.size();
    table.assign(m * m, -1);
    const auto entry = [&](int row, int column) {
      int& place = table[number[row] * m + number[column]];
      if (place < 0) {
        place = table[number[column] * m + number[row]] = static_cast<int>(entries.size());
        entries.push_back({row, column});
      }
      return place;
    };
    for (int i = group.first; i < group.end; ++i) {
      Term& t = terms_[i];
      group.at.emplace_back();
      for (int c : t.columns) group.at.back().push_back(number[c]);
      const auto pattern = t.bound->factor->pattern();
      if (t.bound->role == Role::equality) {
        for (std::size_t e = 0; e < pattern.size(); ++e) {
          const int row = unknowns() + t.first_row + pattern[e].row;
          t.places.push_back(t.local[e] < 0 ? -1 : entry(row, t.columns[t.local[e]]));
        }
      }
      for (Bend& b : t.bends) {
        const Pair& p = t.pairs[b.place];
        b.place = entry(t.columns[p.a], t.columns[p.b]);
      }
      t.pairs.clear();
      if (t.bound->role == Role::equality) continue;
      add_square_pairs(t);
      const auto less = [](const Pair& x, const Pair& y) { return std::pair(x.b, x.a) < std::pair(y.b, y.a); };
      const auto same = [](const Pair& x, const Pair& y) { return x.a == y.a && x.b == y.b; };
      std::sort(t.pairs.begin(), t.pairs.end(), less);
      t.pairs.erase(std::unique(t.pairs.begin(), t.pairs.end(), same), t.pairs.end());
      for (Pair& p : t.pairs) p.place = entry(t.columns[p.a], t.columns[p.b]);
    }
    for (int u : members) number[u] = -1;
    group.end_value = static_cast<int>(entries.size());
    group.gradient.resize(group.columns.size());
    group.norm.resize(group.columns.size());
  }
  std::vector<RowKind> kind(place_.size(), RowKind::hard);
  std::fill_n(kind.begin(), unknowns(), RowKind::variable);
  plan_ = std::make_unique<linear::HorizonPlan>(knots_, place_, std::move(kind), entries);
}

// Two columns of one row meet in AᵀA; a full covariance mixes all rows.
void HorizonProblem::add_square_pairs(Term& t) {
  const auto pattern = t.bound->factor->pattern();
  const bool full = t.bound->role == Role::cost && t.bound->noise.shape() == Noise::Shape::full;
  std::vector<std::vector<int>> row(full ? 1 : t.bound->factor->rows());
  for (std::size_t e = 0; e < pattern.size(); ++e) {
    if (t.local[e] >= 0) row[full ? 0 : pattern[e].row].push_back(t.local[e]);
  }
  for (const auto& columns : row) {
    for (int a : columns) {
      for (int b : columns) {
        if (b <= a) t.pairs.push_back({a, b, -1});
      }
    }
  }
}

}  // namespace kinegraph
