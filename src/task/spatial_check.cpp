#include "kinegraph/task/spatial_check.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "kinegraph/task/loop_system.hpp"
#include "kinegraph/task/spatial_start.hpp"

namespace kinegraph::task {
namespace {

constexpr int kMostFreedoms = 600;    // that are looked at for motions without mass: the matrix is dense
constexpr double kNoInertia = 1e-13;  // of M scaled to a unit diagonal

/// M(q) = Σ Jᵀ G J + armature
Eigen::MatrixXd mass_matrix(const screw::Tree& tree, const Eigen::VectorXd& q) {
  screw::Poses poses(tree.bodies().size());
  screw::body_poses(tree, q.data(), poses);
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(tree.freedoms(), tree.freedoms()), J;
  for (std::size_t i = 0; i < tree.bodies().size(); ++i) {
    if (tree.bodies()[i].inertia.isZero(0)) continue;
    screw::body_jacobian(tree, q.data(), poses, static_cast<int>(i), J);
    M.noalias() += J.transpose() * (tree.bodies()[i].inertia * J);
  }
  for (const screw::Coordinate& c : tree.coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) M(c.v + k, c.v + k) += c.dynamics[k].armature;
  }
  return M;
}

/// Joints that can accelerate without any mass being moved: forward dynamics cannot tell how they do. With N a basis of
/// the motions that keep the loops closed, they are the null space of Nᵀ M N.
std::vector<std::string> undetermined_joints(const SpatialStart& start) {
  const screw::Tree& tree = *start.tree;
  const int n = tree.freedoms();
  if (n == 0 || n > kMostFreedoms) return {};
  Eigen::MatrixXd N = Eigen::MatrixXd::Identity(n, n);
  if (!tree.loops().empty()) {
    const Eigen::MatrixXd J = LoopSystem(tree).velocity_rows(start.q);
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(J.transpose());
    qr.setThreshold(1e-9);
    N = (qr.householderQ() * N).eval().rightCols(n - qr.rank());
  }
  if (N.cols() == 0) return {};
  const Eigen::MatrixXd M = N.transpose() * mass_matrix(tree, start.q) * N;
  const double largest = std::max(M.diagonal().maxCoeff(), 1e-300);
  const Eigen::VectorXd scale = M.diagonal().cwiseMax(1e-20 * largest).cwiseSqrt().cwiseInverse();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scale.asDiagonal() * M * scale.asDiagonal());
  std::vector<bool> moves(n, false);
  for (Eigen::Index i = 0; i < M.cols() && solver.eigenvalues()[i] < kNoInertia; ++i) {
    const Eigen::VectorXd motion = N * scale.cwiseProduct(solver.eigenvectors().col(i));
    const double most = motion.cwiseAbs().maxCoeff();
    for (int c = 0; c < n; ++c) moves[c] = moves[c] || std::abs(motion[c]) > 1e-3 * most;
  }
  std::vector<std::string> names;
  for (const screw::Coordinate& c : tree.coordinates()) {
    if (std::any_of(moves.begin() + c.v, moves.begin() + c.v + c.freedoms, [](bool m) { return m; })) {
      names.push_back(c.name);
    }
  }
  return names;
}

void count_joints(const Robot& robot, SpatialCheckResult& result) {
  for (const Joint& joint : robot.joints) {
    ++result.joints[to_string(joint.type)];
    result.mimic += joint.mimic.has_value();
    result.motors += !joint.passive && !joint.mimic && joint.type != JointType::fixed;
    result.limited += std::any_of(joint.limits.begin(), joint.limits.end(), [](const JointLimits& l) {
      return std::isfinite(l.lower) || std::isfinite(l.upper);
    });
  }
}

}  // namespace

Result<SpatialCheckResult> spatial_check(const Model& model) {
  auto start = make_spatial_start(model);
  if (!start) return start.failure();
  const screw::Tree& tree = *start->tree;
  const SpatialMobility& mobility = start->mobility;

  SpatialCheckResult result;
  result.links = static_cast<int>(tree.robot().links.size());
  result.bodies = static_cast<int>(tree.bodies().size());
  count_joints(tree.robot(), result);
  const bool floats = std::any_of(tree.coordinates().begin(), tree.coordinates().end(),
                                  [](const screw::Coordinate& c) { return c.joint < 0; });
  result.base = floats ? "floating" : "fixed";
  result.joint_freedoms = tree.freedoms();
  result.loops = static_cast<int>(tree.loops().size());
  result.closure_equations = mobility.closure_equations;
  result.rank = mobility.rank;
  result.freedoms = mobility.freedoms;
  result.redundant = mobility.redundant;
  result.singular_here = mobility.rank_here < mobility.rank;
  for (const screw::Coordinate& c : tree.coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      const auto& list = mobility.independent;
      if (std::find(list.begin(), list.end(), c.v + k) == list.end()) continue;
      const bool plain = c.stored == c.freedoms;
      if (plain || k == 0) result.independent.push_back(plain ? tree.position_names()[c.q + k] : c.name);
    }
  }
  result.mass = tree.mass();
  for (const screw::Body& body : tree.bodies()) {
    if (body.mass == 0) result.massless.push_back(body.name);
  }
  result.undetermined = undetermined_joints(*start);
  result.warnings = model.warnings;

  Eigen::VectorXd open;
  LoopSystem system(tree);
  system.evaluate(start->q, open, nullptr);
  for (int i = 0; i < open.size(); ++i) {
    result.closure_max = std::max(result.closure_max, std::abs(open[i]) * (i % 6 < 3 ? 1 : system.length()));
  }
  return result;
}

}  // namespace kinegraph::task
