#include "kinegraph/mechanics/screw/tree.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/mechanics/screw/joint/list.hpp"
#include "kinegraph/model/joint_names.hpp"

namespace kinegraph::screw {
namespace {

using Pose = Transform<double>;

/// The least rotation that takes z to the axis: none if it is z itself.
Pose align(const Eigen::Vector3d& axis) {
  Pose pose;
  const Eigen::Vector3d z = Eigen::Vector3d::UnitZ();
  const double c = z.dot(axis);
  if (c < -1 + 1e-12) {
    pose.R = Eigen::Vector3d(1, -1, -1).asDiagonal();
  } else {
    const Matrix3d k = skew<double>(z.cross(axis).eval());
    pose.R = Matrix3d::Identity() + k + k * k / (1 + c);
  }
  return pose;
}

bool has_axis(JointType type) {
  return type != JointType::fixed && type != JointType::ball && type != JointType::floating;
}

/// G about the origin of a frame:   [I_c − m c^ c^   m c^; −m c^   m 1]
Matrix6d spatial_inertia(double mass, const Eigen::Vector3d& com, const Matrix3d& about_com) {
  const Matrix3d c = skew<double>(com);
  Matrix6d g;
  g << about_com - mass * c * c, mass * c, -mass * c, mass * Matrix3d::Identity();
  return g;
}

}  // namespace

/// Builds a tree: links joined by fixed joints become one body; from the world, then from each part that nothing ties
/// to it, joints are followed from parent to child, then against their direction, loop closures last.
class TreeMaker {
 public:
  explicit TreeMaker(const Robot& robot) : tree_(new Tree), robot_(robot) {
    tree_->robot_ = robot;
    placed_.assign(robot.links.size(), false);
    used_.assign(robot.joints.size(), false);
    joint_of_.assign(robot.joints.size(), {-1, false});
    tree_->links_.resize(robot.links.size());
  }

  Result<std::shared_ptr<const Tree>> run() {
    grow();
    for (std::size_t root = next_root(); root < robot_.links.size(); root = next_root()) {
      plant(static_cast<int>(root));
      grow();
    }
    order_bodies();
    close_loops();
    number_coordinates();
    add_inertia();
    finish();
    return std::shared_ptr<const Tree>(std::move(tree_));
  }

 private:
  bool is_placed(LinkIndex link) const { return !link.valid() || placed_[link.value]; }
  LinkPlace place(LinkIndex link) const { return link.valid() ? tree_->links_[link.value] : LinkPlace{}; }

  /// Follows joints until nothing more is reached.
  void grow() {
    while (follow(false, false) || follow(true, false) || follow(false, true) || follow(true, true)) {
    }
  }

  /// One joint that leads to a link not yet placed. True if there was one (or, forward, several).
  bool follow(bool reversed, bool closing) {
    bool any = false;
    for (std::size_t j = 0; j < robot_.joints.size(); ++j) {
      const Joint& joint = robot_.joints[j];
      if (used_[j] || joint.closes_loop != closing) continue;
      const LinkIndex from = reversed ? joint.child : joint.parent, to = reversed ? joint.parent : joint.child;
      if (!is_placed(from) || is_placed(to)) continue;
      attach(static_cast<int>(j), from, to, reversed);
      if (reversed || closing) return true;
      any = true;
    }
    return any;
  }

  void attach(int index, LinkIndex from, LinkIndex to, bool reversed) {
    const Joint& joint = robot_.joints[index];
    used_[index] = placed_[to.value] = true;
    const LinkPlace base = place(from);
    const Pose A = has_axis(joint.type) ? align(joint.axis) : Pose();
    const Pose near(reversed ? joint.X_CM : joint.X_PF), far(reversed ? joint.X_PF : joint.X_CM);
    if (joint.type == JointType::fixed) {
      tree_->links_[to.value] = {base.body, base.X_BL * near * far.inverse()};
      return;
    }
    Body body;
    body.name = robot_.links[to.value].name;
    body.parent = base.body;
    body.X_PF = base.X_BL * near * A;
    body.joint = turned(joint, A, reversed);
    joint_of_[index] = {static_cast<int>(tree_->bodies_.size()), false};
    body_joint_.push_back(index);
    tree_->links_[to.value] = {static_cast<int>(tree_->bodies_.size()), (far * A).inverse()};
    tree_->bodies_.push_back(std::move(body));
  }

  static ScrewJoint turned(const Joint& joint, const Pose& A, bool reversed) {
    ScrewJoint s;
    s.type = joint.type;
    s.shape.pitch = joint.pitch;
    s.shape.axis2 = A.R.transpose() * joint.axis2;
    s.freedoms = freedoms(joint.type);
    // exp(S q)⁻¹ = exp(−S q): joints of one freedom are turned round by their ratio
    if (reversed && s.freedoms == 1) s.ratio = -1;
    s.reversed = reversed && s.freedoms > 1;
    return s;
  }

