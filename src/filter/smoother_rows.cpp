#include "kinegraph/filter/smoother_rows.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <cmath>

namespace kinegraph::filter {
namespace {

constexpr double kSingular = 1e-12;  // a pivot below this share of its diagonal entry is rounding
// Floor of a step's noise, as a share of the standard deviation before the first reading: small enough that 1e5 steps
// add nothing to what a thousandfold better estimate knows (1e-8 √1e5 ≪ 1e-3), large enough to leave half the digits.
constexpr double kFloor = 1e-8;

}  // namespace

void floored_root(const MatrixXd& Q, const VectorXd& least, MatrixXd& L) {
  const Eigen::Index n = Q.rows();
  L.resize(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    double pivot = Q(j, j);
    for (Eigen::Index k = 0; k < j; ++k) pivot -= L(j, k) * L(j, k);
    const double floor = kSingular * Q(j, j);
    if (!(pivot > floor)) pivot = std::max(floor, least[j]);
    L(j, j) = std::sqrt(pivot);
    for (Eigen::Index i = 0; i < j; ++i) L(i, j) = 0;
    for (Eigen::Index i = j + 1; i < n; ++i) {
      double sum = Q(i, j);
      for (Eigen::Index k = 0; k < j; ++k) sum -= L(i, k) * L(j, k);
      L(i, j) = sum / L(j, j);
    }
  }
}

Loss convex(const Loss& loss) {
  return loss.shape() == Loss::Shape::none || loss.shape() == Loss::Shape::huber ? loss : Loss::huber(1.345);
}

double log_volume(const MatrixXd& A) { return A.partialPivLu().matrixLU().diagonal().array().abs().log().sum(); }

Result<std::monostate> SmootherRows::check(const StateSpace& space, const Belief& prior) {
  const int n = space.tangent();
  if (!std::isfinite(prior.t)) return Failure::bad_input("prior: the time is not finite");
  if (prior.x.size() != space.stored()) {
    return Failure::bad_input(fmt::format("prior: {} numbers of a state, {} expected", prior.x.size(), space.stored()));
  }
  if (!prior.x.allFinite()) return Failure::bad_input("prior: the state is not finite");
  if (prior.P.size() == 0) return std::monostate{};
  if (prior.P.rows() != n || prior.P.cols() != n) {
    return Failure::bad_input(
        fmt::format("prior: a covariance of {} × {}, {} × {} expected", prior.P.rows(), prior.P.cols(), n, n));
  }
  const auto name = [&](int i) { return space.tangent_name(prior.chart, i); };
  for (int i = 0; i < n; ++i) {
    if (!(prior.P(i, i) >= 0)) return Failure::bad_input(fmt::format("prior: the variance of {} is negative", name(i)));
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (i == j || std::isinf(prior.P(i, i)) || std::isinf(prior.P(j, j))) continue;
      const double most = std::sqrt(prior.P(i, i) * prior.P(j, j)) * (1 + 1e-9);
      if (std::abs(prior.P(i, j)) <= most && std::abs(prior.P(i, j) - prior.P(j, i)) <= 1e-9 * most) continue;
      return Failure::bad_input(fmt::format("prior: the covariance of {} and {} is none", name(i), name(j)));
    }
  }
  return std::monostate{};
}

// The whitener of the prior, W = L⁻¹, has rows of zeros where nothing is known.
SmootherRows::SmootherRows(StateSpace& space, const Belief& prior)
    : space_(&space), n_(space.tangent()), prior_t_(prior.t), prior_x_(prior.x), prior_chart_(prior.chart) {
  least_.setConstant(n_, kFloor * kFloor);
  whitener_.setZero(n_, n_);
  r_.resize(n_);
  between_.resize(space.stored());
  if (prior_chart_ == Chart{}) space.choose(prior.t, prior.x.data(), prior_chart_);
  if (prior.P.size() == 0) return;
  std::vector<int> known;
  for (int i = 0; i < n_; ++i) {
    if (std::isfinite(prior.P(i, i))) known.push_back(i);
  }
  for (const int i : known) {
    if (prior.P(i, i) > 0) least_[i] *= prior.P(i, i);
  }
  rank_ = static_cast<int>(known.size());
  MatrixXd L;
  floored_root(prior.P(known, known), VectorXd::Constant(rank_, kFloor * kFloor), L);
  const MatrixXd inverse = L.triangularView<Eigen::Lower>().solve(MatrixXd::Identity(rank_, rank_));
  whitener_(known, known) = inverse;
  prior_log_ = -L.diagonal().array().log().sum();
}

