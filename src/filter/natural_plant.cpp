#include "kinegraph/filter/natural_plant.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::filter {
namespace {

constexpr double kClosureRounding = 2e-14;  // of Φ, in the size of the mechanism

void multiply_subtract(std::span<const Entry> pattern, const double* values, const double* d, int width, double* to) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const double* from = d + pattern[i].column * width;
    double* sum = to + pattern[i].row * width;
    for (int j = 0; j < width; ++j) sum[j] -= values[i] * from[j];
  }
}

}  // namespace

NaturalPlant::NaturalPlant(const Model& model, std::shared_ptr<const natural::System> system,
                           const build::Mobility& mobility, PlantOptions options)
    : Plant(system->coordinates(), system->coordinates(),
            system->coordinates() - system->constraints() + static_cast<int>(mobility.redundant.size()),
            std::move(options)),
      system_(std::move(system)),
      n_(system_->coordinates()),
      m_(system_->constraints()),
      circular_(n_, 0),
      choice_(*system_, static_cast<int>(model.relative.size()), mobility.redundant),
      length_(n_, system_->typical_length()),
      sharpness_(m_, 0.0),
      here_{{*system_, static_cast<int>(model.relative.size()), mobility.redundant}, std::vector<double>(n_), false},
      stage_(here_) {
  choice_.prefer(options_.prefer);
  const int first = n_ - static_cast<int>(model.relative.size());
  for (int i = first; i < n_; ++i) {
    circular_[i] = model.relative[i - first].type != RelativeCoordinate::Type::relative_position;
    if (circular_[i]) length_[i] = 1;
  }
  for (const CoordinateSpring& s : model.coordinate_springs) {
    if (s.stiffness != 0) circular_[first + s.coordinate.value] = 0;  // a coil counts the turns
  }

  const Eigen::VectorXd guess = system_->guess();
  size_ = std::max(system_->typical_length(), first > 0 ? guess.head(first).cwiseAbs().maxCoeff() : 0);
  std::vector<double> phi_q(system_->jacobian_pattern().size());
  system_->position(guess.data(), 0, nullptr, phi_q.data());
  for (std::size_t i = 0; i < phi_q.size(); ++i) sharpness_[system_->jacobian_pattern()[i].row] += phi_q[i] * phi_q[i];
  for (double& s : sharpness_) s = 1 / (kClosureRounding * size_ * (s > 0 ? std::sqrt(s) : system_->typical_length()));
  for (int r : mobility.redundant) sharpness_[r] = 0;

  const int f = freedoms_, stages = options_.integrator.stages;
  for (auto* x : {&q_, &v_, &r_}) x->assign(n_, 0.0);
  for (auto* x : {&bias_, &phi_, &rate_, &impulse_q_, &impulse_v_}) x->assign(m_, 0.0);
  for (auto* x : {&stage_q_, &stage_v_}) x->assign(static_cast<std::size_t>(stages) * n_, 0.0);
  stage_a_.assign(static_cast<std::size_t>(stages) * (n_ + m_), 0.0);
  for (auto* x : {&N_, &D_}) x->assign(static_cast<std::size_t>(n_) * f, 0.0);
  for (auto* x : {&acc_q_, &acc_v_}) x->assign(system_->jacobian_pattern().size(), 0.0);
  u_.assign(system_->motors(), 0.0);
  rhs_.assign(n_ + m_, 0.0);
  gram_.assign(f * f, 0.0);
  r_q_.assign(system_->stiffness_pattern().size(), 0.0);
  r_v_.assign(system_->force_pattern().size(), 0.0);
  hessian_.assign(system_->hessian_pattern().size(), 0.0);
  small_.assign(static_cast<std::size_t>(f) * (7 * f + 2 * forces() + 2), 0.0);
  reserve(std::max({2 * (2 * f + forces()), noises(), 1}));
  packets_.emplace(system_, here_.saddle, options_, NaturalScales{length_, sharpness_, size_});
}

void NaturalPlant::reserve(int width) {
  const std::size_t columns = width, stages = options_.integrator.stages;
  if (X_.size() >= (n_ + m_) * columns) return;
  X_.resize((n_ + m_) * columns);
  for (auto* x : {&dq_, &dv_}) x->resize(n_ * columns);
  for (auto* x : {&dstage_v_, &dstage_a_}) x->resize(stages * n_ * columns);
  dstage_q_.resize(n_ * columns);
}

// False at a singular position: the tangent there is not one of f directions.
bool NaturalPlant::at(Pose& pose, const double* q) {
  if (!pose.is_at(q)) {
    std::copy(q, q + n_, pose.q.begin());
    system_->position(q, 0, nullptr, pose.saddle.jacobian());
    pose.known = pose.saddle.factor();
  }
  return pose.known && !pose.saddle.singular();
}

