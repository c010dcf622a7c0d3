#include "kinegraph/task/spatial_kinematics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/task/loop_system.hpp"
#include "kinegraph/task/reachable.hpp"
#include "kinegraph/task/spatial_start.hpp"

namespace kinegraph::task {
namespace {

constexpr double kSame = 1e-5;     // rad, or typical lengths: poses nearer than this are one branch
constexpr double kAtLimit = 1e-9;  // rad or m: beyond a limit by rounding only
constexpr int kFewestStarts = 60, kMostStarts = 4000, kQuiet = 48;

/// Rows of joint coordinates and link poses, and how far loops are open in them.
class PoseTable {
 public:
  explicit PoseTable(const screw::Tree& tree)
      : tree_(tree), poses_(tree.bodies().size()), beyond_(tree.freedoms(), 0), most_(tree.freedoms(), 0) {
    std::vector<std::string> names = tree.position_names();
    for (const Link& link : tree.robot().links) {
      for (const char* quantity : {"x", "y", "z", "qw", "qx", "qy", "qz"}) names.push_back(link.name + "." + quantity);
    }
    trajectory = Trajectory(std::move(names));
  }

  void add(const Eigen::VectorXd& q) { add(trajectory.samples(), q); }
  void add(double t, const Eigen::VectorXd& q) {
    screw::body_poses(tree_, q.data(), poses_);
    double* row = trajectory.append(t);
    row = std::copy(q.begin(), q.end(), row);
    for (std::size_t i = 0; i < tree_.links().size(); ++i) {
      const screw::Transform<double> X = screw::link_pose(tree_, poses_, static_cast<int>(i));
      row = std::copy(X.p.begin(), X.p.end(), row);
      SO3(Eigen::Quaterniond(X.R)).store(row);
      row += 4;
    }
    Eigen::VectorXd open(6 * tree_.loops().size());
    screw::closure(tree_, q.data(), poses_, open.data());
    for (const double e : open) closure_max = std::max(closure_max, std::abs(e));
    watch_limits(q);
  }

  std::vector<std::string> limits_exceeded() const {
    std::vector<std::string> list;
    for (const screw::Coordinate& c : tree_.coordinates()) {
      for (int k = 0; k < c.freedoms; ++k) {
        if (beyond_[c.v + k] == 0) continue;
        list.push_back(fmt::format("{}: in {} of {} poses, by {:.3g} at most", tree_.position_names()[c.q + k],
                                   beyond_[c.v + k], trajectory.samples(), most_[c.v + k]));
      }
    }
    return list;
  }

  Trajectory trajectory;
  double closure_max = 0;

 private:
  void watch_limits(const Eigen::VectorXd& q) {
    for (const screw::Coordinate& c : tree_.coordinates()) {
      for (int k = 0; k < c.freedoms && c.stored == c.freedoms; ++k) {
        const double excess = std::max(q[c.q + k] - c.limits[k].upper, c.limits[k].lower - q[c.q + k]);
        if (excess <= kAtLimit) continue;
        ++beyond_[c.v + k];
        most_[c.v + k] = std::max(most_[c.v + k], excess);
      }
    }
  }

  const screw::Tree& tree_;
  screw::Poses poses_;
  std::vector<int> beyond_;   ///< poses, per freedom
  std::vector<double> most_;  ///< rad or m, per freedom
};

/// A number of q by its name ("elbow.q", or "elbow" where a joint has one), as a freedom.
struct NamedFreedom {
  int freedom = -1, stored = -1;
};
Result<NamedFreedom> find_freedom(const screw::Tree& tree, const std::string& name) {
  for (const screw::Coordinate& c : tree.coordinates()) {
    for (int k = 0; k < c.stored; ++k) {
      const std::string& own = tree.position_names()[c.q + k];
      if (name != own && !(c.stored == 1 && name == c.name)) continue;
      if (c.stored == c.freedoms) return NamedFreedom{c.v + k, c.q + k};
      return Failure::bad_input(fmt::format("move: {} is part of a rotation: it cannot move alone", quote(name)));
    }
  }
  for (const Joint& joint : tree.robot().joints) {
    if (name == joint.name + ".q" && joint.mimic) {
      return Failure::bad_input(fmt::format("move: joint {} follows {}", quote(joint.name),
                                            quote(tree.robot().joints[joint.mimic->joint.value].name)));
    }
  }
  return Failure::bad_input(
      fmt::format("move: unknown joint coordinate {}{}", quote(name), did_you_mean(name, tree.position_names())));
}

std::vector<std::string> names_of(const screw::Tree& tree, const std::vector<int>& freedoms) {
  std::vector<std::string> names;
  for (const screw::Coordinate& c : tree.coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      if (std::find(freedoms.begin(), freedoms.end(), c.v + k) == freedoms.end()) continue;
      if (c.stored == c.freedoms) names.push_back(tree.position_names()[c.q + k]);
      if (c.stored != c.freedoms && k == 0) names.push_back(c.name);
    }
  }
  return names;
}

class SpatialKinematics {
 public:
  SpatialKinematics(const SpatialStart& start, const SpatialKinematicsOptions& options)
      : start_(start), tree_(*start.tree), options_(options), table_(tree_) {
    result_.freedoms = start.mobility.freedoms;
    result_.loops = static_cast<int>(tree_.loops().size());
    result_.independent = names_of(tree_, start.mobility.independent);
  }

