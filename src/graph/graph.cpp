#include "kinegraph/graph/graph.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace kinegraph {
namespace {

std::string join(const std::vector<Key>& keys) {
  std::string all;
  for (const Key& key : keys) all += (all.empty() ? "" : ", ") + to_string(key);
  return all;
}

/// What is wrong between a factor and the values it is tied to.
void check(const BoundFactor& f, const Values& values, Failure& faults) {
  const auto fault = [&](std::string text) {
    faults.diagnostics.push_back({Severity::error, {}, to_string(f) + ": " + std::move(text)});
  };
  const auto sizes = f.factor->slot_sizes();
  for (std::size_t slot = 0; slot < f.keys.size(); ++slot) {
    const std::string name = to_string(f.keys[slot]);
    const int i = values.find(f.keys[slot]);
    if (i < 0) {
      fault(fmt::format("slot {}: no value for {}", slot, name));
    } else if (values.manifold(i).stored() != sizes[slot]) {
      fault(
          fmt::format("slot {}: expects {} numbers, {} has {}", slot, sizes[slot], name, values.manifold(i).stored()));
    }
  }
  for (const JacobianEntry& e : f.factor->pattern()) {
    const bool in_range = e.row >= 0 && e.row < f.factor->rows() && e.slot >= 0 &&
                          e.slot < static_cast<int>(f.keys.size()) && e.column >= 0;
    const int i = in_range ? values.find(f.keys[e.slot]) : -1;
    if (!in_range || (i >= 0 && e.column >= values.manifold(i).tangent())) {
      fault(fmt::format("Jacobian entry (row {}, slot {}, column {}) is outside", e.row, e.slot, e.column));
      break;
    }
  }
  if (f.role != Role::equality && f.noise.rows() != 0 && f.noise.rows() != f.factor->rows()) {
    fault(fmt::format("noise for {} rows, the factor has {}", f.noise.rows(), f.factor->rows()));
  }
}

}  // namespace

std::string to_string(const BoundFactor& f) { return fmt::format("{} ({})", f.factor->name(), join(f.keys)); }

std::string row_name(const BoundFactor& f, int row) {
  return fmt::format("{} ({})", f.factor->row_name(row), join(f.keys));
}

std::string Structure::counts() const {
  const auto plural = [](int n, const char* word) { return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s"); };
  std::string all = fmt::format("{}, {} ({} hard, {} soft)", plural(unknowns, "unknown"),
                                plural(hard_rows + cost_rows, "equation"), hard_rows, cost_rows);
  if (inequality_rows == 1) all += ", 1 inequality";
  if (inequality_rows > 1) all += fmt::format(", {} inequalities", inequality_rows);
  return all;
}

int Graph::add(std::shared_ptr<const Factor> factor, std::vector<Key> keys, Role role, Noise noise, Loss loss) {
  if (!factor) throw std::invalid_argument("factor: is null");
  if (keys.size() != factor->slot_sizes().size()) {
    throw std::invalid_argument(
        fmt::format("{}: has {} slots, got {} keys", factor->name(), factor->slot_sizes().size(), keys.size()));
  }
  factors_.push_back({std::move(factor), std::move(keys), role, std::move(noise), loss});
  return size() - 1;
}

Result<Structure> Graph::structure(const Values& values) const {
  Failure faults{Failure::Kind::bad_input, {}};
  for (const BoundFactor& f : factors_) check(f, values, faults);
  if (!faults.diagnostics.empty()) return faults;

  constexpr int kUntouched = -1, kTouched = 0;
  Structure s;
  s.variable.assign(values.count(), kUntouched);
  for (int f = 0; f < size(); ++f) {
    bool unknown = false;
    for (const Key& key : factors_[f].keys) {
      if (known_.contains(key)) continue;
      s.variable[values.find(key)] = kTouched;
      unknown = true;
    }
    if (!unknown) s.constant.push_back(f);
    const Role role = factors_[f].role;
    int& rows = role == Role::cost ? s.cost_rows : role == Role::equality ? s.hard_rows : s.inequality_rows;
    s.row.push_back(unknown ? rows : -1);
    if (unknown) rows += factors_[f].factor->rows();
  }
  for (int i = 0; i < values.count(); ++i) {
    if (s.variable[i] == kUntouched) continue;
    s.variable[i] = s.unknowns;
    s.unknowns += values.manifold(i).tangent();
    s.columns.insert(s.columns.end(), values.manifold(i).tangent(), i);
  }
  return s;
}

}  // namespace kinegraph
