#pragma once

#include "kinegraph/model/robot.hpp"

namespace kinegraph {

/// Marks the joints that close loops. The first joint of every link leads to it, as far as that makes no loop; then
/// what connects parts that are still apart. Others, later in the file, close loops.
void mark_loops(Robot& robot);

/// Of each part that no joint ties to the world, the link that stands for it: the first without a parent, else the
/// first.
std::vector<LinkIndex> floating_roots(const Robot& robot);

}  // namespace kinegraph
