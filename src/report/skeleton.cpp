#include "kinegraph/report/skeleton.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace kinegraph::report {

std::vector<std::vector<int>> Skeleton::children() const {
  std::vector<std::vector<int>> list(parent.size());
  for (int i = 0; i < bodies(); ++i) {
    if (parent[i] >= 0) list[parent[i]].push_back(i);
  }
  return list;
}

int Skeleton::home(int wanted) const {
  for (int i = 0; i < bodies(); ++i) {
    if (coordinate[i] == wanted) return i;
  }
  for (std::size_t l = 0; l < loops.size(); ++l) {
    if (loops[l].coordinate == wanted) return bodies() + static_cast<int>(l);
  }
  return 0;
}

Skeleton skeleton(const screw::Tree& tree) {
  Skeleton s;
  for (const screw::Body& body : tree.bodies()) {
    s.parent.push_back(body.parent);
    s.coordinate.push_back(body.joint.coordinate);
    s.names.push_back(body.joint.coordinate >= 0 ? tree.coordinates()[body.joint.coordinate].name : body.name);
  }
  for (const screw::Loop& loop : tree.loops()) s.loops.push_back({loop.a, loop.b, loop.via.coordinate, loop.name});
  s.coordinates = static_cast<int>(tree.coordinates().size());
  for (const screw::Coordinate& c : tree.coordinates()) {
    bool armature = false, friction = false;
    for (const JointDynamics& d : c.dynamics) {
      armature |= d.armature != 0;
      friction |= d.damping != 0 || d.friction != 0 || d.stiffness != 0;
    }
    s.armature.push_back(armature);
    s.friction.push_back(friction);
  }
  return s;
}

std::vector<Cell> cells(const Skeleton& skeleton) {
  const int n = skeleton.bodies();
  std::vector<Cell> cells(n + skeleton.loops.size());
  const auto children = skeleton.children();
  for (int i = 0; i < n; ++i) cells[i].column = skeleton.parent[i] < 0 ? 1 : cells[skeleton.parent[i]].column + 1;

  // Leaves are numbered in the order in which a walk along the branches meets them.
  int lanes = 0;
  std::vector<int> waiting;
  for (int i = n - 1; i >= 0; --i) {
    if (skeleton.parent[i] < 0) waiting.push_back(i);
  }
  while (!waiting.empty()) {
    const int body = waiting.back();
    waiting.pop_back();
    if (children[body].empty()) cells[body].lane = lanes++;
    waiting.insert(waiting.end(), children[body].rbegin(), children[body].rend());
  }
  for (int i = n - 1; i >= 0; --i) {
    if (!children[i].empty()) cells[i].lane = cells[children[i][(children[i].size() - 1) / 2]].lane;
  }

  // A loop stands beyond both of its ends, in the nearest lane with room.
  std::set<std::pair<int, int>> taken;
  for (int i = 0; i < n; ++i) taken.emplace(cells[i].column, cells[i].lane);
  for (std::size_t l = 0; l < skeleton.loops.size(); ++l) {
    const auto& loop = skeleton.loops[l];
    Cell cell{1, 0};
    int sum = 0, ends = 0;
    for (const int end : {loop.a, loop.b}) {
      if (end < 0) continue;
      cell.column = std::max(cell.column, cells[end].column + 1);
      sum += cells[end].lane, ++ends;
    }
    const int wanted = ends > 0 ? sum / ends : 0;
    for (int offset = 0;; ++offset) {
      cell.lane = wanted + (offset % 2 == 0 ? offset / 2 : -(offset + 1) / 2);
      if (cell.lane >= 0 && taken.emplace(cell.column, cell.lane).second) break;
    }
    cells[n + l] = cell;
  }
  return cells;
}

}  // namespace kinegraph::report
