#include "kinegraph/codegen/screw_rows.hpp"

#include "kinegraph/codegen/joint_terms.hpp"
#include "kinegraph/mechanics/screw/motion.hpp"

namespace kinegraph::codegen {
namespace {

using What = build::ScrewProblem::What;
using screw::Transform;

/// ω × (ω × p) in the products of components of ω, which all that needs them shares.
Vector3s centripetal(const Vector3s& w, const Vector3s& p) {
  Vector3s x;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    x[i] = w[i] * w[j] * p[j] + w[i] * w[k] * p[k] - (w[j] * w[j] + w[k] * w[k]) * p[i];
  }
  return x;
}

/// ω × I ω in the same products.
Vector3s gyroscopic(const Vector3s& w, const Eigen::Matrix3d& I) {
  Vector3s x;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    x[i] = Scalar(I(k, k) - I(j, j)) * (w[j] * w[k]) + Scalar(I(j, k)) * (w[j] * w[j] - w[k] * w[k]) +
           Scalar(I(i, k)) * (w[i] * w[j]) - Scalar(I(i, j)) * (w[i] * w[k]);
  }
  return x;
}

/// One half (angular or linear) of six forms, turned: R x.
template <class Forms>
void turn(Forms& forms, const Matrix3s& R) {
  for (const int half : {0, 3}) {
    std::array<LinearForm, 3> turned;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) {
        if (!R(r, c).zero()) turned[r].add(forms[half + c], R(r, c));
      }
    }
    for (int r = 0; r < 3; ++r) forms[half + r] = turned[r];
  }
}

/// To one half add factor × (the other half) × p, or p × …:   x += sign · (y × p)
template <class Forms>
void shift(Forms& forms, int to, int from, const Vector3s& p, double sign) {
  std::array<LinearForm, 3> sum;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    sum[i] = forms[to + i];
    if (!p[k].zero()) sum[i].add(forms[from + j], Scalar(sign) * p[k]);
    if (!p[j].zero()) sum[i].add(forms[from + k], Scalar(-sign) * p[j]);
  }
  for (int i = 0; i < 3; ++i) forms[to + i] = sum[i];
}

bool is_zero(const Vector3s& p) { return p[0].zero() && p[1].zero() && p[2].zero(); }

}  // namespace

ScrewRows::ScrewRows(const build::ScrewProblem& problem, const ScrewInputs& inputs, SymbolicElimination& elimination)
    : problem_(problem), inputs_(inputs), elimination_(elimination), tree_(problem.tree) {
  add_unknowns();
  const int bodies = static_cast<int>(tree_.bodies.size());
  stages_.resize(bodies);
  balance_.resize(bodies);
  for (int i = 0; i < bodies; ++i) add_body(i);
  for (int l = 0; inputs.loops && l < static_cast<int>(tree_.loops.size()); ++l) add_loop(l);
  for (int i = bodies - 1; i >= 0; --i) add_balance(i);
  for (int c = 0; c < static_cast<int>(tree_.tree->coordinates().size()); ++c) add_torque(c);
}

void ScrewRows::add_unknowns() {
  unknowns_.resize(problem_.variables.size());
  for (std::size_t v = 0; v < problem_.variables.size(); ++v) {
    if (problem_.variables[v].known) continue;
    for (int k = 0; k < problem_.variables[v].size; ++k) unknowns_[v].push_back(elimination_.unknown());
  }
}

LinearForm ScrewRows::variable(What what, int owner, int component) const {
  const int v = problem_.find(what, owner);
  if (!problem_.variables[v].known) return LinearForm::of(unknowns_[v][component]);
  const int at = tree_.tree->coordinates()[owner].v + component;
  return LinearForm(what == What::torque ? inputs_.tau[at] : inputs_.a[at]);
}

/// Numbers that have changed get unknowns of their own.
void ScrewRows::settle(Form6& forms, std::vector<int>& defined) {
  for (LinearForm& form : forms) form = elimination_.define(form, defined);
}

