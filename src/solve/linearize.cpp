#include "kinegraph/solve/linearize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kinegraph {

Result<Linearization> Linearization::make(const Graph& graph, Values& values) {
  Result<Structure> structure = graph.structure(values);
  if (!structure) return std::move(structure).failure();
  for (const BoundFactor& f : graph.factors()) {
    if (f.role == Role::inequality) {
      return Failure::bad_input(to_string(f) + ": is an inequality, which this solver does not keep; use Sqp");
    }
  }
  Linearization l;
  l.graph_ = &graph;
  l.values_ = &values;
  l.structure_ = *std::move(structure);

  const int n = l.unknowns(), size = n + l.hard_rows();
  std::vector<linear::RowKind> kinds(size, linear::RowKind::hard);
  std::fill_n(kinds.begin(), n, linear::RowKind::variable);
  std::vector<Entry> places;
  for (int i = 0; i < size; ++i) places.push_back({i, i});
  for (int f = 0; f < graph.size(); ++f) {
    if (l.structure_.row[f] >= 0) l.add_term(f, places);
  }

  std::vector<int> slot;
  l.pattern_ = linear::SymmetricPattern::from_entries(std::move(kinds), places, slot);
  l.diagonal_.assign(slot.begin(), slot.begin() + size);
  for (int& p : l.pairs_) p = slot[p];
  for (HardEntry& e : l.hard_entries_) e.place = slot[e.place];
  l.matrix_.assign(l.pattern_.entries(), 0);
  l.constant_.assign(l.pattern_.entries(), 0);
  l.weight_.assign(l.terms_.size(), 1);
  l.factor_cost_.assign(graph.size(), 0);
  l.gradient_.setZero(n);
  return l;
}

void Linearization::add_term(int factor, std::vector<Entry>& places) {
  const BoundFactor& bound = (*graph_)[factor];
  Term t{};
  t.bound = &bound;
  t.factor = factor;
  t.rows = bound.factor->rows();
  t.hard = bound.role == Role::equality;
  t.constant = bound.factor->constant_jacobian();
  t.summed = t.constant && (t.hard || bound.loss.shape() == Loss::Shape::none);
  t.first_row = t.hard ? structure_.row[factor] : static_cast<int>(residual_.size());
  if (!t.hard) residual_.resize(residual_.size() + t.rows);
  t.slots = static_cast<int>(slots_.size());
  for (const Key& key : bound.keys) slots_.push_back(values_->data(values_->find(key)));
  t.raw = static_cast<int>(raw_.size());
  t.raw_size = static_cast<int>(bound.factor->pattern().size());
  raw_.resize(raw_.size() + t.raw_size);
  add_entries(t);

  t.pairs = static_cast<int>(pairs_.size());
  const int n = unknowns();
  if (t.hard) {
    for (int e = t.entries; e < t.entries_end; ++e) {
      const int row = t.first_row + entries_[e].row, column = entries_[e].column;
      const int place = static_cast<int>(places.size());
      places.push_back({n + row, column});
      pairs_.push_back(place);
      hard_entries_.push_back({row, column, place});
    }
  } else {
    for (int a = t.entries; a < t.entries_end; ++a) {
      for (int b = a; b >= t.entries && entries_[b].row == entries_[a].row; --b) {
        pairs_.push_back(static_cast<int>(places.size()));
        places.push_back({entries_[a].column, entries_[b].column});
      }
    }
  }
  terms_.push_back(t);
}

