#pragma once

#include <stdexcept>

#include "kinegraph/mechanics/screw/joint/ball.hpp"
#include "kinegraph/mechanics/screw/joint/cylindrical.hpp"
#include "kinegraph/mechanics/screw/joint/fixed.hpp"
#include "kinegraph/mechanics/screw/joint/floating.hpp"
#include "kinegraph/mechanics/screw/joint/planar.hpp"
#include "kinegraph/mechanics/screw/joint/prismatic.hpp"
#include "kinegraph/mechanics/screw/joint/revolute.hpp"
#include "kinegraph/mechanics/screw/joint/screw.hpp"
#include "kinegraph/mechanics/screw/joint/universal.hpp"
#include "kinegraph/model/robot.hpp"

namespace kinegraph::screw {

/// Calls f with the joint's type: visit_joint(type, [&](auto joint) { return decltype(joint)::kFreedoms; }).
/// The list of all joint types: a new one is its header and a line here.
template <class F>
decltype(auto) visit_joint(JointType type, F&& f) {
  switch (type) {
    case JointType::revolute:
    case JointType::continuous:
      return f(Revolute{});
    case JointType::prismatic:
      return f(Prismatic{});
    case JointType::screw:
      return f(Screw{});
    case JointType::universal:
      return f(Universal{});
    case JointType::cylindrical:
      return f(Cylindrical{});
    case JointType::planar:
      return f(Planar{});
    case JointType::ball:
      return f(Ball{});
    case JointType::floating:
      return f(Floating{});
    case JointType::fixed:
      return f(Fixed{});
  }
  throw std::logic_error("unknown joint type");
}

}  // namespace kinegraph::screw
