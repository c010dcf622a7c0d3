#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "kinegraph/build/plan_parts.hpp"
#include "kinegraph/mechanics/screw/centre_of_mass.hpp"
#include "kinegraph/mechanics/screw/chain_motion.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

// Where a robot that walks is at first thought to be: its base on the way that goals and paths ask for, its feet where
// they come to stand below the base, its legs by inverse kinematics.

namespace kinegraph::build {
namespace {

constexpr double kLongestAverage = 0.25, kShortestAverage = 0.1;  // s: half the time over which corners are cut
constexpr int kNewton = 12;                                       // iterations of inverse kinematics per knot
constexpr double kReached = 1e-7, kDamping = 1e-6;

/// Places and attitudes of the base by time, straight between.
class BaseWay {
 public:
  explicit BaseWay(const PlanSetting& setting) : setting_(setting), start_(SE3::load(setting.start_q.data())) {
    positions_.points.emplace_back(0, start_.position());
    turns_.emplace_back(0, start_.rotation().quaternion());
    Eigen::Vector3d centre = screw::CentreOfMass(setting.tree).at(setting.start_q.data(), nullptr);
    centre = start_.rotation().inverse() * (centre - start_.position());
    for (const TaskGoal& goal : setting.task.goals) {
      if (on_base(goal.frame) && goal.rotation) add_turn(goal.time, *goal.rotation);
    }
    for (const TaskPath& path : setting.task.paths) {
      if (!on_base(path.frame) && path.frame.text != "com") continue;
      for (const auto& [t, p] : path.points) add(t, p, path.frame.text == "com" ? centre : path.offset);
      return;  // the first will do
    }
    std::vector<const TaskGoal*> goals;
    for (const TaskGoal& goal : setting.task.goals) {
      if ((on_base(goal.frame) || goal.frame.text == "com") && goal.position) goals.push_back(&goal);
    }
    std::stable_sort(goals.begin(), goals.end(), [](const auto* a, const auto* b) { return a->time < b->time; });
    for (const TaskGoal* goal : goals) {
      add(goal->time, *goal->position, goal->frame.text == "com" ? centre : goal->offset);
      if (goal->until > goal->time) add(goal->until, *goal->position, goal->offset);
    }
  }

  SE3 at(double t) const {
    const double horizon = setting_.task.horizon;
    const double wanted = setting_.task.gait
                              ? std::clamp(setting_.task.gait->cycle / 4, kShortestAverage, kLongestAverage)
                              : kShortestAverage;
    const double half = std::min({wanted, t, horizon - t});  // both ends stay where they are
    constexpr int parts = 16;
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    for (int i = 0; i < parts; ++i) sum += positions_.at(t + half * ((2 * i + 1.0) / parts - 1));
    return {SO3(turn(t)), sum / parts};
  }

 private:
  bool on_base(const TaskName& frame) const {
    if (!frame.given() || frame.text == "com") return false;
    return setting_.tree->links()[setting_.tree->robot().find_link(frame.text)].body == 0;
  }
  void add_turn(double t, const Eigen::Quaterniond& r) {
    if (t > turns_.back().first) turns_.emplace_back(t, r);
  }
  /// A place of a point of the base; numbers that are not asked for stay as they were.
  void add(double t, const Eigen::Vector3d& place, const Eigen::Vector3d& of) {
    if (t <= positions_.points.back().first) return;
    Eigen::Vector3d p = place - turn(t) * of;
    for (int i = 0; i < 3; ++i) {
      if (std::isnan(p[i])) p[i] = positions_.points.back().second[i];
    }
    positions_.points.emplace_back(t, p);
  }
  Eigen::Quaterniond turn(double t) const {
    const auto after =
        std::upper_bound(turns_.begin(), turns_.end(), t, [](double time, const auto& x) { return time < x.first; });
    if (after == turns_.end()) return turns_.back().second;
    const auto& before = *std::prev(after);
    const double s = (t - before.first) / (after->first - before.first);
    return before.second.slerp(s * s * (3 - 2 * s), after->second);
  }

