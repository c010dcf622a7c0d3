#include "kinegraph/build/dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/base/names.hpp"

namespace kinegraph::build {
namespace {

using Equation = ScrewProblem::Equation;
using What = ScrewProblem::What;
using Form = BlockStructure::Form;
using screw::Matrix6d;
using screw::ScrewJoint;
using screw::Transform;
using screw::Vector6d;

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

constexpr int kStride = 8;  // of a block of six rows

}  // namespace

/// The rows of the plan are the factors of the problem, its columns the unknowns.
struct Dynamics::Implementation {
  ScrewProblem problem;
  ScrewOrder order;
  std::shared_ptr<const BlockPlan> plan;
  std::unique_ptr<BlockElimination> elimination;
  std::unique_ptr<screw::Motion> motion;
  std::string refusal;  ///< there can be no answer, whatever the numbers

  std::vector<int> column;       ///< per variable, −1 if known
  std::vector<int> variable;     ///< per column
  std::vector<int> solution_at;  ///< per variable: offset, −1 if known

  /// Where the numbers of a body's equations go: offsets into the storage, −1 if there is no such place.
  struct BodyPlaces {
    int X = -1, XT = -1, S = -1, ST = -1, G = -1, right_V = -1, right_F = -1;
    bool acceleration_known = false;
    bool varies = false;  ///< S depends on q and has a place
    int only = -1;        ///< S is sign · e(only)
    double sign = 1;
    int freedoms = 0, v = 0;
  };
  struct CoordinatePlaces {
    int armature = -1, right_T = -1, v = 0, freedoms = 0;
    int a_at = -1, tau_at = -1;  ///< solutions
    bool torque_known = false, acceleration_known = false;
  };
  struct LoopPlaces {
    int Xa = -1, Xb = -1, XaT = -1, XbT = -1, S = -1, ST = -1, right_A = -1;
    bool acceleration_known = false;
    int freedoms = 0, v = 0;
  };
  std::vector<BodyPlaces> body;
  std::vector<CoordinatePlaces> coordinate;
  std::vector<LoopPlaces> loop;

  const screw::Tree& tree() const { return *problem.tree; }
  int row(Equation equation, int owner) const;

  void check();
  void compile();
  BlockStructure structure() const;
  void add_subspace(BlockStructure& s, const ScrewJoint& joint, int twist_row, int wrench) const;
  void find_places();
  void write_constants();
  void write(const double* q, const double* v, const double* a, const double* tau, const screw::Surroundings&);
  void write_body(int i, double* x, const double* a, const screw::Surroundings& surroundings);
  void write_loop(int l, double* x, const double* a, const screw::Surroundings& surroundings);
  std::string label(int v) const;
};

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

namespace {

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
