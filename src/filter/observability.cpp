#include "kinegraph/filter/observability.hpp"

#include <fmt/format.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kinegraph/base/random.hpp"
#include "kinegraph/filter/square_root.hpp"

// A change δ₀ of the start changes reading k by Hₖ Φₖ δ₀, Φₖ = Fₖ₋₁ … F₀. All of them in units of the noise σ, and δ₀
// in units D of what is large, are the rows of
//
//     A = [ … ; Hₖ Φₖ D / σₖ ; … ; D / sd of what is known ],    AᵀA = the information on δ₀ (Fisher)
//
// A singular value s of A belongs to a direction (in sizes) that the readings fix to a standard deviation of 1 / s
// sizes: s = 0 is not seen at all, s < 1 / worthless is of no use. A is compressed to a triangle as it grows.

namespace kinegraph::filter {

namespace {

// Where a change has grown so much, what can be seen of it has been seen; going on would only drown the rest.
constexpr double kGrown = 1e4;

struct Trial {
  VectorXd start;
  Chart chart;
  MatrixXd V;  // right singular vectors
  VectorXd s;
  int rank = 0;
};

class RollOut {
 public:
  RollOut(StateSpace& space, const ObservabilityOptions& options, const VectorXd& sizes)
      : space_(space), options_(options), sizes_(sizes), n_(space.tangent()) {}

  // The information from one start; none if the motion cannot even begin.
  std::optional<Trial> run(const VectorXd& x0, double t0, std::span<const ScheduledReading> schedule) {
    Trial trial;
    trial.start = x_ = x0;
    if (!space_.choose(t0, x_.data(), trial.chart)) return std::nullopt;
    chart_ = trial.chart;
    t_ = t0;
    phi_ = sizes_.asDiagonal();
    rows_.setZero(8 * n_ + kMostRows, n_);
    used_ = 0;
    for (const auto& known : options_.known) rows_(used_++, known.column) = sizes_[known.column] / known.sd;
    bool any = false;
    for (const ScheduledReading& r : schedule) {
      if (!go_to(r.t) || phi_.cwiseAbs().cwiseQuotient(sizes_.replicate(1, n_)).maxCoeff() > kGrown) break;
      any |= see(r.sensor);
    }
    if (!any && !schedule.empty()) return std::nullopt;
    condense();
    const Eigen::JacobiSVD<MatrixXd, Eigen::NoQRPreconditioner> svd(triangle_.transpose(), Eigen::ComputeFullV);
    trial.V = svd.matrixV(), trial.s = svd.singularValues();
    if (!trial.V.allFinite() || !trial.s.allFinite()) return std::nullopt;
    for (int i = 0; i < n_; ++i) trial.rank += trial.s[i] > options_.tolerance * trial.s[0];
    return trial;
  }

  bool stopped() const { return stopped_; }

 private:
  bool stop() {
    if (options_.progress && ++advances_ % 64 == 0) stopped_ = stopped_ || !options_.progress(0);
    return stopped_;
  }

  bool go_to(double t) {
    const double from = t_, gap = t - from, steps = std::ceil(gap / options_.step * (1 - 1e-12));
    for (double i = 1; i <= steps; i += 1) {
      const double end = i < steps ? from + gap * (i / steps) : t;
      next_.resize(x_.size());
      next_chart_ = chart_;
      if (stop()) return false;
      if (!space_.advance(t_, end - t_, x_.data(), chart_, next_.data(), next_chart_, F_, Q_)) return false;
      if (!next_.allFinite() || !F_.allFinite()) return false;
      phi_ = F_ * phi_;
      std::swap(x_, next_);
      std::swap(chart_, next_chart_);
      t_ = end;
    }
    return true;
  }

  bool see(int sensor) {
    const auto& channels = space_.sensors()[sensor].channels;
    double y[kMostRows];
    if (!space_.predict(t_, x_.data(), chart_, sensor, y, H_)) return false;
    if (!H_.allFinite()) return false;
    for (std::size_t i = 0; i < channels.size(); ++i) {
      rows_.row(used_++) = H_.row(i) * phi_ / channels[i].noise;
    }
    if (used_ + kMostRows > rows_.rows()) condense();
    return true;
  }

  void condense() {
    rows_.bottomRows(rows_.rows() - used_).setZero();
    compress(rows_, triangle_);
    rows_.topRows(n_) = triangle_.transpose();
    used_ = n_;
  }