// M a + Φ_qᵀ λ = Q + B u + forces,   Φ_q a = −(Φ̇_q v + Φ̇_t).   X (n + m): (a, λ)
bool NaturalPlant::solve_rate(Pose& pose, double t, const double* q, const double* v, const double* force,
                              bool multipliers, double* X) {
  system_->bias(q, v, t, bias_.data(), pose.saddle.jacobian());
  system_->force(q, v, t, X, nullptr, nullptr);
  for (std::size_t j = 0; j < u_.size(); ++j) {
    u_[j] = system_->motor_law(static_cast<int>(j), t);
    X[system_->motor_coordinate()[j]] += u_[j];
  }
  for (int k = 0; force && k < forces(); ++k) X[options_.forces[k]] += force[k];
  for (int r = 0; r < m_; ++r) X[n_ + r] = -bias_[r];
  if (pose.is_at(q)) {
    pose.saddle.solve(X, 1, multipliers);
    return true;
  }
  std::copy(q, q + n_, pose.q.begin());
  pose.known = multipliers ? pose.saddle.factor() : pose.saddle.factor_and_solve(X);
  if (pose.known && multipliers) pose.saddle.solve(X, 1, true);
  return pose.known;
}

// The same equations along directions (columns): the last ones along the unknown forces,
//
//     [ M    Φ_qᵀ ] [ δa ]   [ −r_q δq − r_v δv + B δf ]
//     [ Φ_q  0    ] [ δλ ] = [ −Φ̈_q δq − 2 Φ̇_q δv     ]
void NaturalPlant::respond(Pose& pose, double t, const double* q, const double* v, const double* a,
                           const double* lambda, const double* dq, const double* dv, int width, double* X) {
  system_->acceleration(q, v, a, t, nullptr, acc_q_.data(), acc_v_.data(), nullptr);
  system_->motion(q, v, a, lambda, u_.data(), t, r_.data(), r_q_.data(), r_v_.data(), nullptr);
  std::fill(X, X + static_cast<std::size_t>(n_ + m_) * width, 0.0);
  multiply_subtract(system_->stiffness_pattern(), r_q_.data(), dq, width, X);
  multiply_subtract(system_->force_pattern(), r_v_.data(), dv, width, X);
  multiply_subtract(system_->jacobian_pattern(), acc_q_.data(), dq, width, X + n_ * width);
  multiply_subtract(system_->jacobian_pattern(), acc_v_.data(), dv, width, X + n_ * width);
  for (int k = 0; k < forces(); ++k) X[options_.forces[k] * width + width - forces() + k] += 1;
  pose.saddle.solve(X, width, true);
}

double NaturalPlant::miss(const double* rows) const {
  double most = 0;
  for (int r = 0; r < m_; ++r) {
    const double size = sharpness_[r] * std::abs(rows[r]);
    if (!(size <= most)) most = size;  // not a number counts as large
  }
  return most;
}

bool NaturalPlant::noise_directions(double /*t*/, const double* x, Eigen::MatrixXd& directions) {
  const int count = noises();
  directions.resize(n_, count);
  if (count == 0) return true;
  if (!at(here_, x)) return false;
  std::fill(X_.begin(), X_.begin() + static_cast<std::size_t>(n_ + m_) * count, 0.0);
  for (int k = 0; k < count; ++k) X_[options_.noises[k].column * count + k] = 1;
  here_.saddle.solve(X_.data(), count, false);
  for (int k = 0; k < count; ++k) {
    const auto [column, kind] = options_.noises[k];
    const double own = X_[column * count + k];
    const bool moves = own * here_.saddle.typical_inertia(column) > 1e-12;
    const double factor = !moves ? 0 : kind == Disturbance::Kind::acceleration ? 1 / own : 1;
    for (int i = 0; i < n_; ++i) directions(i, k) = factor * X_[i * count + k];
  }
  return true;
}

bool NaturalPlant::instant(double t, const double* x, const double* force, bool accelerations,
                           const Eigen::MatrixXd* dq, const Eigen::MatrixXd* dv, sensor::Instant& out) {
  const int given = dq ? static_cast<int>(dq->cols()) : 0;
  const int width = dq && accelerations ? given + forces() : given;
  out.t = t;
  out.q = Eigen::Map<const Eigen::VectorXd>(x, n_);
  out.v = Eigen::Map<const Eigen::VectorXd>(x + n_, n_);
  out.dq.resize(n_, width);
  out.dv.resize(n_, width);
  if (dq) {
    out.dq.leftCols(given) = *dq;
    out.dv.leftCols(given) = *dv;
    out.dq.rightCols(width - given).setZero();
    out.dv.rightCols(width - given).setZero();
  }
  if (!accelerations) return true;

  const double *q = x, *v = x + n_;
  if (!solve_rate(here_, t, q, v, force, true, rhs_.data()) || here_.saddle.singular()) return false;
  out.a = Eigen::Map<const Eigen::VectorXd>(rhs_.data(), n_);
  out.reaction = Eigen::Map<const Eigen::VectorXd>(rhs_.data() + n_, m_);
  out.tau = Eigen::Map<const Eigen::VectorXd>(u_.data(), system_->motors());
  out.da.resize(n_, width);
  out.dreaction.resize(m_, width);
  out.dtau.setZero(system_->motors(), width);
  if (width == 0) return out.a.allFinite();
  reserve(width);
  using Rows = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  Rows(dq_.data(), n_, width) = out.dq;
  Rows(dv_.data(), n_, width) = out.dv;
  respond(here_, t, q, v, out.a.data(), out.reaction.data(), dq_.data(), dv_.data(), width, X_.data());
  out.da = Rows(X_.data(), n_, width);
  out.dreaction = Rows(X_.data() + n_ * width, m_, width);
  return out.a.allFinite();
}

}  // namespace kinegraph::filter
