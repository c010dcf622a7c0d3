#include "kinegraph/task/spatial_motion.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace kinegraph::task {
namespace {

using Done = Result<std::monostate>;
using screw::Coordinate;
using screw::Vector6d;

constexpr double kTorn = 1e-3;  // a loop that a table leaves open by more is not closed for it (rad, m)
constexpr double kNearSingular = 1e-3, kFarFromSingular = 0.05;  // margins, see BranchMarch
constexpr double kRoundedDigit = 1e-15;  // of numbers that were computed, a few roundings; rad, m
const Done kDone = std::monostate{};

JointSeries series_of(const Coordinate& c, const SpatialColumns& columns) {
  const auto part = [](const std::vector<int>& all, int first, int count) {
    return std::span<const int>(all).subspan(first, count);
  };
  return {c.name, c.type, part(columns.q, c.q, c.stored), part(columns.v, c.v, c.freedoms),
          part(columns.a, c.v, c.freedoms)};
}

}  // namespace

SpatialMotion::SpatialMotion(const SpatialStart& start, const Trajectory& table, const SpatialColumns& columns)
    : tree_(start.tree),
      table_(&table),
      columns_(columns),
      joints_(tree_->coordinates().size()),
      given_(tree_->coordinates().size(), 0),
      held_(tree_->freedoms(), 0),
      open_in_table_(tree_->loops().size(), 0.0),
      q_(start.q),
      v_(Eigen::VectorXd::Zero(tree_->freedoms())),
      a_(Eigen::VectorXd::Zero(tree_->freedoms())),
      poses_(tree_->bodies().size()),
      loads_(tree_->bodies().size(), Vector6d::Zero()) {}

Result<SpatialMotion> SpatialMotion::make(const SpatialStart& start, const Trajectory& table,
                                          const SpatialColumns& columns, const Options& options) {
  if (table.samples() == 0) return Failure::bad_input(header_of(table), "the table has no samples");
  SpatialMotion motion(start, table, columns);
  motion.accelerations_ = options.accelerations;
  motion.noise_ = options.noise;
  if (Done done = motion.read_joints(options); !done) return done.failure();
  if (Done done = motion.choose_held(start.mobility); !done) return done.failure();
  if (Done done = motion.read_base(); !done) return done.failure();
  if (!motion.tree_->loops().empty()) motion.make_march(start);
  return motion;
}

Done SpatialMotion::read_joints(const Options& options) {
  const std::vector<Coordinate>& coordinates = tree_->coordinates();
  Failure faults{Failure::Kind::bad_input, {}};
  std::vector<std::string> missing;
  for (std::size_t c = 0; c < coordinates.size(); ++c) {
    const Coordinate& coordinate = coordinates[c];
    given_[c] = columns_.q[coordinate.q] >= 0;
    if (!given_[c]) {
      if (!coordinate.in_loop) missing.push_back("'" + tree_->position_names()[coordinate.q] + "'");
      continue;
    }
    auto samples = read_joint_samples(*table_, series_of(coordinate, columns_), options.accelerations, options.noise);
    if (!samples) {
      const auto& found = samples.failure().diagnostics;
      faults.diagnostics.insert(faults.diagnostics.end(), found.begin(), found.end());
      continue;
    }
    joints_[c] = *std::move(samples);
    smoothing_max_ = std::max(smoothing_max_, joints_[c].smoothing_max);
  }
  if (!missing.empty()) {
    faults.diagnostics.push_back(
        {Severity::error, header_of(*table_),
         fmt::format("no column{} {}", missing.size() > 1 ? "s" : "", fmt::join(missing, ", "))});
  }
  if (faults.diagnostics.empty()) return kDone;
  return faults;
}

