// The structure of the linear system of build::Dynamics, and where its numbers stand.
#include <algorithm>
#include <cmath>

#include "kinegraph/build/dynamics_implementation.hpp"

namespace kinegraph::build {
namespace {

using Equation = ScrewProblem::Equation;
using What = ScrewProblem::What;
using Form = BlockStructure::Form;
using screw::ScrewJoint;

/// Rows of e_z and the like that S consists of, where it does; else empty. The sign is that of the joint's ratio.
std::vector<int> selection(const ScrewJoint& joint) {
  if (joint.reversed) return {};
  switch (joint.type) {
    case JointType::revolute:
    case JointType::continuous:
      return std::abs(joint.ratio) == 1 ? std::vector<int>{2} : std::vector<int>{};
    case JointType::prismatic:
      return std::abs(joint.ratio) == 1 ? std::vector<int>{5} : std::vector<int>{};
    case JointType::cylindrical:
      return {2, 5};
    case JointType::ball:
      return {0, 1, 2};
    case JointType::floating:
      return {0, 1, 2, 3, 4, 5};
    default:
      return {};
  }
}

}  // namespace

int Dynamics::Implementation::row(Equation equation, int owner) const {
  const int bodies = static_cast<int>(tree().bodies().size()),
            coordinates = static_cast<int>(tree().coordinates().size());
  switch (equation) {
    case Equation::acceleration:
      return owner;
    case Equation::wrench:
      return bodies + owner;
    case Equation::torque:
      return 2 * bodies + owner;
    case Equation::loop_acceleration:
      return 2 * bodies + coordinates + owner;
    case Equation::planar:
      for (std::size_t f = problem.factors.size(); f-- > 0;) {
        if (problem.factors[f].equation == equation && problem.factors[f].owner == owner) return static_cast<int>(f);
      }
  }
  return -1;
}

void Dynamics::Implementation::compile() {
  column.assign(problem.variables.size(), -1);
  variable.clear();
  for (const int v : problem.unknown()) {
    column[v] = static_cast<int>(variable.size());
    variable.push_back(v);
  }
  std::vector<std::vector<int>> groups;
  for (const std::vector<int>& group : order) {
    std::vector<int> columns;
    for (const int v : group) {
      if (problem.variables[v].level == 0) columns.push_back(column[v]);
    }
    if (!columns.empty()) groups.push_back(std::move(columns));
  }
  plan = std::make_shared<const BlockPlan>(structure(), groups);
  elimination = std::make_unique<BlockElimination>(plan);
  find_places();
  write_constants();
}

/// −S in the row of a twist, Sᵀ in that of the torque.
void Dynamics::Implementation::add_subspace(BlockStructure& s, const ScrewJoint& joint, int twist_row,
                                            int wrench) const {
  if (joint.coordinate < 0) return;
  const std::vector<int> index = selection(joint);
  const int acceleration = column[problem.find(What::acceleration, joint.coordinate)];
  const double sign = joint.freedoms == 1 && joint.ratio < 0 ? -1 : 1;
  if (acceleration >= 0) {
    s.entries.push_back({twist_row, acceleration, index.empty() ? Form::dense : Form::select_columns, index,
                         index.empty() ? -1 : -sign});
  }
  const int torque_row = row(Equation::torque, joint.coordinate);
  s.entries.push_back(
      {torque_row, column[wrench], index.empty() ? Form::dense : Form::select_rows, index, index.empty() ? 1 : sign});
}

BlockStructure Dynamics::Implementation::structure() const {
  BlockStructure s;
  for (const ScrewProblem::Factor& factor : problem.factors) s.row_size.push_back(factor.rows);
  s.pivot_row.assign(variable.size(), -1);
  for (const int v : variable) {
    s.column_size.push_back(problem.variables[v].size);
    s.level.push_back(problem.variables[v].level);
  }
  const auto add = [&](int r, int v, Form form, double sign = 1) {
    s.entries.push_back({r, column[v], form, {}, sign});
  };

  const int bodies = static_cast<int>(tree().bodies().size());
  for (int i = 0; i < bodies; ++i) {
    const screw::Body& body = tree().bodies()[i];
    const int V = problem.find(What::twist_acceleration, i), F = problem.find(What::wrench, i);
    const int row_V = row(Equation::acceleration, i), row_F = row(Equation::wrench, i);
    add(row_V, V, Form::identity);
    add(row_F, F, Form::identity);
    add(row_F, V, Form::dense, -1);
    if (body.parent >= 0) {
      add(row_V, problem.find(What::twist_acceleration, body.parent), Form::adjoint, -1);
      add(row(Equation::wrench, body.parent), F, Form::adjoint_transposed, -1);
    }
    add_subspace(s, body.joint, row_V, F);
    s.pivot_row[column[V]] = row_V;
    s.pivot_row[column[F]] = row_F;
  }
  for (int l = 0; l < static_cast<int>(tree().loops().size()); ++l) {
    const screw::Loop& loop = tree().loops()[l];
    const int F = problem.find(What::wrench, bodies + l), row_A = row(Equation::loop_acceleration, l);
    const bool both = loop.a == loop.b;
    for (const bool far : {false, true}) {
      const int end = far ? loop.b : loop.a;
      if (end < 0 || (both && !far)) continue;
      const double sign = far ? 1 : -1;
      add(row_A, problem.find(What::twist_acceleration, end), both ? Form::dense : Form::adjoint, sign);
      add(row(Equation::wrench, end), F, both ? Form::dense : Form::adjoint_transposed, sign);
    }
    add_subspace(s, loop.via, row_A, F);
    // no moment in the plane, no force across it, in a frame whose z axis is that of the joint
    if (const int planar = row(Equation::planar, l); planar >= 0) {
      s.entries.push_back({planar, column[F], Form::select_rows, {0, 1, 5}, 1});
    }
  }
  for (int c = 0; c < static_cast<int>(tree().coordinates().size()); ++c) {
    const int row_T = row(Equation::torque, c);
    const int a = problem.find(What::acceleration, c), tau = problem.find(What::torque, c);
    const auto& dynamics = tree().coordinates()[c].dynamics;
    const bool armature = std::any_of(dynamics.begin(), dynamics.end(), [](const auto& d) { return d.armature != 0; });
    if (column[a] >= 0 && armature) add(row_T, a, Form::dense);
    if (column[tau] >= 0) add(row_T, tau, Form::minus_identity);
    if (column[tau] >= 0 && s.level[column[tau]] == 0) s.pivot_row[column[tau]] = row_T;
    if (column[tau] < 0 && column[a] >= 0 && s.level[column[a]] == 0) s.pivot_row[column[a]] = row_T;
  }
  return s;
}

void Dynamics::Implementation::find_places() {
  const int bodies = static_cast<int>(tree().bodies().size());
  const auto entry = [&](int r, int v) { return column[v] < 0 ? -1 : plan->entry(r, column[v]); };
  solution_at.assign(problem.variables.size(), -1);
  for (std::size_t k = 0; k < variable.size(); ++k) solution_at[variable[k]] = plan->solution(static_cast<int>(k));

  body.assign(bodies, {});
  for (int i = 0; i < bodies; ++i) {
    const screw::Body& b = tree().bodies()[i];
    BodyPlaces& p = body[i];
    const int V = problem.find(What::twist_acceleration, i), F = problem.find(What::wrench, i);
    const int row_V = row(Equation::acceleration, i), row_F = row(Equation::wrench, i);
    if (b.parent >= 0) {
      p.X = entry(row_V, problem.find(What::twist_acceleration, b.parent));
      p.XT = entry(row(Equation::wrench, b.parent), F);
    }
    p.G = entry(row_F, V);
    p.right_V = plan->right_side(row_V);
    p.right_F = plan->right_side(row_F);
    p.freedoms = b.joint.freedoms;
    p.v = b.joint.v;
    const int a = problem.find(What::acceleration, b.joint.coordinate);
    p.acceleration_known = column[a] < 0;
    p.S = entry(row_V, a);
    p.ST = entry(row(Equation::torque, b.joint.coordinate), F);
    p.varies = (p.S >= 0 || p.ST >= 0) &&
               (b.joint.type == JointType::universal || b.joint.type == JointType::planar || b.joint.reversed);
    const std::vector<int> selected = selection(b.joint);
    if (selected.size() == 1) p.only = selected[0], p.sign = b.joint.ratio;
  }
  loop.assign(tree().loops().size(), {});
  for (int l = 0; l < static_cast<int>(loop.size()); ++l) {
    const screw::Loop& source = tree().loops()[l];
    LoopPlaces& p = loop[l];
    const int F = problem.find(What::wrench, bodies + l), row_A = row(Equation::loop_acceleration, l);
    if (source.a >= 0) {
      p.Xa = entry(row_A, problem.find(What::twist_acceleration, source.a));
      p.XaT = entry(row(Equation::wrench, source.a), F);
    }
    if (source.b >= 0) {
      p.Xb = entry(row_A, problem.find(What::twist_acceleration, source.b));
      p.XbT = entry(row(Equation::wrench, source.b), F);
    }
    p.right_A = plan->right_side(row_A);
    p.freedoms = source.via.freedoms;
    p.v = source.via.v;
    if (source.via.coordinate < 0) continue;
    const int a = problem.find(What::acceleration, source.via.coordinate);
    p.acceleration_known = column[a] < 0;
    p.S = entry(row_A, a);
    p.ST = entry(row(Equation::torque, source.via.coordinate), F);
  }
  coordinate.assign(tree().coordinates().size(), {});
  for (int c = 0; c < static_cast<int>(coordinate.size()); ++c) {
    CoordinatePlaces& p = coordinate[c];
    const int a = problem.find(What::acceleration, c), tau = problem.find(What::torque, c);
    p.right_T = plan->right_side(row(Equation::torque, c));
    p.armature = entry(row(Equation::torque, c), a);
    p.v = tree().coordinates()[c].v;
    p.freedoms = tree().coordinates()[c].freedoms;
    p.acceleration_known = column[a] < 0;
    p.torque_known = column[tau] < 0;
    p.a_at = solution_at[a];
    p.tau_at = solution_at[tau];
  }
}

}  // namespace kinegraph::build
