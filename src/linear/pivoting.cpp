#include "kinegraph/linear/pivoting.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/base/numbers.hpp"

namespace kinegraph::linear {

// Matching and ordering propose pivots from K's entries alone, but a pivot may have vanished by the time it is reached.
// So the plan eliminates the representative K once, front by front (Duff and Reid, 1983). A front is the dense matrix
// of the unknowns to be eliminated there and of all their later neighbours, summed from entries of K and the updates of
// the front's children. A pivot is taken if it makes no entry of L larger than 1/u:
//
//     1×1:  maxᵣ |aᵣᵢ| / |aᵢᵢ|                              ≤ 1/u
//     2×2:  ‖ |D⁻¹| (maxᵣ |aᵣᵢ|, maxᵣ |aᵣⱼ|)ᵀ ‖∞             ≤ 1/u       D = [aᵢᵢ aᵢⱼ; aᵢⱼ aⱼⱼ]
//
// and otherwise waits in the update that goes to the parent, where new partners come in. At a root the best of what is
// left is taken, however bad; what is zero even then is no pivot but a sign that K is singular. The choices are then
// fixed: later eliminations replay them without looking.
namespace {

constexpr double kZeroEntry = 1e-14;  // a scaled entry this small is round-off
constexpr double kGood = 4;           // a bound that needs no better
constexpr int kLook = 8;              // how many more candidates to try for one

struct Choice {
  int first = -1, second = -1;  // places in the front; second < 0: 1×1
  double bound = kInfinity;     // of the entries of L
};

/// A dense symmetric front; both triangles are kept, for simplicity.
class DenseFront {
 public:
  std::vector<int> rows;  // of K; the first `candidates` may be pivots here
  int candidates = 0;

  void clear_to_zero() { a_.assign(rows.size() * rows.size(), 0.0); }
  int size() const { return static_cast<int>(rows.size()); }
  double& at(int i, int j) { return a_[static_cast<std::size_t>(j) * rows.size() + i]; }
  double at(int i, int j) const { return a_[static_cast<std::size_t>(j) * rows.size() + i]; }
  double* column(int j) { return a_.data() + static_cast<std::size_t>(j) * rows.size(); }

  void swap(int i, int j) {
    if (i == j) return;
    std::swap(rows[i], rows[j]);
    std::swap_ranges(column(i), column(i) + size(), column(j));
    for (int c = 0; c < size(); ++c) std::swap(at(i, c), at(j, c));
  }

  /// Largest entry of column c from row `from` on, without the rows c and `skip`.
  double column_max(int c, int from, int skip = -1) const {
    double largest = 0;
    for (int r = from; r < size(); ++r) {
      if (r != c && r != skip) largest = std::max(largest, std::abs(at(r, c)));
    }
    return largest;
  }

  Choice single(int c, int from) const {
    const double d = std::abs(at(c, c));
    return {c, -1, d > kZeroEntry ? column_max(c, from) / d : kInfinity};
  }

  Choice pair(int c, int t, int from) const {
    const double p = at(c, c), q = at(c, t), r = at(t, t);
    const double det = std::abs(p * r - q * q), large = std::max(std::abs(p * r), q * q);
    if (!(large > kZeroEntry * kZeroEntry) || det < 1e-2 * large) return {c, t, kInfinity};
    const double mc = column_max(c, from, t), mt = column_max(t, from, c);
    return {c, t, std::max(std::abs(r) * mc + std::abs(q) * mt, std::abs(q) * mc + std::abs(p) * mt) / det};
  }

  void eliminate_single(int k) {
    const double inverse = 1 / at(k, k);
    for (int j = k + 1; j < size(); ++j) {
      const double f = at(k, j) * inverse;
      if (f != 0) subtract(column(j), f, column(k), k + 1);
    }
  }

  void eliminate_pair(int k) {
    const double p = at(k, k), q = at(k, k + 1), r = at(k + 1, k + 1), inverse = 1 / (p * r - q * q);
    for (int j = k + 2; j < size(); ++j) {
      const double x = at(k, j), y = at(k + 1, j);
      if (x == 0 && y == 0) continue;
      subtract(column(j), (r * x - q * y) * inverse, column(k), k + 2);
      subtract(column(j), (p * y - q * x) * inverse, column(k + 1), k + 2);
    }
  }