  /// A link that stands for a part of the robot which nothing ties to the world: one without a parent, if there is.
  std::size_t next_root() const {
    std::vector<bool> child(robot_.links.size(), false);
    for (const Joint& joint : robot_.joints) {
      if (!joint.closes_loop && joint.child.valid()) child[joint.child.value] = true;
    }
    std::size_t any = robot_.links.size();
    for (std::size_t i = 0; i < robot_.links.size(); ++i) {
      if (placed_[i]) continue;
      if (!child[i]) return i;
      any = std::min(any, i);
    }
    return any;
  }

  void plant(int link) {
    placed_[link] = true;
    const Pose drawn = robot_.X_WL.empty() ? Pose() : Pose(robot_.X_WL[link]);
    if (robot_.base == Robot::Base::fixed) {
      tree_->links_[link] = {-1, drawn};
      return;
    }
    Body body;
    body.name = robot_.links[link].name;
    body.joint.type = JointType::floating;
    body.joint.freedoms = 6;
    body_joint_.push_back(-1);
    base_of_.emplace_back(static_cast<int>(tree_->bodies_.size()), link);
    tree_->links_[link] = {static_cast<int>(tree_->bodies_.size()), Pose()};
    tree_->bodies_.push_back(std::move(body));
  }

  /// Numbers bodies depth first, so that a chain's bodies are neighbours.
  void order_bodies() {
    std::vector<Body>& bodies = tree_->bodies_;
    std::vector<std::vector<int>> children(bodies.size() + 1);
    for (std::size_t i = 0; i < bodies.size(); ++i) children[bodies[i].parent + 1].push_back(static_cast<int>(i));
    std::vector<int> order, stack(children[0].rbegin(), children[0].rend());
    while (!stack.empty()) {
      const int i = stack.back();
      stack.pop_back();
      order.push_back(i);
      stack.insert(stack.end(), children[i + 1].rbegin(), children[i + 1].rend());
    }
    std::vector<int> renumbered(bodies.size());
    for (std::size_t k = 0; k < order.size(); ++k) renumbered[order[k]] = static_cast<int>(k);
    std::vector<Body> sorted;
    std::vector<int> joints;
    for (const int i : order) {
      sorted.push_back(std::move(bodies[i]));
      joints.push_back(body_joint_[i]);
      if (sorted.back().parent >= 0) sorted.back().parent = renumbered[sorted.back().parent];
    }
    bodies = std::move(sorted);
    body_joint_ = std::move(joints);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (bodies[i].parent >= 0) bodies[bodies[i].parent].children.push_back(static_cast<int>(i));
      if (body_joint_[i] >= 0) joint_of_[body_joint_[i]] = {static_cast<int>(i), false};
    }
    for (LinkPlace& link : tree_->links_) {
      if (link.body >= 0) link.body = renumbered[link.body];
    }
    for (auto& base : base_of_) base.first = renumbered[base.first];
  }

  void close_loops() {
    for (std::size_t j = 0; j < robot_.joints.size(); ++j) {
      if (used_[j]) continue;
      const Joint& joint = robot_.joints[j];
      const Pose A = has_axis(joint.type) ? align(joint.axis) : Pose();
      const LinkPlace parent = place(joint.parent), child = place(joint.child);
      if (joint.type == JointType::fixed && parent.body == child.body) continue;  // ties nothing
      Loop loop;
      loop.name = joint.name;
      loop.joint = static_cast<int>(j);
      loop.a = parent.body;
      loop.b = child.body;
      loop.X_AF = parent.X_BL * Pose(joint.X_PF) * A;
      loop.X_BM = child.X_BL * Pose(joint.X_CM) * A;
      loop.via = turned(joint, A, false);
      joint_of_[j] = {static_cast<int>(tree_->loops_.size()), true};
      tree_->loops_.push_back(std::move(loop));
    }
  }

  ScrewJoint& screw_joint(int robot_joint) {
    const auto [index, loop] = joint_of_[robot_joint];
    return loop ? tree_->loops_[index].via : tree_->bodies_[index].joint;
  }

  void add_coordinate(ScrewJoint& screw, int robot_joint, const std::string& name, int loop) {
    Coordinate c;
    c.name = name;
    c.type = screw.type;
    c.joint = robot_joint;
    c.q = tree_->stored_;
    c.v = tree_->freedoms_;
    c.stored = stored_numbers(screw.type);
    c.freedoms = screw.freedoms;
    c.loop = loop;
    if (robot_joint >= 0) {
      const Joint& joint = robot_.joints[robot_joint];
      c.passive = joint.passive;
      c.limits = joint.limits;
      c.dynamics = joint.dynamics;
    } else {
      c.passive = true;
    }
    c.limits.resize(c.freedoms);
    c.dynamics.resize(c.freedoms);
    screw.coordinate = static_cast<int>(tree_->coordinates_.size());
    screw.q = c.q;
    screw.v = c.v;
    tree_->stored_ += c.stored;
    tree_->freedoms_ += c.freedoms;
    tree_->coordinates_.push_back(std::move(c));
  }

