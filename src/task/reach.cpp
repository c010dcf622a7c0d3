#include "kinegraph/task/reach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/build/kinematics.hpp"
#include "kinegraph/solve/optimizer.hpp"
#include "kinegraph/task/loop_system.hpp"
#include "kinegraph/task/spatial_start.hpp"

namespace kinegraph::task {
namespace {

constexpr double kReached = 1e-9;      // rad, or m per metre of the robot's size
constexpr double kWithin = 1e-12;      // beyond a limit, rad or m: as good as at it
constexpr double kIdle = 1e-13;        // rad, or sizes: a goal that moves less does not feel a joint
constexpr int kMultiplierRounds = 40;  // of the limits' forces
constexpr double kLimitSigma = 0.1;    // rad or m: weight of limits against goals

/// A goal with the body that carries it.
struct Target {
  const FrameGoal* goal;
  int body;
  screw::Transform<double> X_BT;
};

class Reach {
 public:
  Reach(std::shared_ptr<const screw::Tree> tree, const Eigen::VectorXd& q, std::vector<Target> targets)
      : tree_(std::move(tree)),
        targets_(std::move(targets)),
        size_(std::max(typical_length(*tree_), 1e-3)),
        start_(q),
        problem_(tree_, q, bodies()) {
    for (const Target& t : targets_) {
      problem_.add_goal(t.goal->frame, t.body, t.X_BT, t.goal->pose, size_);
    }
    problem_.add_limits(kLimitSigma);
  }

  /// A random start: joints that no goal hangs on stay where they are.
  Result<Eigen::VectorXd> scatter(std::mt19937_64& random) const {
    Eigen::VectorXd q = random_position(*tree_, start_, random);
    for (std::size_t i = 0; i < tree_->coordinates().size(); ++i) {
      const screw::Coordinate& c = tree_->coordinates()[i];
      if (!problem_.contains(static_cast<int>(i))) q.segment(c.q, c.stored) = start_.segment(c.q, c.stored);
    }
    return close_loops(*tree_, q, {});
  }

  /// Goes on from q. Stops early where it gets stuck, unless `patient`.
  Result<Reached> from(const Eigen::VectorXd& q, bool patient, const Progress& progress) {
    problem_.set_position(q);
    Reached result;
    OptimizerOptions options;
    options.max_iterations = 100;
    options.step_tolerance = 1e-13;
    options.progress = progress;
    double beyond = 0;
    for (int round = 0; round < kMultiplierRounds; ++round) {
      const auto report = optimize(problem_.graph, problem_.values, options);
      if (!report) return report.failure();
      if (report->status == Status::interrupted) return Failure::interrupted();
      result.iterations += report->iterations;
      const double before = beyond;
      beyond = problem_.update_limits();
      measure(result, problem_.position());
      if (beyond <= kWithin || (!near(result) && !patient)) break;
      if (round > 5 && beyond > 0.9 * before) break;
    }
    finish(result, beyond);
    return result;
  }

 private:
  std::vector<int> bodies() const {
    std::vector<int> list;
    for (const Target& t : targets_) list.push_back(t.body);
    return list;
  }

  /// Joints that are beyond a limit by rounding are put on it, and the loops closed again.
  void finish(Reached& result, double beyond) {
    Eigen::VectorXd q = problem_.position();
    for (std::size_t i = 0; i < tree_->coordinates().size(); ++i) {
      const screw::Coordinate& c = tree_->coordinates()[i];
      for (int k = 0; k < c.freedoms && c.stored == c.freedoms && problem_.contains(static_cast<int>(i)); ++k) {
        q[c.q + k] = std::clamp(q[c.q + k], c.limits[k].lower, c.limits[k].upper);
      }
    }
    if (auto closed = close_loops(*tree_, q, {})) q = std::move(*closed);
    measure(result, q);
    undo_idle(result);
    result.at_limits = problem_.at_limits();
    result.solved = near(result) && beyond < 1e-9;
  }

  /// Joints that were moved though the goals do not feel them go back to where they started.
  void undo_idle(Reached& result) const {
    for (const screw::Coordinate& c : tree_->coordinates()) {
      const auto before = start_.segment(c.q, c.stored);
      if (c.in_loop || result.q.segment(c.q, c.stored) == before || !within_limits(c)) continue;
      Reached without = result;
      Eigen::VectorXd q = result.q;
      q.segment(c.q, c.stored) = before;
      measure(without, q);
      if (without.distance <= result.distance + kIdle * size_ && without.angle <= result.angle + kIdle) {
        result = std::move(without);
      }
    }
  }

  /// Of the start.
  bool within_limits(const screw::Coordinate& c) const {
    for (int k = 0; k < c.freedoms && c.stored == c.freedoms; ++k) {
      const double x = start_[c.q + k];
      if (x < c.limits[k].lower || x > c.limits[k].upper) return false;
    }
    return true;
  }

  bool near(const Reached& r) const { return r.angle < kReached && r.distance < kReached * std::max(1.0, size_); }