/// Of the joints of loops that are given, the first (in the order of the robot) that leave nothing free lead.
Done SpatialMotion::choose_held(const SpatialMobility& mobility) {
  const std::vector<Coordinate>& coordinates = tree_->coordinates();
  int outside = 0;
  std::vector<std::string> known, tied;
  std::vector<int> candidates;
  all_given_ = true;
  for (std::size_t c = 0; c < coordinates.size(); ++c) {
    if (!coordinates[c].in_loop) {
      outside += coordinates[c].freedoms;
      continue;
    }
    tied.push_back(coordinates[c].name);
    all_given_ = all_given_ && given_[c];
    if (given_[c]) known.push_back(coordinates[c].name);
    for (int k = 0; given_[c] && k < coordinates[c].freedoms; ++k) candidates.push_back(coordinates[c].v + k);
  }
  if (tied.empty()) return kDone;
  loop_freedoms_ = mobility.freedoms - outside;
  const auto refuse = [&](const std::string& what) -> Done {
    return Failure::bad_input(
        header_of(*table_),
        fmt::format("the loops leave {} freedom{} and {}; give the position of "
                    "{} of {}",
                    loop_freedoms_, loop_freedoms_ == 1 ? "" : "s", what, loop_freedoms_, fmt::join(tied, ", ")));
  };
  const int count = static_cast<int>(candidates.size());
  if (count < loop_freedoms_) {
    return refuse(known.empty() ? "the table has none of their joints"
                                : fmt::format("the table has {} only", fmt::join(known, ", ")));
  }
  const std::vector<int> independent = independent_freedoms(*tree_, q_, candidates);
  for (const int v : candidates) {
    if (static_cast<int>(held_list_.size()) == loop_freedoms_) break;
    if (std::find(independent.begin(), independent.end(), v) == independent.end()) continue;
    held_[v] = 1;
    held_list_.push_back({v});
  }
  if (static_cast<int>(held_list_.size()) < loop_freedoms_) {
    return refuse(fmt::format("{} do not determine them", fmt::join(known, ", ")));
  }
  return kDone;
}

Done SpatialMotion::read_base() {
  if (!columns_.base.moves) return kDone;
  const SpatialColumns::Base& base = columns_.base;
  if (table_->samples() > 1) {
    auto samples = read_joint_samples(*table_, {"base", JointType::floating, base.q, base.v, base.a}, true, noise_);
    if (!samples) return samples.failure();
    base_ = *std::move(samples);
    return kDone;
  }
  // A single sample has no rates but those it is given.
  const auto value = [&](int series) { return series < 0 ? 0.0 : table_->at(0, series); };
  base_.q = Eigen::VectorXd::Zero(7);
  base_.v = base_.a = Eigen::VectorXd::Zero(6);
  for (int i = 0; i < 7; ++i) base_.q(i, 0) = value(base.q[i]);
  for (int i = 0; i < 6; ++i) base_.v(i, 0) = value(base.v[i]), base_.a(i, 0) = value(base.a[i]);
  if (base.q[0] < 0) base_.q(0, 0) = 1;
  const double length = base_.q.col(0).head<4>().norm();
  if (std::abs(length - 1) > 1e-3) {
    return Failure::bad_input(row_of(*table_, 0),
                              fmt::format("the quaternion base.qw … base.qz has length {:g}, not 1", length));
  }
  return kDone;
}

Done SpatialMotion::go_to(int sample) {
  Eigen::VectorXd wanted = q_;
  for (std::size_t c = 0; c < joints_.size(); ++c) {
    if (!given_[c]) continue;
    const Coordinate& coordinate = tree_->coordinates()[c];
    wanted.segment(coordinate.q, coordinate.stored) = joints_[c].q.col(sample);
    v_.segment(coordinate.v, coordinate.freedoms) = joints_[c].v.col(sample);
    a_.segment(coordinate.v, coordinate.freedoms) = joints_[c].a.col(sample);
  }
  if (tree_->loops().empty()) {
    q_ = wanted;
  } else if (Done done = close(sample, wanted); !done) {
    return done;
  }
  screw::body_poses(*tree_, q_.data(), poses_);
  set_surroundings(sample);
  return kDone;
}

/// What leads the loops, what follows, and what of that the table tells all the same.
void SpatialMotion::make_march(const SpatialStart& start) {
  positions_ = std::make_unique<TreePositions>(tree_);
  std::vector<int> leading, following;
  digits_ = kRoundedDigit;
  for (std::size_t c = 0; c < given_.size(); ++c) {
    const Coordinate& coordinate = tree_->coordinates()[c];
    if (!coordinate.in_loop) continue;
    for (int v = coordinate.v; v < coordinate.v + coordinate.freedoms; ++v) {
      (held_[v] ? leading : following).push_back(v);
      if (!held_[v] && given_[c]) told_.push_back(v);
    }
    const int series = columns_.q[coordinate.q];
    if (given_[c] && series < static_cast<int>(table_->resolution.size())) {
      digits_ = std::max(digits_, 0.5 * table_->resolution[series]);
    }
  }
  // With the margin μ a last digit ε becomes ε/μ³ of an acceleration.
  const double near = std::clamp(std::cbrt(digits_), kNearSingular, kFarFromSingular);
  march_ = std::make_unique<BranchMarch>(
      *positions_, std::move(leading), std::move(following), tree_->velocity_names(),
      BranchMarch::Options{accelerations_, near, std::max(kTorn, 5 * noise_), digits_, true});
  march_->begin(start.q);
}

