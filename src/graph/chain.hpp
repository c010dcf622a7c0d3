#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/graph/key.hpp"
#include "kinegraph/graph/noise.hpp"

namespace kinegraph {

class Graph;
class Values;

/// A variable of every knot (or of every interval's midpoint) of a chain. Vector-valued.
struct ChainVariable {
  Kind kind = Kind::user;
  std::string name;
  int size = 0;
  bool known = false;  ///< given, never solved for: time, recorded inputs, a prescribed motion
};

/// Where a slot of a link's factor lives.
enum class Place { from, middle, to };

struct ChainSlot {
  Place place = Place::from;
  int variable = 0;  ///< index into knot() (from, to) or middle()
};

/// A factor bound to variables of the chain, at every knot or over every interval.
struct ChainFactor {
  std::shared_ptr<const Factor> factor;
  std::vector<ChainSlot> slots;
  Role role = Role::cost;
  Noise noise;
};

/// A graph that repeats in time. Knot k holds the same variables and the same factors as knot k+1; a link ties two
/// successive knots, if need be through variables of its own (the midpoint of a Hermite-Simpson interval).
///
///     knot 0 ──link──▶ knot 1 ──link──▶ knot 2 …
///
/// Structure is therefore analysed once, however long the trajectory. unroll() writes it out as a plain Graph.
class Chain {
 public:
  int add_knot_variable(ChainVariable v);
  int add_middle_variable(ChainVariable v);

  /// A factor among the variables of one knot.
  void add_to_knot(std::shared_ptr<const Factor> f, const std::vector<int>& variables, Role role,
                   Noise noise = Noise::unit());
  /// A factor over one interval.
  void add_to_link(std::shared_ptr<const Factor> f, std::vector<ChainSlot> slots, Role role,
                   Noise noise = Noise::unit());

  const std::vector<ChainVariable>& knot() const { return knot_; }
  const std::vector<ChainVariable>& middle() const { return middle_; }
  const std::vector<ChainFactor>& knot_factors() const { return knot_factors_; }
  const std::vector<ChainFactor>& link_factors() const { return link_factors_; }

  int knot_size() const { return knot_size_; }  ///< numbers stored per knot
  int middle_size() const { return middle_size_; }
  int knot_offset(int variable) const { return knot_offset_[variable]; }
  int middle_offset(int variable) const { return middle_offset_[variable]; }

 private:
  std::vector<ChainVariable> knot_, middle_;
  std::vector<int> knot_offset_, middle_offset_;
  std::vector<ChainFactor> knot_factors_, link_factors_;
  int knot_size_ = 0, middle_size_ = 0;
};

/// The key of a chain's variable in the unrolled graph: its kind, the step, and as element its index where several
/// variables of the knot are of that kind. A middle variable has `half` set, and the step at which its interval starts.
Key knot_key(const Chain& chain, int variable, int step);
Key middle_key(const Chain& chain, int variable, int step);

/// The chain written out over `knots` knots (≥ 1; knots − 1 links). Known variables, and all variables of the knots in
/// `frozen`, are known in the graph. A middle variable is frozen with the interval, when both of its ends are.
Graph unroll(const Chain& chain, int knots, std::span<const int> frozen = {});
/// Its values: `knot` holds knots · knot_size() numbers, `middle` (knots − 1) · middle_size(); each step is contiguous.
Values unroll_values(const Chain& chain, int knots, std::span<const double> knot, std::span<const double> middle);

}  // namespace kinegraph
