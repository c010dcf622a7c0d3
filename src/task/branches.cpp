#include "kinegraph/task/branches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/task/branch_search.hpp"
#include "kinegraph/task/spatial_start.hpp"
#include "kinegraph/task/start.hpp"

namespace kinegraph::task {

// A planar mechanism is one part; a robot has one for each set of loops, each with branches of its own. The branches of
// the machine are all combinations.
struct Branches::Implementation {
  std::vector<std::unique_ptr<BranchSearch>> parts;
  std::vector<LoopConfigurations*> loops;  // the spaces of the parts, of a robot
  std::shared_ptr<const natural::System> system;
  NaturalConfigurations* natural = nullptr;
  std::shared_ptr<const screw::Tree> tree;
  Eigen::VectorXd start;
  std::uint64_t seed = 0;
  int count = 1, freedoms = 0, arcs = 1;
  bool certain = true, meeting = false;
  std::vector<std::string> names;

  void summarise();
  std::vector<Configuration> driven(int n);
  std::vector<Configuration> planar(int n);
  std::vector<Configuration> spatial(int n);
  void scatter(Random& random, Eigen::VectorXd& q) const;
};

namespace {

/// The number of q named by the user, or of the first independent coordinate; −1 with none.
Result<int> spread_coordinate(const std::vector<std::string>& names, const std::string& wanted, int fallback) {
  if (wanted.empty()) return fallback;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted || names[i] == wanted + ".q") return static_cast<int>(i);
  }
  return Failure::bad_input(
      fmt::format("branches: unknown coordinate {}{}", quote(wanted), did_you_mean(wanted, names)));
}

Result<Branches> planar_branches(const Model& model, const BranchOptions& options) {
  auto start = make_start(model);
  if (!start) return start.failure();
  auto self = std::make_shared<Branches::Implementation>();
  self->system = start->system;
  self->start = start->q;
  self->seed = options.seed;
  std::vector<std::string> names;
  for (int i = 0; i < start->system->coordinates(); ++i) names.push_back(start->system->coordinate_name(i));
  auto space = std::make_unique<NaturalConfigurations>(std::make_shared<const Model>(model), start->system, 0);
  self->natural = space.get();
  // An angle or a stroke that was declared; coordinates of points are spread unevenly over a turn, the curve is not.
  int first = -1;
  for (int c : start->mobility.independent) {
    const bool declared = c >= start->system->coordinates() - static_cast<int>(model.relative.size());
    if (first < 0 && declared) first = c;
  }
  auto chosen = spread_coordinate(names, options.coordinate, first);
  if (!chosen) return chosen.failure();
  const BranchSearch::Spread spread{*chosen, *chosen >= 0 && space->angle(*chosen)};
  self->parts.push_back(std::make_unique<BranchSearch>(std::move(space), start->q, options.seed, spread));
  self->freedoms = self->parts[0]->freedoms();
  self->summarise();
  return Branches(self);
}

Result<Branches> spatial_branches(const Model& model, const BranchOptions& options) {
  auto start = make_spatial_start(model);
  if (!start) return start.failure();
  auto self = std::make_shared<Branches::Implementation>();
  self->tree = start->tree;
  self->start = start->q;
  self->seed = options.seed;
  const screw::Tree& tree = *start->tree;
  auto wanted = spread_coordinate(tree.position_names(), options.coordinate, -1);
  if (!wanted) return wanted.failure();
  std::vector<int> sets;
  for (const screw::Coordinate& c : tree.coordinates()) {
    if (c.in_loop && std::find(sets.begin(), sets.end(), c.loop_set) == sets.end()) sets.push_back(c.loop_set);
    if (!c.in_loop) self->freedoms += c.freedoms;
  }
  for (const int set : sets) {
    auto space = std::make_unique<LoopConfigurations>(start->tree, set, start->q);
    BranchSearch::Spread spread;
    for (const screw::Coordinate& c : tree.coordinates()) {
      if (c.loop_set != set || c.stored != c.freedoms) continue;
      const bool named = *wanted >= c.q && *wanted < c.q + c.stored;
      const auto& independent = start->mobility.independent;
      const bool free = std::find(independent.begin(), independent.end(), c.v) != independent.end();
      if (!named && (spread.coordinate >= 0 || !free)) continue;
      const bool turns = c.type == JointType::revolute || c.type == JointType::continuous;
      spread = {named ? *wanted : c.q, turns};
      if (named) break;
    }
    self->loops.push_back(space.get());
    self->parts.push_back(std::make_unique<BranchSearch>(std::move(space), start->q, options.seed, spread));
    self->freedoms += self->parts.back()->freedoms();
  }
  self->summarise();
  return Branches(self);
}

}  // namespace

