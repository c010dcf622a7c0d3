#pragma once

#include <string>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::report {

/// How the bodies of a robot hang together: all that a picture of its graph needs to know of it.
struct Skeleton {
  struct Loop {
    int a = -1, b = -1;  ///< bodies; −1: the ground
    int coordinate = -1;
    std::string name;
  };
  std::vector<int> parent;         ///< per body; −1: the ground
  std::vector<int> coordinate;     ///< per body: that of its joint; −1: none
  std::vector<std::string> names;  ///< per body: its joint's name, else its own
  std::vector<Loop> loops;
  int coordinates = 0;
  std::vector<bool> armature;  ///< per coordinate: its torque factor holds the acceleration too
  std::vector<bool> friction;  ///< per coordinate: damping, friction or a spring act

  int bodies() const { return static_cast<int>(parent.size()); }
  std::vector<std::vector<int>> children() const;
  /// The place in `parent` (or bodies() + loop) where a coordinate is drawn.
  int home(int coordinate) const;
};

Skeleton skeleton(const screw::Tree& tree);

/// Where bodies and loops stand: how far from the ground, and in which lane. Every branch has its own lane, a body
/// stands in that of its middle child; no two share a cell.
struct Cell {
  int column = 1;
  int lane = 0;
};
std::vector<Cell> cells(const Skeleton& skeleton);  ///< bodies, then loops

}  // namespace kinegraph::report
