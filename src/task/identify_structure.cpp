#include "kinegraph/task/identify_structure.hpp"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <random>

#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/mechanics/screw/inverse_dynamics.hpp"
#include "kinegraph/model/planar_robot.hpp"
#include "kinegraph/task/loop_system.hpp"
#include "kinegraph/task/spatial_start.hpp"

// With loops cut open, and J v = 0 where they are closed, motions are v = N ν and
//
//     Nᵀ τ(q, v, a; p) = 0,    τ = M a + h − joint forces        (the forces that close loops do no work)
//
// A change δp with ∂(Nᵀ τ)/∂p δp = 0 for all q, v, a leaves every motion as it is. Positions are taken from the motion
// that was found, v and a at random, so that nothing depends on how the machine happened to move.
namespace kinegraph::task {
namespace {

constexpr int kStates = 24;
constexpr double kUnseen = 1e-6;  // of the largest singular value: differences keep eight digits

struct GenericState {
  Eigen::VectorXd q, v, a;  // of the tree with its loops
  Eigen::MatrixXd N;
};

/// J v̇ + J̇ v = 0, J̇ v by differences along v.
GenericState generic_state(LoopSystem& loops, const Eigen::VectorXd& q, std::mt19937& random) {
  const screw::Tree& tree = loops.tree();
  std::normal_distribution<double> normal;
  const auto draw = [&](Eigen::Index n) {
    return Eigen::VectorXd::NullaryExpr(n, [&](auto) { return normal(random); });
  };
  const int n = tree.freedoms();
  GenericState state{q, {}, {}, Eigen::MatrixXd::Identity(n, n)};
  if (loops.loops() == 0) {
    state.v = 3 * draw(n);
    state.a = 10 * draw(n);
    return state;
  }
  const Eigen::MatrixXd J = loops.velocity_rows(q);
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver(J);
  solver.setThreshold(1e-9);
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(J.transpose());
  qr.setThreshold(1e-9);
  const Eigen::MatrixXd Q = qr.householderQ() * Eigen::MatrixXd::Identity(n, n);
  state.N = Q.rightCols(n - qr.rank());
  state.v = state.N * (3 * draw(state.N.cols()));
  constexpr double step = 1e-5;
  Eigen::VectorXd ahead(q.size()), behind(q.size());
  const Eigen::VectorXd forward = step * state.v, backward = -forward;
  tree.retract(q.data(), forward.data(), ahead.data());
  tree.retract(q.data(), backward.data(), behind.data());
  const Eigen::VectorXd turning = (loops.velocity_rows(ahead) - loops.velocity_rows(behind)) * state.v / (2 * step);
  state.a = state.N * (10 * draw(state.N.cols())) - solver.solve(turning);
  return state;
}

std::vector<GenericState> generic_states(const Fit& fit) {
  const maximal::Mechanism& mechanism = fit.parameters.mechanism();
  const Eigen::VectorXd& numbers = fit.machine.numbers;
  const screw::Tree& tree = mechanism.tree();
  LoopSystem loops(tree);
  std::mt19937 random(1);
  std::vector<GenericState> states;
  const int each = std::max(1, kStates / std::max(1, static_cast<int>(fit.runs.size())));
  for (std::size_t r = 0; r < fit.runs.size(); ++r) {
    const int knots = fit.runs[r].knots();
    for (int i = 0; i < each && static_cast<int>(states.size()) < kStates; ++i) {
      const std::size_t knot = static_cast<std::size_t>(i) * (knots - 1) / each;
      Eigen::VectorXd q = tree.start_position();
      maximal::coordinates_of(mechanism, numbers, fit.poses[r].data() + mechanism.stored() * (knot + 1), q.data());
      const Result<Eigen::VectorXd> closed = close_loops(tree, q, {});
      if (closed) states.push_back(generic_state(loops, *closed, random));
    }
  }
  return states;
}

/// A machine with its loops cut open.
struct Opened {
  Robot robot;
  std::shared_ptr<const screw::Tree> tree;
};

std::optional<Opened> opened(const Model& model) {
  Result<Robot> robot = robot_of(model, PlanarForces::kept);
  if (!robot) return {};
  const auto closed = screw::Tree::make(*robot);
  if (!closed) return {};
  const auto follows = [](const Joint& joint) { return joint.mimic.has_value(); };
  if (std::any_of(robot->joints.begin(), robot->joints.end(), follows)) return {};
  std::vector<int> cut;
  for (const screw::Loop& loop : (*closed)->loops()) cut.push_back(loop.joint);
  std::sort(cut.rbegin(), cut.rend());
  Opened open{*std::move(robot), *closed};
  if (cut.empty()) return open;
  for (const int joint : cut) open.robot.joints.erase(open.robot.joints.begin() + joint);
  open.robot.drives.clear();
  open.robot.torques.clear();
  auto tree = screw::Tree::make(open.robot);
  if (!tree) return {};
  open.tree = *std::move(tree);
  return open;
}

/// For each name of the open tree its place among those of the whole one; empty if one is missing.
std::vector<int> places(const std::vector<std::string>& names, const std::vector<std::string>& among) {
  std::vector<int> found;
  for (const std::string& name : names) {
    const auto at = std::find(among.begin(), among.end(), name);
    if (at == among.end()) return {};
    found.push_back(static_cast<int>(at - among.begin()));
  }
  return found;
}

/// Nᵀ τ at all states, one after the other; nothing for joints that the recursion does not know.
std::optional<Eigen::VectorXd> forces(const Opened& open, const screw::Tree& whole,
                                      const std::vector<GenericState>& states) {
  if (!screw::InverseDynamics::refusal(*open.tree).empty()) return {};
  const std::vector<int> q = places(open.tree->position_names(), whole.position_names());
  const std::vector<int> v = places(open.tree->velocity_names(), whole.velocity_names());
  if (static_cast<int>(q.size()) != open.tree->stored() || static_cast<int>(v.size()) != open.tree->freedoms())
    return {};
  screw::InverseDynamics dynamics(open.tree);
  Eigen::VectorXd all(0), tau(open.tree->freedoms());
  for (const GenericState& state : states) {
    const Eigen::VectorXd at = state.q(q), rate = state.v(v), acceleration = state.a(v);
    dynamics.evaluate(at.data(), rate.data(), acceleration.data(), nullptr, {.tau = tau.data()});
    const Eigen::VectorXd along = state.N(v, Eigen::all).transpose() * tau;
    all.conservativeResize(all.size() + along.size());
    all.tail(along.size()) = along;
  }
  return all;
}

/// Whether all joints and sensors are where they were, and gravity too where a sensor feels it.
bool same_geometry(const Opened& a, const identify::MachinePoint& at_a, const Opened& b,
                   const identify::MachinePoint& at_b) {
  const auto apart = [](const SE3& x, const SE3& y) { return (x.matrix() - y.matrix()).cwiseAbs().maxCoeff() > 1e-13; };
  if (a.robot.joints.size() != b.robot.joints.size() || at_a.sensors.size() != at_b.sensors.size()) return false;
  for (std::size_t i = 0; i < a.robot.joints.size(); ++i) {
    const Joint &x = a.robot.joints[i], &y = b.robot.joints[i];
    if (apart(x.X_PF, y.X_PF) || apart(x.X_CM, y.X_CM) || (x.axis - y.axis).norm() > 1e-13 || x.pitch != y.pitch)
      return false;
  }
  const bool turned = (a.robot.gravity - b.robot.gravity).norm() > 0;
  for (std::size_t i = 0; i < at_a.sensors.size(); ++i) {
    const Sensor &x = at_a.sensors[i], &y = at_b.sensors[i];
    if (turned && x.type != SensorType::encoder && x.type != SensorType::tachometer) return false;
    if ((x.on.at - y.on.at).norm() > 0 || (x.other.at - y.other.at).norm() > 0 || (x.R_BS - y.R_BS).norm() > 0)
      return false;
    for (std::size_t k = 0; k < x.channels.size(); ++k) {
      if (x.channels[k].bias != y.channels[k].bias || x.channels[k].scale != y.channels[k].scale) return false;
    }
  }
  return true;
}

bool forces_matter(const Robot& robot, const std::vector<Sensor>& sensors) {
  for (const Joint& joint : robot.joints) {
    for (const JointDynamics& of : joint.dynamics) {
      if (of.load_friction != 0) return true;
    }
  }
  return std::any_of(sensors.begin(), sensors.end(), [](const Sensor& s) { return !s.reaction.empty(); });
}

/// ∂(Nᵀ τ)/∂x of one coordinate by central differences; nothing where more than the equations of motion changes.
std::optional<Eigen::VectorXd> column(const Fit& fit, int coordinate, const std::vector<GenericState>& states) {
  const double step = 1e-4 * std::max(0.01, std::abs(fit.x[coordinate]));
  Eigen::VectorXd change[2];
  std::optional<Opened> sides[2];
  std::optional<identify::MachinePoint> points[2];
  for (int side = 0; side < 2; ++side) {
    Eigen::VectorXd x = fit.x;
    x[coordinate] += side == 0 ? step : -step;
    Result<identify::MachinePoint> point = fit.parameters.at(x, false);
    if (!point) return {};
    points[side] = *std::move(point);
    sides[side] = opened(points[side]->model);
    if (!sides[side]) return {};
    const auto found = forces(*sides[side], fit.parameters.mechanism().tree(), states);
    if (!found) return {};
    change[side] = *found;
  }
  if (!same_geometry(*sides[0], *points[0], *sides[1], *points[1])) return {};
  return (change[0] - change[1]) / (2 * step);
}

}  // namespace

Eigen::MatrixXd unseen_directions(const Fit& fit) {
  const Eigen::Index size = fit.x.size();
  const Eigen::MatrixXd none(size, 0);
  const std::optional<Opened> here = opened(fit.machine.model);
  if (!here || forces_matter(here->robot, fit.machine.sensors)) return none;
  const std::vector<GenericState> states = generic_states(fit);
  const auto now = states.empty() ? std::nullopt : forces(*here, fit.parameters.mechanism().tree(), states);
  if (!now) return none;

  std::vector<int> which;
  Eigen::MatrixXd Y(now->size(), size);
  Eigen::VectorXd scale(size);
  for (int i = 0; i < size; ++i) {
    const std::optional<Eigen::VectorXd> y = column(fit, i, states);
    if (!y || !(y->norm() > 1e-9 * now->norm())) continue;
    const auto k = static_cast<Eigen::Index>(which.size());
    scale[k] = 1 / y->norm();
    Y.col(k) = *y * scale[k];
    which.push_back(i);
  }
  const auto count = static_cast<Eigen::Index>(which.size());
  if (count == 0 || Y.rows() < count) return none;
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(Y.leftCols(count), Eigen::ComputeThinV);
  const Eigen::VectorXd& s = svd.singularValues();
  Eigen::Index seen = 0;
  while (seen < count && s[seen] > kUnseen * s[0]) ++seen;
  if (seen == count) return none;
  Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(size, count - seen);
  for (Eigen::Index k = 0; k < count; ++k) Z.row(which[k]) = scale[k] * svd.matrixV().row(k).tail(count - seen);
  return Eigen::HouseholderQR<Eigen::MatrixXd>(Z).householderQ() * Eigen::MatrixXd::Identity(size, count - seen);
}

void forget(const Eigen::MatrixXd& directions, identify::SolverReport& report) {
  if (directions.cols() == 0) return;
  const auto size = directions.rows();
  const Eigen::MatrixXd P = Eigen::MatrixXd::Identity(size, size) - directions * directions.transpose();
  report.information = P * report.information * P;
  if (report.scatter.size() > 0) report.scatter = P * report.scatter * P;
}

}  // namespace kinegraph::task
