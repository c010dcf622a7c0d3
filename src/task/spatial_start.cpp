#include "kinegraph/task/spatial_start.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/planar_robot.hpp"
#include "kinegraph/task/loop_closer.hpp"
#include "kinegraph/task/planar_drawing.hpp"

namespace kinegraph::task {
namespace {

constexpr int kStarts = 60;      // tries to assemble_tree what is drawn badly
constexpr int kNearbyPoses = 4;  // besides the pose itself, to tell a singular position from a redundancy
constexpr double kLargestStage = 0.1, kSmallestStage = 1e-7;  // rad, or typical lengths
constexpr double kPrinted = 1e-4;  // initial values that contradict the loops by less than this are rounded numbers

std::string open_by(const LoopSystem& system, const Eigen::VectorXd& residual) {
  int worst = 0;
  for (int l = 0; l < system.loops(); ++l) {
    if (residual.segment<6>(6 * l).norm() > residual.segment<6>(6 * worst).norm()) worst = l;
  }
  const double metres = residual.segment<3>(6 * worst + 3).norm(), turned = residual.segment<3>(6 * worst).norm();
  std::string gap;
  if (metres > 0.01 * turned) gap = fmt::format("{:.3g} m", metres * system.length());
  if (turned > 0.01 * metres) gap += fmt::format("{}{:.3g} deg", gap.empty() ? "" : " and ", turned * 180 / M_PI);
  return fmt::format("loop {} stays open by {}", quote(system.tree().loops()[worst].name), gap);
}

std::vector<bool> held_mask(const screw::Tree& tree, const std::vector<HeldFreedom>& held) {
  std::vector<bool> mask(tree.freedoms(), false);
  for (const HeldFreedom& h : held) mask[h.freedom] = true;
  return mask;
}

std::vector<HeldFreedom> as_held(const std::vector<int>& freedoms) {
  std::vector<HeldFreedom> held;
  for (const int f : freedoms) held.push_back({f});
  return held;
}

int rank_of(const Eigen::MatrixXd& J) {
  if (J.size() == 0) return 0;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(J);
  qr.setThreshold(kLoopRank);
  return static_cast<int>(qr.rank());
}

/// Rows of length one: rank is then a matter of directions. Rows that are nothing but the last digits stay so.
Eigen::MatrixXd scaled_rows(Eigen::MatrixXd J) {
  const double largest = J.rows() > 0 ? J.rowwise().norm().maxCoeff() : 0;
  for (Eigen::Index r = 0; r < J.rows(); ++r) {
    const double size = J.row(r).norm();
    if (size > kLoopRank * largest) J.row(r) /= size;
  }
  return J;
}

/// An even spread of numbers in [−1, 1], the same on every machine.
double scatter(int i, int k) { return std::sin(12.9898 * (i + 1) + 78.233 * (k + 1)); }

Eigen::VectorXd shaken(const LoopSystem& system, const Eigen::VectorXd& q, double angle, int k,
                       const std::vector<bool>& held) {
  const screw::Tree& tree = system.tree();
  Eigen::VectorXd delta = Eigen::VectorXd::Zero(tree.freedoms()), out(q.size());
  for (const int c : system.columns()) {
    if (!held[c]) delta[c] = angle * scatter(c, k) * (system.is_length(c) ? system.length() : 1);
  }
  tree.retract(q.data(), delta.data(), out.data());
  return out;
}

/// Numbers of q that belong to some freedoms, from another position.
void set_freedoms(const screw::Tree& tree, const Eigen::VectorXd& from, const std::vector<int>& freedoms,
                  Eigen::VectorXd& q) {
  for (const screw::Coordinate& c : tree.coordinates()) {
    for (const int f : freedoms) {
      if (f < c.v || f >= c.v + c.freedoms) continue;
      if (c.stored == c.freedoms) {
        q[c.q + f - c.v] = from[c.q + f - c.v];
      } else {
        q.segment(c.q, c.stored) = from.segment(c.q, c.stored);
      }
    }
  }
}

}  // namespace

Result<Eigen::VectorXd> close_loops(const screw::Tree& tree, const Eigen::VectorXd& guess,
                                    const std::vector<HeldFreedom>& held) {
  if (tree.loops().empty()) return guess;
  LoopSystem system(tree);
  LoopCloser closer(system, held_mask(tree, held));
  Eigen::VectorXd q = guess;
  if (closer.run(q)) return q;
  return Failure::no_answer(fmt::format("cannot be assembled: {}{}", open_by(system, closer.residual),
                                        held.empty() ? "" : " with the given joints held"));
}

Result<Eigen::VectorXd> close_velocities(const screw::Tree& tree, const Eigen::VectorXd& q,
                                         const Eigen::VectorXd& guess, const std::vector<HeldFreedom>& held) {
  if (tree.loops().empty()) return guess;
  LoopSystem system(tree);
  Eigen::MatrixXd J = system.velocity_rows(q);
  const FreeColumns free(system, held_mask(tree, held));
  Eigen::VectorXd v = guess;
  if (!free.columns.empty()) {
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> qr(free.of(J));
    qr.setThreshold(kLoopRank);
    for (int i = 0; i < 2; ++i) v -= free.spread(qr.solve(J * v), tree.freedoms());
  }
  const Eigen::VectorXd rate = J * v;
  if (!v.allFinite() || !rate.allFinite()) {
    return Failure::no_answer("the rates that keep the loops closed are too large to be computed with");
  }
  if (rate.lpNorm<Eigen::Infinity>() > screw::kClosureDigits * (1 + guess.lpNorm<Eigen::Infinity>())) {
    int worst = 0;
    rate.cwiseAbs().maxCoeff(&worst);
    return Failure::no_answer(fmt::format(
        "the initial rates contradict each other: loop {} opens with {:.3g} {}", quote(tree.loops()[worst / 6].name),
        std::abs(rate[worst]) * (worst % 6 < 3 ? 1 : system.length()), worst % 6 < 3 ? "rad/s" : "m/s"));
  }
  return v;
}

std::vector<int> independent_freedoms(const screw::Tree& tree, const Eigen::VectorXd& q,
                                      const std::vector<int>& first) {
  LoopSystem system(tree);
  std::vector<int> chosen;
  std::vector<bool> tied(tree.freedoms(), false);
  for (const int c : system.columns()) tied[c] = true;
  for (int c = 0; c < tree.freedoms(); ++c) {
    if (!tied[c]) chosen.push_back(c);
  }
  if (system.columns().empty()) return chosen;

  // What may be chosen are freedoms whose rows of a basis N of the motions (J N = 0) are independent.
  const Eigen::MatrixXd J = scaled_rows(system.velocity_rows(q)(Eigen::all, system.columns()));
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(J.transpose());
  qr.setThreshold(kLoopRank);
  const Eigen::Index n = J.cols(), rank = qr.rank();
  const Eigen::MatrixXd Q = qr.householderQ() * Eigen::MatrixXd::Identity(n, n);
  Eigen::MatrixXd N = Q.rightCols(n - rank);
  Eigen::Index left = n - rank;
  const auto take = [&](Eigen::Index row) {
    const Eigen::RowVectorXd direction = N.row(row).normalized();
    N -= (N * direction.transpose()).eval() * direction;
    chosen.push_back(system.columns()[row]);
    --left;
  };
  for (const int c : first) {
    const auto at = std::find(system.columns().begin(), system.columns().end(), c);
    if (at == system.columns().end() || left == 0) continue;
    const Eigen::Index row = at - system.columns().begin();
    if (N.row(row).norm() > 1e-6) take(row);
  }
  // Motors first (joints of one freedom before universal joints and balls, which seldom have one), then other joints of
  // the tree, then those that close loops; among each the first of those that move well, so that joints near the ground
  // come before others.
  std::vector<int> order(tree.freedoms());
  for (const screw::Coordinate& c : tree.coordinates()) {
    const int place = c.v >= tree.tree_freedoms() ? 3 : c.passive ? 2 : c.freedoms > 1 ? 1 : 0;
    std::fill_n(order.begin() + c.v, c.freedoms, place);
  }
  constexpr int kAny = 4;
  for (int turn = 0; turn <= kAny && left > 0; ++turn) {
    const auto its_turn = [&](Eigen::Index row) { return turn == kAny || order[system.columns()[row]] == turn; };
    while (left > 0) {
      double most = turn < kAny ? 1e-2 : 0;
      for (Eigen::Index row = 0; row < n; ++row) {
        if (its_turn(row)) most = std::max(most, N.row(row).norm());
      }
      Eigen::Index next = 0;
      while (next < n && !(its_turn(next) && N.row(next).norm() > 0.3 * most)) ++next;
      if (next == n) break;
      take(next);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

SpatialMobility spatial_mobility(const screw::Tree& tree, const Eigen::VectorXd& q) {
  LoopSystem system(tree);
  SpatialMobility result;
  const int loop_freedoms = tree.freedoms() - tree.tree_freedoms();
  result.closure_equations = 6 * system.loops() - loop_freedoms;
  Eigen::VectorXd best = q;
  int most = 0;
  const std::vector<bool> nothing(tree.freedoms(), false);
  for (int k = 0; k <= kNearbyPoses && system.loops() > 0; ++k) {
    Eigen::VectorXd pose = q;
    if (k > 0) {
      pose = shaken(system, q, 0.05 * k, k, nothing);
      if (!LoopCloser(system, nothing).run(pose)) continue;
    }
    const int rank = rank_of(scaled_rows(system.velocity_rows(pose)));
    if (k == 0) result.rank_here = rank - loop_freedoms;
    if (rank > most) most = rank, best = pose;
  }
  if (system.loops() == 0) most = loop_freedoms;
  result.rank = most - loop_freedoms;
  result.freedoms = tree.freedoms() - most;
  result.independent = independent_freedoms(tree, best, {});
  if (result.rank == result.closure_equations) return result;

  const Eigen::MatrixXd J = scaled_rows(system.velocity_rows(best));
  int before = 0;
  for (int l = 0; l < system.loops(); ++l) {
    const int after = rank_of(J.topRows(6 * (l + 1)));
    const screw::Loop& loop = tree.loops()[l];
    const int own =
        loop.via.coordinate >= 0 && tree.coordinates()[loop.via.coordinate].loop == l ? loop.via.freedoms : 0;
    const int redundant = 6 - (after - before);
    if (redundant > 0)
      result.redundant.push_back(fmt::format("loop {}: {} of {} equations", loop.name, redundant, 6 - own));
    before = after;
  }
  return result;
}

Result<Eigen::VectorXd> move_freedoms(const screw::Tree& tree, const Eigen::VectorXd& q, const Eigen::VectorXd& target,
                                      const std::vector<int>& freedoms) {
  LoopSystem system(tree);
  const std::vector<HeldFreedom> held = as_held(freedoms);
  Eigen::VectorXd way(tree.freedoms()), rates = Eigen::VectorXd::Zero(tree.freedoms());
  tree.local(q.data(), target.data(), way.data());
  double farthest = 0;
  for (const int f : freedoms) {
    rates[f] = way[f];
    farthest = std::max(farthest, std::abs(way[f]) / (system.is_length(f) ? system.length() : 1));
  }
  Eigen::VectorXd at = q, guess(q.size()), start(q.size());
  double stage = farthest > kLargestStage ? kLargestStage / farthest : 1;
  for (double share = 0; share < 1;) {
    const double next = share + stage > 1 - 1e-9 ? 1 : share + stage;
    const auto v = close_velocities(tree, at, rates, held);
    const Eigen::VectorXd ahead = (next - share) * (v ? *v : rates);
    tree.retract(at.data(), ahead.data(), guess.data());
    const Eigen::VectorXd from_start = next * rates;
    tree.retract(q.data(), from_start.data(), start.data());
    set_freedoms(tree, next == 1 ? target : start, freedoms, guess);
    auto closed = close_loops(tree, guess, held);
    // A leap farther than the stage itself is one to another branch.
    if (closed && leap(system, guess, *closed) <= 0.3 * std::max(leap(system, at, guess), kLargestStage)) {
      at = std::move(*closed);
      share = next;
      stage = std::min(2 * stage, farthest > kLargestStage ? kLargestStage / farthest : 1);
    } else {
      stage /= 2;
      if (stage * farthest < kSmallestStage) {
        return Failure::no_answer(fmt::format("the loops hold it after {:.3g} % of the way", 100 * share));
      }
    }
  }
  return at;
}

namespace {

/// Freedoms whose start is given: by the file or the user, not by the drawing of a planar mechanism.
std::vector<int> given_freedoms(const Model& model, const screw::Tree& tree, bool rates) {
  std::vector<int> given;
  for (const screw::Coordinate& c : tree.coordinates()) {
    if (c.joint < 0) continue;
    const Joint& joint = tree.robot().joints[c.joint];
    if ((rates ? joint.initial_v : joint.initial_q).empty()) continue;
    const auto says = [&](const InitialValue& i) { return i.rate == rates && model.name_of(i.coordinate) == c.name; };
    const auto drives = [&](const JointDrive& drive) { return drive.joint.value == c.joint; };
    const Robot& robot = tree.robot();
    if (!model.spatial() && std::none_of(model.initial.begin(), model.initial.end(), says) &&
        std::none_of(robot.drives.begin(), robot.drives.end(), drives)) {
      continue;
    }
    for (int k = 0; k < c.freedoms; ++k) given.push_back(c.v + k);
  }
  return given;
}

/// Of what is given, as much as the mechanism leaves free; judged at a closed position.
std::vector<int> choosable(const screw::Tree& tree, const Eigen::VectorXd& q, const std::vector<int>& given) {
  const std::vector<int> independent = independent_freedoms(tree, q, given);
  std::vector<int> both;
  for (const int f : given) {
    if (std::find(independent.begin(), independent.end(), f) != independent.end()) both.push_back(f);
  }
  return both;
}

/// Tries the drawn pose, then others around it, farther and farther.
Result<Eigen::VectorXd> assemble_tree(const screw::Tree& tree, const Eigen::VectorXd& guess,
                                      const std::vector<int>& held) {
  auto first = close_loops(tree, guess, as_held(held));
  if (first) return first;
  LoopSystem system(tree);
  const std::vector<bool> mask = held_mask(tree, as_held(held));
  for (int k = 1; k <= kStarts; ++k) {
    Eigen::VectorXd q = shaken(system, guess, 3.0 * k / kStarts, k, mask);
    if (LoopCloser(system, mask).run(q)) return q;
  }
  return first;
}

/// The name of a number of v among those of q: the joint's where it is a quaternion's.
std::string freedom_name(const screw::Tree& tree, int freedom) {
  for (const screw::Coordinate& c : tree.coordinates()) {
    if (freedom < c.v || freedom >= c.v + c.freedoms) continue;
    return c.stored == c.freedoms ? tree.position_names()[c.q + freedom - c.v] : c.name;
  }
  return {};
}

/// The start as drawn: without what is given of it.
Result<Eigen::VectorXd> drawn_position(const Model& model, const screw::Tree& tree, const std::vector<int>& given,
                                       PlanarForces forces) {
  Eigen::VectorXd q = tree.start_position();
  if (given.empty()) return q;
  if (model.spatial()) {
    for (const screw::Coordinate& c : tree.coordinates()) {
      if (c.joint < 0) continue;
      q.segment(c.q, c.stored).setZero();
      if (c.stored > c.freedoms) q[c.q] = 1;
    }
    return q;
  }
  Model drawn = model;
  drawn.initial.clear();
  drawn.drivers.clear();
  const auto robot = robot_of(drawn, forces);
  if (!robot) return robot.failure();
  const auto its_tree = screw::Tree::make(*robot);
  if (!its_tree) return its_tree.failure();
  return (*its_tree)->start_position();
}

/// Brings a mechanism with loops from the drawing to what is given, so that it keeps the branch that is drawn.
Result<Eigen::VectorXd> start_position(const Model& model, const screw::Tree& tree, PlanarForces forces) {
  const Eigen::VectorXd guess = tree.start_position();
  const std::vector<int> given = given_freedoms(model, tree, false);
  if (tree.loops().empty()) return guess;
  const auto drawn = drawn_position(model, tree, given, forces);
  if (!drawn) return drawn.failure();
  auto q = assemble_tree(tree, *drawn, {});
  if (given.empty()) return q;
  if (q) {
    // More may be given than is free, rounded as files are: hold what is free, and see whether the rest agrees.
    auto moved = move_freedoms(tree, *q, guess, choosable(tree, *q, given));
    if (moved) {
      Eigen::VectorXd miss(tree.freedoms());
      tree.local(guess.data(), moved->data(), miss.data());
      const auto agrees = [&](int f) { return std::abs(miss[f]) <= kPrinted; };
      if (std::all_of(given.begin(), given.end(), agrees)) return moved;
    }
  }
  // Another branch may have what is given.
  auto direct = assemble_tree(tree, guess, given);
  if (direct) return direct;
  auto loose = assemble_tree(tree, guess, {});
  if (!loose) return direct;
  auto again = assemble_tree(tree, guess, choosable(tree, *loose, given));
  if (!again) return direct;
  Eigen::VectorXd miss(tree.freedoms());
  tree.local(guess.data(), again->data(), miss.data());
  for (const int f : given) {
    if (std::abs(miss[f]) <= kPrinted) continue;
    return Failure::no_answer(fmt::format("the initial values contradict the loops: {} would have to change by {:.3g}",
                                          quote(freedom_name(tree, f)), miss[f]));
  }
  return again;
}

}  // namespace

Result<SpatialStart> make_spatial_start(const Model& model, PlanarForces forces) {
  Robot planar;
  double moved = 0;
  if (!model.spatial()) {
    const Drawing drawing = assembled_drawing(model);
    moved = drawing.moved;
    auto robot = robot_of(drawing.model ? *drawing.model : model, forces);
    if (!robot) return robot.failure();
    planar = std::move(*robot);
  }
  auto tree = screw::Tree::make(model.spatial() ? model.robot : planar);
  if (!tree) return tree.failure();
  SpatialStart start;
  start.tree = *tree;
  start.moved = moved;
  auto q = start_position(model, *start.tree, forces);
  if (!q) return q.failure();
  start.q = std::move(*q);
  start.mobility = spatial_mobility(*start.tree, start.q);
  const std::vector<int> rates = given_freedoms(model, *start.tree, true);
  const Eigen::VectorXd wish = start.tree->start_velocity();
  auto v = close_velocities(*start.tree, start.q, wish, as_held(rates));
  if (!v) {  // as with positions
    auto rounded = close_velocities(*start.tree, start.q, wish, as_held(choosable(*start.tree, start.q, rates)));
    if (!rounded ||
        (*rounded - wish)(rates).lpNorm<Eigen::Infinity>() > kPrinted * (1 + wish.lpNorm<Eigen::Infinity>())) {
      return v.failure();
    }
    v = std::move(rounded);
  }
  start.v = std::move(*v);
  return start;
}

}  // namespace kinegraph::task
