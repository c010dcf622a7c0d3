#include "kinegraph/filter/ekf.hpp"

#include "kinegraph/filter/square_root.hpp"

namespace kinegraph::filter {

Result<std::unique_ptr<Ekf>> Ekf::make(std::unique_ptr<StateSpace> space, const Belief& start,
                                       const KalmanOptions& options) {
  std::unique_ptr<Ekf> filter(new Ekf(std::move(space), options));
  if (auto ok = filter->start(start); !ok) return std::move(ok).failure();
  return filter;
}

// F P Fᵀ + Q = Aᵀ A with Aᵀ = [F S  √Q].
bool Ekf::step(double h) {
  const int n = tangent();
  next_.x.resize(size());
  next_.chart = now_.chart;
  if (!space_->advance(now_.t, h, now_.x.data(), now_.chart, next_.x.data(), next_.chart, F_, Q_)) return false;
  if (!next_.x.allFinite() || !square_root(Q_, noise_)) return false;
  work_.resize(2 * n, n);
  work_.topRows(n).noalias() = now_.S.transpose() * F_.transpose();
  work_.bottomRows(n) = noise_.transpose();
  compress(work_, next_.S);
  return next_.S.allFinite();
}

}  // namespace kinegraph::filter