  void measure(Reached& result, const Eigen::VectorXd& q) const {
    screw::Poses poses(tree_->bodies().size());
    screw::body_poses(*tree_, q.data(), poses);
    result.q = q;
    result.distance = result.angle = 0;
    double worst = -1;
    for (const Target& t : targets_) {
      double e[6] = {};
      screw::goal_rows(t.goal->pose, poses[t.body] * t.X_BT, e, nullptr);
      const int turned = t.goal->pose.rotation ? 3 : 0, rows = t.goal->pose.rows();
      const double angle = Eigen::Map<const Eigen::VectorXd>(e, turned).norm();
      const double distance = Eigen::Map<const Eigen::VectorXd>(e + turned, rows - turned).norm();
      result.distance = std::max(result.distance, distance);
      result.angle = std::max(result.angle, angle);
      if (distance / size_ + angle > worst) worst = distance / size_ + angle, result.farthest = t.goal->frame;
    }
  }

  std::shared_ptr<const screw::Tree> tree_;
  std::vector<Target> targets_;
  double size_;
  Eigen::VectorXd start_;
  build::KinematicsGraph problem_;
};

Result<std::vector<Target>> find_targets(const screw::Tree& tree, const std::vector<FrameGoal>& goals) {
  Failure failure{Failure::Kind::bad_input, {}};
  std::vector<Target> targets;
  const auto refuse = [&](const std::string& message) {
    failure.diagnostics.push_back({Severity::error, {}, "goal: " + message});
  };
  std::vector<std::string> names;
  for (const Link& link : tree.robot().links) names.push_back(link.name);
  for (const FrameGoal& goal : goals) {
    const int link = tree.robot().find_link(goal.frame);
    if (link < 0) {
      refuse(fmt::format("unknown link {}{}", quote(goal.frame), did_you_mean(goal.frame, names)));
      continue;
    }
    const screw::LinkPlace& place = tree.links()[link];
    if (place.body < 0) {
      refuse(fmt::format("link {} does not move", quote(goal.frame)));
    } else if (goal.pose.rows() == 0) {
      refuse(fmt::format("nothing is asked of link {}", quote(goal.frame)));
    } else {
      targets.push_back({&goal, place.body, place.X_BL * screw::Transform<double>(SE3(SO3(), goal.offset))});
    }
  }
  if (!failure.diagnostics.empty()) return failure;
  return targets;
}

double badness(const Reached& r, double size) { return r.distance / size + r.angle; }

}  // namespace

Eigen::VectorXd random_position(const screw::Tree& tree, const Eigen::VectorXd& q, std::mt19937_64& random) {
  // (Written out, so that the same seed is the same number everywhere.)
  const auto uniform = [&](double low, double high) { return low + (high - low) * ((random() >> 11) * 0x1p-53); };
  const LoopSystem system(tree);
  Eigen::VectorXd delta = Eigen::VectorXd::Zero(tree.freedoms()), out = q;
  for (const screw::Coordinate& c : tree.coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      const double wide = system.is_length(c.v + k) ? 2 * system.length() : M_PI;
      if (c.stored > c.freedoms) {
        delta[c.v + k] = uniform(-wide, wide);
        continue;
      }
      const double low = std::max(c.limits[k].lower, -wide), high = std::min(c.limits[k].upper, wide);
      const double x = low <= high ? uniform(low, high) : std::clamp(0.0, c.limits[k].lower, c.limits[k].upper);
      delta[c.v + k] = x - q[c.q + k];
    }
  }
  tree.retract(q.data(), delta.data(), out.data());
  return out;
}

Result<Reached> reach(std::shared_ptr<const screw::Tree> tree, const Eigen::VectorXd& q,
                      const std::vector<FrameGoal>& goals, const ReachOptions& options) {
  auto targets = find_targets(*tree, goals);
  if (!targets) return targets.failure();
  Reach problem(tree, q, *targets);
  const double size = typical_length(*tree);
  std::mt19937_64 random(options.seed);
  Reached best;
  Eigen::VectorXd best_start;
  int iterations = 0;
  for (int start = 0; start < std::max(1, options.starts); ++start) {
    Eigen::VectorXd from = q;
    if (start > 0) {
      auto closed = problem.scatter(random);
      if (!closed) continue;
      from = std::move(*closed);
    }
    auto result = problem.from(from, false, options.progress);
    if (!result) return result;
    iterations += result->iterations;
    if (start == 0 || result->solved || badness(*result, size) < badness(best, size)) {
      best = std::move(*result);
      best_start = from;
    }
    best.starts = start + 1;
    if (best.solved) break;
  }
  if (!best.solved) {  // then as near as the limits let it
    const int starts = best.starts;
    auto nearest = problem.from(best_start, true, options.progress);
    if (!nearest) return nearest;
    iterations += nearest->iterations;
    best = std::move(*nearest);
    best.starts = starts;
  }
  best.iterations = iterations;
  return best;
}

}  // namespace kinegraph::task
