#include "kinegraph/io/link_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

#include "kinegraph/base/names.hpp"

namespace kinegraph::io {
namespace {

/// The joints by which links hang on a root, and the order in which they are reached.
class Growth {
 public:
  explicit Growth(const Robot& robot)
      : robot_(robot), first_(robot.links.size(), -1), reached_(robot.links.size()), below_(robot.links.size()) {
    for (int j = 0; j < static_cast<int>(robot.joints.size()); ++j) {
      const Joint& joint = robot.joints[j];
      if (first_[joint.child.value] < 0) first_[joint.child.value] = j;
      if (joint.parent.valid()) below_[joint.parent.value].push_back(j);
    }
    for (int l = 0; l < static_cast<int>(first_.size()); ++l) {
      const bool root = first_[l] < 0;
      if (root) roots_.push_back(l);
      if (root || !robot.joints[first_[l]].parent.valid()) reach(l);
    }
    for (int j = 0; j < static_cast<int>(robot.joints.size()); ++j) {
      if (!robot.joints[j].parent.valid()) candidates_.push(j);
    }
    // A link whose first joint hangs in a cycle may have another that does not.
    while (!candidates_.empty()) {
      const int j = candidates_.top(), child = robot.joints[j].child.value;
      candidates_.pop();
      if (reached_[child]) continue;
      first_[child] = j;
      reach(child);
    }
  }

  const std::vector<int>& roots() const { return roots_; }
  const std::vector<int>& order() const { return order_; }
  int first(int link) const { return first_[link]; }  ///< the joint on which the link hangs, or −1

  /// A joint of a cycle that no root reaches, or −1.
  int cycle() const {
    const auto lost = std::find(reached_.begin(), reached_.end(), false);
    if (lost == reached_.end()) return -1;
    // From child to parent: after as many steps as there are links we are in the cycle.
    int joint = first_[lost - reached_.begin()];
    for (std::size_t i = 0; i < reached_.size(); ++i) joint = first_[robot_.joints[joint].parent.value];
    int least = joint;
    for (int j = first_[robot_.joints[joint].parent.value]; j != joint; j = first_[robot_.joints[j].parent.value]) {
      least = std::min(least, j);
    }
    return least;
  }

 private:
  /// A link and all that hangs on it by first joints.
  void reach(int link) {
    std::size_t next = order_.size();
    reached_[link] = true;
    order_.push_back(link);
    for (; next < order_.size(); ++next) {
      for (const int j : below_[order_[next]]) {
        const int child = robot_.joints[j].child.value;
        if (reached_[child]) continue;
        if (first_[child] != j) {
          candidates_.push(j);
          continue;
        }
        reached_[child] = true;
        order_.push_back(child);
      }
    }
  }

  const Robot& robot_;
  std::vector<int> first_, roots_, order_;
  std::vector<bool> reached_;
  std::vector<std::vector<int>> below_;                                    // joints per parent
  std::priority_queue<int, std::vector<int>, std::greater<>> candidates_;  // joints of reached links, the least first
};

}  // namespace

void place_links(Robot& robot, Findings& findings) {
  const Growth growth(robot);
  if (const int j = growth.cycle(); j >= 0) {
    return findings.error(
        robot.joints[j].where,
        fmt::format("joint {} is part of a cycle without a root: each of its links is the child of another",
                    quote(robot.joints[j].name)));
  }
  if (growth.roots().size() > 1) {
    std::vector<std::string> names;
    for (const int root : growth.roots()) names.push_back(quote(robot.links[root].name));
    constexpr std::size_t kMostNames = 5;
    if (names.size() > kMostNames) names.resize(kMostNames), names.emplace_back("…");
    findings.warning("roots", robot.links[growth.roots()[1]].where,
                     fmt::format("{} links have no parent: {}; each stands in the world by itself",
                                 growth.roots().size(), fmt::join(names, ", ")));
  }
  robot.X_WL.assign(robot.links.size(), SE3());
  const auto pose_of = [&](LinkIndex link) { return link.valid() ? robot.X_WL[link.value] : SE3(); };
  for (const int link : growth.order()) {
    if (growth.first(link) < 0) continue;
    const Joint& joint = robot.joints[growth.first(link)];
    robot.X_WL[link] = pose_of(joint.parent) * joint.X_PF * joint.X_CM.inverse();
  }
  for (int j = 0; j < static_cast<int>(robot.joints.size()); ++j) {
    Joint& joint = robot.joints[j];
    if (growth.first(joint.child.value) == j) continue;
    joint.closes_loop = true;
    joint.X_CM = pose_of(joint.child).inverse() * pose_of(joint.parent) * joint.X_PF;
  }
}

void warn_of_massless(const Robot& robot, Findings& findings) {
  // Links that fixed joints unite, by the least link of each such body.
  std::vector<int> body(robot.links.size());
  std::iota(body.begin(), body.end(), 0);
  const auto of = [&](int link) {
    while (body[link] != link) link = body[link] = body[body[link]];
    return link;
  };
  for (const Joint& joint : robot.joints) {
    if (joint.type != JointType::fixed || !joint.parent.valid()) continue;
    const int a = of(joint.parent.value), b = of(joint.child.value);
    body[std::max(a, b)] = std::min(a, b);
  }
  std::vector<bool> massive(robot.links.size()), warned(robot.links.size());
  for (int l = 0; l < static_cast<int>(robot.links.size()); ++l) {
    const Inertia& inertia = robot.links[l].inertia;
    if (inertia.mass != 0 || !inertia.about_com.isZero(0)) massive[of(l)] = true;
  }
  for (const Joint& joint : robot.joints) {
    if (joint.type == JointType::fixed || joint.closes_loop) continue;
    const int moved = of(joint.child.value);
    if (massive[moved] || warned[moved]) continue;
    warned[moved] = true;
    const Link& link = robot.links[joint.child.value];
    findings.warning("massless", link.where,
                     fmt::format("link {} has no mass but joint {} moves it", quote(link.name), quote(joint.name)),
                     quote(link.name));
  }
}

}  // namespace kinegraph::io
