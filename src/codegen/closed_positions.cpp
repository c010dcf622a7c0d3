#include "kinegraph/codegen/closed_positions.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <random>

#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::codegen {
namespace {

constexpr double kRank = 1e-4;      // of the largest pivot: rows that depend on others leave less
constexpr double kRounded = 1e-13;  // rad, m: closed to rounding
constexpr double kLongest = 0.5;    // of a step
constexpr double kAround = 0.4;     // rad, m: how far from the start
constexpr int kSteps = 60, kTries = 20;

/// q moved by steps of Gauss and Newton until the loops are closed. Redundant rows leave J without full rank.
bool close(const screw::Tree& tree, Eigen::VectorXd& q) {
  screw::Poses poses(tree.bodies().size());
  Eigen::VectorXd open(6 * tree.loops().size());
  Eigen::MatrixXd J;
  for (int k = 0; k < kSteps; ++k) {
    screw::body_poses(tree, q.data(), poses);
    screw::closure(tree, q.data(), poses, open.data());
    if (!open.allFinite() || open.norm() < kRounded) break;
    screw::closure_jacobian(tree, q.data(), poses, J);
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
    decomposition.setThreshold(kRank);
    Eigen::VectorXd step = -decomposition.compute(J).solve(open);
    step *= std::min(1.0, kLongest / step.norm());
    if (!step.allFinite()) break;
    tree.retract(q.data(), step.data(), q.data());
  }
  return open.allFinite() && open.cwiseAbs().maxCoeff() < screw::kClosureDigits;
}

}  // namespace

std::vector<Eigen::VectorXd> closed_positions(const screw::Tree& tree, int count) {
  Eigen::VectorXd start = tree.start_position();
  if (tree.loops().empty() || !close(tree, start)) return {};
  std::vector<Eigen::VectorXd> closed;
  std::mt19937_64 generator(11);
  std::uniform_real_distribution<double> uniform(-kAround, kAround);
  for (int k = 0; k < kTries && static_cast<int>(closed.size()) + 1 < count; ++k) {
    const Eigen::VectorXd away = Eigen::VectorXd::NullaryExpr(tree.freedoms(), [&] { return uniform(generator); });
    Eigen::VectorXd q = start;
    tree.retract(start.data(), away.data(), q.data());
    if (close(tree, q)) closed.push_back(q);
  }
  closed.resize(count, start);
  return closed;
}

}  // namespace kinegraph::codegen
