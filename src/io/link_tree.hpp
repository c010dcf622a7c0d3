#pragma once

#include "kinegraph/io/findings.hpp"
#include "kinegraph/model/robot.hpp"

namespace kinegraph::io {

/// Where the links of a file that gives only joints are: at q = 0 of all joints, along the first path (in the order of
/// the file) from a link that is no joint's child. A further joint with the same child closes a loop; its zero is the
/// pose so drawn:
///     X_CM = X_WC⁻¹ X_WP X_PF
/// Links that no such path reaches hang in a cycle without a root, which is an error.
void place_links(Robot& robot, Findings& findings);

/// Links that a joint moves and that have no mass, with all that is fixed to them: a warning.
void warn_of_massless(const Robot& robot, Findings& findings);

}  // namespace kinegraph::io
