#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/factor/screw/clearance.hpp"
#include "kinegraph/factor/screw/state_slots.hpp"
#include "kinegraph/graph/graph.hpp"
#include "kinegraph/mechanics/screw/inverse_dynamics.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/plan_task.hpp"

namespace kinegraph::build {

/// A point that stands on the ground while it is closed.
struct PlanContact {
  std::string name;
  Location where;  ///< in the task's file
  screw::BodyPoint point;
  double friction = 1, ground = 0, swing = 0;
  std::vector<std::pair<int, int>> closed;  ///< knots: the first and the last at which it stands
};

/// Two solids that keep clear of each other.
struct PlanPair {
  std::string name;  ///< "hand - crate"
  screw::CarriedSolid a, b;
  int from = 0, to = 0;  ///< knots: of a payload only while it is carried
};

/// Steps whose common length is an unknown.
struct PlanPhase {
  int first = 0, last = 0;                  ///< knots
  double nominal = 0, least = 0, most = 0;  ///< s: what the horizon says; between which it is found
  Key duration() const { return Key{Kind::time, false, first, kNoStep}; }
};

/// What a task means for a robot: names resolved, times turned to knots. Immutable.
struct PlanSetting {
  PlanTask task;
  std::shared_ptr<const screw::Tree> tree;    ///< with the task's gravity and passive joints
  std::shared_ptr<const screw::Tree> loaded;  ///< with the payload; null: none
  int load_from = 0, load_to = -1;            ///< knots at which it hangs on the robot
  screw::StateSlots state;
  std::vector<int> motors;                          ///< freedoms that have one
  std::vector<double> lower, upper, speed, effort;  ///< of all joints (of q, v); of the motors
  std::vector<PlanContact> contacts;
  std::vector<PlanPhase> phases;  ///< of unknown duration
  std::vector<PlanPair> pairs;
  double margin = 0;  ///< that pairs keep
  std::vector<std::string> warnings;
  Eigen::VectorXd start_q, start_v;
  int knots() const { return task.steps + 1; }
  double time(int knot) const { return task.horizon * knot / task.steps; }  ///< if no phase is stretched
  const PlanPhase* phase_of(int step) const;                                ///< null: its length is known
  bool can_follow() const;  ///< whether its motion follows from its torques alone (PlanProblem::follow)
  bool has_middles() const { return task.collocation == Collocation::hermite_simpson; }

  /// All faults of the task against the model, with their places.
  static Result<PlanSetting> make(const Model& model, const PlanTask& task);

  /// Whether the contact bears at a knot, or in the middle of the interval that follows: inside the time for which it
  /// is closed, so that its force rises from nothing and falls to nothing.
  bool bears(const PlanContact& contact, int knot, bool middle) const;
  bool stands(const PlanContact& contact, int knot, bool middle) const;  ///< its point does not move
  std::vector<int> bearing(int knot, bool middle) const;                 ///< contacts that bear
  bool carries(int knot) const { return loaded && knot >= load_from && knot < load_to; }
  const std::shared_ptr<const screw::Tree>& tree_at(int knot) const { return carries(knot) ? loaded : tree; }

  explicit PlanSetting(std::shared_ptr<const screw::Tree> t) : tree(std::move(t)), state(*tree) {}
};

/// Keys of the variables at a knot, or in the middle of the interval that starts there.
struct PlanKeys {
  int knot = 0;
  bool middle = false;
  Key key(Kind kind, int element = 0) const { return Key{kind, middle, element, knot}; }
  Key pose() const { return key(Kind::pose); }
  Key position() const { return key(Kind::position); }
  Key twist() const { return key(Kind::twist); }
  Key velocity() const { return key(Kind::velocity); }
  Key twist_acceleration() const { return key(Kind::twist_acceleration); }
  Key acceleration() const { return key(Kind::acceleration); }
  Key input() const { return key(Kind::input); }
  Key force(int contact) const { return key(Kind::wrench, contact); }

  void add_position(const screw::StateSlots& state, std::vector<Key>& keys) const;
  void add_rate(const screw::StateSlots& state, std::vector<Key>& keys) const;
  void add_acceleration(const screw::StateSlots& state, std::vector<Key>& keys) const;
  /// q v a; of a middle, which has none of its own, those of both ends.
  void add_state(const PlanSetting& setting, std::vector<Key>& keys) const;
};

/// One moment of a plan.
struct PlanSample {
  Eigen::VectorXd q, v, a, u;           ///< of the tree; u: of the motors
  std::vector<Eigen::Vector3d> forces;  ///< per contact; zero where it does not bear
};

/// Where the torques of a step lead, near a motion: [q v] at its end = constant + by [q v u₀ (uₘ) u₁].
struct PlanShot {
  Eigen::MatrixXd by;
  Eigen::VectorXd constant;
};

/// A task as a graph: the trajectory's variables, hard dynamics and collocation, goals, limits, contacts, obstacles.
struct PlanProblem {
  std::shared_ptr<const PlanSetting> setting;
  Graph graph;
  Values values;

  static PlanProblem make(std::shared_ptr<const PlanSetting> setting, double sigma);

  /// Next to a plan, the motion that goes where its torques lead and keeps goals and limits. `now` are the values that
  /// the shots are about; accelerations and durations stay as they are there.
  static PlanProblem follow(std::shared_ptr<const PlanSetting> setting, const PlanProblem& plan, Values now,
                            const std::vector<PlanShot>& shots);

  PlanSample sample(int knot, bool middle = false) const;
  void set(int knot, bool middle, const PlanSample& sample);  ///< of a middle: inputs and forces alone

  double step(int knot) const;  ///< s, the length of the step that starts there
  double time(int knot) const;  ///< s, when it is
  int step_at(double t) const;  ///< the step during which t is
};

/// The least distance of all pairs at q and a knot, and which pair it is (−1: there are none).
std::pair<double, int> least_distance(const PlanSetting& setting, const Eigen::VectorXd& q, int knot);

/// Straight from the start through the goals of joints, at rest between: q at all knots. `via`: positions at knots that
/// were found otherwise (inverse kinematics).
std::vector<Eigen::VectorXd> interpolated(const PlanSetting& setting,
                                          const std::vector<std::pair<int, Eigen::VectorXd>>& via = {});
/// Fills the values from positions at all knots: rates by differences, torques and forces that would move it so.
void guess(PlanProblem& problem, const std::vector<Eigen::VectorXd>& q);

}  // namespace kinegraph::build