/// Motion of a frame that hangs on another by X and, if there is one, a joint (its own rates not added).
ScrewRows::Place ScrewRows::through(const Place& from, const Transform<double>& X, const JointTerms* joint,
                                    std::vector<Stage>* stages) {
  Place to = from;
  const auto next = [&] {
    if (stages) stages->insert(stages->begin(), Stage{});
    settle(to.acceleration, stages ? stages->front().acceleration : loop_unknowns_);
  };
  const auto move = [&](const Vector3s& p) {
    if (is_zero(p)) return;
    shift(to.acceleration, 3, 0, p, 1);
    const Vector3s inward = centripetal(to.w, p);
    for (int k = 0; k < 3; ++k) to.acceleration[3 + k].known += inward[k];
    next();
  };
  const auto rotate = [&](const Matrix3s& R) {
    turn(to.acceleration, R.transpose());
    to.w = (R.transpose() * to.w).eval();
    next();
  };
  move(X.p.cast<Scalar>());
  rotate(X.R.cast<Scalar>());
  if (joint) {
    move(joint->p);
    rotate(joint->R);
  }
  return to;
}

void ScrewRows::add_body(int i) {
  const MinimalTree::Body& body = tree_.bodies[i];
  joints_.push_back(joint_terms(body.joint, inputs_.q.data(), inputs_.v.data()));
  const JointTerms& joint = joints_.back();
  Place ground;
  // weight is what an upward acceleration of the ground would do
  for (int k = 0; k < 3; ++k) ground.acceleration[3 + k] = LinearForm(Scalar(-tree_.tree->gravity()[k]));
  Place place = through(body.parent < 0 ? ground : places_[body.parent], body.X_PF, &joint, &stages_[i]);

  const Vector3s w = joint.twist.head<3>(), u = joint.twist.tail<3>(), carried = place.w;
  place.w += w;
  const Vector3s angular = cross(place.w, w), linear = cross(Vector3s(carried + carried + w), u);
  for (int k = 0; k < 6; ++k) {
    LinearForm form = place.acceleration[k];
    form.known += joint.bias[k] + (k < 3 ? angular[k] : linear[k - 3]);
    for (int f = 0; f < body.joint.freedoms; ++f) {
      if (!joint.S(k, f).zero()) form.add(variable(What::acceleration, body.joint.coordinate, f), joint.S(k, f));
    }
    // V̇ᵢ − (…) = 0
    const int x = unknowns_[problem_.find(What::twist_acceleration, i)][k];
    LinearForm equation = LinearForm::of(x);
    equation.add(form, Scalar(-1));
    elimination_.row(std::move(equation), x);
    place.acceleration[k] = LinearForm::of(x);
  }
  places_.push_back(std::move(place));
}

/// A wrench at the far end of X and a joint, seen from its near end, times sign: into the balance of a body.
void ScrewRows::add_wrench(const Form6& wrench, const Transform<double>& X, const JointTerms* joint,
                           std::vector<Stage>* stages, double sign, int body) {
  if (body < 0) return;
  Form6 forms = wrench;
  std::size_t at = 0;
  const auto next = [&] {
    settle(forms, stages ? (*stages)[at].wrench : loop_unknowns_);
    ++at;
  };
  const auto rotate = [&](const Matrix3s& R) {
    turn(forms, R);
    next();
  };
  const auto move = [&](const Vector3s& p) {
    if (is_zero(p)) return;
    shift(forms, 0, 3, p, -1);  // n + p × f
    next();
  };
  if (joint) {
    rotate(joint->R);
    move(joint->p);
  }
  rotate(X.R.cast<Scalar>());
  move(X.p.cast<Scalar>());
  for (int k = 0; k < 6; ++k) balance_[body][k].add(forms[k], Scalar(sign));
}

/// V̇ on both sides of a joint that closes a loop, and its wrench on both bodies.
void ScrewRows::add_loop(int l) {
  const MinimalTree::Loop& loop = tree_.loops[l];
  vias_.push_back(joint_terms(loop.via, inputs_.q.data(), inputs_.v.data()));
  const JointTerms& via = vias_.back();
  Place lifted;
  for (int k = 0; k < 3; ++k) lifted.acceleration[3 + k] = LinearForm(Scalar(-tree_.tree->gravity()[k]));
  Place a = through(loop.a < 0 ? lifted : places_[loop.a], loop.X_AF, &via, nullptr);
  const Place b = through(loop.b < 0 ? lifted : places_[loop.b], loop.X_BM, nullptr, nullptr);
  const Vector3s w = via.twist.head<3>(), u = via.twist.tail<3>(), carried = a.w;
  const Vector3s angular = cross(Vector3s(carried + w), w), linear = cross(Vector3s(carried + carried + w), u);
  for (int k = 0; k < 6; ++k) {
    LinearForm equation = b.acceleration[k];
    equation.add(a.acceleration[k], Scalar(-1));
    equation.known -= via.bias[k] + (k < 3 ? angular[k] : linear[k - 3]);
    for (int f = 0; f < loop.via.freedoms; ++f) {
      if (!via.S(k, f).zero()) equation.add(variable(What::acceleration, loop.via.coordinate, f), -via.S(k, f));
    }
    elimination_.row(std::move(equation));
  }
  Form6 wrench;
  const int bodies = static_cast<int>(tree_.bodies.size());
  for (int k = 0; k < 6; ++k) wrench[k] = LinearForm::of(unknowns_[problem_.find(What::wrench, bodies + l)][k]);
  add_wrench(wrench, loop.X_AF, &via, nullptr, 1, loop.a);
  add_wrench(wrench, loop.X_BM, nullptr, nullptr, -1, loop.b);
}

