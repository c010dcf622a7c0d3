#include "kinegraph/mechanics/maximal/mechanism.hpp"

#include "kinegraph/base/names.hpp"
#include "kinegraph/mechanics/maximal/joint_rows.hpp"

namespace kinegraph::maximal {
namespace {

using screw::Tree;

bool is_angle(JointType type, int freedom) {
  switch (type) {
    case JointType::prismatic:
      return false;
    case JointType::cylindrical:
      return freedom == 0;
    case JointType::planar:
      return freedom == 2;
    default:
      return true;
  }
}

void put(const screw::Transform<double>& X, double* out) {
  Eigen::Map<Eigen::Matrix3d>{out} = X.R;
  Eigen::Map<Eigen::Vector3d>{out + 9} = X.p;
}

/// J about the centre of mass from G about the frame's origin:   I_o = J + m (c² 1 − c cᵀ)
Eigen::Matrix3d about_com(const screw::Body& body) {
  const Eigen::Vector3d& c = body.com;
  return body.inertia.topLeftCorner<3, 3>() -
         body.mass * (c.squaredNorm() * Eigen::Matrix3d::Identity() - c * c.transpose());
}

struct Size {
  double mass = 0, length = 0;
};

/// The largest mass, and the largest distance within the machine: what stands in for links without mass is small
/// beside them.
Size size_of(const Tree& tree) {
  Size size;
  for (const screw::Body& body : tree.bodies()) {
    size.mass = std::max(size.mass, body.mass);
    size.length = std::max({size.length, body.com.norm(), body.X_PF.p.norm()});
  }
  if (size.mass == 0) size.mass = 1;
  if (size.length == 0) size.length = 1;
  return size;
}

}  // namespace

Result<std::shared_ptr<const Mechanism>> Mechanism::make(const Robot& robot) {
  std::vector<Diagnostic> faults;
  for (const kinegraph::Joint& joint : robot.joints) {
    if (joint.mimic) {
      faults.push_back({Severity::error, joint.where,
                        "joint " + quote(joint.name) + " mimics another, which the maximal formulation cannot do yet"});
    }
  }
  if (!faults.empty()) return Failure{Failure::Kind::bad_input, std::move(faults)};
  Result<std::shared_ptr<const Tree>> tree = Tree::make(robot);
  if (!tree) return tree.failure();
  std::shared_ptr<Mechanism> made(new Mechanism);
  made->tree_ = *tree;
  made->add_bodies();
  made->add_forces(robot);
  made->numbers_ = made->flatten(**tree);
  return std::shared_ptr<const Mechanism>(std::move(made));
}

void Mechanism::add_bodies() {
  for (const screw::Body& body : tree_->bodies()) {
    bodies_.push_back({body.name, count_, !(body.mass > 0)});
    count_ += BodyNumbers::count;
  }
  const auto name = [&](int coordinate, const std::string& otherwise) {
    return coordinate < 0 ? otherwise : tree_->coordinates()[coordinate].name;
  };
  for (int i = 0; i < static_cast<int>(bodies_.size()); ++i) {
    const screw::Body& body = tree_->bodies()[i];
    add_joint(name(body.joint.coordinate, body.name), body.joint, body.parent, i);
  }
  for (const screw::Loop& loop : tree_->loops()) add_joint(loop.name, loop.via, loop.a, loop.b);
}

void Mechanism::add_joint(const std::string& name, const screw::ScrewJoint& joint, int parent, int child) {
  Joint made;
  made.name = name;
  made.a = joint.reversed ? child : parent;
  made.b = joint.reversed ? parent : child;
  made.type = joint.type;
  made.numbers = count_;
  count_ += JointNumbers::count;
  made.pitch = joint.shape.pitch;
  made.axis2 = joint.shape.axis2;
  made.coordinate = joint.coordinate;
  made.ratio = joint.ratio;
  made.offset = joint.offset;
  made.row = rows_;
  made.rows = constraint_count(joint.type);
  rows_ += made.rows;
  made.freedom = static_cast<int>(freedoms_.size());
  made.freedoms = joint.type == JointType::floating ? 0 : joint.freedoms;
  for (int k = 0; k < made.freedoms; ++k) {
    Freedom freedom;
    freedom.joint = static_cast<int>(joints_.size());
    freedom.index = k;
    freedom.numbers = count_;
    freedom.velocity = joint.v + k;
    freedom.position = joint.type == JointType::ball ? -1 : joint.q + k;
    freedom.angular = is_angle(joint.type, k);
    count_ += FreedomNumbers::count;
    freedoms_.push_back(freedom);
  }
  joints_.push_back(made);
}

void Mechanism::add_forces(const Robot& robot) {
  const auto body = [&](const LinkPoint& point) {
    return point.link.valid() ? tree_->links()[point.link.value].body : -1;
  };
  for (const LinkSpring& spring : robot.springs) {
    springs_.push_back({spring.name, body(spring.a), body(spring.b), count_});
    count_ += SpringNumbers::count;
  }
  for (const LinkLoad& load : robot.loads) {
    loads_.push_back({body(load.on), count_});
    count_ += LoadNumbers::count;
  }
  const auto find = [&](JointIndex joint) -> Freedom* {
    for (Freedom& freedom : freedoms_) {
      const int coordinate = joints_[freedom.joint].coordinate;
      if (coordinate >= 0 && tree_->coordinates()[coordinate].joint == joint.value && freedom.index == 0) {
        return &freedom;
      }
    }
    return nullptr;
  };
  for (std::size_t i = 0; i < robot.drives.size(); ++i) {
    if (Freedom* freedom = find(robot.drives[i].joint)) freedom->drive = static_cast<int>(i);
  }
  for (std::size_t i = 0; i < robot.torques.size(); ++i) {
    if (Freedom* freedom = find(robot.torques[i].joint)) freedom->torque = static_cast<int>(i);
  }
}

Eigen::VectorXd Mechanism::flatten(const Tree& tree) const {
  const Robot& robot = tree.robot();
  Eigen::VectorXd out = Eigen::VectorXd::Zero(count_);
  out.segment<3>(kGravity) = tree.gravity();
  const Size size = size_of(tree);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const screw::Body& body = tree.bodies()[i];
    double* n = out.data() + bodies_[i].numbers;
    Eigen::Matrix3d J = about_com(body);
    double mass = body.mass;
    if (bodies_[i].weightless) mass = kStandIn * size.mass;
    // a point mass, or a link without thickness, still needs to resist turning
    J += kStandIn * size.mass * size.length * size.length * Eigen::Matrix3d::Identity() *
         (J.diagonal().minCoeff() <= 0 || bodies_[i].weightless ? 1.0 : 0.0);
    n[BodyNumbers::mass] = mass;
    Eigen::Map<Eigen::Vector3d>{n + BodyNumbers::com} = body.com;
    const double six[6] = {J(0, 0), J(1, 1), J(2, 2), J(0, 1), J(0, 2), J(1, 2)};
    std::copy_n(six, 6, n + BodyNumbers::inertia);
  }
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const bool in_tree = i < bodies_.size();
    const screw::Transform<double> parent = in_tree ? tree.bodies()[i].X_PF : tree.loops()[i - bodies_.size()].X_AF;
    const screw::Transform<double> child = in_tree ? screw::Transform<double>() : tree.loops()[i - bodies_.size()].X_BM;
    const bool reversed = in_tree ? tree.bodies()[i].joint.reversed : tree.loops()[i - bodies_.size()].via.reversed;
    put(reversed ? child : parent, out.data() + joints_[i].numbers + JointNumbers::F);
    put(reversed ? parent : child, out.data() + joints_[i].numbers + JointNumbers::M);
  }
  for (const Freedom& freedom : freedoms_) {
    const screw::Coordinate& coordinate = tree.coordinates()[joints_[freedom.joint].coordinate];
    const std::size_t k = static_cast<std::size_t>(freedom.index);
    const JointDynamics d = k < coordinate.dynamics.size() ? coordinate.dynamics[k] : JointDynamics{};
    const double ten[] = {d.damping,   d.friction, d.stiffness,      d.rest,          d.armature,
                          d.quadratic, d.stribeck, d.stribeck_speed, d.load_friction, d.gain};
    static_assert(std::size(ten) == FreedomNumbers::count);
    std::copy_n(ten, FreedomNumbers::count, out.data() + freedom.numbers);
  }
  const auto place = [&](const LinkPoint& point) -> Eigen::Vector3d {
    return point.link.valid() ? tree.links()[point.link.value].X_BL * point.at : point.at;
  };
  for (std::size_t i = 0; i < springs_.size(); ++i) {
    const LinkSpring& spring = robot.springs[i];
    double* n = out.data() + springs_[i].numbers;
    Eigen::Map<Eigen::Vector3d>{n + SpringNumbers::a} = place(spring.a);
    Eigen::Map<Eigen::Vector3d>{n + SpringNumbers::b} = place(spring.b);
    n[SpringNumbers::stiffness] = spring.stiffness;
    n[SpringNumbers::rest] = spring.rest;
    n[SpringNumbers::damping] = spring.damping;
  }
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    Eigen::Map<Eigen::Vector3d>{out.data() + loads_[i].numbers} = place(robot.loads[i].on);
  }
  return out;
}

