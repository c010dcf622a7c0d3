#pragma once

#include "kinegraph/model/robot.hpp"

namespace kinegraph {

/// Marks the joints that close loops. The first joint of every link leads to it, as far as that makes no loop; then
/// what connects parts that are still apart. Others, later in the file, close loops.
void mark_loops(Robot& robot);

/// Of each part that no joint ties to the world, the link that stands for it: the first without a parent, else the
/// first.
std::vector<LinkIndex> floating_roots(const Robot& robot);

/// The joints that hold these in the world, named as the results name them: none of a robot that stands. They are no
/// joints of the robot, unless someone adds them.
std::vector<Joint> floating_bases(const Robot& robot);

}  // namespace kinegraph
