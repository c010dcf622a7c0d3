#include "kinegraph/model/loops.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace kinegraph {
namespace {

/// Links that are connected; the world is the last.
class Parts {
 public:
  explicit Parts(std::size_t links) : above_(links + 1) { std::iota(above_.begin(), above_.end(), 0); }

  /// False if they were in one part already.
  bool join(LinkIndex a, LinkIndex b) {
    const int p = root(number(a)), q = root(number(b));
    above_[p] = q;
    return p != q;
  }

  int part_of(LinkIndex link) { return root(number(link)); }

 private:
  int number(LinkIndex link) const { return link.valid() ? link.value : static_cast<int>(above_.size()) - 1; }
  int root(int i) {
    while (above_[i] != i) i = above_[i] = above_[above_[i]];
    return i;
  }
  std::vector<int> above_;
};

}  // namespace

void mark_loops(Robot& robot) {
  Parts parts(robot.links.size());
  std::vector<bool> reached(robot.links.size());
  for (Joint& joint : robot.joints) {
    joint.closes_loop = true;
    if (!joint.child.valid() || reached[joint.child.value]) continue;
    joint.closes_loop = !parts.join(joint.parent, joint.child);
    reached[joint.child.value] = !joint.closes_loop;
  }
  for (Joint& joint : robot.joints) {
    if (joint.closes_loop) joint.closes_loop = !parts.join(joint.parent, joint.child);
  }
}

std::vector<LinkIndex> floating_roots(const Robot& robot) {
  Parts parts(robot.links.size());
  std::vector<bool> child(robot.links.size());
  for (const Joint& joint : robot.joints) {
    parts.join(joint.parent, joint.child);
    if (!joint.closes_loop && joint.child.valid()) child[joint.child.value] = true;
  }
  std::map<int, LinkIndex> root_of;  // parts
  const int world = parts.part_of(LinkIndex());
  for (int i = 0; i < static_cast<int>(robot.links.size()); ++i) {
    const int part = parts.part_of(LinkIndex(i));
    if (part == world) continue;
    const auto [root, fresh] = root_of.try_emplace(part, LinkIndex(i));
    if (!fresh && child[root->second.value] && !child[i]) root->second = LinkIndex(i);
  }
  std::vector<LinkIndex> roots;
  for (const auto& [part, root] : root_of) roots.push_back(root);
  std::sort(roots.begin(), roots.end());
  return roots;
}

std::vector<Joint> floating_bases(const Robot& robot) {
  if (robot.base != Robot::Base::floating) return {};
  std::vector<Joint> bases;
  const std::vector<LinkIndex> roots = floating_roots(robot);
  for (const LinkIndex root : roots) {
    Joint& base = bases.emplace_back();
    base.name = robot.base_name(robot.links[root.value].name, roots.size() == 1);
    base.type = JointType::floating;
    base.child = root;
    base.passive = true;
    base.initial_q.resize(7);
    (robot.X_WL.empty() ? SE3() : robot.X_WL[root.value]).store(base.initial_q.data());
    base.where = robot.links[root.value].where;
  }
  return bases;
}

}  // namespace kinegraph
