#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/graph/manifold.hpp"
#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::screw {

/// The state of a whole robot as variables: the pose and twist of a base that floats, and the positions and rates of
/// all joints as one vector. In the tree's order, so that both together are its q and v.
struct StateSlots {
  explicit StateSlots(const Tree& tree)
      : floating(!tree.coordinates().empty() && tree.coordinates()[0].type == JointType::floating),
        joints(tree.freedoms() - (floating ? 6 : 0)) {}

  /// Why a robot's state is none of this kind; empty if it is.
  static std::string refusal(const Tree& tree) {
    for (std::size_t i = 0; i < tree.coordinates().size(); ++i) {
      const Coordinate& c = tree.coordinates()[i];
      const bool base = i == 0 && c.type == JointType::floating;
      if (!base && (c.freedoms != 1 || c.stored != 1)) return "joint '" + c.name + "' is " + to_string(c.type);
    }
    return "";
  }

  int slots() const { return (floating ? 1 : 0) + (joints > 0 ? 1 : 0); }  ///< of a position, or of a rate
  int freedoms() const { return joints + (floating ? 6 : 0); }

  void add_position(std::vector<int>& stored, std::vector<int>& tangent) const {
    if (floating) stored.push_back(7), tangent.push_back(6);
    if (joints > 0) stored.push_back(joints), tangent.push_back(joints);
  }
  void add_rate(std::vector<int>& stored, std::vector<int>& tangent) const {
    if (floating) stored.push_back(6), tangent.push_back(6);
    if (joints > 0) stored.push_back(joints), tangent.push_back(joints);
  }
  void add_manifolds(std::vector<Manifold>& all) const {
    if (floating) all.push_back(Manifold::se3());
    if (joints > 0) all.push_back(Manifold::real(joints));
  }

  /// The numbers of slots `first` and following, one after the other.
  void position(Slots x, int first, double* q) const {
    if (floating) q = std::copy_n(x[first++], 7, q);
    if (joints > 0) std::copy_n(x[first], joints, q);
  }
  void rate(Slots x, int first, double* v) const {
    if (floating) v = std::copy_n(x[first++], 6, v);
    if (joints > 0) std::copy_n(x[first], joints, v);
  }

  bool floating;
  int joints;
};

/// Slots of a factor that sees the state up to some derivative: 1: q, 2: q and v, 3: q, v and a.
struct StateSizes {
  StateSizes(const StateSlots& state, int levels) {
    state.add_position(stored, tangent);
    for (int level = 1; level < levels; ++level) state.add_rate(stored, tangent);
  }
  std::vector<int> stored, tangent;
};

}  // namespace kinegraph::screw