  /// The joint whose coordinate a joint has: its own, or that which it mimics in the end. −1: the base that was added.
  /// A joint that mimics one without motion of its own goes its own way (the readers refuse that).
  int leader(int robot_joint) const {
    int at = robot_joint;
    for (std::size_t guard = 0; at >= 0 && robot_.joints[at].mimic && guard < robot_.joints.size(); ++guard) {
      at = robot_.joints[at].mimic->joint.value;
    }
    const bool good = at < 0 || (joint_of_[at].first >= 0 && freedoms(robot_.joints[at].type) == 1 &&
                                 !robot_.joints[at].mimic && freedoms(robot_.joints[robot_joint].type) == 1);
    return good ? at : robot_joint;
  }
  bool leads(int robot_joint) const {
    return robot_joint < 0 || leader(robot_joint) == robot_joint || !robot_.joints[robot_joint].mimic;
  }

  void number_coordinates() {
    for (std::size_t i = 0; i < tree_->bodies_.size(); ++i) {
      const int j = body_joint_[i];
      if (leads(j))
        add_coordinate(tree_->bodies_[i].joint, j, j < 0 ? base_name(static_cast<int>(i)) : robot_.joints[j].name, -1);
    }
    tree_->tree_freedoms_ = tree_->freedoms_;
    for (std::size_t l = 0; l < tree_->loops_.size(); ++l) {
      Loop& loop = tree_->loops_[l];
      if (loop.via.freedoms > 0 && leads(loop.joint))
        add_coordinate(loop.via, loop.joint, loop.name, static_cast<int>(l));
    }
    for (std::size_t j = 0; j < robot_.joints.size(); ++j) {
      if (joint_of_[j].first >= 0 && !leads(static_cast<int>(j))) follow_leader(static_cast<int>(j));
    }
    mark_loops();
  }

  std::string base_name(int body) const { return robot_.base_name(tree_->bodies_[body].name, base_of_.size() == 1); }

  /// q = k q_leader + o, through as many mimics as there are. The readers refuse cycles.
  void follow_leader(int j) {
    ScrewJoint& screw = screw_joint(j);
    double k = screw.ratio, o = 0, inner = 1, shift = 0;  // own value = k (inner q + shift)
    int at = j;
    for (std::size_t guard = 0; robot_.joints[at].mimic && guard <= robot_.joints.size(); ++guard) {
      const Mimic& mimic = *robot_.joints[at].mimic;
      shift += inner * mimic.offset;
      inner *= mimic.multiplier;
      at = mimic.joint.value;
    }
    o = k * shift;
    const ScrewJoint& leader = screw_joint(at);
    screw.coordinate = leader.coordinate;
    screw.q = leader.q;
    screw.v = leader.v;
    screw.ratio = k * inner;
    screw.offset = o;
    share_dynamics(robot_.joints[j], inner, shift, tree_->coordinates_[leader.coordinate]);
  }

  /// What acts along a joint at r = k q + o acts along q: −k d(k q̇), springs −k K (k q + o − r₀), k² armature.
  static void share_dynamics(const Joint& follower, double k, double o, Coordinate& leader) {
    JointLimits& limits = leader.limits[0];
    if (!follower.limits.empty() && k != 0) {
      const JointLimits& own = follower.limits[0];
      const double one = (own.lower - o) / k, other = (own.upper - o) / k;
      limits.lower = std::max(limits.lower, std::min(one, other));
      limits.upper = std::min(limits.upper, std::max(one, other));
      limits.velocity = std::min(limits.velocity, own.velocity / std::abs(k));
    }
    if (follower.dynamics.empty()) return;
    JointDynamics& d = leader.dynamics[0];
    const JointDynamics& own = follower.dynamics[0];
    d.damping += k * k * own.damping;
    d.friction += std::abs(k) * own.friction;
    d.armature += k * k * own.armature;
    const double stiffness = d.stiffness + k * k * own.stiffness;
    if (stiffness > 0) d.rest = (d.stiffness * d.rest + k * own.stiffness * (own.rest - o)) / stiffness;
    d.stiffness = stiffness;
  }