Result<Eigen::VectorXd> Mechanism::numbers(const Robot& robot) const {
  Result<std::shared_ptr<const Tree>> tree = Tree::make(robot);
  if (!tree) return tree.failure();
  const Tree& other = **tree;
  if (other.bodies().size() != bodies_.size() || other.loops().size() != tree_->loops().size() ||
      robot.springs.size() != springs_.size() || robot.loads.size() != loads_.size() ||
      other.freedoms() != tree_->freedoms()) {
    return Failure::no_answer("a parameter changes what the machine consists of, not only its numbers");
  }
  return flatten(other);
}

void retract(int bodies, const double* q, const double* delta, double* out) {
  for (int i = 0; i < bodies; ++i, q += 7, delta += 6, out += 7) {
    const Eigen::Vector3d turn(delta[0], delta[1], delta[2]);
    (SO3::load(q) * SO3::exp(turn)).store(out);
    for (int k = 0; k < 3; ++k) out[4 + k] = q[4 + k] + delta[3 + k];
  }
}

void local(int bodies, const double* q, const double* other, double* delta) {
  for (int i = 0; i < bodies; ++i, q += 7, other += 7, delta += 6) {
    const Eigen::Vector3d turn = (SO3::load(q).inverse() * SO3::load(other)).log();
    for (int k = 0; k < 3; ++k) delta[k] = turn[k], delta[3 + k] = other[4 + k] - q[4 + k];
  }
}

}  // namespace kinegraph::maximal
