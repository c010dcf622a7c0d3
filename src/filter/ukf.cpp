#include "kinegraph/filter/ukf.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kinegraph/filter/square_root.hpp"

// Scaled sigma points (Julier 2002; Wan and van der Merwe 2001): weights w = 1 / 2c² for each of the 2n, 1 − 2nw for
// the mean, and 1 − α² + β more for the mean's part of the covariance. With images d±ⱼ of the points, counted from the
// image of the mean, and
//
//     aⱼ = (d⁺ⱼ − d⁻ⱼ) / 2c  (slope),    gⱼ = d⁺ⱼ + d⁻ⱼ  (bend)
//
// the textbook's sums come down to
//
//     mean = w Σ gⱼ,    covariance = Σ aⱼ aⱼᵀ + (w / 2) Σ gⱼ gⱼᵀ + (β − α²) mean meanᵀ
//
// in which nothing cancels and, for β ≥ α², nothing is negative, however small α is. Σ aⱼ … is what a linear function
// would give, aⱼ = F S eⱼ; of a reading, the rest is noise that is added to its own. (Then the update is the linear
// one: P_xz = S [aⱼ]ᵀ, P_zz = Σ aⱼ aⱼᵀ + R'.)

namespace kinegraph::filter {

Result<std::unique_ptr<Ukf>> Ukf::make(std::unique_ptr<StateSpace> space, const Belief& start,
                                       const KalmanOptions& options) {
  const int n = space->tangent();
  if (!(options.alpha > 0 && options.beta >= options.alpha * options.alpha && options.kappa > -n)) {
    return Failure::bad_input(
        fmt::format("the unscented filter needs alpha > 0, beta ≥ alpha² and kappa > −{}, not {:g}, "
                    "{:g}, {:g}",
                    n, options.alpha, options.beta, options.kappa));
  }
  std::unique_ptr<Ukf> filter(new Ukf(std::move(space), options));
  if (auto ok = filter->start(start); !ok) return std::move(ok).failure();
  filter->c_ = options.alpha * std::sqrt(n + options.kappa);
  filter->extra_ = options.beta - options.alpha * options.alpha;
  filter->slopes_.setZero(n, n), filter->bends_.setZero(n, n);
  filter->seen_.setZero(n, kMostRows), filter->bent_.setZero(n, kMostRows);
  filter->offset_.setZero(n), filter->mean_.setZero(n);
  filter->point_.setZero(filter->size()), filter->image_.setZero(filter->size());
  return filter;
}

/// point_ = x ⊕ ±c S eⱼ
bool Ukf::spread(int column, double sign) {
  offset_ = (sign * c_) * now_.S.col(column);
  return space_->retract(now_.t, now_.x.data(), now_.chart, offset_.data(), point_.data());
}

bool Ukf::move_points(double h) {
  for (int j = 0; j < tangent(); ++j) {
    auto slope = slopes_.col(j), bend = bends_.col(j);
    slope.setZero(), bend.setZero();
    for (const double sign : {1.0, -1.0}) {
      if (!spread(j, sign)) return false;
      if (!space_->advance(now_.t, h, point_.data(), image_.data())) return false;
      space_->local(next_.x.data(), next_.chart, image_.data(), offset_.data());
      slope += (sign / (2 * c_)) * offset_;
      bend += offset_;
    }
  }
  return slopes_.allFinite() && bends_.allFinite();
}

bool Ukf::step(double h) {
  const int n = tangent();
  next_.x.resize(size());
  next_.chart = now_.chart;
  if (!space_->advance(now_.t, h, now_.x.data(), now_.chart, next_.x.data(), next_.chart, F_, Q_)) return false;
  if (!next_.x.allFinite() || !square_root(Q_, noise_)) return false;
  if (!move_points(h)) {
    slopes_.noalias() = F_ * now_.S;
    bends_.setZero();
  }
  const double w = 1 / (2 * c_ * c_);
  mean_ = w * bends_.rowwise().sum();
  work_.resize(3 * n + 1, n);
  work_.topRows(n) = slopes_.transpose();
  work_.middleRows(n, n) = noise_.transpose();
  work_.middleRows(2 * n, n) = std::sqrt(w / 2) * bends_.transpose();
  work_.bottomRows(1) = std::sqrt(extra_) * mean_.transpose();
  compress(work_, next_.S);
  next_.t = now_.t + h;
  // The mean may lie where the machine does not close: then the image of the mean has to do.
  if (space_->retract(next_.t, next_.x.data(), next_.chart, mean_.data(), image_.data()) && image_.allFinite()) {
    next_.x = image_;
    if (!settle()) return false;
  }
  return next_.S.allFinite();
}

bool Ukf::see_points(const Measurement& m, const double* centre) {
  const int rows = static_cast<int>(sensors()[m.sensor].channels.size());
  std::array<double, kMostRows> y, d;
  for (int j = 0; j < tangent(); ++j) {
    auto slope = seen_.row(j), bend = bent_.row(j);
    slope.setZero(), bend.setZero();
    for (const double sign : {1.0, -1.0}) {
      if (!spread(j, sign) || !space_->predict(m.t, point_.data(), m.sensor, y.data())) return false;
      innovation(sensors()[m.sensor], y.data(), centre, d.data());
      for (int i = 0; i < rows; ++i) {
        slope[i] += sign / (2 * c_) * d[i];
        bend[i] += d[i];
      }
    }
  }
  return seen_.leftCols(rows).allFinite() && bent_.leftCols(rows).allFinite();
}

bool Ukf::expect(const Measurement& m, const VectorXd& delta, LinearReading& reading) {
  const SensorInfo& sensor = sensors()[m.sensor];
  std::array<double, kMostRows> y, e, mean = {};
  if (!space_->predict(m.t, now_.x.data(), m.sensor, y.data())) return false;
  if (!see_points(m, y.data())) return linearise(m, delta, reading);
  const double w = 1 / (2 * c_ * c_);
  for (std::size_t i = 0; i < sensor.channels.size(); ++i) y[i] += mean[i] = w * bent_.col(i).sum();
  innovation(sensor, m.y.data(), y.data(), e.data());
  given(m, reading);
  for (int i = 0; i < reading.rows; ++i) {
    const int a = reading.channel[i];
    reading.e[i] = e[a];
    reading.A.col(i) = seen_.col(a);
    if (!std::isfinite(reading.e[i])) return false;
    for (int k = 0; k < reading.rows; ++k) {
      const int b = reading.channel[k];
      reading.R(i, k) += w / 2 * bent_.col(a).dot(bent_.col(b)) + extra_ * mean[a] * mean[b];
    }
  }
  return true;
}

}  // namespace kinegraph::filter