/// Fᵢ − Σ (what is passed on) − G V̇ᵢ = b;   children come first.
void ScrewRows::add_balance(int i) {
  const MinimalTree::Body& body = tree_.bodies[i];
  const Eigen::Matrix3d I = body.inertia.topLeftCorner<3, 3>();
  const Eigen::Vector3d mc(body.inertia(2, 4), body.inertia(0, 5), body.inertia(1, 3));
  const Vector3s& w = places_[i].w;
  const Vector3s moment = gyroscopic(w, I), force = centripetal(w, mc.cast<Scalar>());
  Form6 wrench;
  for (int k = 0; k < 6; ++k) {
    const int x = unknowns_[problem_.find(What::wrench, i)][k];
    LinearForm equation = LinearForm::of(x);
    equation.add(balance_[i][k], Scalar(-1));
    for (int c = 0; c < 6; ++c) {
      if (body.inertia(k, c) != 0) equation.add(places_[i].acceleration[c], Scalar(-body.inertia(k, c)));
    }
    equation.known -= k < 3 ? moment[k] : force[k - 3];
    elimination_.row(std::move(equation), x);
    wrench[k] = LinearForm::of(x);
  }
  add_wrench(wrench, body.X_PF, &joints_[i], &stages_[i], 1, body.parent);
}

Scalar ScrewRows::joint_force(const screw::Coordinate& coordinate, int k) const {
  if (!inputs_.joint_forces) return {};
  const JointDynamics& d = coordinate.dynamics[k];
  const Scalar& v = inputs_.v[coordinate.v + k];
  Scalar force = -(Scalar(d.damping) * v);
  if (coordinate.stored == coordinate.freedoms) {
    force -= Scalar(d.stiffness) * (inputs_.q[coordinate.q + k] - Scalar(d.rest));
  } else {
    force += Scalar(d.stiffness * d.rest);
  }
  if (d.friction != 0) force -= Scalar(d.friction) * tanh(v * Scalar(1 / screw::kFrictionSpeed));
  return force;
}

/// Sᵀ F + armature θ̈ − τ = joint force
void ScrewRows::add_torque(int c) {
  const screw::Coordinate& coordinate = tree_.tree->coordinates()[c];
  const int bodies = static_cast<int>(tree_.bodies.size());
  for (int k = 0; k < coordinate.freedoms; ++k) {
    LinearForm equation;
    const auto add = [&](const screw::ScrewJoint& joint, const JointTerms& terms, int owner) {
      if (joint.coordinate != c) return;
      for (int r = 0; r < 6; ++r) {
        if (terms.S(r, k).zero()) continue;
        equation.add(LinearForm::of(unknowns_[problem_.find(What::wrench, owner)][r]), terms.S(r, k));
      }
    };
    for (int i = 0; i < bodies; ++i) add(tree_.bodies[i].joint, joints_[i], i);
    for (std::size_t l = 0; l < vias_.size(); ++l) add(tree_.loops[l].via, vias_[l], bodies + static_cast<int>(l));
    if (const double armature = coordinate.dynamics[k].armature; armature != 0) {
      equation.add(variable(What::acceleration, c, k), Scalar(armature));
    }
    equation.add(variable(What::torque, c, k), Scalar(-1));
    equation.known -= joint_force(coordinate, k);
    const int tau = problem_.find(What::torque, c), a = problem_.find(What::acceleration, c);
    const int own = !problem_.variables[tau].known ? tau : !problem_.variables[a].known ? a : -1;
    elimination_.row(std::move(equation), own < 0 ? -1 : unknowns_[own][k]);
  }
}

}  // namespace kinegraph::codegen