// F and Q of the whole from those of the parts:   F ← Fᵢ F,   Q ← Fᵢ Q Fᵢᵀ + Qᵢ.
bool SmootherRows::advance(double t, double h, int steps, const double* x, const Chart& chart, const Chart& chart_next,
                           StepLink& link) {
  link.next.resize(space_->stored());
  link.chart = chart_next;
  if (steps <= 1) {
    if (!space_->advance(t, h, x, chart, link.next.data(), link.chart, link.F, Q_)) return false;
    floored_root(Q_, least_, link.L);
    return true;
  }
  const double part = h / steps;
  std::copy_n(x, between_.size(), between_.data());
  chart_ = chart;
  for (int i = 0; i < steps; ++i) {
    MatrixXd& F = i == 0 ? link.F : F_;
    link.chart = i + 1 == steps ? chart_next : chart_;
    if (!space_->advance(t + i * part, part, between_.data(), chart_, link.next.data(), link.chart, F, Q_))
      return false;
    if (i == 0) {
      sum_ = Q_;
    } else {
      product_.noalias() = F_.lazyProduct(link.F);
      link.F = product_;
      product_.noalias() = F_.lazyProduct(sum_);
      sum_.noalias() = product_.lazyProduct(F_.transpose());
      sum_ += Q_;
    }
    between_ = link.next;
    chart_ = link.chart;
  }
  floored_root(sum_, least_, link.L);
  return true;
}

bool SmootherRows::charts_differ(double t, const double* x, const Chart& from, const Chart& to, MatrixXd& T) {
  if (from == to) return false;
  if (!space_->transition(t, x, from, to, T)) T.setConstant(n_, n_, std::numeric_limits<double>::quiet_NaN());
  return true;
}

bool SmootherRows::link(double t_next, const double* next, const Chart& chart_next, const StepLink& link, double* rows,
                        double& log_volume) {
  const int n = n_, width = 2 * n + 1;
  const bool differ = charts_differ(t_next, next, chart_next, link.chart, T_);
  space_->local(link.next.data(), link.chart, next, r_.data());
  for (int i = 0; i < n; ++i) {
    double* row = rows + i * width;
    for (int j = 0; j < n; ++j) row[j] = -link.F(i, j);
    for (int j = 0; j < n; ++j) row[n + j] = differ ? T_(i, j) : i == j;
    row[2 * n] = -r_[i];
    for (int k = 0; k < i; ++k) {
      const double factor = link.L(i, k);
      if (factor == 0) continue;
      const double* above = rows + k * width;
      for (int j = 0; j < width; ++j) row[j] -= factor * above[j];
    }
    const double scale = 1 / link.L(i, i);
    for (int j = 0; j < width; ++j) row[j] *= scale;
    log_volume += std::log(scale);
  }
  if (differ) log_volume += filter::log_volume(T_);
  return std::isfinite(log_volume);
}

double SmootherRows::misfit(const double* x, const Chart& chart, const double* next, const double* L) {
  space_->local(x, chart, next, r_.data());
  double sum = 0;
  for (int i = 0; i < n_; L += ++i) {
    for (int k = 0; k < i; ++k) r_[i] -= L[k] * r_[k];
    r_[i] /= L[i];
    sum += r_[i] * r_[i];
  }
  return sum;
}

bool SmootherRows::prior(const double* x, const Chart& chart, linear::TimeChain& chain, double& log_volume) {
  chain.clear_prior();
  if (rank_ == 0) return true;
  space_->local(prior_x_.data(), prior_chart_, x, r_.data());
  const bool differ = charts_differ(prior_t_, x, chart, prior_chart_, T_);
  product_.resize(n_, n_);
  if (differ) {
    product_.noalias() = whitener_.lazyProduct(T_).transpose();
    log_volume += filter::log_volume(T_);
  } else {
    product_ = whitener_.transpose();
  }
  for (int i = 0; i < n_; ++i) {
    const double rhs = -whitener_.row(i).dot(r_);
    if (!std::isfinite(rhs) || !std::isfinite(product_.col(i).sum())) return false;
    chain.add_prior(product_.col(i).data(), rhs);
  }
  log_volume += prior_log_;
  return true;
}

double SmootherRows::prior_misfit(const double* x) {
  if (rank_ == 0) return 0;
  space_->local(prior_x_.data(), prior_chart_, x, r_.data());
  double sum = 0;
  for (int i = 0; i < n_; ++i) {
    const double e = whitener_.row(i).dot(r_);
    sum += e * e;
  }
  return sum;
}

bool SmootherRows::reading(double t, const double* x, const Chart& chart, const Measurement& m, double* e, double* H) {
  const SensorInfo& sensor = space_->sensors()[m.sensor];
  std::array<double, kMostRows> predicted;
  if (H) {
    if (!space_->predict(t, x, chart, m.sensor, predicted.data(), H_)) return false;
  } else if (!space_->predict(t, x, m.sensor, predicted.data())) {
    return false;
  }
  innovation(sensor, m.y.data(), predicted.data(), e);
  for (std::size_t i = 0; i < sensor.channels.size(); ++i) {
    if (!std::isfinite(predicted[i])) return false;
    const double scale = 1 / sensor.channels[i].noise;
    e[i] *= scale;
    if (!H) continue;
    for (int j = 0; j < n_; ++j) H[i * n_ + j] = scale * H_(i, j);
  }
  return true;
}

}  // namespace kinegraph::filter