  Result<SpatialKinematicsResult> run() {
    std::optional<Failure> failure;
    if (options_.move) {
      failure = move();
    } else if (options_.table) {
      failure = follow_table();
    } else if (!options_.goals.empty()) {
      failure = go(0, start_.q, options_.goals, "");
    } else if (options_.branches) {
      failure = branches();
    } else {
      table_.add(start_.q);
    }
    if (failure) return *failure;
    std::vector<std::string> exceeded = table_.limits_exceeded();
    result_.trajectory = std::move(table_.trajectory);
    result_.closure_max = table_.closure_max;
    result_.limits_exceeded = std::move(exceeded);
    return std::move(result_);
  }

 private:
  std::optional<Failure> move() {
    const Move& move = *options_.move;
    const auto found = find_freedom(tree_, move.coordinate);
    if (!found) return found.failure();
    if (move.samples < 2) return Failure::bad_input(fmt::format("move: samples: must be >= 2, is {}", move.samples));
    // What else is free stays where it is.
    std::vector<int> held = independent_freedoms(tree_, start_.q, {found->freedom});
    if (std::find(held.begin(), held.end(), found->freedom) == held.end()) {
      return Failure::no_answer(fmt::format("cannot move {}: the loops hold it", quote(move.coordinate)));
    }
    result_.independent = names_of(tree_, held);
    TreePositions positions(start_.tree);
    std::vector<int> following;
    for (const int f : positions.tied()) {
      if (std::find(held.begin(), held.end(), f) == held.end()) following.push_back(f);
    }
    BranchFollower follower(positions, std::move(following));
    Eigen::VectorXd q = start_.q, all, way;
    for (int k = 0; k < move.samples; ++k) {
      Eigen::VectorXd target = q;
      for (const int f : held) keep(f, target);
      target[found->stored] =
          k + 1 == move.samples ? move.to : move.from + (move.to - move.from) * k / (move.samples - 1);
      positions.local(q, target, all);
      way.setZero(all.size());
      for (const int f : held) way[f] = all[f];
      if (auto far = too_far(follower, way, found->freedom, move.coordinate)) return *far;
      if (follower.follow(q, way) < 1) {
        const bool angle = positions.angle(found->freedom);
        return Failure::no_answer(
            fmt::format("cannot move {} to {}: {}", quote(move.coordinate), with_unit(target[found->stored], angle),
                        range_text(reachable(follower, start_.q, found->freedom, start_.q[found->stored]), angle)));
      }
      table_.add(q);
      if (options_.progress && !options_.progress(double(k) / move.samples)) return Failure::interrupted();
    }
    return std::nullopt;
  }

  /// A freedom as at the start: what is held does not creep.
  void keep(int freedom, Eigen::VectorXd& q) const {
    for (const screw::Coordinate& c : tree_.coordinates()) {
      if (freedom < c.v || freedom >= c.v + c.freedoms) continue;
      if (c.stored == c.freedoms) {
        q[c.q + freedom - c.v] = start_.q[c.q + freedom - c.v];
      } else {
        q.segment(c.q, c.stored) = start_.q.segment(c.q, c.stored);
      }
    }
  }

