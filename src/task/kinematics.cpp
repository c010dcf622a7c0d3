#include "kinegraph/task/kinematics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kinegraph/task/natural_positions.hpp"
#include "kinegraph/task/reachable.hpp"
#include "kinegraph/task/recorder.hpp"
#include "kinegraph/task/start.hpp"

namespace kinegraph::task {
namespace {

constexpr double kSamePose = 1e-3;  // poses nearer than this share of the mechanism size are one branch
constexpr int kFewestTries = 60, kMostTries = 4000;
constexpr int kQuietTries = 12;  // a search ends after this many tries per branch found without a new one

double measure(const natural::System& system, const Eigen::VectorXd& q, double t) {
  std::vector<double> phi(system.constraints());
  system.position(q.data(), t, phi.data(), nullptr);
  double most = 0;
  for (double p : phi) most = std::max(most, std::abs(p));
  return most;
}

/// Writes poses as a trajectory: positions only.
class Poses {
 public:
  Poses(const Model& model, std::shared_ptr<const natural::System> system) : system_(std::move(system)) {
    for (int i = 0; i < system_->coordinates(); ++i) {
      const std::string& name = system_->coordinate_name(i);
      names_.push_back(i < system_->coordinates() - static_cast<int>(model.relative.size()) ? name : name + ".q");
    }
  }
  Trajectory trajectory() const { return Trajectory(names_); }
  void add(Trajectory& trajectory, double t, const Eigen::VectorXd& q) const {
    std::copy(q.begin(), q.end(), trajectory.append(t));
  }