void Branches::Implementation::summarise() {
  count = arcs = 1;
  for (const auto& part : parts) {
    count *= part->count();
    arcs *= part->arcs();
    certain = certain && part->certain();
    meeting = meeting || part->meeting();
  }
  names.assign(count, "");
  for (int b = 0, all = count; b < count && all > 1; ++b) {
    int rest = b;
    for (const auto& part : parts) {
      const std::string name = part->names()[rest % part->count()];
      rest /= part->count();
      if (!name.empty()) names[b] += (names[b].empty() ? "" : ", ") + name;
    }
  }
  for (int b = 0; b < count && count > 1; ++b) {
    const bool same = std::count(names.begin(), names.end(), names[b]) > 1;
    if (names[b].empty() || same) names[b] = fmt::format("branch {}", b + 1);
  }
}

/// Where the machine can be when its drivers say where it is.
std::vector<Configuration> Branches::Implementation::driven(int n) {
  const auto drivers = natural->drivers(start);
  std::vector<Configuration> list;
  std::vector<std::vector<BranchSearch::Sample>> found(count);
  if (drivers.size() == 1 && parts[0]->freedoms() == 1) {
    const auto [coordinate, value] = drivers[0];
    for (BranchSearch::Sample& s : parts[0]->where(coordinate, natural->angle(coordinate), value)) {
      s.q[coordinate] = value;
      auto q = assemble(system, 0, s.q, {});
      if (!q) continue;
      s.q = std::move(*q);
      found[s.branch].push_back(std::move(s));
    }
  }
  if (found[0].empty()) found[0].push_back({start, 0, 0});
  for (int b = 0; b < count; ++b) {
    for (int k = 0; k < n && !found[b].empty(); ++k) {
      const BranchSearch::Sample& s = found[b][k % found[b].size()];
      list.push_back({s.q, b, s.arc});
    }
  }
  return list;
}

std::vector<Configuration> Branches::Implementation::planar(int n) {
  if (!natural->drivers(start).empty()) return driven(n);
  std::vector<Configuration> list;
  for (BranchSearch::Sample& s : parts[0]->samples(n)) list.push_back({std::move(s.q), s.branch, s.arc});
  return list;
}

/// Joints that no loop ties: anywhere within their limits; what slides without limits, and a base, stay at the start.
void Branches::Implementation::scatter(Random& random, Eigen::VectorXd& q) const {
  for (const screw::Coordinate& c : tree->coordinates()) {
    if (c.in_loop || c.joint < 0 || c.stored != 1 || c.freedoms != 1) continue;
    const bool turns = c.type == JointType::revolute || c.type == JointType::continuous;
    double low = c.limits[0].lower, high = c.limits[0].upper;
    if (turns && !(high - low < 2 * M_PI)) low = q[c.q] - M_PI, high = q[c.q] + M_PI;
    if (std::isfinite(low) && std::isfinite(high)) q[c.q] = random.uniform(low, high);
  }
}

std::vector<Configuration> Branches::Implementation::spatial(int n) {
  std::vector<Configuration> list;
  std::vector<std::vector<BranchSearch::Sample>> samples;
  std::vector<std::vector<int>> order;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    samples.push_back(parts[p]->samples(n));
    // Parts after the first in random order, so that the parts' positions do not go together.
    Random random(seed, 0x6f72646572, static_cast<std::uint32_t>(p));
    order.emplace_back(n);
    for (int k = 0; k < n; ++k) order[p][k] = k;
    for (int k = n - 1; p > 0 && k > 0; --k) std::swap(order[p][k], order[p][random.below(k + 1)]);
  }
  for (int b = 0; b < count; ++b) {
    for (int k = 0; k < n; ++k) {
      Configuration c{start, b, 0};
      int rest = b, radix = 1;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        const int own = rest % parts[p]->count();
        rest /= parts[p]->count();
        const BranchSearch::Sample& s = samples[p][static_cast<std::size_t>(own) * n + order[p][k]];
        loops[p]->copy(s.q, c.q);
        c.arc += radix * s.arc;
        radix *= parts[p]->arcs();
      }
      Random random(seed, 0x73636174746572 + b, static_cast<std::uint32_t>(k));
      scatter(random, c.q);
      if (auto closed = close_loops(*tree, c.q, {})) c.q = std::move(*closed);
      list.push_back(std::move(c));
    }
  }
  return list;
}

int Branches::count() const { return self_->count; }
int Branches::freedoms() const { return self_->freedoms; }
bool Branches::certain() const { return self_->certain; }
bool Branches::meeting() const { return self_->meeting; }
int Branches::arcs() const { return self_->arcs; }
const std::vector<std::string>& Branches::names() const { return self_->names; }

int Branches::branch_of(const Eigen::VectorXd& q) const {
  int branch = 0, radix = 1;
  for (const auto& part : self_->parts) {
    branch += radix * part->branch_of(q);
    radix *= part->count();
  }
  return branch;
}

std::vector<Configuration> Branches::samples(int n) const { return self_->tree ? self_->spatial(n) : self_->planar(n); }

Result<Branches> find_branches(const Model& model, const BranchOptions& options) {
  return model.spatial() || options.screw ? spatial_branches(model, options) : planar_branches(model, options);
}

}  // namespace kinegraph::task
