#include "kinegraph/filter/screw_plant.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/mechanics/screw/motion.hpp"
#include "kinegraph/model/joint_names.hpp"

// Charts. Without loops any f = freedoms() numbers are free: N = 1, or on the manifold, with M = L Lᵀ, C = Lᵀ and N =
// L⁻ᵀ. With loops N = Z (C Z)⁻¹, J Z = 0; on the manifold, with Zᵀ M Z = L Lᵀ, N = Z L⁻ᵀ and C = Nᵀ M. From J(q) v = 0
// at both ends of a δz,
//
//     J D + δJ[N] v = 0,    C D = 0
//
// The derivative of a step carries (η, ξ) = (N δz, D δz + N δż) along; the next chart counts them.

namespace kinegraph::filter {
namespace {

constexpr double kReach = 10;         // independent freedoms serve as long as no other moves farther than that
constexpr double kTurned = 2;         // and a basis of the manifold as long as it is turned by less (1: not at all)
constexpr double kLeap = 0.5;         // of the way that was foreseen: a farther correction leads to another branch
constexpr int kMostSubsteps = 3;      // beyond them an implicit step costs less
constexpr double kSafety = 0.9;       // of the stability limit
constexpr int kPoses = 64;            // that are looked at for stiffness,
constexpr double kOtherPoses = 1.25;  // and how much stiffer others may be

/// Angles of joints that turn: full turns make no difference to the pose unless another joint follows them with a ratio
/// that is no whole number.
std::vector<bool> circular_freedoms(const screw::Tree& tree) {
  std::vector<bool> circular(tree.freedoms(), false);
  const auto turns = [](JointType type) { return type == JointType::revolute || type == JointType::continuous; };
  for (const screw::Coordinate& c : tree.coordinates()) {
    if (turns(c.type)) circular[c.v] = true;
  }
  const auto follow = [&](const screw::ScrewJoint& joint) {
    if (joint.freedoms == 1 && (!turns(joint.type) || joint.ratio != std::round(joint.ratio))) {
      circular[joint.v] = false;
    }
  };
  for (const screw::Body& body : tree.bodies()) follow(body.joint);
  for (const screw::Loop& loop : tree.loops()) follow(loop.via);
  return circular;
}

}  // namespace

ScrewPlant::ScrewPlant(std::shared_ptr<const screw::Tree> tree, int freedoms, Drive drive, PlantOptions options)
    : Plant(tree->stored(), tree->freedoms(), freedoms, std::move(options)),
      tree_(std::move(tree)),
      drive_(std::move(drive)),
      motion_(tree_, freedoms_, drive_, options_.forces, friction_speed()),
      stepper_(tree_, freedoms_, motion_, options_.integrator, friction_speed()),
      closure_(tree_, freedoms_),
      projection_(tree_, tree_->tree_freedoms() - freedoms_),
      circular_(circular_freedoms(*tree_)),
      q_(positions_, 0.0),
      lu_(freedoms_) {
  for (const screw::Coordinate& c : tree_->coordinates()) {
    for (std::string& name : freedom_names(c.name, c.type)) names_.push_back(std::move(name));
  }
  for (auto* x : {&delta_, &predicted_, &dv_, &difference_}) x->setZero(velocities_);
  v_.setZero(velocities_, 1);
  for (const screw::Coordinate& c : tree_->coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      const JointDynamics& d = c.dynamics[k];
      if (d.damping > 0 || d.friction > 0 || d.stiffness > 0) damped_.push_back(c.v + k);
    }
  }
  stiffest_ = stiffest_pose();
}

// ---- charts -----------------------------------------------------------------------------------------------------

/// As motion_ is prepared.
bool ScrewPlant::serves(const Chart& chart) {
  if (!chart.columns.empty()) {
    return options_.chart == ChartKind::independent && static_cast<int>(chart.columns.size()) == freedoms_ &&
           motion_.tangent().span(chart, N_) && motion_.tangent().reach(chart, N_) <= kReach;
  }
  if (options_.chart != ChartKind::manifold || chart.rows.rows() != freedoms_ || chart.rows.cols() != velocities_) {
    return false;
  }
  motion_.orthonormal(fresh_);
  counted_.noalias() = chart.rows * fresh_;
  lu_.compute(counted_);
  inverse_ = lu_.inverse();
  return inverse_.allFinite() && inverse_.cwiseAbs().maxCoeff() <= kTurned;
}