 private:
  std::shared_ptr<const natural::System> system_;
  std::vector<std::string> names_;
};

/// Angles that differ by full turns are the same pose.
double distance(const natural::System& system, const Model& model, const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  double most = 0;
  const int points = system.coordinates() - static_cast<int>(model.relative.size());
  for (int i = 0; i < system.coordinates(); ++i) {
    double d = a[i] - b[i];
    const bool angle = i >= points && model.relative[i - points].type != RelativeCoordinate::Type::relative_position;
    if (angle) d = std::remainder(d, 2 * M_PI) * system.typical_length();
    most = std::max(most, std::abs(d));
  }
  return most;
}

/// Every way to put the mechanism together with its independent coordinates held: searched from random starts, until
/// many tries in a row have found nothing new.
Result<std::vector<Eigen::VectorXd>> find_branches(const Model& model, const Start& start,
                                                   const std::vector<Held>& held, const KinematicsOptions& options) {
  const natural::System& system = *start.system;
  std::vector<Eigen::VectorXd> found = {start.q};
  std::mt19937_64 random(options.seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const int points = system.coordinates() - static_cast<int>(model.relative.size());
  Eigen::Vector2d low = model.points[0].position, high = low;
  double reach = 0;
  for (const Point& p : model.points) low = low.cwiseMin(p.position), high = high.cwiseMax(p.position);
  for (const PlanarBody& b : model.bodies) reach = std::max(reach, b.length);
  const Eigen::Vector2d centre = 0.5 * (low + high);
  const double radius = 0.5 * (high - low).maxCoeff() + reach;

  const int most = options.starts > 0 ? options.starts : kMostTries;
  int quiet = 0;
  for (int tries = 0; tries < most; ++tries) {
    Eigen::VectorXd guess(system.coordinates());
    for (int i = 0; i < points; ++i) guess[i] = centre[i % 2] + radius * uniform(random);
    for (int i = points; i < system.coordinates(); ++i) guess[i] = M_PI * uniform(random);
    for (const Held& h : held) guess[h.coordinate] = h.value;
    auto pose = assemble(start.system, 0, guess, held);
    const auto same = [&](const Eigen::VectorXd& q) {
      return distance(system, model, q, *pose) < kSamePose * system.typical_length();
    };
    const bool fresh = pose && std::none_of(found.begin(), found.end(), same);
    if (fresh) found.push_back(*pose);
    quiet = fresh ? 0 : quiet + 1;
    if (options.progress && !options.progress(double(tries) / most)) return Failure::interrupted();
    const int enough = std::max(kFewestTries, kQuietTries * static_cast<int>(found.size()) * 4);
    if (options.starts == 0 && quiet >= enough) break;
  }
  return found;
}

}  // namespace

Result<KinematicsResult> kinematics(const Model& model, const KinematicsOptions& options) {
  auto start = make_start(model);
  if (!start) return start.failure();
  const natural::System& system = *start->system;
  const Poses poses(model, start->system);
  KinematicsResult result;
  result.trajectory = poses.trajectory();
  result.degrees_of_freedom = start->mobility.degrees_of_freedom;
  for (int c : start->mobility.independent) result.independent.push_back(system.coordinate_name(c));

  if (options.move) {
    const Move& move = *options.move;
    const auto ref = model.coordinate(move.coordinate);
    if (!ref) return ref.failure();
    const int coordinate = system.index_of(*ref);
    if (coordinate < 0) return Failure::bad_input(fmt::format("move: '{}' belongs to a fixed point", move.coordinate));
    if (move.samples < 2) return Failure::bad_input(fmt::format("move: samples: must be >= 2, is {}", move.samples));
    if (start->mobility.degrees_of_freedom == 0) {
      return Failure::no_answer(
          fmt::format("cannot move '{}': nothing is free; drivers or constraints hold it", move.coordinate));
    }
    // What else is free stays where it is.
    std::vector<Held> held = {{coordinate, move.from}};
    for (int c : start->mobility.independent) {
      if (c != coordinate && static_cast<int>(held.size()) < start->mobility.degrees_of_freedom) {
        held.push_back({c, start->q[c]});
      }
    }
    std::vector<int> leading;
    for (const Held& h : held) leading.push_back(h.coordinate);
    NaturalPositions positions(model, start->system, start->q);
    BranchFollower follower(positions, positions.others(leading));
    Eigen::VectorXd q = start->q, way = Eigen::VectorXd::Zero(q.size());
    for (int k = 0; k < move.samples; ++k) {
      const double target = move.from + (move.to - move.from) * k / (move.samples - 1);
      for (const Held& h : held) way[h.coordinate] = (h.value - q[h.coordinate]) / positions.scale(h.coordinate);
      way[coordinate] = (target - q[coordinate]) / positions.scale(coordinate);
      if (auto far = too_far(follower, way, coordinate, move.coordinate)) return *far;
      if (follower.follow(q, way) < 1 || !system.proper(q.data())) {
        const bool angle = positions.angle(coordinate);
        return Failure::no_answer(
            fmt::format("cannot move '{}' to {}: {}", move.coordinate, with_unit(target, angle),
                        range_text(reachable(follower, start->q, coordinate, start->q[coordinate]), angle)));
      }
      result.constraint_max = std::max(result.constraint_max, measure(system, q, 0));
      poses.add(result.trajectory, k, q);
      if (options.progress && !options.progress(double(k) / move.samples)) return Failure::interrupted();
    }
    return result;
  }

  std::vector<Eigen::VectorXd> found = {start->q};
  if (options.branches) {
    // What the user has set is held, then as many independent coordinates as there are freedoms left.
    std::vector<Held> held;
    for (const InitialValue& i : model.initial) {
      const int c = system.index_of(i.coordinate);
      if (!i.rate && c >= 0) held.push_back({c, start->q[c]});
    }
    for (int c : start->mobility.independent) {
      const bool there = std::any_of(held.begin(), held.end(), [c](const Held& h) { return h.coordinate == c; });
      if (!there && static_cast<int>(held.size()) < start->mobility.degrees_of_freedom)
        held.push_back({c, start->q[c]});
    }
    result.independent.clear();
    for (const Held& h : held) result.independent.push_back(system.coordinate_name(h.coordinate));
    auto branches = find_branches(model, *start, held, options);
    if (!branches) return branches.failure();
    found = std::move(*branches);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    result.constraint_max = std::max(result.constraint_max, measure(system, found[i], 0));
    poses.add(result.trajectory, static_cast<double>(i), found[i]);
  }
  return result;
}

}  // namespace kinegraph::task
