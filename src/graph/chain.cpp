#include "kinegraph/graph/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kinegraph/graph/graph.hpp"

namespace kinegraph {
namespace {

int add_variable(ChainVariable v, std::vector<ChainVariable>& variables, std::vector<int>& offsets, int& size) {
  if (v.size < 0) throw std::invalid_argument(fmt::format("{}: size: must be >= 0, is {}", v.name, v.size));
  offsets.push_back(size);
  size += v.size;
  variables.push_back(std::move(v));
  return static_cast<int>(variables.size()) - 1;
}

/// Throws unless every slot names a variable of the right size.
void check(const Chain& chain, const Factor& f, const std::vector<ChainSlot>& slots) {
  if (slots.size() != f.slot_sizes().size()) {
    throw std::invalid_argument(
        fmt::format("{}: has {} slots, got {} variables", f.name(), f.slot_sizes().size(), slots.size()));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto& variables = slots[i].place == Place::middle ? chain.middle() : chain.knot();
    if (slots[i].variable < 0 || slots[i].variable >= static_cast<int>(variables.size())) {
      throw std::invalid_argument(fmt::format("{}: slot {}: no variable {}", f.name(), i, slots[i].variable));
    }
    const ChainVariable& v = variables[slots[i].variable];
    if (v.size != f.slot_sizes()[i]) {
      throw std::invalid_argument(
          fmt::format("{}: slot {}: expects {} numbers, {} has {}", f.name(), i, f.slot_sizes()[i], v.name, v.size));
    }
  }
}

Key make_key(const std::vector<ChainVariable>& variables, int variable, int step, bool half) {
  const Kind kind = variables[variable].kind;
  const auto same = std::count_if(variables.begin(), variables.end(), [&](const auto& v) { return v.kind == kind; });
  return {kind, half, same > 1 ? variable : 0, step};
}

Key slot_key(const Chain& chain, const ChainSlot& slot, int step) {
  switch (slot.place) {
    case Place::from:
      return knot_key(chain, slot.variable, step);
    case Place::middle:
      return middle_key(chain, slot.variable, step);
    case Place::to:
      return knot_key(chain, slot.variable, step + 1);
  }
  return {};
}

}  // namespace

int Chain::add_knot_variable(ChainVariable v) { return add_variable(std::move(v), knot_, knot_offset_, knot_size_); }

int Chain::add_middle_variable(ChainVariable v) {
  return add_variable(std::move(v), middle_, middle_offset_, middle_size_);
}

void Chain::add_to_knot(std::shared_ptr<const Factor> f, const std::vector<int>& variables, Role role, Noise noise) {
  std::vector<ChainSlot> slots;
  slots.reserve(variables.size());
  for (int variable : variables) slots.push_back({Place::from, variable});
  check(*this, *f, slots);
  knot_factors_.push_back({std::move(f), std::move(slots), role, std::move(noise)});
}

void Chain::add_to_link(std::shared_ptr<const Factor> f, std::vector<ChainSlot> slots, Role role, Noise noise) {
  check(*this, *f, slots);
  link_factors_.push_back({std::move(f), std::move(slots), role, std::move(noise)});
}

Key knot_key(const Chain& chain, int variable, int step) { return make_key(chain.knot(), variable, step, false); }

Key middle_key(const Chain& chain, int variable, int step) { return make_key(chain.middle(), variable, step, true); }

Graph unroll(const Chain& chain, int knots, std::span<const int> frozen) {
  if (knots < 1) throw std::invalid_argument(fmt::format("knots: must be > 0, is {}", knots));
  std::vector<bool> is_frozen(knots, false);
  for (int k : frozen) {
    if (k < 0 || k >= knots) throw std::invalid_argument(fmt::format("frozen: knot {} of {}", k, knots));
    is_frozen[k] = true;
  }

  Graph graph;
  const auto add = [&](const std::vector<ChainFactor>& factors, int step) {
    for (const ChainFactor& f : factors) {
      std::vector<Key> keys;
      for (const ChainSlot& slot : f.slots) keys.push_back(slot_key(chain, slot, step));
      graph.add(f.factor, std::move(keys), f.role, f.noise);
    }
  };
  for (int k = 0; k < knots; ++k) {
    for (std::size_t v = 0; v < chain.knot().size(); ++v) {
      if (is_frozen[k] || chain.knot()[v].known) graph.known().insert(knot_key(chain, static_cast<int>(v), k));
    }
    add(chain.knot_factors(), k);
    if (k + 1 == knots) break;
    for (std::size_t v = 0; v < chain.middle().size(); ++v) {
      const bool known = chain.middle()[v].known || (is_frozen[k] && is_frozen[k + 1]);
      if (known) graph.known().insert(middle_key(chain, static_cast<int>(v), k));
    }
    add(chain.link_factors(), k);
  }
  return graph;
}

Values unroll_values(const Chain& chain, int knots, std::span<const double> knot, std::span<const double> middle) {
  const auto expect = [](const char* what, std::size_t is, std::size_t must) {
    if (is != must) throw std::invalid_argument(fmt::format("{}: must have {} numbers, has {}", what, must, is));
  };
  expect("knot", knot.size(), static_cast<std::size_t>(knots) * chain.knot_size());
  expect("middle", middle.size(), static_cast<std::size_t>(knots - 1) * chain.middle_size());
  Values values;
  for (int k = 0; k < knots; ++k) {
    for (int v = 0; v < static_cast<int>(chain.knot().size()); ++v) {
      const int size = chain.knot()[v].size;
      values.insert(knot_key(chain, v, k), Manifold::real(size),
                    knot.subspan(static_cast<std::size_t>(k) * chain.knot_size() + chain.knot_offset(v), size));
    }
    if (k + 1 == knots) break;
    for (int v = 0; v < static_cast<int>(chain.middle().size()); ++v) {
      const int size = chain.middle()[v].size;
      values.insert(middle_key(chain, v, k), Manifold::real(size),
                    middle.subspan(static_cast<std::size_t>(k) * chain.middle_size() + chain.middle_offset(v), size));
    }
  }
  return values;
}

}  // namespace kinegraph