bool ScrewPlant::choose(double, const double* x, Chart& chart) {
  const bool independent = options_.chart == ChartKind::independent;
  if (independent && tree_only()) {
    chart.rows.resize(0, 0);
    chart.columns.resize(freedoms_);
    for (int i = 0; i < freedoms_; ++i) chart.columns[i] = i;
    return true;
  }
  if (!(independent ? motion_.tangent().set(x) : motion_.prepare(x))) return false;
  if (serves(chart)) return true;
  if (independent) {
    chart.rows.resize(0, 0);
    motion_.tangent().choose(options_.prefer, chart.columns);
    if (!serves(chart)) motion_.tangent().choose_best(false, chart.columns);
    return true;
  }
  chart.columns.clear();
  motion_.orthonormal(fresh_);
  chart.rows.noalias() = fresh_.transpose() * motion_.mass();
  return chart.rows.allFinite();
}

bool ScrewPlant::lift(double, const double* x, const Chart& chart, Eigen::MatrixXd& N, Eigen::MatrixXd& D) {
  ScrewTangent& tangent = motion_.tangent();
  if (!tangent.set(x) || !tangent.span(chart, N)) return false;
  if (tree_only()) {
    D.setZero(velocities_, freedoms_);
    return true;
  }
  motion_.velocity_changes(x, x + positions_, N, D);
  count_in(chart, D, counted_);
  D.noalias() -= N * counted_;
  return D.allFinite();
}

/// From closure_'s start to δz = delta, in equal stages; q_ and delta_ are where it ends.
bool ScrewPlant::move(const double* delta, int stages) {
  const Eigen::Map<const Eigen::VectorXd> dz(delta, freedoms_);
  delta_.setZero();
  for (int i = 0; i < stages; ++i) {
    predicted_.noalias() = closure_.span() * (dz / stages);
    const double way = predicted_.lpNorm<Eigen::Infinity>();
    delta_ += predicted_;
    predicted_ = delta_;
    if (!closure_.close(delta_, q_.data())) return false;
    if ((delta_ - predicted_).lpNorm<Eigen::Infinity>() > kLeap * way + 1e-6) return false;
  }
  return true;
}

bool ScrewPlant::retract(double, const double* x, const Chart& chart, const double* delta, double* out) {
  ScrewTangent& tangent = motion_.tangent();
  const Eigen::Map<const Eigen::VectorXd> rates(delta + freedoms_, freedoms_);
  if (tree_only()) {
    if (!tangent.span(chart, N_)) return false;
    delta_.noalias() = N_ * Eigen::Map<const Eigen::VectorXd>(delta, freedoms_);
    dv_.noalias() = N_ * rates;
    tree_->retract(x, delta_.data(), out);
    for (int i = 0; i < velocities_; ++i) out[positions_ + i] = x[positions_ + i] + dv_[i];
    return delta_.allFinite() && dv_.allFinite();
  }
  bool moved = false;
  for (int stages = 1; stages <= 64 && !moved; stages *= 4) {
    if (!closure_.begin(x, chart)) return false;
    moved = move(delta, stages);
  }
  if (!moved || !tangent.set(q_.data()) || !tangent.span(chart, N_)) return false;
  v_ = Eigen::Map<const Eigen::VectorXd>(x + positions_, velocities_);
  count_in(chart, v_, counted_);
  counted_.col(0) += rates;
  v_.noalias() = N_ * counted_;
  std::copy(q_.begin(), q_.end(), out);
  Eigen::Map<Eigen::VectorXd>(out + positions_, velocities_) = v_;
  return v_.allFinite();
}

