#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/graph/factor.hpp"
#include "kinegraph/graph/key.hpp"
#include "kinegraph/graph/noise.hpp"
#include "kinegraph/graph/values.hpp"

namespace kinegraph {

/// Which variables are given. They keep their values and have no columns: the only difference between inverse, forward
/// and hybrid problems.
class Known {
 public:
  void insert(const Key& key) { keys_.insert(key); }
  void erase(const Key& key) { keys_.erase(key); }
  bool contains(const Key& key) const { return keys_.contains(key); }
  int size() const { return static_cast<int>(keys_.size()); }

 private:
  std::unordered_set<Key> keys_;
};

/// A factor tied to its variables.
struct BoundFactor {
  std::shared_ptr<const Factor> factor;
  std::vector<Key> keys;  ///< one per slot
  Role role = Role::cost;
  Noise noise;  ///< of a cost, or of an inequality made a hinge; a hard equality has none
  Loss loss = Loss::none();
};

std::string to_string(const BoundFactor& f);          ///< "trapezoidal (q0, q1, v0, v1)"
std::string row_name(const BoundFactor& f, int row);  ///< "distance P1-P2 (q3)"

/// A graph made ready for numbers: which columns its unknowns have and which rows its factors. Unknowns are the
/// variables that some factor touches and that are not known; they have columns in the order of Values.
struct Structure {
  std::vector<int> variable;  ///< per variable of Values: its first column, or −1 (known, or touched by no factor)
  std::vector<int> columns;   ///< per column: the variable it belongs to
  std::vector<int> row;       ///< per factor: first row among those of its role; −1: only known variables
  std::vector<int> constant;  ///< factors that touch only known variables: nothing to solve in them
  int unknowns = 0;           ///< columns
  int cost_rows = 0, hard_rows = 0, inequality_rows = 0;

  std::string counts() const;  ///< "12 unknowns, 14 equations (10 hard, 4 soft), 3 inequalities"
};

/// Factors and what they are tied to. Values are kept apart.
class Graph {
 public:
  /// Returns the factor's index. Throws std::invalid_argument on a null factor or a wrong number of keys.
  int add(std::shared_ptr<const Factor> factor, std::vector<Key> keys, Role role = Role::cost,
          Noise noise = Noise::unit(), Loss loss = Loss::none());

  int size() const { return static_cast<int>(factors_.size()); }
  const BoundFactor& operator[](int i) const { return factors_[i]; }
  const std::vector<BoundFactor>& factors() const { return factors_; }
  Known& known() { return known_; }
  const Known& known() const { return known_; }

  /// Checks every factor against the values and numbers columns and rows. All faults are reported, not the first:
  /// `trapezoidal (q0, q1): slot 1: no value for q1`.
  Result<Structure> structure(const Values& values) const;

 private:
  std::vector<BoundFactor> factors_;
  Known known_;
};

}  // namespace kinegraph