  /// All joints on the path between the two ends of a loop are tied by it.
  void mark_loops() {
    int sets = 0;
    for (const Loop& loop : tree_->loops_) {
      const int own = sets++;
      const auto tie = [&](const ScrewJoint& joint) {
        if (joint.coordinate < 0) return;
        Coordinate& c = tree_->coordinates_[joint.coordinate];
        c.in_loop = true;
        if (const int earlier = c.loop_set; earlier >= 0 && earlier != own) {  // the two are one
          for (Coordinate& other : tree_->coordinates_) {
            if (other.loop_set == earlier) other.loop_set = own;
          }
        }
        c.loop_set = own;
      };
      tie(loop.via);
      for (int a = loop.a, b = loop.b; a != b;) {
        int& further = a > b ? a : b;
        tie(tree_->bodies_[further].joint);
        further = tree_->bodies_[further].parent;
      }
    }
  }

  void add_inertia() {
    for (std::size_t i = 0; i < robot_.links.size(); ++i) {
      const LinkPlace& at = tree_->links_[i];
      const Inertia& inertia = robot_.links[i].inertia;
      if (at.body < 0) continue;
      Body& body = tree_->bodies_[at.body];
      const Eigen::Vector3d com = at.X_BL * inertia.com;
      body.mass += inertia.mass;
      body.com += inertia.mass * com;
      body.inertia += spatial_inertia(inertia.mass, com, at.X_BL.R * inertia.about_com * at.X_BL.R.transpose());
      tree_->mass_ += inertia.mass;
    }
    for (Body& body : tree_->bodies_) {
      if (body.mass > 0) body.com /= body.mass;
    }
  }

  void finish() {
    Tree& t = *tree_;
    const auto append = [](std::vector<std::string>& to, const std::vector<std::string>& names) {
      to.insert(to.end(), names.begin(), names.end());
    };
    t.start_q_ = Eigen::VectorXd::Zero(t.stored_);
    t.start_v_ = Eigen::VectorXd::Zero(t.freedoms_);
    for (const Coordinate& c : t.coordinates_) {
      append(t.position_names_, kinegraph::position_names(c.name, c.type));
      append(t.velocity_names_, kinegraph::velocity_names(c.name, c.type));
      append(t.acceleration_names_, kinegraph::acceleration_names(c.name, c.type));
      append(t.torque_names_, kinegraph::torque_names(c.name, c.type));
      if (c.stored > c.freedoms) t.start_q_[c.q] = 1;
      if (c.joint < 0) continue;
      const Joint& joint = robot_.joints[c.joint];
      for (int k = 0; k < c.stored && k < static_cast<int>(joint.initial_q.size()); ++k)
        t.start_q_[c.q + k] = joint.initial_q[k];
      for (int k = 0; k < c.freedoms && k < static_cast<int>(joint.initial_v.size()); ++k)
        t.start_v_[c.v + k] = joint.initial_v[k];
    }
    for (const auto& [body, link] : base_of_) {
      if (!robot_.X_WL.empty()) robot_.X_WL[link].store(t.start_q_.data() + t.bodies_[body].joint.q);
    }
  }

  std::unique_ptr<Tree> tree_;
  const Robot& robot_;
  std::vector<bool> placed_, used_;
  std::vector<std::pair<int, bool>> joint_of_;  // per joint of the robot: body or loop, and whether it is a loop
  std::vector<int> body_joint_;                 // per body: the robot's joint, −1: an added base
  std::vector<std::pair<int, int>> base_of_;    // bodies with an added base, and the link drawn there
};

Result<std::shared_ptr<const Tree>> Tree::make(const Robot& robot) {
  if (robot.links.empty()) return Failure::no_answer("the model has no links");
  return TreeMaker(robot).run();
}

int Tree::find_coordinate(const std::string& name) const {
  const auto found =
      std::find_if(coordinates_.begin(), coordinates_.end(), [&](const Coordinate& c) { return c.name == name; });
  return found == coordinates_.end() ? -1 : static_cast<int>(found - coordinates_.begin());
}

void Tree::retract(const double* q, const double* delta, double* out) const {
  for (const Coordinate& c : coordinates_) {
    visit_joint(c.type,
                [&](auto joint) { decltype(joint)::template retract<double>(q + c.q, delta + c.v, out + c.q); });
  }
}

void Tree::local(const double* q, const double* other, double* delta) const {
  for (const Coordinate& c : coordinates_) {
    if (c.type == JointType::ball) {
      Eigen::Map<Eigen::Vector3d>(delta + c.v) = (SO3::load(q + c.q).inverse() * SO3::load(other + c.q)).log();
    } else if (c.type == JointType::floating) {
      Eigen::Map<Vector6d>(delta + c.v) = (SE3::load(q + c.q).inverse() * SE3::load(other + c.q)).log();
    } else {
      for (int k = 0; k < c.freedoms; ++k) delta[c.v + k] = other[c.q + k] - q[c.q + k];
    }
  }
}

}  // namespace kinegraph::screw