void ScrewPlant::local(const double* x, const Chart& chart, const double* other, double* delta) const {
  Eigen::VectorXd& dq = difference_;
  tree_->local(x, other, dq.data());
  for (int k = 0; k < velocities_; ++k) {
    if (circular(k)) dq[k] = std::remainder(dq[k], 2 * M_PI);
  }
  const double *v = x + positions_, *w = other + positions_;
  for (int i = 0; i < freedoms_; ++i) {
    double position = 0, rate = 0;
    if (chart.columns.empty()) {
      for (int k = 0; k < velocities_; ++k) {
        position += chart.rows(i, k) * dq[k];
        rate += chart.rows(i, k) * (w[k] - v[k]);
      }
    } else {
      const int k = chart.columns[i];
      position = dq[k];
      rate = w[k] - v[k];
    }
    delta[i] = position;
    delta[freedoms_ + i] = rate;
  }
}

bool ScrewPlant::shift(double, double* x, const double* dq, const double* dv) {
  if (dq) tree_->retract(x, dq, x);
  for (int i = 0; dv && i < velocities_; ++i) x[positions_ + i] += dv[i];
  if (!std::all_of(x, x + stored(), [](double e) { return std::isfinite(e); })) return false;
  if (tree_only()) return true;
  projection_.prepare(x);
  return projection_.project(x, x + positions_);
}

// ---- the motion -------------------------------------------------------------------------------------------------

/// The Frobenius norm of D^½ K D^½, at least its largest eigenvalue: how fast what joints resist dies out, or swings.
double ScrewPlant::stiffness() {
  double fastest = 0;
  if (damped_.empty()) return 0;
  damping_.setZero(velocities_, static_cast<Eigen::Index>(damped_.size()));
  for (std::size_t i = 0; i < damped_.size(); ++i) damping_(damped_[i], static_cast<Eigen::Index>(i)) = 1;
  motion_.mobilise(damping_);
  const auto dynamics = [&](int freedom) -> const JointDynamics& {
    const auto& all = tree_->coordinates();
    const auto c = std::find_if(all.begin(), all.end(), [&](const auto& e) { return freedom < e.v + e.freedoms; });
    return c->dynamics[freedom - c->v];
  };
  const auto resistance = [&](const JointDynamics& d, int freedom) {
    const double speed = friction_speed() ? friction_speed()[freedom] : screw::kFrictionSpeed;
    return std::max(0.0, d.damping + screw::friction_rate(d, 0, speed));
  };
  double sum = 0;
  for (std::size_t i = 0; i < damped_.size(); ++i) {
    const JointDynamics& one = dynamics(damped_[i]);
    for (std::size_t j = 0; j < damped_.size(); ++j) {
      const JointDynamics& other = dynamics(damped_[j]);
      const double K = damping_(damped_[i], static_cast<Eigen::Index>(j));
      sum += K * K * resistance(one, damped_[i]) * resistance(other, damped_[j]);
    }
    fastest = std::max(fastest, std::sqrt(std::max(0.0, one.stiffness * damping_(damped_[i], static_cast<int>(i)))));
  }
  return std::max(fastest, std::sqrt(sum));
}

/// The largest over many poses, where it takes no closing of loops to find them; else without bound.
double ScrewPlant::stiffest_pose() {
  if (damped_.empty()) return 0;
  if (!tree_only()) return INFINITY;
  double most = 0;
  const Eigen::VectorXd start = tree_->start_position();
  for (int k = 0; k < kPoses; ++k) {
    for (int i = 0; i < velocities_; ++i) delta_[i] = k == 0 ? 0 : 3 * std::sin(12.9898 * (i + 1) + 78.233 * (k + 1));
    tree_->retract(start.data(), delta_.data(), q_.data());
    most = motion_.prepare(q_.data()) ? std::max(most, stiffness()) : INFINITY;
  }
  return most;
}

int ScrewPlant::substeps(const double* q, double h) {
  const double limit = kSafety * stepper_.stable();
  double rate = kOtherPoses * stiffest_;
  if (std::isinf(rate)) rate = motion_.prepare(q) ? stiffness() : INFINITY;
  return rate * h <= kMostSubsteps * limit ? std::max(1, static_cast<int>(std::ceil(rate * h / limit))) : 0;
}

