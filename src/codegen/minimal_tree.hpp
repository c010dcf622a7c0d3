#pragma once

#include <memory>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::codegen {

/// A robot whose equations of motion are those of a Tree, with as few numbers in them as can be:
///
/// - Rotations between joints whose entries are 0 or ±1 to 1e-9 are so exactly.
/// - The frame of a body on a turning joint may slide along the joint's axis: nothing about the joint changes. It is
/// put
///   where the offsets to its neighbours have most zeros (axes that meet share their origin, as in Denavit and
///   Hartenberg's rules).
/// - What of a body's inertia the turning of its own joint cannot show is given to its parent (the base parameters of
///   identification): a mass at the joint's axis, its moment along the axis, and a disc without thickness, Ixx = Iyy
///   alone. Of a slide: all rotational inertia. Torques and accelerations of joints do not change; the wrenches
///   between bodies do, so these are no results of generated code.
struct MinimalTree {
  struct Body {
    int parent = -1;
    screw::ScrewJoint joint;
    screw::Transform<double> X_PF;  ///< the joint's frame F on the parent
    screw::Matrix6d inertia;        ///< G about the frame's origin, regrouped
    screw::Transform<double> X_BN;  ///< the new frame in the frame of Tree's body
    std::vector<int> children;
  };
  struct Loop {
    int a = -1, b = -1;
    screw::Transform<double> X_AF, X_BM;
    screw::ScrewJoint via;
  };

  explicit MinimalTree(std::shared_ptr<const screw::Tree> source);

  std::shared_ptr<const screw::Tree> tree;
  std::vector<Body> bodies;
  std::vector<Loop> loops;

 private:
  void slide_frames();
  void regroup_inertias();
  int zeros_around(int body) const;
  void slide(int body, double distance);
};

}  // namespace kinegraph::codegen
