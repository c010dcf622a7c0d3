#include "kinegraph/linear/horizon_plan.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace kinegraph::linear {
namespace {

constexpr int kShort = 16;  // fewer knots are not cut
constexpr int kRuns = 64;   // of entries, about

}  // namespace

HorizonPlan::HorizonPlan(int knots, std::vector<HorizonPlace> place, std::vector<RowKind> kind,
                         std::span<const Entry> entries, int segments)
    : place_(std::move(place)), kind_(std::move(kind)), entries_(entries.begin(), entries.end()) {
  hard_rows_ = static_cast<int>(std::count(kind_.begin(), kind_.end(), RowKind::hard));
  if (segments <= 0) segments = knots < kShort ? 1 : 2;
  choose_groups(knots, std::clamp(segments, 1, std::max(1, knots / 2)));
  find_borders();
  place_terms();
  find_runs();
  join_slices();
}

// Entries mostly come in the order of time. Cut into runs, each touches the knots of its own time and those of the next
// run's first: then runs 0, 2, 4, … touch different knots, and so do 1, 3, 5, …
void HorizonPlan::find_runs() {
  const int count = entries(), most = std::max(1, count / kRuns);
  std::vector<std::pair<int, int>> touched;  // knots, per run
  for (int e = 0; e < count; ++e) {
    const HorizonPlace &a = place_[entries_[e].row], &b = place_[entries_[e].column];
    const bool border = a.type == HorizonPlace::Type::border || b.type == HorizonPlace::Type::border;
    if (border) break;
    const auto [low, high] = std::minmax(a.knot, b.knot);
    const bool full = runs_.empty() || (e - runs_.back().first >= most && high > touched.back().second);
    if (full) runs_.emplace_back(e, e), touched.emplace_back(low, high);
    runs_.back().second = e + 1;
    touched.back() = {std::min(touched.back().first, low), std::max(touched.back().second, high)};
  }
  bool apart = !runs_.empty() && runs_.back().second == count;
  for (std::size_t r = 2; r < runs_.size(); ++r) apart &= touched[r].first > touched[r - 2].second;
  if (!apart) runs_.assign(1, {0, count});
}

void HorizonPlan::join_slices() {
  std::vector<char> is_slice(nodes_.size(), 0), joined(nodes_.size(), 0);
  for (const int i : slices_) is_slice[i] = 1;
  for (const std::vector<int>& segment : segments_) {
    std::vector<int>& all = joined_segments_.emplace_back();
    for (const int i : segment) {
      for (const int child : nodes_[i].children) {
        if (!is_slice[child]) continue;
        all.push_back(child);
        joined[child] = 1;
      }
      all.push_back(i);
    }
  }
  for (const int i : slices_) {
    if (!joined[i]) loose_slices_.push_back(i);
  }
}

void HorizonPlan::add_group(std::vector<int> own, std::vector<int>& list) {
  if (own.empty()) return;
  list.push_back(static_cast<int>(nodes_.size()));
  for (int u : own) node_of_[u] = list.back();
  HorizonNode node;
  node.own = std::move(own);
  nodes_.push_back(std::move(node));
}

