#include "kinegraph/task/spatial_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "kinegraph/model/joint_names.hpp"

namespace kinegraph::task {
namespace {

const char* const kBase = "base";

/// Where the number of a column goes.
using Places = std::unordered_map<std::string, int*>;

void add_places(const std::vector<std::string>& names, std::span<int> series, Places& places) {
  for (std::size_t i = 0; i < names.size(); ++i) places.emplace(names[i], &series[i]);
}

/// What verbs write of a robot that says nothing about its motion or forces.
std::unordered_set<std::string> written_besides(const screw::Tree& tree, const std::vector<Point>& points) {
  std::unordered_set<std::string> names;
  const auto add = [&names](const std::vector<std::string>& more) { names.insert(more.begin(), more.end()); };
  for (const Link& link : tree.robot().links) {
    add(position_names(link.name, JointType::floating));
    add(velocity_names(link.name, JointType::floating));
    add(acceleration_names(link.name, JointType::floating));
  }
  for (const Joint& joint : tree.robot().joints) {
    add(wrench_names(joint.name + ".reaction"));
    if (!joint.mimic) continue;
    add(position_names(joint.name, joint.type));
    add(velocity_names(joint.name, joint.type));
    add(acceleration_names(joint.name, joint.type));
    add(torque_names(joint.name, joint.type));
  }
  names.insert("clearance");  // of a plan
  for (const Point& point : points) {
    for (const char* quantity : {".x", ".y", ".vx", ".vy", ".ax", ".ay"}) names.insert(point.name + quantity);
  }
  return names;
}

class ColumnFinder {
 public:
  ColumnFinder(const screw::Tree& tree, const Trajectory& table, const std::vector<Point>& points)
      : tree_(tree), table_(table), points_(points) {}

  Result<SpatialColumns> find() {
    prepare();
    const std::unordered_set<std::string> passed_over = written_besides(tree_, points_);
    for (int s = 0; s < table_.series(); ++s) {
      const std::string& name = table_.names()[s];
      if (const auto place = places_.find(name); place != places_.end()) {
        *place->second = s;
      } else if (!passed_over.contains(name)) {
        fault(s, fmt::format("'{}' is no quantity of the robot{}", name, did_you_mean(name, valid_names())));
      }
    }
    settle_base();
    for (const screw::Coordinate& c : tree_.coordinates()) {
      complete(tree_.position_names(), columns_.q, c.q, c.stored);
      complete(tree_.velocity_names(), columns_.v, c.v, c.freedoms);
      complete(tree_.acceleration_names(), columns_.a, c.v, c.freedoms);
      complete(tree_.torque_names(), columns_.tau, c.v, c.freedoms);
    }
    std::erase_if(columns_.loads, [](const SpatialColumns::Load& load) {
      return std::all_of(load.wrench.begin(), load.wrench.end(), [](int s) { return s < 0; });
    });
    if (!faults_.diagnostics.empty()) return faults_;
    return std::move(columns_);
  }

 private:
  void prepare() {
    columns_.q.assign(tree_.stored(), -1);
    columns_.v.assign(tree_.freedoms(), -1);
    columns_.a = columns_.tau = columns_.u = columns_.v;
    add_places(tree_.position_names(), columns_.q, places_);
    add_places(tree_.velocity_names(), columns_.v, places_);
    add_places(tree_.acceleration_names(), columns_.a, places_);
    add_places(tree_.torque_names(), columns_.tau, places_);
    for (const screw::Coordinate& c : tree_.coordinates()) {
      if (c.freedoms == 1) places_.emplace(c.name + ".u", &columns_.u[c.v]);
    }
    const std::vector<Link>& links = tree_.robot().links;
    columns_.loads.resize(links.size());
    for (std::size_t l = 0; l < links.size(); ++l) {
      columns_.loads[l].link = static_cast<int>(l);
      add_places(wrench_names(links[l].name + ".load"), columns_.loads[l].wrench, places_);
    }
    if (tree_.find_coordinate(kBase) >= 0) return;
    add_places(position_names(kBase, JointType::floating), columns_.base.q, places_);
    add_places(velocity_names(kBase, JointType::floating), columns_.base.v, places_);
    add_places(acceleration_names(kBase, JointType::floating), columns_.base.a, places_);
  }

  /// A pose alone, where a link is called `base`, is that of the link, as verbs write it.
  void settle_base() {
    SpatialColumns::Base& base = columns_.base;
    const auto any = [](const auto& series) {
      return std::any_of(series.begin(), series.end(), [](int s) { return s >= 0; });
    };
    const bool rates = any(base.v) || any(base.a);
    const bool turned = any(std::span(base.q).first(4));
    if (!rates && tree_.robot().find_link(kBase) >= 0) base = {};
    base.moves = rates || (turned && any(base.q));
    if (base.moves && turned) complete(position_names(kBase, JointType::floating), base.q, 0, 4);
  }

  /// Numbers that belong together are there or not, all of them.
  void complete(const std::vector<std::string>& names, std::span<const int> series, int first, int count) {
    const auto part = series.subspan(first, count);
    const auto there = std::find_if(part.begin(), part.end(), [](int s) { return s >= 0; });
    const auto absent = std::find(part.begin(), part.end(), -1);
    if (there == part.end() || absent == part.end()) return;
    fault(*there, fmt::format("'{}' is there, but '{}' is missing", names[first + (there - part.begin())],
                              names[first + (absent - part.begin())]));
  }

  std::vector<std::string> valid_names() const {
    std::vector<std::string> names;
    for (const auto& [name, place] : places_) names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
  }

  void fault(int series, std::string message) {
    faults_.diagnostics.push_back({Severity::error, header_of(table_, series), std::move(message)});
  }

  const screw::Tree& tree_;
  const Trajectory& table_;
  const std::vector<Point>& points_;
  SpatialColumns columns_;
  Places places_;
  Failure faults_{Failure::Kind::bad_input, {}};
};

}  // namespace

std::vector<std::string> wrench_names(const std::string& element) { return torque_names(element, JointType::floating); }

Location header_of(const Trajectory& table, int series) {
  const bool known = series >= 0 && series < static_cast<int>(table.columns.size());
  return {table.file, table.header_line, known ? table.columns[series] : table.file.empty() ? 0 : 1};
}

Location row_of(const Trajectory& table, int sample) {
  const bool known = sample < static_cast<int>(table.lines.size());
  return {table.file, known ? table.lines[sample] : 0, known && !table.file.empty() ? 1 : 0};
}

Result<SpatialColumns> find_spatial_columns(const screw::Tree& tree, const Trajectory& table,
                                            const std::vector<Point>& points) {
  return ColumnFinder(tree, table, points).find();
}

}  // namespace kinegraph::task