// Entries that fall on the same place (two slots on one variable) are merged, so that no product is counted twice.
void Linearization::add_entries(Term& t) {
  const BoundFactor& bound = *t.bound;
  const auto pattern = bound.factor->pattern();
  const bool mixes = !t.hard && bound.noise.shape() == Noise::Shape::full;
  struct Contribution {
    int row, column, raw;
    double weight;
  };
  std::vector<Contribution> all;
  for (int k = 0; k < t.raw_size; ++k) {
    const JacobianEntry& e = pattern[k];
    const int first = structure_.variable[values_->find(bound.keys[e.slot])];
    if (first < 0 || graph_->known().contains(bound.keys[e.slot])) continue;
    // Row i of W E takes row j of E times W(i, j); W is diagonal or upper triangular.
    for (int row = mixes ? 0 : e.row; row <= e.row; ++row) {
      all.push_back({row, first + e.column, k, t.hard ? 1.0 : bound.noise.weight(row, e.row)});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Contribution& a, const Contribution& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  t.entries = static_cast<int>(entries_.size());
  t.moves = static_cast<int>(moves_.size());
  for (const Contribution& c : all) {
    const bool same = static_cast<int>(entries_.size()) > t.entries && entries_.back().row == c.row &&
                      entries_.back().column == c.column;
    if (!same) entries_.push_back({c.row, c.column});
    moves_.push_back({static_cast<int>(entries_.size()) - 1, t.raw + c.raw, c.weight});
  }
  t.entries_end = static_cast<int>(entries_.size());
  t.moves_end = static_cast<int>(moves_.size());
  white_.resize(entries_.size());
}

bool Linearization::evaluate_term(const Term& t, bool jacobian, double* residual, Evaluation& result) {
  const Slots x(slots_.data() + t.slots, t.bound->keys.size());
  double* raw = raw_.data() + t.raw;
  t.bound->factor->evaluate(x, residual, jacobian ? raw : nullptr);
  int bad = -1;
  for (int i = t.rows - 1; i >= 0; --i) {
    if (!std::isfinite(residual[i])) bad = i;
  }
  if (bad < 0 && jacobian) {
    for (int k = t.raw_size - 1; k >= 0; --k) {
      if (!std::isfinite(raw[k])) bad = t.bound->factor->pattern()[k].row;
    }
  }
  if (bad < 0) return true;
  result.bad_factor = t.factor;
  result.bad_row = bad;
  return false;
}

// Residuals may be finite and their squares not.
bool Linearization::add_cost(const Term& t, double squares, Evaluation& result) {
  result.cost += factor_cost_[t.factor] = 0.5 * t.bound->loss.rho(squares);
  if (std::isfinite(result.cost)) return true;
  result.bad_factor = t.factor;
  result.bad_row = 0;
  return false;
}

void Linearization::whiten_jacobian(const Term& t) {
  std::fill(white_.begin() + t.entries, white_.begin() + t.entries_end, 0.0);
  for (int m = t.moves; m < t.moves_end; ++m) white_[moves_[m].entry] += moves_[m].weight * raw_[moves_[m].raw];
}

void Linearization::add_products(const Term& t, double weight, std::vector<double>& matrix) const {
  const int* place = pairs_.data() + t.pairs;
  if (t.hard) {
    for (int e = t.entries; e < t.entries_end; ++e) matrix[*place++] += white_[e];
    return;
  }
  for (int a = t.entries; a < t.entries_end; ++a) {
    const double value = weight * white_[a];
    for (int b = a; b >= t.entries && entries_[b].row == entries_[a].row; --b) matrix[*place++] += value * white_[b];
  }
}

Evaluation Linearization::evaluate(Eigen::VectorXd& hard) {
  hard.resize(hard_rows());
  Evaluation result;
  for (const Term& t : terms_) {
    double* residual = t.hard ? hard.data() + t.first_row : residual_.data() + t.first_row;
    if (!evaluate_term(t, false, residual, result)) return result;
    if (t.hard) continue;
    t.bound->noise.whiten(residual, t.rows);
    const double s = Eigen::Map<const Eigen::VectorXd>(residual, t.rows).squaredNorm();
    if (!add_cost(t, s, result)) return result;
  }
  return result;
}

Evaluation Linearization::linearize(Eigen::VectorXd& hard) {
  hard.resize(hard_rows());
  Evaluation result;
  if (constants_ready_)
    matrix_ = constant_;
  else
    std::fill(matrix_.begin(), matrix_.end(), 0.0);
  gradient_.setZero();
  for (const Term& t : terms_) {
    double* residual = t.hard ? hard.data() + t.first_row : residual_.data() + t.first_row;
    const bool jacobian = !(t.constant && constants_ready_);
    if (!evaluate_term(t, jacobian, residual, result)) return result;
    if (jacobian) whiten_jacobian(t);
    const bool add = !(t.summed && constants_ready_);
    if (t.hard) {
      if (add) add_products(t, 1, matrix_);
      continue;
    }
    t.bound->noise.whiten(residual, t.rows);
    const double s = Eigen::Map<const Eigen::VectorXd>(residual, t.rows).squaredNorm();
    if (!add_cost(t, s, result)) return result;
    const double weight = t.bound->loss.weight(s);
    weight_[&t - terms_.data()] = std::sqrt(weight);
    if (add) add_products(t, weight, matrix_);
    for (int e = t.entries; e < t.entries_end; ++e) {
      gradient_[entries_[e].column] += weight * white_[e] * residual[entries_[e].row];
    }
  }
  hard_ = hard;
  prepare_constants();
  return result;
}

void Linearization::prepare_constants() {
  if (constants_ready_) return;
  for (const Term& t : terms_) {
    if (t.summed) add_products(t, 1, constant_);
  }
  constants_ready_ = true;
}

Linearization::Rows Linearization::rows(Role role) const {
  Rows rows;
  rows.matrix.columns = unknowns();
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const Term& t = terms_[i];
    if (t.bound->role != role) continue;
    const double* residual = t.hard ? hard_.data() + t.first_row : residual_.data() + t.first_row;
    for (int row = 0, e = t.entries; row < t.rows; ++row) {
      for (; e < t.entries_end && entries_[e].row == row; ++e) {
        rows.matrix.push(entries_[e].column, weight_[i] * white_[e]);
      }
      rows.matrix.end_row();
      rows.residual.push_back(weight_[i] * residual[row]);
    }
  }
  return rows;
}

linear::RowStructure Linearization::row_structure() const {
  linear::RowStructure rows;
  std::vector<int> columns;
  for (const Term& t : terms_) {
    for (int e = t.entries; e < t.entries_end;) {
      const int row = entries_[e].row;
      columns.clear();
      for (; e < t.entries_end && entries_[e].row == row; ++e) columns.push_back(entries_[e].column);
      if (t.hard) columns.push_back(unknowns() + t.first_row + row);
      rows.add(columns);
    }
  }
  return rows;
}

std::string Linearization::hard_row_name(int row) const {
  for (const Term& t : terms_) {
    if (t.hard && row >= t.first_row && row < t.first_row + t.rows) return row_name(*t.bound, row - t.first_row);
  }
  return fmt::format("hard row {}", row);
}

std::string Linearization::column_name(int column) const {
  const int variable = structure_.columns[column];
  const std::string name = to_string(values_->key(variable));
  if (values_->manifold(variable).tangent() == 1) return name;
  return fmt::format("{}[{}]", name, column - structure_.variable[variable]);
}

std::string Linearization::describe_fault(const Evaluation& e) const {
  return fmt::format("{}: the residual or its derivative is not finite", row_name((*graph_)[e.bad_factor], e.bad_row));
}

}  // namespace kinegraph