void HorizonPlan::choose_groups(int knots, int segments) {
  // What something of another knot, a link or an interval sees is outer, the rest inner.
  using Type = HorizonPlace::Type;
  const int n = size();
  std::vector<char> outer(n, 0);
  for (const Entry& e : entries_) {
    const HorizonPlace &a = place_[e.row], &b = place_[e.column];
    if (a.type == Type::border || b.type == Type::border) continue;
    if (a.type == Type::knot && b.type == Type::knot && a.knot == b.knot) continue;
    outer[e.row] = outer[e.column] = 1;
  }
  std::vector<std::vector<int>> inner_of(knots), outer_of(knots), interval_of(knots), link_of(knots);
  std::vector<int> border;
  for (int u = 0; u < n; ++u) {
    const HorizonPlace& p = place_[u];
    if (p.type == Type::border) {
      border.push_back(u);
    } else if (p.type == Type::interval) {
      interval_of[p.knot].push_back(u);
    } else {
      (p.type == Type::link ? link_of : outer[u] ? outer_of : inner_of)[p.knot].push_back(u);
    }
  }
  node_of_.assign(n, -1);
  for (int k = 0; k < knots; ++k) {
    add_group(std::move(inner_of[k]), slices_);
    add_group(std::move(interval_of[k]), slices_);
  }

  // Segment s holds the knots between separators; separator s is knot cut[s].
  std::vector<int> cut;
  for (int s = 1; s < segments; ++s) cut.push_back(static_cast<int>(static_cast<long>(s) * knots / segments));
  segments_.resize(segments);
  const auto join = [&](int k, bool before, bool after) {  // a knot with the multipliers of its links
    std::vector<int> own;
    if (before && k > 0) own = link_of[k - 1];
    own.insert(own.end(), outer_of[k].begin(), outer_of[k].end());
    if (after) own.insert(own.end(), link_of[k].begin(), link_of[k].end());
    return own;
  };
  for (int s = 0; s < segments; ++s) {
    const int first = s == 0 ? 0 : cut[s - 1] + 1, last = s + 1 < segments ? cut[s] - 1 : knots - 1;
    if (s > 0 && s + 1 == segments) {
      for (int k = last; k >= first; --k) add_group(join(k, false, true), segments_[s]);
    } else {
      for (int k = first; k <= last; ++k) add_group(join(k, true, false), segments_[s]);
    }
  }
  for (std::size_t s = 0; s < cut.size(); ++s) add_group(join(cut[s], true, s + 1 == cut.size()), separators_);
  add_group(std::move(border), separators_);
}

// The border of a node: what its own unknowns touch, and what its children passed on, as far as it is eliminated later.
// The parent is the node that eliminates the first of it.
void HorizonPlan::find_borders() {
  for (const Entry& e : entries_) {
    int a = e.row, b = e.column;
    if (node_of_[a] == node_of_[b]) continue;
    if (node_of_[a] > node_of_[b]) std::swap(a, b);
    nodes_[node_of_[a]].border.push_back(b);
  }
  const auto earlier = [&](int a, int b) { return std::pair(node_of_[a], a) < std::pair(node_of_[b], b); };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    HorizonNode& node = nodes_[i];
    std::sort(node.border.begin(), node.border.end(), earlier);
    node.border.erase(std::unique(node.border.begin(), node.border.end()), node.border.end());
    if (node.border.empty()) continue;
    node.parent = node_of_[node.border.front()];
    HorizonNode& parent = nodes_[node.parent];
    parent.children.push_back(static_cast<int>(i));
    for (int u : node.border) {
      if (node_of_[u] != node.parent) parent.border.push_back(u);
    }
  }
}

void HorizonPlan::place_terms() {
  std::vector<int> local(size(), -1);  // of the node at hand
  const auto number = [&](const HorizonNode& node) {
    int at = 0;
    for (int u : node.own) local[u] = at++;
    for (int u : node.border) local[u] = at++;
  };
  std::vector<std::vector<int>> entries_of(nodes_.size());
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    entries_of[std::min(node_of_[entries_[e].row], node_of_[entries_[e].column])].push_back(static_cast<int>(e));
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    HorizonNode& node = nodes_[i];
    number(node);
    node.terms.reserve(entries_of[i].size());
    for (int e : entries_of[i]) {
      const auto [low, high] = std::minmax(local[entries_[e].row], local[entries_[e].column]);
      if (high > std::numeric_limits<std::uint16_t>::max()) {  // the front would take 32 GB
        throw std::length_error("HorizonPlan: more than 65536 unknowns in one step");
      }
      node.terms.push_back({e, static_cast<std::uint16_t>(high), static_cast<std::uint16_t>(low)});
    }
    for (int c : node.children) {
      for (int u : nodes_[c].border) nodes_[c].parent_place.push_back(local[u]);
    }
  }
}

}  // namespace kinegraph::linear
