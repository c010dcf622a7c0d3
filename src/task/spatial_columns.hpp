#pragma once

#include <array>
#include <string>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

/// Which columns of a table stand for which numbers of a robot. A series is −1 where the table has no such column.
struct SpatialColumns {
  std::vector<int> q, v, a, tau;  ///< per number of Tree: a series
  std::vector<int> u;             ///< per freedom: its motor's control, of joints of one freedom

  /// A wrench on a link from outside: at its frame's origin, in the world's axes.
  struct Load {
    int link = 0;
    std::array<int, 6> wrench = {-1, -1, -1, -1, -1, -1};  ///< moment, then force
  };
  std::vector<Load> loads;

  /// How a robot that stands fixed is carried around, named like a floating joint `base`: twist and acceleration seen
  /// from the base.
  struct Base {
    std::array<int, 7> q = {-1, -1, -1, -1, -1, -1, -1};
    std::array<int, 6> v = {-1, -1, -1, -1, -1, -1}, a = {-1, -1, -1, -1, -1, -1};
    bool moves = false;
  };
  Base base;
};

/// Finds them by name ("shoulder.q", "hand.load.fx", "base.wz"). Link poses, reactions and joints that mimic others,
/// which verbs write too, are passed over; a name that means nothing is refused with the nearest one, and so is a part
/// of numbers that belong together (three numbers of a quaternion). `points`: those of a planar model, whose motion is
/// passed over as well.
Result<SpatialColumns> find_spatial_columns(const screw::Tree& tree, const Trajectory& table,
                                            const std::vector<Point>& points = {});

/// The six names of a wrench: "hand.load.mx" …, "j.reaction.mx" ….
std::vector<std::string> wrench_names(const std::string& element);

/// The place of a series' name in its file.
Location header_of(const Trajectory& table, int series = -1);
/// The place of a sample in its file.
Location row_of(const Trajectory& table, int sample);

}  // namespace kinegraph::task