/// Position, velocity and acceleration. Where all joints of loops are given, any of them may lead: those that determine
/// the others best.
Done SpatialMotion::close(int sample, const Eigen::VectorXd& wanted) {
  if (all_given_ && (sample == 0 || march_->margin() < 0.5 * margin_chosen_)) {
    march_->choose_leading(wanted);
    margin_chosen_ = 0;
  }
  if (Done done = march_->go({table_->times()[sample], wanted, v_, a_}, told_); !done) {
    if (Done torn = compare_with_table(sample, wanted, wanted); !torn) return torn;
    return Failure::no_answer(fmt::format("the mechanism cannot follow the motion to t = {:g} s: {}",
                                          table_->times()[sample], done.failure().diagnostics.front().message));
  }
  margin_chosen_ = std::max(margin_chosen_, march_->margin());
  q_ = march_->state().q;
  for (const Coordinate& c : tree_->coordinates()) {
    if (!c.in_loop) q_.segment(c.q, c.stored) = wanted.segment(c.q, c.stored);
  }
  v_ = march_->state().v;
  if (accelerations_) a_ = march_->state().a;
  return compare_with_table(sample, wanted, q_);
}

Done SpatialMotion::compare_with_table(int sample, const Eigen::VectorXd& wanted, const Eigen::VectorXd& found) {
  const int loops = static_cast<int>(tree_->loops().size());
  const double torn = std::max(kTorn, 5 * noise_);
  std::vector<double> residual(6 * loops);
  const auto open = [&](const Eigen::VectorXd& q, int loop) {
    if (loop == 0) {
      screw::body_poses(*tree_, q.data(), poses_);
      screw::closure(*tree_, q.data(), poses_, residual.data());
    }
    return Eigen::Map<const Vector6d>(residual.data() + 6 * loop).lpNorm<Eigen::Infinity>();
  };
  for (int l = 0; all_given_ && l < loops; ++l) {
    const double gap = open(wanted, l);
    open_in_table_[l] = std::max(open_in_table_[l], gap);
    if (gap > torn) {
      return Failure::bad_input(row_of(*table_, sample),
                                fmt::format("the loop of joint '{}' is open by {:.3g} (m, rad) "
                                            "with these positions",
                                            tree_->loops()[l].name, gap));
    }
  }
  for (int l = 0; l < loops; ++l) closure_max_ = std::max(closure_max_, open(found, l));
  if (all_given_) return kDone;
  Eigen::VectorXd off(tree_->freedoms());
  tree_->local(wanted.data(), found.data(), off.data());
  for (std::size_t c = 0; c < given_.size(); ++c) {
    const Coordinate& coordinate = tree_->coordinates()[c];
    const double most = off.segment(coordinate.v, coordinate.freedoms).lpNorm<Eigen::Infinity>();
    if (!given_[c] || !coordinate.in_loop || most <= torn) continue;
    return Failure::bad_input(row_of(*table_, sample), fmt::format("joint '{}' is {:.3g} (m, rad) from where the loops "
                                                                   "put it",
                                                                   coordinate.name, most));
  }
  return kDone;
}

/// A load (m, f) at a link's origin in the world's axes, seen from the body and about its origin:
///     f_B = R_WBᵀ f,   m_B = R_WBᵀ (m + (p_L − p_B) × f)
void SpatialMotion::set_surroundings(int sample) {
  surroundings_.gravity = tree_->gravity();
  if (columns_.base.moves) {
    const auto q = base_.q.col(sample);
    R_WG_ = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
    surroundings_.gravity = R_WG_.transpose() * tree_->gravity();
    surroundings_.base_twist = base_.v.col(sample);
    surroundings_.base_acceleration = base_.a.col(sample);
  }
  std::fill(loads_.begin(), loads_.end(), Vector6d::Zero());
  for (const SpatialColumns::Load& load : columns_.loads) {
    const int body = tree_->links()[load.link].body;
    if (body < 0) continue;  // the ground takes it
    const auto value = [&](int i) { return load.wrench[i] < 0 ? 0.0 : table_->at(sample, load.wrench[i]); };
    const Eigen::Vector3d moment = R_WG_.transpose() * Eigen::Vector3d(value(0), value(1), value(2));
    const Eigen::Vector3d force = R_WG_.transpose() * Eigen::Vector3d(value(3), value(4), value(5));
    const Eigen::Vector3d arm = screw::link_pose(*tree_, poses_, load.link).p - poses_[body].p;
    loads_[body].head<3>() += poses_[body].R.transpose() * (moment + arm.cross(force));
    loads_[body].tail<3>() += poses_[body].R.transpose() * force;
  }
  surroundings_.loads = columns_.loads.empty() ? nullptr : loads_.data();
}

}  // namespace kinegraph::task
