#include "kinegraph/identify/control_loop.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"

namespace kinegraph::identify {
namespace {

constexpr double kSaturated = 1 - 1e-6;  // of the limit: tables have few digits

/// Calls f with what the law multiplies with its gains, in their order.
template <class Y, class C, class F>
void each_regressor(const ControlLaw& law, const ControlRecord& record, int tick, const Y& y, const C& c, const F& f) {
  for (int term = 0; term < static_cast<int>(law.terms.size()); ++term) {
    for (int j = 0; j <= law.order; ++j) {
      const int i = std::max(tick - j, 0);
      f(y(term, i) - record.terms[term].target[i]);
    }
  }
  for (int j = 1; j <= law.order; ++j) f(c(std::max(tick - j, 0)));
  f(1.0);
}

}  // namespace

std::optional<Failure> find_gains(const std::vector<const ControlRecord*>& records, ControlLaw& law) {
  const int n = law.numbers();
  std::vector<double> rows, commands;
  for (const ControlRecord* record : records) {
    const auto y = [&](int term, int i) { return record->terms[term].y[i]; };
    const auto c = [&](int i) { return record->u[i] - record->added[i]; };
    int since = 0;  // ticks since the last command at the limit
    for (int i = record->before; i < static_cast<int>(record->t.size()); ++i) {
      since = std::abs(record->u[i]) >= kSaturated * law.limit ? 0 : since + 1;
      if (since <= law.order) continue;
      each_regressor(law, *record, i, y, c, [&](double x) { rows.push_back(x); });
      commands.push_back(c(i));
    }
  }
  if (static_cast<int>(commands.size()) < 2 * n) {
    return Failure::no_answer(
        fmt::format("controller of {}: {} commands within its limit are too few to find the {} numbers of its law",
                    quote(law.command), commands.size(), n));
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto count = static_cast<Eigen::Index>(commands.size());
  Eigen::MatrixXd A = Eigen::Map<const RowMajor>(rows.data(), count, n);
  const Eigen::Map<const Eigen::VectorXd> b(commands.data(), count);
  Eigen::VectorXd size = A.colwise().norm().transpose();
  for (double& one : size) one = one > 0 ? one : 1;
  A = A * size.cwiseInverse().asDiagonal();
  const Eigen::VectorXd scaled = A.completeOrthogonalDecomposition().solve(b);
  const double spread = (b.array() - b.mean()).square().sum(), left = (b - A * scaled).squaredNorm();
  law.gains = scaled.cwiseQuotient(size);
  law.explained = spread > 0 ? 1 - left / spread : 1;
  return {};
}

ControlLoop::ControlLoop(const ControlLaw& law, const ControlRecord& record)
    : law_(&law), record_(&record), c_(record.u), u_(record.u), read_(record.terms.size(), 0) {
  for (std::size_t i = 0; i < c_.size(); ++i) c_[i] -= record.added[i];
  for (const ControlRecord::Term& term : record.terms) y_.push_back(term.y);
}

void ControlLoop::start(double t) {
  for (int i = known_; i < touched_; ++i) {
    u_[i] = record_->u[i], c_[i] = u_[i] - record_->added[i];
    for (std::size_t term = 0; term < y_.size(); ++term) y_[term][i] = record_->terms[term].y[i];
  }
  known_ = static_cast<int>(std::upper_bound(record_->t.begin(), record_->t.end(), t) - record_->t.begin());
  next_ = touched_ = known_;
  std::fill(read_.begin(), read_.end(), known_);
}

void ControlLoop::compute(int tick) {
  double sum = 0;
  const double* gain = law_->gains.data();
  each_regressor(
      *law_, *record_, tick, [&](int term, int i) { return y_[term][i]; }, [&](int i) { return c_[i]; },
      [&](double x) { sum += *gain++ * x; });
  c_[tick] = sum;
  u_[tick] = std::clamp(sum + record_->added[tick], -law_->limit, law_->limit);
}

double ControlLoop::reading(int term, int tick, const Read& read) const {
  const ControlRecord::Term& of = record_->terms[term];
  const double y = read(of.sensor, of.row, record_->t[tick] - of.delay);
  const double before = y_[term][std::max(tick - 1, 0)];
  return of.turn > 0 ? y - of.turn * std::round((y - before) / of.turn) : y;
}

double ControlLoop::mean(double from, double to, const Read& read) {
  int end = next_;
  for (; end < ticks() && record_->t[end] < to; ++end) {
    for (std::size_t term = 0; term < y_.size(); ++term) {
      if (end >= read_[term]) y_[term][end] = reading(static_cast<int>(term), end, read);
    }
    compute(end);
  }
  touched_ = std::max(touched_, end);
  // uᵢ stands from tᵢ to tᵢ₊₁
  double sum = 0, until = to;
  for (int i = end - 1; i > 0 && until > from; --i) {
    const double begin = std::max(record_->t[i], from);
    sum += u_[i] * (until - begin);
    until = begin;
  }
  if (until > from) sum += u_[0] * (until - from);
  return sum / (to - from);
}

void ControlLoop::pass(double to, const Read& read) {
  for (std::size_t term = 0; term < y_.size(); ++term) {
    int& i = read_[term];
    for (; i < ticks() && record_->t[i] - record_->terms[term].delay < to; ++i) {
      y_[term][i] = reading(static_cast<int>(term), i, read);
      touched_ = std::max(touched_, i + 1);
    }
  }
  for (; next_ < ticks() && record_->t[next_] < to; ++next_) compute(next_);
  touched_ = std::max(touched_, next_);
}

}  // namespace kinegraph::identify
