#pragma once

#include <compare>
#include <functional>

namespace kinegraph {

/// An integer that says what it counts: a BodyIndex is not a PointIndex.
template <class Tag>
struct Index {
  int value = -1;

  constexpr Index() = default;
  constexpr explicit Index(int v) : value(v) {}
  constexpr bool valid() const { return value >= 0; }
  constexpr auto operator<=>(const Index&) const = default;
};

using PointIndex = Index<struct PointTag>;
using BodyIndex = Index<struct BodyTag>;
using RelativeIndex = Index<struct RelativeTag>;  ///< a relative coordinate of a planar model
using LinkIndex = Index<struct LinkTag>;          ///< a link of a robot
using JointIndex = Index<struct JointTag>;        ///< a joint of a robot
using MotorIndex = Index<struct MotorTag>;

}  // namespace kinegraph

template <class Tag>
struct std::hash<kinegraph::Index<Tag>> {
  std::size_t operator()(kinegraph::Index<Tag> i) const noexcept { return std::hash<int>{}(i.value); }
};