  /// One set of goals: a row, reached or not.
  std::optional<Failure> go(double t, const Eigen::VectorXd& from, const std::vector<FrameGoal>& goals,
                            const std::string& which) {
    ReachOptions options;
    if (options_.starts > 0) options.starts = options_.starts;
    options.seed = options_.seed;
    options.progress = options_.progress;
    auto reached = reach(start_.tree, from, goals, options);
    if (!reached) return reached.failure();
    table_.add(t, reached->q);
    if (reached->solved) last_ = reached->q;
    ++result_.goals;
    result_.solved += reached->solved;
    result_.iterations += reached->iterations;
    result_.starts += reached->starts;
    result_.distance_max = std::max(result_.distance_max, reached->distance);
    result_.angle_max = std::max(result_.angle_max, reached->angle);
    for (const std::string& name : reached->at_limits) {
      auto& all = result_.at_limits;
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
    if (!reached->solved && result_.missed.empty()) result_.missed = miss(*reached, which);
    return std::nullopt;
  }

  static std::string miss(const Reached& reached, const std::string& which) {
    std::string text =
        fmt::format("{}link {} cannot reach its goal: {:.4g} m", which, quote(reached.farthest), reached.distance);
    if (reached.angle > 0) text += fmt::format(" and {:.4g} deg", reached.angle * 180 / M_PI);
    text += " are left";
    std::string list;
    for (const std::string& name : reached.at_limits) list += (list.empty() ? "" : ", ") + name;
    if (!list.empty()) text += "; at their limits: " + list;
    return text;
  }

  std::optional<Failure> follow_table() {
    const Trajectory& table = *options_.table;
    auto columns = read_columns(table);
    if (!columns) return columns.failure();
    last_ = start_.q;
    for (int row = 0; row < table.samples(); ++row) {
      std::vector<FrameGoal> goals;
      for (const auto& [frame, at] : *columns) {
        FrameGoal goal;
        goal.frame = frame;
        for (int i = 0; i < 3; ++i) {
          goal.pose.axis[i] = at[i] >= 0;
          if (at[i] >= 0) goal.pose.X_WG.p[i] = table.at(row, at[i]);
        }
        if (at[3] >= 0) {
          const double q[4] = {table.at(row, at[3]), table.at(row, at[4]), table.at(row, at[5]), table.at(row, at[6])};
          const double norm = std::hypot(std::hypot(q[0], q[1]), std::hypot(q[2], q[3]));
          const int line = row < static_cast<int>(table.lines.size()) ? table.lines[row] : 0;
          if (std::abs(norm - 1) > 0.01) {
            return Failure::bad_input(
                {table.file, line, 0},
                fmt::format("the quaternion of {} has the length {:.4g}, not 1", quote(frame), norm));
          }
          goal.pose.rotation = true;
          goal.pose.X_WG.R = SO3::load(q).matrix();
        }
        goals.push_back(std::move(goal));
      }
      const Eigen::VectorXd from = last_;
      if (auto failure = go(table.times()[row], from, goals, fmt::format("goal {}: ", row + 1))) return failure;
      if (options_.progress && !options_.progress(double(row) / table.samples())) return Failure::interrupted();
    }
    return std::nullopt;
  }

  using Columns = std::vector<std::pair<std::string, std::vector<int>>>;
  /// Per link of the table: the columns of x y z qw qx qy qz, −1 where there is none.
  Result<Columns> read_columns(const Trajectory& table) const {
    static const std::vector<std::string> quantities = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    Failure failure{Failure::Kind::bad_input, {}};
    Columns columns;
    std::vector<std::string> links;
    for (const Link& link : tree_.robot().links) links.push_back(link.name);
    for (int s = 0; s < table.series(); ++s) {
      const std::string& name = table.names()[s];
      const Location where{table.file, table.header_line,
                           s < static_cast<int>(table.columns.size()) ? table.columns[s] : 0};
      const std::size_t dot = name.rfind('.');
      const std::string link = name.substr(0, dot == std::string::npos ? name.size() : dot);
      const auto quantity =
          std::find(quantities.begin(), quantities.end(), dot == std::string::npos ? "" : name.substr(dot + 1));
      if (tree_.robot().find_link(link) < 0) {
        failure.diagnostics.push_back(
            {Severity::error, where, fmt::format("unknown link {}{}", quote(link), did_you_mean(link, links))});
      } else if (quantity == quantities.end()) {
        failure.diagnostics.push_back(
            {Severity::error, where, fmt::format("{}: expected x, y, z, qw, qx, qy or qz of a link", quote(name))});
      } else {
        auto entry = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.first == link; });
        if (entry == columns.end()) entry = columns.insert(columns.end(), {link, std::vector<int>(7, -1)});
        entry->second[quantity - quantities.begin()] = s;
      }
    }
    for (const auto& [link, at] : columns) {
      const auto given = std::count_if(at.begin() + 3, at.end(), [](int s) { return s >= 0; });
      if (given == 0 || given == 4) continue;
      failure.diagnostics.push_back({Severity::error,
                                     {table.file, table.header_line, 0},
                                     fmt::format("link {}: a rotation needs qw, qx, qy and qz", quote(link))});
    }
    if (!failure.diagnostics.empty()) return failure;
    return columns;
  }