  /// What is left after k eliminations, to be added to the parent.
  DenseFront rest(int k) const {
    DenseFront update;
    update.rows.assign(rows.begin() + k, rows.end());
    update.candidates = candidates - k;
    update.clear_to_zero();
    for (int j = k; j < size(); ++j) {
      for (int i = k; i < size(); ++i) update.at(i - k, j - k) = at(i, j);
    }
    return update;
  }

 private:
  void subtract(double* y, double f, const double* x, int from) const {
    for (int i = from; i < size(); ++i) y[i] -= f * x[i];
  }
  std::vector<double> a_;
};

class PivotChooser {
 public:
  PivotChooser(const SymmetricPattern& pattern, std::span<const double> values, std::span<const double> scale,
               std::span<const int> partner, std::span<const ProposedFront> proposed, double threshold, bool definite)
      : pattern_(pattern),
        values_(values),
        scale_(scale),
        partner_(partner),
        proposed_(proposed),
        largest_bound_(1 / threshold),
        definite_(definite),
        place_(pattern.size(), -1) {
    sort_entries();
    children_.resize(proposed.size());
    for (std::size_t f = 0; f < proposed.size(); ++f) {
      if (proposed[f].parent >= 0) children_[proposed[f].parent].push_back(static_cast<int>(f));
    }
    updates_.resize(proposed.size());
  }

  /// False if `definite` was promised and K is not.
  bool run(Pivoting& result) {
    result.fronts.resize(proposed_.size());
    for (std::size_t f = 0; f < proposed_.size(); ++f) {
      DenseFront front = assemble(static_cast<int>(f));
      const bool root = proposed_[f].parent < 0;
      const int eliminated = eliminate(front, root, result.fronts[f]);
      if (eliminated < 0) return false;
      result.delayed += front.candidates - eliminated;
      result.fronts[f].border.assign(front.rows.begin() + eliminated, front.rows.end());
      if (!root) updates_[f] = front.rest(eliminated);
    }
    return true;
  }

 private:
  struct PlacedEntry {
    int row, column;
    double value;
  };

  /// An entry enters at the front that first has one of its rows as a candidate.
  void sort_entries() {
    std::vector<int> front_of(pattern_.size());
    for (std::size_t f = 0; f < proposed_.size(); ++f) {
      for (int row : proposed_[f].rows) front_of[row] = static_cast<int>(f);
    }
    entries_.resize(proposed_.size());
    for (int j = 0; j < pattern_.size(); ++j) {
      for (int k = pattern_.start[j]; k < pattern_.start[j + 1]; ++k) {
        const int i = pattern_.row[k];
        entries_[std::min(front_of[i], front_of[j])].push_back({i, j, values_[k] * scale_[i] * scale_[j]});
      }
    }
  }

  DenseFront assemble(int f) {
    DenseFront front;
    const auto take = [&](int row) {
      if (place_[row] >= 0) return;
      place_[row] = front.size();
      front.rows.push_back(row);
    };
    for (int row : proposed_[f].rows) take(row);
    for (int child : children_[f]) {
      const DenseFront& update = updates_[child];
      std::for_each(update.rows.begin(), update.rows.begin() + update.candidates, take);
    }
    front.candidates = front.size();
    for (const PlacedEntry& e : entries_[f]) take(e.row), take(e.column);
    for (int child : children_[f]) std::for_each(updates_[child].rows.begin(), updates_[child].rows.end(), take);

    front.clear_to_zero();
    for (const PlacedEntry& e : entries_[f]) {
      const int i = place_[e.row], j = place_[e.column];
      front.at(i, j) += e.value;
      if (i != j) front.at(j, i) += e.value;
    }
    for (int child : children_[f]) {
      DenseFront& update = updates_[child];
      for (int j = 0; j < update.size(); ++j) {
        for (int i = 0; i < update.size(); ++i)
          front.at(place_[update.rows[i]], place_[update.rows[j]]) += update.at(i, j);
      }
      update = {};
    }
    for (int row : front.rows) place_[row] = -1;
    return front;
  }

