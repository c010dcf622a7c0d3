#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kinegraph/base/sparse.hpp"
#include "kinegraph/linear/symmetric.hpp"

namespace kinegraph::linear {

/// Where on the time axis an unknown of the system stands.
struct HorizonPlace {
  enum class Type : unsigned char {
    knot,      ///< a variable or a hard row of one knot
    interval,  ///< a variable between `knot` and the next one, or a hard row on such and on these two knots
    link,      ///< a hard row on `knot` and the next one alone
    border,    ///< of no time: a duration, or a hard row on such
  };
  Type type = Type::knot;
  int knot = 0;
};

/// One dense block of the elimination: its own unknowns, eliminated given those of its border.
struct HorizonNode {
  std::vector<int> own, border;   ///< unknowns
  std::vector<int> children;      ///< nodes whose border passes into this one
  std::vector<int> parent_place;  ///< per border row: its place in the parent's [own border]
  int parent = -1;
  struct Term {
    int value;                  ///< of the matrix …
    std::uint16_t row, column;  ///< … and its place in [own border], which are dense; row ≥ column
  };
  std::vector<Term> terms;

  int size() const { return static_cast<int>(own.size() + border.size()); }
};

/// The symbolic elimination of a symmetric system over time,
///
///     [ H  Jᵀ ]     H couples unknowns of one knot and of neighbours, J has rows on one knot (local) and on two
///     [ J  −C ]     neighbouring ones (links); a few unknowns, the border, may couple to all.
///
/// Slice first, then time. Three kinds of nodes, in this order:
///
///   slice k     unknowns of knot k that nothing outside the knot sees: controls, forces, multipliers of local rows;
///               and those of the interval that follows: controls and forces in its middle. Independent of each other.
///   time k      what is left of knot k, with the multipliers of the link towards the segment's start.
///   separator   the knots between segments, and at last the border.
///
/// The horizon is cut into segments at fixed places. The first is eliminated forward in time and the last one backward,
/// so that two segments meet in the middle at no extra cost: on a linear-quadratic problem that is the Riccati
/// recursion backward and its dual forward. Inner segments (more than two) carry both ends along.
class HorizonPlan {
 public:
  /// `entries`: both (i, j) and (j, i) mean the same; duplicates are summed. All diagonal entries exist anyway.
  /// `segments` = 0: two, or one where the horizon is short.
  HorizonPlan(int knots, std::vector<HorizonPlace> place, std::vector<RowKind> kind, std::span<const Entry> entries,
              int segments = 0);

  int size() const { return static_cast<int>(place_.size()); }
  int hard_rows() const { return hard_rows_; }
  int entries() const { return static_cast<int>(entries_.size()); }
  std::span<const HorizonPlace> place() const { return place_; }
  std::span<const RowKind> kind() const { return kind_; }
  std::span<const Entry> entry() const { return entries_; }
  std::span<const HorizonNode> nodes() const { return nodes_; }  ///< children before parents
  /// Nodes that may be eliminated at the same time: all slices.
  std::span<const int> slices() const { return slices_; }
  /// Runs of entries: every second one touches unknowns that no other such run does. One run: that could not be had.
  std::span<const std::pair<int, int>> runs() const { return runs_; }
  /// Per segment: its nodes one after the other. Segments are independent of each other.
  std::span<const std::vector<int>> segments() const { return segments_; }
  std::span<const int> separators() const { return separators_; }  ///< one after the other, at last
  /// The same with every slice right before the node that it passes into, which finds it in the cache; and the slices
  /// that pass into separators or into nothing, to be eliminated before those.
  std::span<const std::vector<int>> joined_segments() const { return joined_segments_; }
  std::span<const int> loose_slices() const { return loose_slices_; }

 private:
  void choose_groups(int knots, int segments);
  void add_group(std::vector<int> own, std::vector<int>& list);
  void find_borders();
  void place_terms();
  void find_runs();
  void join_slices();

  std::vector<HorizonPlace> place_;
  std::vector<RowKind> kind_;
  std::vector<Entry> entries_;
  std::vector<HorizonNode> nodes_;
  std::vector<int> node_of_;  // per unknown
  std::vector<int> slices_, separators_, loose_slices_;
  std::vector<std::vector<int>> segments_, joined_segments_;
  std::vector<std::pair<int, int>> runs_;
  int hard_rows_ = 0;
};

}  // namespace kinegraph::linear
