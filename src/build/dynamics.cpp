#include "kinegraph/build/dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/build/dynamics_implementation.hpp"

namespace kinegraph::build {
namespace {

using Equation = ScrewProblem::Equation;
using What = ScrewProblem::What;
using screw::Matrix6d;
using screw::Transform;
using screw::Vector6d;

/// Ad(X_AB⁻¹) = [Rᵀ 0; Qᵀ Rᵀ] and its transpose [R Q; 0 R], Q = p^ R, into blocks of stride 8 whose zeros stand.
inline void write_adjoints(const Transform<double>& X_AB, double* straight, double* transposed) {
  const double *R = X_AB.R.data(), *p = X_AB.p.data();
  for (int k = 0; k < 3; ++k) {
    const double x = R[3 * k], y = R[3 * k + 1], z = R[3 * k + 2];
    const double u = p[1] * z - p[2] * y, v = p[2] * x - p[0] * z, w = p[0] * y - p[1] * x;
    double *column = transposed + kStride * k, *right = transposed + kStride * (k + 3);
    column[0] = right[3] = x;
    column[1] = right[4] = y;
    column[2] = right[5] = z;
    right[0] = u;
    right[1] = v;
    right[2] = w;
    straight[k] = straight[3 * kStride + k + 3] = x;
    straight[kStride + k] = straight[4 * kStride + k + 3] = y;
    straight[2 * kStride + k] = straight[5 * kStride + k + 3] = z;
    straight[k + 3] = u;
    straight[kStride + k + 3] = v;
    straight[2 * kStride + k + 3] = w;
  }
}

void write_subspace(const Eigen::Matrix<double, 6, 6>& S, int freedoms, int at, int transposed_at, double* x) {
  if (at >= 0) {
    for (int k = 0; k < freedoms; ++k) {
      for (int r = 0; r < 6; ++r) x[at + kStride * k + r] = S(r, k);
    }
  }
  if (transposed_at >= 0) {
    const int stride = BlockPlan::stride(freedoms);
    for (int r = 0; r < 6; ++r) {
      for (int k = 0; k < freedoms; ++k) x[transposed_at + stride * r + k] = S(r, k);
    }
  }
}

}  // namespace

std::string Dynamics::Implementation::label(int v) const {
  const ScrewProblem::Variable& variable = problem.variables[v];
  switch (variable.what) {
    case What::twist_acceleration:
      return "the acceleration of body " + quote(variable.label);
    case What::wrench:
      return "the wrench through joint " + quote(variable.label);
    case What::torque:
      return "the torque of joint " + quote(variable.label);
    case What::acceleration:
      return "the acceleration of joint " + quote(variable.label);
  }
  return variable.name;
}

/// What no numbers can mend.
void Dynamics::Implementation::check() {
  for (std::size_t c = 0; c < problem.given.size(); ++c) {
    const screw::Coordinate& coordinate = tree().coordinates()[c];
    if (problem.given[c] == Given::neither && !coordinate.in_loop) {
      refusal = fmt::format("joint {}: neither its torque nor its acceleration is known", quote(coordinate.name));
    }
  }
}

void Dynamics::Implementation::write_constants() {
  double* x = elimination->storage();
  for (std::size_t i = 0; i < body.size(); ++i) {
    const Matrix6d& G = tree().bodies()[i].inertia;
    for (int k = 0; k < 6; ++k) {
      for (int r = 0; r < 6; ++r) x[body[i].G + kStride * k + r] = G(r, k);
    }
    write_subspace(motion->body(static_cast<int>(i)).S, body[i].freedoms, body[i].S, body[i].ST, x);
  }
  for (std::size_t c = 0; c < coordinate.size(); ++c) {
    const CoordinatePlaces& p = coordinate[c];
    for (int k = 0; k < p.freedoms && p.armature >= 0; ++k) {
      x[p.armature + (BlockPlan::stride(p.freedoms) + 1) * k] = tree().coordinates()[c].dynamics[k].armature;
    }
  }
}

inline void Dynamics::Implementation::write_body(int i, double* x, const double* a,
                                                 const screw::Surroundings& surroundings) {
  const BodyPlaces& p = body[i];
  const screw::Motion::BodyMotion& m = motion->body(i);
  Eigen::Map<Vector6d> right_V(x + p.right_V), right_F(x + p.right_F);
  right_V = m.c;
  right_F = m.b;
  if (p.X >= 0) {
    write_adjoints(m.X_PB, x + p.X, x + p.XT);
  } else {
    right_V += m.X_PB.twist_back(surroundings.base_acceleration);
  }
  if (p.varies) write_subspace(m.S, p.freedoms, p.S, p.ST, x);
  if (!p.acceleration_known) return;
  if (p.only >= 0) {
    right_V[p.only] += p.sign * a[p.v];
  } else {
    for (int k = 0; k < p.freedoms; ++k) right_V += m.S.col(k) * a[p.v + k];
  }
}

void Dynamics::Implementation::write_loop(int l, double* x, const double* a, const screw::Surroundings& surroundings) {
  const LoopPlaces& p = loop[l];
  const screw::Loop& source = tree().loops()[l];
  const screw::Motion::LoopMotion& m = motion->loop(l);
  Eigen::Map<Vector6d> right(x + p.right_A);
  right = m.c;
  if (source.a == source.b && source.a < 0) {
    // nothing of it moves but the joint itself
    right += m.X_AM.twist_back(surroundings.base_acceleration) - m.X_BM.twist_back(surroundings.base_acceleration);
  } else if (source.a == source.b) {
    const Matrix6d X = m.X_BM.inverse().Ad() - m.X_AM.inverse().Ad();
    for (int k = 0; k < 6; ++k) {
      for (int r = 0; r < 6; ++r) {
        x[p.Xb + kStride * k + r] = X(r, k);
        x[p.XbT + kStride * k + r] = X(k, r);
      }
    }
  } else {
    if (source.b >= 0) {
      write_adjoints(m.X_BM, x + p.Xb, x + p.XbT);
    } else {
      right -= m.X_BM.twist_back(surroundings.base_acceleration);
    }
    if (source.a >= 0) {
      write_adjoints(m.X_AM, x + p.Xa, x + p.XaT);
    } else {
      right += m.X_AM.twist_back(surroundings.base_acceleration);
    }
  }
  write_subspace(m.S, p.freedoms, p.S, p.ST, x);
  if (p.acceleration_known) {
    for (int k = 0; k < p.freedoms; ++k) right += m.S.col(k) * a[p.v + k];
  }
}

void Dynamics::Implementation::write(const double* q, const double* v, const double* a, const double* tau,
                                     const screw::Surroundings& surroundings) {
  motion->set(q, v, surroundings);
  double* x = elimination->storage();
  for (int i = 0; i < static_cast<int>(body.size()); ++i) write_body(i, x, a, surroundings);
  for (int l = 0; l < static_cast<int>(loop.size()); ++l) write_loop(l, x, a, surroundings);
  for (std::size_t c = 0; c < coordinate.size(); ++c) {
    const CoordinatePlaces& p = coordinate[c];
    const auto& dynamics = tree().coordinates()[c].dynamics;
    for (int k = 0; k < p.freedoms; ++k) {
      double right = motion->joint_force()[p.v + k];
      if (p.torque_known) right += tau[p.v + k];
      if (p.acceleration_known) right -= dynamics[k].armature * a[p.v + k];
      x[p.right_T + k] = right;
    }
  }
}

Dynamics::Dynamics(std::shared_ptr<const screw::Tree> tree, const std::vector<Given>& given, ScrewOrder order)
    : Dynamics(screw_problem(std::move(tree), given), std::move(order)) {}

Dynamics::Dynamics(ScrewProblem problem, ScrewOrder order) : implementation_(std::make_unique<Implementation>()) {
  Implementation& i = *implementation_;
  i.problem = std::move(problem);
  if (order.empty()) {
    const bool inverse = std::none_of(i.problem.given.begin(), i.problem.given.end(),
                                      [](Given g) { return g == Given::torque || g == Given::neither; });
    order = *screw_order(i.problem, inverse ? "rnea" : "aba");
  }
  i.order = std::move(order);
  i.motion = std::make_unique<screw::Motion>(i.problem.tree);
  i.check();
  if (i.refusal.empty()) i.compile();
}

Dynamics::~Dynamics() = default;
Dynamics::Dynamics(Dynamics&&) noexcept = default;

void Dynamics::write(const double* q, const double* v, const double* a, const double* tau,
                     const screw::Surroundings& surroundings) {
  implementation_->write(q, v, a, tau, surroundings);
}

Dynamics::Outcome Dynamics::solve(const double* q, const double* v, double* a, double* tau,
                                  const screw::Surroundings& surroundings) {
  Implementation& i = *implementation_;
  Outcome outcome;
  if (!i.refusal.empty()) {
    outcome.ok = false;
    outcome.message = i.refusal;
    return outcome;
  }
  i.write(q, v, a, tau, surroundings);
  const BlockElimination::Outcome result = i.elimination->run();
  outcome.undetermined = result.size - result.rank;
  outcome.inconsistency = result.inconsistency;
  if (result.worst_row >= 0 && result.inconsistency > 1e-9) outcome.worst = i.problem.factors[result.worst_row].name;
  if (!result.ok) {
    outcome.ok = false;
    outcome.message =
        fmt::format("{} is not determined: nothing that it moves has inertia", i.label(i.variable[result.column]));
    return outcome;
  }
  const double* x = i.elimination->storage();
  for (const Implementation::CoordinatePlaces& p : i.coordinate) {
    for (int k = 0; k < p.freedoms; ++k) {
      if (p.a_at >= 0) a[p.v + k] = x[p.a_at + k];
      if (p.tau_at >= 0) tau[p.v + k] = x[p.tau_at + k];
    }
  }
  return outcome;
}

Vector6d Dynamics::twist_acceleration(int body) const {
  const Implementation& i = *implementation_;
  return Eigen::Map<const Vector6d>(i.elimination->storage() +
                                    i.solution_at[i.problem.find(What::twist_acceleration, body)]);
}

Vector6d Dynamics::wrench(int joint) const {
  const Implementation& i = *implementation_;
  return Eigen::Map<const Vector6d>(i.elimination->storage() + i.solution_at[i.problem.find(What::wrench, joint)]);
}

Eigen::MatrixXd Dynamics::mass_matrix(const double* q) {
  Implementation& i = *implementation_;
  const screw::Tree& tree = i.tree();
  if (tree.tree_freedoms() == 0) return {};
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(tree.freedoms());
  i.write(q, rest.data(), rest.data(), rest.data(), {});
  i.elimination->run_until(i.plan->steps() - 1);
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(tree.tree_freedoms(), tree.tree_freedoms());
  const auto& coordinates = tree.coordinates();
  for (std::size_t r = 0; r < coordinates.size(); ++r) {
    for (std::size_t c = 0; c < coordinates.size(); ++c) {
      if (coordinates[r].loop >= 0 || coordinates[c].loop >= 0) continue;
      const std::vector<double> block = i.elimination->block(i.row(Equation::torque, static_cast<int>(r)),
                                                             column_of(What::acceleration, static_cast<int>(c)));
      for (std::size_t k = 0; k < block.size(); ++k) {
        const int width = coordinates[c].freedoms;
        M(coordinates[r].v + static_cast<int>(k) / width, coordinates[c].v + static_cast<int>(k) % width) = block[k];
      }
    }
  }
  return M;
}

const std::string& Dynamics::refusal() const { return implementation_->refusal; }
const ScrewProblem& Dynamics::problem() const { return implementation_->problem; }
const ScrewOrder& Dynamics::order() const { return implementation_->order; }
const BlockPlan& Dynamics::plan() const { return *implementation_->plan; }
BlockElimination& Dynamics::elimination() { return *implementation_->elimination; }
const screw::Motion& Dynamics::motion() const { return *implementation_->motion; }
int Dynamics::row_of(Equation equation, int owner) const { return implementation_->row(equation, owner); }
int Dynamics::column_of(What what, int owner) const {
  return implementation_->column[implementation_->problem.find(what, owner)];
}

}  // namespace kinegraph::build