  std::optional<Failure> branches();
  bool same(const LoopSystem& system, const Eigen::VectorXd& a, const Eigen::VectorXd& b) const;
  bool within_limits(const LoopSystem& system, Eigen::VectorXd& q) const;

  const SpatialStart& start_;
  const screw::Tree& tree_;
  const SpatialKinematicsOptions& options_;
  PoseTable table_;
  SpatialKinematicsResult result_;
  Eigen::VectorXd last_;
};

/// Angles that differ by full turns are the same.
bool SpatialKinematics::same(const LoopSystem& system, const Eigen::VectorXd& a, const Eigen::VectorXd& b) const {
  Eigen::VectorXd delta(tree_.freedoms());
  tree_.local(a.data(), b.data(), delta.data());
  for (const screw::Coordinate& c : tree_.coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      double d = delta[c.v + k];
      if (system.is_length(c.v + k)) {
        d /= system.length();
      } else if (c.stored == c.freedoms && c.type != JointType::screw) {
        d = std::remainder(d, 2 * M_PI);
      }
      if (std::abs(d) > kSame) return false;
    }
  }
  return true;
}

/// Full turns are added where they bring an angle within its limits; else nearest to zero.
bool SpatialKinematics::within_limits(const LoopSystem& system, Eigen::VectorXd& q) const {
  bool within = true;
  for (const screw::Coordinate& c : tree_.coordinates()) {
    if (c.stored != c.freedoms || !c.in_loop) continue;
    for (int k = 0; k < c.freedoms; ++k) {
      double& x = q[c.q + k];
      if (!system.is_length(c.v + k) && c.type != JointType::screw) {
        x = std::remainder(x, 2 * M_PI);
        while (x > c.limits[k].upper + 1e-9 && x - 2 * M_PI >= c.limits[k].lower) x -= 2 * M_PI;
        while (x < c.limits[k].lower - 1e-9 && x + 2 * M_PI <= c.limits[k].upper) x += 2 * M_PI;
      }
      within = within && x >= c.limits[k].lower - 1e-9 && x <= c.limits[k].upper + 1e-9;
    }
  }
  return within;
}

/// Every way to close the loops with the independent joints held: searched from random starts, until many tries in a
/// row have found nothing new.
std::optional<Failure> SpatialKinematics::branches() {
  if (tree_.loops().empty()) {
    return Failure::bad_input("branches: the model has no loops: its joints may be chosen freely");
  }
  const LoopSystem system(tree_);
  std::vector<HeldFreedom> held;
  for (const int f : start_.mobility.independent) held.push_back({f});
  std::vector<Eigen::VectorXd> found = {start_.q}, beyond;
  std::mt19937_64 random(options_.seed);
  const int most = options_.starts > 0 ? options_.starts : kMostStarts;
  int quiet = 0;
  for (int tries = 0; tries < most; ++tries) {
    Eigen::VectorXd guess = start_.q;
    const Eigen::VectorXd scattered = random_position(tree_, start_.q, random);
    for (const screw::Coordinate& c : tree_.coordinates()) {
      if (c.in_loop) guess.segment(c.q, c.stored) = scattered.segment(c.q, c.stored);
    }
    for (const HeldFreedom& h : held) keep(h.freedom, guess);
    auto pose = close_loops(tree_, guess, held);
    const auto is_same = [&](const Eigen::VectorXd& q) { return same(system, q, *pose); };
    const bool fresh = pose && std::none_of(found.begin(), found.end(), is_same) &&
                       std::none_of(beyond.begin(), beyond.end(), is_same);
    if (fresh) (within_limits(system, *pose) ? found : beyond).push_back(*pose);
    quiet = fresh ? 0 : quiet + 1;
    if (options_.progress && !options_.progress(double(tries) / most)) return Failure::interrupted();
    const int enough = std::max(kFewestStarts, kQuiet * static_cast<int>(found.size() + beyond.size()));
    if (options_.starts == 0 && quiet >= enough) break;
  }
  result_.beyond_limits = static_cast<int>(beyond.size());
  for (const Eigen::VectorXd& q : found) table_.add(q);
  return std::nullopt;
}

}  // namespace

Result<SpatialKinematicsResult> spatial_kinematics(const Model& model, const SpatialKinematicsOptions& options) {
  auto start = make_spatial_start(model);
  if (!start) return start.failure();
  return SpatialKinematics(*start, options).run();
}

}  // namespace kinegraph::task