  int eliminate(DenseFront& front, bool root, PivotedFront& out) {
    int k = 0;
    while (k < front.candidates) {
      const Choice choice = definite_ ? front.single(k, k) : find(front, k, root);
      if (definite_ && !(front.at(k, k) > kZeroEntry)) return -1;
      if (choice.first < 0) break;
      take(front, k, choice, out);
      k += choice.second < 0 ? 1 : 2;
    }
    return k;
  }

  /// The first good candidate; failing that, the best of a few that pass the test; at a root, failing that, the best.
  Choice find(const DenseFront& front, int k, bool root) const {
    Choice best;
    for (int c = k; c < front.candidates; ++c) {
      const Choice choice = best_with(front, c, k);
      if (choice.bound < best.bound) best = choice;
      if (best.bound <= kGood || (best.bound <= largest_bound_ && c >= k + kLook)) return best;
    }
    if (best.bound <= largest_bound_) return best;
    if (!root) return {};
    return best.first < 0 ? Choice{k, -1, kInfinity} : best;
  }

  Choice best_with(const DenseFront& front, int c, int k) const {
    const Choice single = front.single(c, k);
    if (single.bound <= kGood) return single;
    int mate = -1;
    double largest = 0;
    for (int t = k; t < front.candidates; ++t) {
      if (t == c) continue;
      if (front.rows[t] == partner_[front.rows[c]]) {
        mate = t;
        break;
      }
      if (std::abs(front.at(t, c)) > largest) mate = t, largest = std::abs(front.at(t, c));
    }
    if (mate < 0) return single;
    const Choice pair = front.pair(c, mate, k);
    return pair.bound < single.bound ? pair : single;
  }

  void take(DenseFront& front, int k, Choice choice, PivotedFront& out) const {
    front.swap(k, choice.first);
    if (choice.second < 0) {
      const double s = scale_[front.rows[k]];
      push(out, front.rows[k], PivotKind::single, std::abs(front.at(k, k)) / (s * s));
      if (std::abs(front.at(k, k)) > kZeroEntry) front.eliminate_single(k);
      return;
    }
    front.swap(k + 1, choice.second == k ? choice.first : choice.second);
    const int i = front.rows[k], j = front.rows[k + 1];
    const double det = front.at(k, k) * front.at(k + 1, k + 1) - front.at(k, k + 1) * front.at(k, k + 1);
    const double size = std::sqrt(std::abs(det)) / (scale_[i] * scale_[j]);
    push(out, i, PivotKind::pair_first, size);
    push(out, j, PivotKind::pair_second, size);
    front.eliminate_pair(k);
  }

  static void push(PivotedFront& out, int row, PivotKind kind, double size) {
    out.pivots.push_back(row);
    out.kinds.push_back(kind);
    out.sizes.push_back(size);
  }

  const SymmetricPattern& pattern_;
  std::span<const double> values_, scale_;
  std::span<const int> partner_;
  std::span<const ProposedFront> proposed_;
  double largest_bound_;
  bool definite_;
  std::vector<std::vector<PlacedEntry>> entries_;
  std::vector<std::vector<int>> children_;
  std::vector<DenseFront> updates_;
  std::vector<int> place_;
};

}  // namespace

Pivoting choose_pivots(const SymmetricPattern& pattern, std::span<const double> values, std::span<const double> scale,
                       std::span<const int> partner, std::span<const ProposedFront> fronts, double threshold) {
  // A positive definite K takes any pivot, and must not pay for tests; one that only looked it is done again.
  const bool maybe_definite =
      std::none_of(pattern.kind.begin(), pattern.kind.end(), [](RowKind kind) { return kind == RowKind::hard; });
  Pivoting result;
  if (maybe_definite) {
    PivotChooser chooser(pattern, values, scale, partner, fronts, threshold, true);
    if (chooser.run(result)) {
      result.definite = true;
      return result;
    }
    result = {};
  }
  PivotChooser(pattern, values, scale, partner, fronts, threshold, false).run(result);
  return result;
}

}  // namespace kinegraph::linear