  const PlanSetting& setting_;
  SE3 start_;
  TaskPath positions_;
  std::vector<std::pair<double, Eigen::Quaterniond>> turns_;
};

/// Where the point of a contact is, knot by knot: it stands below the base half-way through each interval.
class FootWay {
 public:
  FootWay(const PlanSetting& setting, const PlanContact& contact, const BaseWay& base) : contact_(contact) {
    screw::Poses poses(setting.tree->bodies().size());
    screw::body_poses(*setting.tree, setting.start_q.data(), poses);
    start_ = poses[contact.point.body] * contact.point.at;
    const Eigen::Vector3d on_base = poses[0].inverse() * start_;
    for (const auto& [first, last] : contact.closed) {
      const double middle = last == setting.task.steps ? setting.task.horizon : setting.time(first + last) / 2;
      Eigen::Vector3d place = first == 0 ? start_ : base.at(middle) * on_base;
      place[2] = contact.ground;
      places_.push_back(place);
    }
  }

  Eigen::Vector3d at(int knot) const {
    const auto& closed = contact_.closed;
    const auto next = std::find_if(closed.begin(), closed.end(), [&](const auto& c) { return knot <= c.second; });
    const std::size_t i = next - closed.begin();
    if (closed.empty()) return start_;
    if (next == closed.end()) return places_.back();
    if (knot >= next->first) return places_[i];
    const int left = i == 0 ? 0 : closed[i - 1].second;
    const Eigen::Vector3d& from = i == 0 ? start_ : places_[i - 1];
    const double s = static_cast<double>(knot - left) / (next->first - left);
    const double smooth = s * s * s * (10 + s * (6 * s - 15)), bump = 4 * s * (1 - s);
    Eigen::Vector3d p = from + smooth * (places_[i] - from);
    p[2] += 1.1 * contact_.swing * bump * bump * bump;
    return p;
  }

 private:
  const PlanContact& contact_;
  Eigen::Vector3d start_;
  std::vector<Eigen::Vector3d> places_;
};

/// Joints that bring points of the robot to places, with its base where it is: Newton's method, damped.
class LegReach {
 public:
  explicit LegReach(const PlanSetting& setting) : setting_(setting), first_(setting.tree->freedoms()) {
    first_ -= setting.state.joints;
    for (const PlanContact& contact : setting.contacts) chains_.emplace_back(setting.tree, contact.point.body);
  }

  void reach(const std::vector<Eigen::Vector3d>& places, Eigen::VectorXd& q) {
    const int joints = setting_.state.joints, rows = 3 * static_cast<int>(places.size());
    Eigen::MatrixXd J(rows, joints);
    Eigen::VectorXd e(rows);
    for (int i = 0; i < kNewton; ++i) {
      J.setZero();
      for (std::size_t c = 0; c < places.size(); ++c) {
        chains_[c].set(q.data(), nullptr, nullptr);
        const Eigen::Vector3d p = chains_[c].pose() * setting_.contacts[c].point.at;
        e.segment<3>(3 * static_cast<int>(c)) = places[c] - p;
        for (const auto& column : chains_[c].columns()) {
          if (column.freedom < first_) continue;
          J.block<3, 1>(3 * static_cast<int>(c), column.freedom - first_) +=
              column.J.tail<3>() + column.J.head<3>().cross(p);
        }
      }
      if (e.lpNorm<Eigen::Infinity>() < kReached) return;
      Eigen::MatrixXd normal = J.transpose() * J;
      normal.diagonal().array() += kDamping;
      Eigen::VectorXd step = normal.ldlt().solve(J.transpose() * e);
      step *= std::min(1.0, 0.5 / std::max(1e-9, step.lpNorm<Eigen::Infinity>()));
      auto part = q.tail(joints);
      part += step;
      for (int j = 0; j < joints; ++j) part[j] = std::clamp(part[j], setting_.lower[j], setting_.upper[j]);
    }
  }

 private:
  const PlanSetting& setting_;
  int first_;
  std::vector<screw::ChainMotion> chains_;
};

}  // namespace

void follow_steps(const PlanSetting& setting, std::vector<Eigen::VectorXd>& q) {
  const BaseWay base(setting);
  std::vector<FootWay> feet;
  for (const PlanContact& contact : setting.contacts) feet.emplace_back(setting, contact, base);
  LegReach legs(setting);
  std::vector<Eigen::Vector3d> places(feet.size());
  for (int k = 1; k < setting.knots(); ++k) {
    q[k].tail(setting.state.joints) = q[k - 1].tail(setting.state.joints);
    base.at(setting.time(k)).store(q[k].data());
    for (std::size_t c = 0; c < feet.size(); ++c) places[c] = feet[c].at(k);
    legs.reach(places, q[k]);
  }
}

}  // namespace kinegraph::build