bool ScrewPlant::steps(double t, double h, const double* x, const double* force, double* next, bool along) {
  const int count = substeps(x, h);
  Eigen::MatrixXd *eta = along ? &eta_ : nullptr, *xi = along ? &xi_ : nullptr;
  std::copy(x, x + stored(), next);
  if (count == 0) return stepper_.step_implicitly(t, h, force, next, next + positions_, eta, xi);
  for (int i = 0; i < count; ++i) {
    const double part = h / count;
    if (!stepper_.step(t + i * part, part, force, next, next + positions_, eta, xi)) return false;
  }
  return true;
}

bool ScrewPlant::advance(double t, double h, const double* x, const double* force, double* next) {
  return steps(t, h, x, force, next, false);
}

bool ScrewPlant::advance(double t, double h, const double* x, const double* force, const Chart& chart, double* next,
                         Chart& next_chart, Eigen::MatrixXd& by_state, Eigen::MatrixXd& by_force) {
  const int f = freedoms_;
  if (!motion_.tangent().set(x) || !motion_.tangent().span(chart, N_)) return false;
  eta_.setZero(velocities_, 2 * f + forces());
  eta_.leftCols(f) = N_;
  motion_.velocity_changes(x, x + positions_, eta_, xi_);
  count_in(chart, xi_, counted_);
  xi_.noalias() -= N_ * counted_;
  xi_.middleCols(f, f) += N_;
  if (!steps(t, h, x, force, next, true) || !choose(t + h, next, next_chart)) return false;
  by_state.resize(2 * f, 2 * f);
  by_force.resize(2 * f, forces());
  count_in(next_chart, eta_, counted_);
  by_state.topRows(f) = counted_.leftCols(2 * f);
  by_force.topRows(f) = counted_.rightCols(forces());
  count_in(next_chart, xi_, counted_);
  by_state.bottomRows(f) = counted_.leftCols(2 * f);
  by_force.bottomRows(f) = counted_.rightCols(forces());
  return by_state.allFinite() && by_force.allFinite();
}

bool ScrewPlant::noise_directions(double, const double* x, Eigen::MatrixXd& directions) {
  directions.setZero(velocities_, noises());
  if (!motion_.prepare(x)) return false;
  for (int i = 0; i < noises(); ++i) directions(options_.noises[i].column, i) = 1;
  motion_.mobilise(directions);
  for (int i = 0; i < noises(); ++i) {
    if (options_.noises[i].kind != Disturbance::Kind::acceleration) continue;
    const double own = directions(options_.noises[i].column, i);
    directions.col(i) *= own > 0 ? 1 / own : 0;  // 0: it cannot move there
  }
  return directions.allFinite();
}

// ---- what sensors see -------------------------------------------------------------------------------------------

bool ScrewPlant::instant(double t, const double* x, const double* force, bool accelerations, const Eigen::MatrixXd* dq,
                         const Eigen::MatrixXd* dv, sensor::Instant& out) {
  const double *q = x, *v = x + positions_;
  out.t = t;
  out.q = Eigen::Map<const Eigen::VectorXd>(q, positions_);
  out.v = Eigen::Map<const Eigen::VectorXd>(v, velocities_);
  const bool along = dq && dv;
  const Eigen::Index k = along ? dq->cols() : 0, all = along && accelerations ? k + forces() : k;
  out.dq.setZero(velocities_, all);
  out.dv.setZero(velocities_, all);
  if (along) {
    out.dq.leftCols(k) = *dq;
    out.dv.leftCols(k) = *dv;
  }
  if (!accelerations) return true;
  out.a.resize(velocities_);
  if (!motion_.accelerate(t, q, v, force, out.a.data())) return false;
  out.tau = Eigen::Map<const Eigen::VectorXd>(motion_.tau().data(), velocities_);
  motion_.reactions(out.reaction);
  out.da.resize(velocities_, all);
  out.dtau.setZero(velocities_, all);
  out.dreaction.resize(out.reaction.size(), all);
  if (!along) return true;
  for (int i = 0; i < forces(); ++i) out.dtau(options_.forces[i], k + i) = 1;
  if (!motion_.prepare(q)) return false;
  motion_.accelerate_along(q, v, out.a.data(), out.dq, out.dv, true, out.da);
  motion_.react_along(q, v, out.a.data(), out.dq, out.dv, out.da, out.dreaction);
  return out.da.allFinite() && out.dreaction.allFinite();
}

}  // namespace kinegraph::filter
