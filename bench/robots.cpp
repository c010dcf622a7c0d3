#include "bench/robots.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "bench/clock.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::bench {
namespace {

namespace fs = std::filesystem;

TreePointer tree_of(const Robot& robot, const std::string& name) {
  return require(screw::Tree::make(robot), name.c_str());
}

TreePointer read(const fs::path& path, bool floating) {
  ReadOptions options;
  if (floating) options.base = Robot::Base::floating;
  return tree_of(require(read_model(path, options), path.string().c_str()).robot, path.string());
}

SE3 at(double x) { return SE3(SO3(), Vector3d(x, 0, 0)); }

Link bar(const std::string& name, double length, double mass) {
  Link link;
  link.name = name;
  link.has_inertia = true;
  const double across = mass * length * length / 12;
  link.inertia = {mass, Vector3d(length / 2, 0, 0), Vector3d(across / 20, across, across).asDiagonal()};
  return link;
}

/// A hinge at `place` of the parent (−1: the world) to the last link.
void hinge(Robot& robot, int parent, const SE3& place, const Vector3d& axis) {
  Joint joint;
  joint.name = fmt::format("j{}", robot.joints.size() + 1);
  joint.type = JointType::continuous;
  if (parent >= 0) joint.parent = LinkIndex(parent);
  joint.child = LinkIndex(static_cast<int>(robot.links.size()) - 1);
  joint.X_PF = place;
  joint.axis = axis;
  robot.joints.push_back(joint);
}

PeerFrame frame(const screw::Transform<double>& X) {
  PeerFrame f;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) f.R[3 * r + c] = X.R(r, c);
    f.p[r] = X.p[r];
  }
  return f;
}

bool plain(const screw::ScrewJoint& joint) {
  const bool known =
      joint.type == JointType::revolute || joint.type == JointType::continuous || joint.type == JointType::prismatic;
  return known && !joint.reversed && joint.ratio == 1 && joint.offset == 0;
}

PeerBody describe(const screw::Body& body, const screw::Tree& tree) {
  PeerBody b;
  b.parent = body.parent;
  b.slides = body.joint.type == JointType::prismatic;
  b.in_parent = frame(body.X_PF);
  b.mass = body.mass;
  // about the centre of mass: I + m c^ c^
  const Matrix3d about_com =
      body.inertia.topLeftCorner<3, 3>() + body.mass * skew<double>(body.com) * skew<double>(body.com);
  for (int k = 0; k < 3; ++k) b.com[k] = body.com[k];
  for (int k = 0; k < 9; ++k) b.inertia[k] = about_com(k / 3, k % 3);
  b.armature = tree.coordinates()[body.joint.coordinate].dynamics[0].armature;
  return b;
}

/// q moved until the loops are closed, v projected to what they allow.
void close_loops(const screw::Tree& tree, State& s) {
  screw::Poses poses(tree.bodies().size());
  Eigen::VectorXd residual(6 * tree.loops().size());
  Eigen::MatrixXd J;
  for (int iteration = 0; iteration < 50; ++iteration) {
    screw::body_poses(tree, s.q.data(), poses);
    screw::closure(tree, s.q.data(), poses, residual.data());
    screw::closure_jacobian(tree, s.q.data(), poses, J);
    const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition(J);
    if (residual.norm() < 1e-13) {
      s.v -= decomposition.solve(J * s.v);
      return;
    }
    const Eigen::VectorXd step = -decomposition.solve(residual);
    tree.retract(s.q.data(), step.data(), s.q.data());
  }
  fmt::print(stderr, "a loop of the benchmark does not close\n");
  std::exit(1);
}

}  // namespace

TreePointer own_robot(const std::string& file, bool floating) {
  return read(fs::path(KINEGRAPH_SOURCE_DIR) / "models" / file, floating);
}

TreePointer shared_robot(const std::string& file, bool floating) {
  const char* folder = std::getenv("KINEGRAPH_SHARED");
  const fs::path root = folder ? fs::path(folder) : fs::path(KINEGRAPH_SOURCE_DIR) / "../shared";
  const fs::path path = root / "models" / file;
  return fs::exists(path) ? read(path, floating) : nullptr;
}

TreePointer chain(int links, int chains) {
  Robot robot;
  const int root = chains > 1 ? 1 : 0;
  if (root > 0) {
    robot.links.push_back(bar("root", 0.2, 0.5));
    hinge(robot, -1, SE3(), Vector3d::UnitY());
  }
  for (int i = 0; i < links * chains; ++i) {
    const bool first = i % links == 0;
    robot.links.push_back(bar(fmt::format("l{}", i + 1), 0.2, 0.5));
    hinge(robot, first ? root - 1 : root + i - 1, first && root == 0 ? SE3() : at(0.2),
          i % 2 == 0 ? Vector3d::UnitY() : Vector3d::UnitZ());
  }
  return tree_of(robot, "chain");
}

TreePointer closed_chain(const std::vector<double>& lengths, double span) {
  Robot robot;
  robot.gravity = Vector3d(0, -kGravity, 0);
  double before = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    robot.links.push_back(bar(fmt::format("l{}", i + 1), lengths[i], 1));
    hinge(robot, static_cast<int>(i) - 1, i == 0 ? SE3() : at(before), Vector3d::UnitZ());
    before = lengths[i];
  }
  hinge(robot, -1, at(span), Vector3d::UnitZ());
  robot.joints.back().X_CM = at(before);
  robot.joints.back().closes_loop = true;
  return tree_of(robot, "closed chain");
}

std::optional<PeerRobot> describe(const screw::Tree& tree) {
  PeerRobot robot;
  for (int k = 0; k < 3; ++k) robot.gravity[k] = tree.gravity()[k];
  const bool floats = !tree.bodies().empty() && tree.bodies()[0].joint.type == JointType::floating;
  for (std::size_t i = 0; i < tree.bodies().size(); ++i) {
    const screw::Body& body = tree.bodies()[i];
    const bool base = floats && i == 0;
    const int v = static_cast<int>(i) + (floats && !base ? 5 : 0), q = v + (floats && !base ? 1 : 0);
    if ((!plain(body.joint) && !base) || body.joint.v != v || body.joint.q != q) return std::nullopt;
    robot.bodies.push_back(describe(body, tree));
    robot.bodies.back().floats = base;
  }
  for (const screw::Loop& loop : tree.loops()) {
    robot.loops.push_back({loop.a, loop.b, frame(loop.X_AF), frame(loop.X_BM)});
  }
  return robot;
}

std::vector<State> random_states(const screw::Tree& tree, int count) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto random = [&](int size) {
    Eigen::VectorXd x(size);
    for (double& e : x) e = uniform(generator);
    return x;
  };
  std::vector<State> states;
  for (int i = 0; i < count; ++i) {
    State s{tree.start_position(), random(tree.freedoms()), random(tree.freedoms()), random(tree.freedoms())};
    const Eigen::VectorXd away = random(tree.freedoms());
    tree.retract(s.q.data(), away.data(), s.q.data());
    if (!tree.loops().empty()) {
      close_loops(tree, s);
      s.tau.tail(tree.freedoms() - tree.tree_freedoms()).setZero();
    }
    states.push_back(std::move(s));
  }
  return states;
}

}  // namespace kinegraph::bench
