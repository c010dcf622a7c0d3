#pragma once

#include <tuple>
#include <vector>

#include "kinegraph/mechanics/natural/absolute_angle.hpp"
#include "kinegraph/mechanics/natural/body_torque_force.hpp"
#include "kinegraph/mechanics/natural/constant_distance.hpp"
#include "kinegraph/mechanics/natural/coordinate_spring_force.hpp"
#include "kinegraph/mechanics/natural/driver_constraint.hpp"
#include "kinegraph/mechanics/natural/placed.hpp"
#include "kinegraph/mechanics/natural/point_load_force.hpp"
#include "kinegraph/mechanics/natural/relative_angle.hpp"
#include "kinegraph/mechanics/natural/relative_position.hpp"
#include "kinegraph/mechanics/natural/rigid_point.hpp"
#include "kinegraph/mechanics/natural/slider_constraint.hpp"
#include "kinegraph/mechanics/natural/spring_force.hpp"

namespace kinegraph::natural {

template <template <class> class Placed, class... Equation>
using ListsOf = std::tuple<std::vector<Placed<Equation>>...>;

/// Every type of constraint: one line each.
using Constraints = ListsOf<PlacedConstraint,  //
                            ConstantDistance,  //
                            RigidPoint,        //
                            SliderConstraint,  //
                            AbsoluteAngle,     //
                            RelativeAngle,     //
                            RelativePosition,  //
                            DriverConstraint>;

/// Every type of force that depends on the state or on time: one line each. Constant forces are summed beforehand.
using Forces = ListsOf<PlacedForce,            //
                       SpringForce,            //
                       CoordinateSpringForce,  //
                       PointLoadForce,         //
                       BodyTorqueForce>;

/// Calls f for every element of every list: no virtual call, the loop of each type is compiled for it.
template <class Lists, class F>
void for_each(Lists& lists, F&& f) {
  const auto visit = [&f](auto& list) {
    for (auto& element : list) f(element);
  };
  std::apply([&visit](auto&... list) { (visit(list), ...); }, lists);
}

}  // namespace kinegraph::natural
