#include "kinegraph/identify/problem.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/identify/problem_implementation.hpp"
#include "kinegraph/identify/state_filter.hpp"

namespace kinegraph::identify {
namespace {

using Eigen::Matrix3d;
using maximal::Mechanism;

constexpr double kWildStep = 1e4;  // rad and m, of a replay that is lost

}  // namespace

Problem::Implementation::Implementation(const Model& model, std::shared_ptr<const Mechanism> machine, const Run& given,
                                        const maximal::Regularization& regularization, const Weights& weights)
    : mechanism(std::move(machine)),
      run(given),
      root_kappa(std::sqrt(weights.kappa)),
      weight(*mechanism, root_kappa, weights.length),
      step(mechanism, regularization),
      readings(model, mechanism, weights),
      start(mechanism, weight),
      pairs{KnotPair(mechanism->tangent() / 6), KnotPair(mechanism->tangent() / 6)},
      between(mechanism->tangent() / 6),
      n(mechanism->tangent()),
      grips(mechanism->freedoms().size() * static_cast<std::size_t>(steps()), maximal::Grip::none),
      plain(run.readings.size(), {kNan, kNan, kNan, kNan, kNan, kNan}),
      impulses(n, steps()),
      misses(Eigen::MatrixXd::Zero(n, steps())),
      after(n),
      change(n),
      hard(weights.hard),
      planar(!model.spatial()) {
  const int count = static_cast<int>(run.readings.size());
  for (int k = 0, at = 0; k <= steps(); ++k) {
    first_reading.push_back(at);
    while (at < count && (run.readings[at].knot <= k || k == steps() - 1)) ++at;
  }
}

void Problem::Implementation::set_machine(const MachinePoint& machine, bool slopes) {
  step.set_numbers(machine.numbers);
  numbers = machine.numbers;
  if (slopes) directions = machine.directions;
  p = static_cast<int>(machine.directions.cols());
  if (slopes) step.set_directions(machine.directions);
  readings.set_machine(machine);
  start.set_machine(machine);
  rows.reset(n, slopes ? p : 0);
}

/// √κ M (v⁺ − φ(q, v)), in `impulses`.
bool Problem::Implementation::step_residual(const double* q, const KnotPair& before, const KnotPair& next, int k) {
  if (std::isnan(next.v()[0])) return false;
  maximal::Grip* grip = grips.data() + mechanism->freedoms().size() * static_cast<std::size_t>(k);
  // the motion misses the model by about as much as where it was looked at last
  for (int i = 0; i < n; ++i) change[i] = next.v()[i] - misses(i, k);
  if (!step.advance(q, before.v(), run.input[k], grip, after.data(), change.data())) return false;
  for (int i = 0; i < n; ++i) change[i] = next.v()[i] - after[i];
  weight.apply(change.data(), impulses.col(k).data());
  const double square = impulses.col(k).squaredNorm();
  impulse_cost += square;
  if (!std::isfinite(square)) return false;
  std::copy_n(change.data(), n, misses.col(k).data());
  return true;
}

/// Rows √κ M (v⁺ − φ(q, v; x)) by the poses of the knots before, at and after q, and by x:
///
///     −√κ M φ_v ∂v        √κ M (∂v⁺ − φ_q − φ_v ∂v)        √κ M ∂v⁺        −√κ M φ_x
void Problem::Implementation::step_rows(const KnotPair& before, const KnotPair& next, int k) {
  step.differentiate(derivative);
  rows.clear();
  for (int i = 0; i < n; ++i) rows.add_open(impulses(i, k));
  using Wide = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor>;
  using Rows = Eigen::Map<Wide, 0, Eigen::OuterStride<>>;
  using Block = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  const double shift = 1 / before.h(), shift_next = 1 / next.h();
  for (int b = 0; b < n / 6; ++b) {
    Rows turn(derivative.row(6 * b).data(), 3, 2 * n + p, Eigen::OuterStride<>(2 * n + p));
    Rows move(derivative.row(6 * b + 3).data(), 3, 2 * n + p, Eigen::OuterStride<>(2 * n + p));
    for (int c = 0; c < 2 * n + p; ++c) {
      const Eigen::Vector3d column = turn.col(c);
      turn.col(c).noalias() = weight.inertia(b) * column;
    }
    move *= weight.mass(b);
    for (int half = 0; half < 2; ++half) {
      const Rows& from = half == 0 ? turn : move;
      const int r = 6 * b + 3 * half;
      Rows out(rows.states(r), 3, 3 * n, Eigen::OuterStride<>(3 * n));
      out.rightCols(n).setZero();
      for (int j = 0; j < n / 6; ++j) {
        const Block by_spin = from.middleCols<3>(n + 6 * j), by_speed = from.middleCols<3>(n + 6 * j + 3);
        const Matrix3d& T = before.turn(j);
        out.middleCols<3>(6 * j) = by_spin * T.transpose();
        out.middleCols<3>(6 * j + 3) = by_speed * shift;
        out.middleCols<3>(n + 6 * j) = -(by_spin * T) - from.middleCols<3>(6 * j);
        out.middleCols<3>(n + 6 * j + 3) = -by_speed * shift - from.middleCols<3>(6 * j + 3);
      }
      if (half == 0) {
        out.middleCols<3>(n + 6 * b).noalias() -= weight.inertia(b) * next.turn(b).transpose();
        out.middleCols<3>(2 * n + 6 * b).noalias() = weight.inertia(b) * next.turn(b);
      } else {
        for (int i = 0; i < 3; ++i) {
          out(i, n + 6 * b + 3 + i) -= weight.mass(b) * shift_next;
          out(i, 2 * n + 6 * b + 3 + i) = weight.mass(b) * shift_next;
        }
      }
      if (p > 0) Rows(rows.border(r), 3, p, Eigen::OuterStride<>(p)) = -from.rightCols(p);
    }
  }
}

template <class Sink>
double Problem::Implementation::visit(const std::vector<double>& poses, bool slopes, const Sink& sink, double most) {
  impulse_cost = reading_cost = 0;
  lost_step = lost_reading = -1;
  last = poses;
  reading_rows = 0;
  KnotPair *before = &pairs[0], *next = &pairs[1];
  before->set(pose(poses, -1), pose(poses, 0), length(-1), slopes);
  rows.clear();
  const bool borrows = slopes && can_borrow(poses);
  double cost = start.add(pose(poses, -1), *before, slopes ? &rows : nullptr);
  if (slopes) sink(0, RowKind::start, rows);
  for (int k = 0; k < steps(); ++k) {
    const double* q = pose(poses, k);
    next->set(q, pose(poses, k + 1), length(k), slopes);
    if (!(borrows ? borrow_step_rows(k) : step_residual(q, *before, *next, k))) return lost_step = k, kInfinity;
    if (slopes && !borrows) step_rows(*before, *next, k);
    if (slopes) sink(k, RowKind::step, rows);
    rows.clear();
    double fraction = -1;
    for (int i = first_reading[k]; i < first_reading[k + 1]; ++i) {
      const Reading& reading = run.readings[i];
      if (reading.fraction != fraction) between.set(q, *before, *next, fraction = reading.fraction, slopes);
      cost += readings.add(reading, between, plain[i].data(), slopes ? &rows : nullptr);
      if (lost_reading < 0 && !std::isfinite(cost)) lost_reading = i;
      for (int c = 0; c < 6; ++c) {
        if (std::isnan(plain[i][c])) continue;
        ++reading_rows;
        reading_cost += std::pow(plain[i][c] / readings.noise(readings.first_channel(reading.sensor) + c), 2);
      }
    }
    if (slopes && rows.count() > 0) sink(k, RowKind::reading, rows);
    const double so_far = cost + (hard ? 0 : impulse_cost);
    if (so_far > most && std::isfinite(so_far)) return so_far;
    std::swap(before, next);
  }
  if (!hard) cost += impulse_cost;
  return std::isfinite(cost) ? cost : kInfinity;
}

template <class Sink>
double Problem::Implementation::visit_unknowns(const std::vector<double>& poses, const Sink& sink) {
  if (!hard) {
    if (planar) plane.set(n / 6, pose(poses, 0));
    return visit(poses, true, [&](int k, RowKind kind, RowBlock& block) {
      // the first rows hold the knots −1 and 0, those of each step the next one
      if (planar)
        plane.restrict_rows(block, kind == RowKind::start ? 0 : 2,
                            kind == RowKind::start  ? 1
                            : kind == RowKind::step ? 2
                                                    : 1);
      sink({k, kind, k, block.states(0), block.border(0), block.residual(), block.count(), 3});
    });
  }
  response.reset(n, p);
  return visit(poses, true, [&](int k, RowKind kind, RowBlock& block) {
    if (kind == RowKind::step) return response.advance(block, k);
    response.condense(block, kind);
    sink({k, kind, 0, response.states(), response.border(), block.residual(), block.count(), 2});
  });
}

// ---- Problem -----------------------------------------------------------------------------------------------------

Problem::Problem(const Model& model, std::shared_ptr<const Mechanism> mechanism, const Run& run,
                 const maximal::Regularization& regularization, const Weights& weights)
    : implementation_(std::make_unique<Implementation>(model, std::move(mechanism), run, regularization, weights)) {}
Problem::Problem(Problem&&) noexcept = default;
Problem& Problem::operator=(Problem&&) noexcept = default;
Problem::~Problem() = default;

int Problem::knots() const { return implementation_->hard ? 2 : implementation_->run.knots() + 1; }
int Problem::steps() const { return implementation_->steps(); }
int Problem::unknowns() const { return implementation_->n; }
double Problem::step_length() const {
  const Run& run = implementation_->run;
  return (run.times.back() - run.times.front()) / std::max(1, implementation_->steps());
}

double Problem::cost(const MachinePoint& machine, const std::vector<double>& poses) {
  return cost_up_to(kInfinity, machine, poses);
}

double Problem::cost_up_to(double most, const MachinePoint& machine, const std::vector<double>& poses) {
  implementation_->set_machine(machine, false);
  return implementation_->visit(
      poses, false, [](int, RowKind, RowBlock&) {}, most);
}

std::size_t Problem::row_numbers(int parameters) const {
  const Implementation& all = *implementation_;
  std::size_t rows = 4 * static_cast<std::size_t>(all.n);  // of the start
  if (!all.hard) rows += static_cast<std::size_t>(all.n) * all.steps();
  if (!all.hard && all.planar) rows += static_cast<std::size_t>(all.n / 2) * (all.steps() + 2);
  for (const Reading& reading : all.run.readings) {
    rows += std::count_if(reading.y.begin(), reading.y.end(), [](double y) { return !std::isnan(y); });
  }
  return rows * (static_cast<std::size_t>(all.hard ? 2 : 3) * all.n + parameters + 1);
}

void Problem::keep_rows(bool keep) {
  implementation_->keep = keep;
  if (keep) {
    implementation_->kept.clear();
  } else {
    implementation_->kept = {};  // its memory, too
  }
}

void Problem::remember() {
  Implementation& all = *implementation_;
  all.remembered.plain = all.plain;
  all.remembered.impulse_cost = all.impulse_cost;
  all.remembered.reading_cost = all.reading_cost;
  all.remembered.reading_rows = all.reading_rows;
}

void Problem::recall() {
  Implementation& all = *implementation_;
  all.plain = all.remembered.plain;
  all.impulse_cost = all.remembered.impulse_cost;
  all.reading_cost = all.remembered.reading_cost;
  all.reading_rows = all.remembered.reading_rows;
  all.lost_step = all.lost_reading = -1;
}

double Problem::linearize(const MachinePoint& machine, const std::vector<double>& poses, linear::Arrowhead& arrow) {
  Implementation& all = *implementation_;
  all.set_machine(machine, true);
  keep_rows(all.keep);
  arrow.clear();
  const bool keep = all.keep && !all.can_borrow(poses);
  if (keep) {
    all.kept.reset(all.n, all.p, row_numbers(all.p));
    all.kept_at = poses, all.kept_numbers = machine.numbers, all.kept_directions = machine.directions;
  }
  return all.visit_unknowns(poses, [&](const ArrowRows& rows) {
    arrow.add_rows(rows.first, rows.states, rows.border, rows.residual, rows.count, rows.width);
    if (keep) all.kept.add(rows);
  });
}

void Problem::measure(const MachinePoint& machine, const std::vector<double>& poses, const linear::Arrowhead& arrow,
                      int steps, Eigen::MatrixXd& information, Eigen::MatrixXd& scatter) {
  Implementation& all = *implementation_;
  Eigen::VectorXd score = Eigen::VectorXd::Zero(machine.directions.cols());
  int block = 0;
  const auto close = [&] {
    scatter += score * score.transpose();
    score.setZero();
  };
  const auto add = [&](const ArrowRows& rows) {
    // what is left over at the end belongs to the last block
    const int now = std::min(rows.k / steps, std::max(0, all.steps() / steps - 1));
    if (now != block) close(), block = now;
    arrow.add_score(rows.first, rows.states, rows.border, rows.residual, rows.count, rows.width, score);
    arrow.add_information(rows.first, rows.states, rows.border, rows.count, rows.width, information);
  };
  if (all.kept.empty()) {
    all.set_machine(machine, true);
    all.visit_unknowns(poses, add);
  } else {
    all.kept.each(add);
  }
  close();
}

void Problem::retract(const MachinePoint& machine, const std::vector<double>& poses, const linear::Arrowhead& arrow,
                      std::vector<double>& moved) {
  const Implementation& all = *implementation_;
  moved.resize(poses.size());
  const std::size_t stored = static_cast<std::size_t>(all.mechanism->stored());
  for (int k = 0; k < knots(); ++k) {
    maximal::retract(all.n / 6, poses.data() + k * stored, arrow.step(k).data(), moved.data() + k * stored);
  }
  follow(machine, moved);
}

void Problem::follow(const MachinePoint& machine, std::vector<double>& poses) {
  Implementation& all = *implementation_;
  if (!all.hard) return;
  all.step.set_numbers(machine.numbers);
  const int stored = all.mechanism->stored();
  all.pairs[0].set(all.pose(poses, -1), all.pose(poses, 0), all.length(-1), false);
  Eigen::VectorXd v = Eigen::Map<const Eigen::VectorXd>(all.pairs[0].v(), all.n), move(all.n);
  double* q = poses.data() + stored;
  for (int k = 0; k < all.steps(); ++k, q += stored) {
    maximal::Grip* grip = all.grips.data() + all.mechanism->freedoms().size() * static_cast<std::size_t>(k);
    const double h = all.length(k);
    if (!all.step.advance(q, v.data(), all.run.input[k], grip, all.after.data()) ||
        !(Eigen::Map<const Eigen::VectorXd>(all.after.data(), all.n).lpNorm<Eigen::Infinity>() * h < kWildStep)) {
      std::fill(poses.begin() + (q - poses.data()) + stored, poses.end(), kNan);
      return;
    }
    v = Eigen::Map<const Eigen::VectorXd>(all.after.data(), all.n);
    move = h * v;
    maximal::retract(all.n / 6, q, move.data(), q + stored);
  }
}

std::vector<double> Problem::filtered(const MachinePoint& machine, const std::vector<double>& poses) {
  Implementation& all = *implementation_;
  all.set_machine(machine, true);
  const int n = all.n, stored = all.mechanism->stored();
  std::vector<double> out;
  StateFilter filter;
  filter.reset(n);
  Eigen::VectorXd steps(2 * n);
  bool told = true;
  const auto keep = [&](int k) {
    told = told && filter.solve(steps);
    const std::size_t at = out.size();
    out.resize(at + 2 * static_cast<std::size_t>(stored));
    for (int i = 0; told && i < 2; ++i) {
      maximal::retract(n / 6, all.pose(poses, k - 1 + i), steps.data() + i * n, out.data() + at + i * stored);
    }
  };
  // The rows of a step lead to the next knot: they wait until readings at its own are counted.
  RowBlock step;
  int waiting = -1;
  const auto leave = [&] {
    if (waiting < 0) return;
    filter.add_next(step);
    told = told && filter.advance();
    waiting = -1;
  };
  const double cost = all.visit(poses, true, [&](int k, RowKind kind, RowBlock& block) {
    if (kind == RowKind::start) {
      for (int r = 0; r < block.count(); ++r) filter.add(block.states(r), block.residual()[r]);
      return;
    }
    if (kind == RowKind::step) {
      if (waiting >= 0) keep(waiting), leave();
      step = block, waiting = k;
      return;
    }
    const auto later = [&](int r) {
      return std::any_of(block.states(r) + 2 * n, block.states(r) + 3 * n, [](double x) { return x != 0; });
    };
    for (int r = 0; r < block.count(); ++r) {
      if (!later(r)) filter.add(block.states(r), block.residual()[r]);
    }
    keep(k);
    for (int r = 0; r < block.count(); ++r) {
      if (later(r)) step.add(block.residual()[r]), std::copy_n(block.states(r), 3 * n, step.states(step.count() - 1));
    }
    leave();
  });
  if (waiting >= 0) keep(waiting);
  if (!told || !std::isfinite(cost)) out.clear();
  return out;
}

double Problem::impulse_cost() const {
  return implementation_->impulse_cost / (implementation_->root_kappa * implementation_->root_kappa);
}
bool Problem::is_finite() const {
  const Implementation& all = *implementation_;
  return all.lost_step < 0 && all.lost_reading < 0 && std::isfinite(all.impulse_cost + all.reading_cost);
}
double Problem::reading_cost() const { return implementation_->reading_cost; }
long Problem::impulse_rows() const {
  return implementation_->hard ? 0 : static_cast<long>(implementation_->n) * implementation_->steps();
}
long Problem::reading_rows() const { return implementation_->reading_rows; }

std::vector<double> Problem::residuals(int channel) const {
  const Implementation& all = *implementation_;
  const int sensor = all.readings.sensor_of(channel), c = channel - all.readings.first_channel(sensor);
  std::vector<double> out;
  for (std::size_t i = 0; i < all.plain.size(); ++i) {
    if (all.run.readings[i].sensor == sensor && !std::isnan(all.plain[i][c])) out.push_back(-all.plain[i][c]);
  }
  return out;
}

}  // namespace kinegraph::identify