  StateSpace& space_;
  const ObservabilityOptions& options_;
  const VectorXd& sizes_;
  int n_, used_ = 0;
  long advances_ = 0;
  bool stopped_ = false;
  double t_ = 0;
  VectorXd x_, next_;
  Chart chart_, next_chart_;
  MatrixXd phi_, F_, Q_, H_, rows_, triangle_;
};

// Any basis of a subspace says the same, but one that names few numbers in each direction says it better: each number
// in turn that has the largest part left is cleared from the other directions (Gauss–Jordan).
void sparsify(MatrixXd& basis) {
  std::vector<char> done(basis.cols(), 0);
  for (Eigen::Index step = 0; step < basis.cols(); ++step) {
    Eigen::Index row = 0, column = -1;
    for (Eigen::Index c = 0; c < basis.cols(); ++c) {
      Eigen::Index r = 0;
      const double largest = basis.col(c).cwiseAbs().maxCoeff(&r);
      if (!done[c] && (column < 0 || largest > std::abs(basis(row, column)))) row = r, column = c;
    }
    done[column] = 1;
    basis.col(column) /= basis(row, column);
    for (Eigen::Index c = 0; c < basis.cols(); ++c) {
      if (c != column) basis.col(c) -= basis(row, c) * basis.col(column);
    }
  }
  basis.colwise().normalize();
}

HiddenDirection describe(const VectorXd& direction, const std::vector<std::string>& names, double sd) {
  HiddenDirection d;
  d.sd = sd;
  for (int i = 0; i < direction.size(); ++i) {
    const double share = direction[i] * direction[i];
    if (share >= 0.05) d.shares.push_back({i, share});
  }
  std::stable_sort(d.shares.begin(), d.shares.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  for (const auto& s : d.shares) {
    if (!d.name.empty()) d.name += d.name.find(" together with ") == std::string::npos ? " together with " : ", ";
    d.name += names[s.column];
  }
  return d;
}

ObservabilityReport report(StateSpace& space, const Trial& trial, const VectorXd& sizes,
                           const ObservabilityOptions& options) {
  constexpr double none = std::numeric_limits<double>::infinity();
  ObservabilityReport out;
  const int n = out.tangent = space.tangent();
  out.rank = trial.rank, out.start = trial.start, out.chart = trial.chart;
  for (int i = 0; i < n; ++i) out.names.push_back(space.tangent_name(trial.chart, i));
  MatrixXd hidden = trial.V.rightCols(n - trial.rank);
  out.sd.setZero(n);
  for (int i = 0; i < n; ++i) {
    double variance = hidden.row(i).squaredNorm() > 1e-9 ? none : 0;
    for (int k = 0; k < trial.rank; ++k) variance += std::pow(trial.V(i, k) / trial.s[k], 2);
    out.sd[i] = sizes[i] * std::sqrt(variance);
  }
  sparsify(hidden);
  for (const auto& d : hidden.colwise()) out.unobservable.push_back(describe(d, out.names, none));
  for (int k = 0; k < trial.rank; ++k) {
    if (trial.s[k] * options.worthless < 1) {
      out.practically.push_back(describe(trial.V.col(k), out.names, 1 / trial.s[k]));
    }
  }
  return out;
}

Result<std::monostate> check(StateSpace& space, const VectorXd& x0, std::span<const ScheduledReading> schedule,
                             const ObservabilityOptions& o) {
  const int n = space.tangent();
  if (n == 0) return Failure::bad_input("the state has no numbers: there is nothing to be observed");
  if (x0.size() != space.stored()) return Failure::bad_input("the start has the wrong size");
  if (o.sizes.size() != 0 && (o.sizes.size() != n || !(o.sizes.minCoeff() > 0))) {
    return Failure::bad_input(fmt::format("there must be {} sizes, all positive", n));
  }
  if (!(o.step > 0)) return Failure::bad_input("step must be positive");
  for (const auto& known : o.known) {
    if (known.column < 0 || known.column >= n || !(known.sd > 0)) {
      return Failure::bad_input(fmt::format("what is known of number {} is not of this state", known.column));
    }
  }
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (schedule[i].sensor < 0 || schedule[i].sensor >= static_cast<int>(space.sensors().size())) {
      return Failure::bad_input(fmt::format("there is no sensor {}", schedule[i].sensor));
    }
    if (i > 0 && schedule[i].t < schedule[i - 1].t) return Failure::bad_input("the times of a schedule must rise");
  }
  return std::monostate();
}

bool sees_more(const Trial& a, const Trial& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.s[a.s.size() - 1] > b.s[b.s.size() - 1];
}

}  // namespace

Result<ObservabilityReport> observability(StateSpace& space, const VectorXd& x0, double t0,
                                          std::span<const ScheduledReading> schedule,
                                          const ObservabilityOptions& options) {
  if (auto ok = check(space, x0, schedule, options); !ok) return std::move(ok).failure();
  const int n = space.tangent();
  const VectorXd sizes = options.sizes.size() ? options.sizes : VectorXd::Ones(n);
  RollOut roll_out(space, options, sizes);
  std::optional<Trial> best = roll_out.run(x0, t0, schedule);
  const int rank_at_start = best ? best->rank : 0;
  Chart chart;
  if (!space.choose(t0, x0.data(), chart)) {
    return Failure::no_answer(fmt::format("there is no chart at the start, t = {:g} s", t0));
  }
  VectorXd delta(n), other(space.stored());
  for (int trial = 1; trial <= options.trials; ++trial) {
    Random random(options.seed, static_cast<std::uint64_t>(trial));
    random.normal(delta.data(), n);
    delta = options.spread * delta.cwiseProduct(sizes);
    for (int halving = 0; halving < 5; ++halving, delta /= 2) {  // too far off, the machine may not close
      if (!space.retract(t0, x0.data(), chart, delta.data(), other.data()) || !other.allFinite()) continue;
      std::optional<Trial> found = roll_out.run(other, t0, schedule);
      if (!found) continue;
      if (!best || sees_more(*found, *best)) best = std::move(found);
      break;
    }
  }
  if (roll_out.stopped()) return Failure::interrupted();
  if (!best) return Failure::no_answer(fmt::format("no motion can be followed from t = {:g} s", t0));
  ObservabilityReport out = report(space, *best, sizes, options);
  out.rank_at_start = rank_at_start;
  return out;
}

std::vector<std::string> ObservabilityReport::sentences() const {
  std::vector<std::string> all;
  for (const HiddenDirection& d : unobservable) {
    all.push_back(
        d.shares.size() == 1
            ? fmt::format("{} cannot be observed: no reading depends on it", d.name)
            : fmt::format("{} cannot be observed: changed together, they leave every reading as it is", d.name));
  }
  for (const HiddenDirection& d : practically) {
    all.push_back(
        fmt::format("{} can hardly be observed: the readings leave a standard deviation of {:.2g}", d.name, d.sd));
  }
  return all;
}

}  // namespace kinegraph::filter
