#include "kinegraph/task/estimate_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/time_text.hpp"
#include "kinegraph/filter/bank.hpp"
#include "kinegraph/filter/cell_particles.hpp"
#include "kinegraph/filter/ekf.hpp"
#include "kinegraph/filter/replay.hpp"
#include "kinegraph/filter/ukf.hpp"
#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/task/estimate_fit.hpp"
#include "kinegraph/task/estimate_table.hpp"
#include "kinegraph/task/estimate_watch.hpp"
#include "kinegraph/task/smoother_bank.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {

void tell_end(Machine& machine, const filter::Belief& belief, EstimateSummary& summary) {
  filter::MachineSpace& space = *machine.space;
  const int f = machine.plant().freedoms(), n = space.tangent(), stored = machine.plant().stored();
  const filter::Chart chart{machine.independent, {}};
  Eigen::MatrixXd T;
  filter::Chart in = chart;
  if (!space.transition(belief.t, belief.x.data(), belief.chart, chart, T)) in = belief.chart, T.setIdentity(n, n);
  const Eigen::MatrixXd P = T * belief.P * T.transpose();
  for (int i = 0; i < n; ++i) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (i >= 2 * f) value = belief.x[stored + i - 2 * f];
    if (i < 2 * f && !in.columns.empty()) {
      const int column = in.columns[i % f];
      if (i >= f) value = belief.x[machine.plant().positions() + column];
      if (i < f) value = machine.position(belief.x.data(), column);
    }
    summary.final.push_back({space.tangent_name(in, i), value, std::sqrt(std::max(P(i, i), 0.0))});
  }
}

namespace {

/// Feeds the log to a sequential estimator and writes down what it believes at every step.
class SequentialRun {
 public:
  SequentialRun(Machine& machine, int branches, std::vector<int> numbers, const EstimateOptions& options,
                EstimateSummary& summary)
      : machine_(machine),
        table_(machine, {.branches = branches}),
        numbers_(std::move(numbers)),
        options_(options),
        summary_(summary),
        watch_(machine.space->sensors(), options.keep_innovations) {
    summary_.branches.assign(branches, 0);
  }

  Result<EstimateResult> run(filter::Estimator& estimator, const std::vector<LogReading>& readings) {
    estimator.on_innovation = [this](const filter::Innovation& innovation) { watch_.add(innovation); };
    trajectory_ = Trajectory(table_.names());
    const double start = summary_.time_start, end = summary_.time_end, step = summary_.step;
    // Of times since 1970 the step is known to a microsecond at best.
    const double exact = (end - start) / step,
                 rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(end) / step * exact;
    const long steps = std::max(1L, static_cast<long>(std::ceil(exact - std::max(kSameTime, std::min(0.5, rounding)))));
    since_ = start;
    std::size_t next = 0;
    for (long k = 0; k <= steps; ++k) {
      const double t = k == steps ? end : start + static_cast<double>(k) * step;
      const auto begin = Clock::now();
      for (; next < readings.size() && readings[next].arrival <= t + kSameTime; ++next) {
        const filter::Measurement& m = readings[next].measurement;
        if (!together_.empty() && together_.front().t != m.t) {
          if (auto pushed = take(estimator); !pushed) return pushed.failure();
        }
        if (options_.lag >= 0 && m.t < estimator.t() - options_.lag - kSameTime) {
          watch_.refuse(m.sensor);
          continue;
        }
        together_.push_back(m);
      }
      if (auto pushed = take(estimator); !pushed) return pushed.failure();
      if (estimator.t() < t) {
        if (auto advanced = estimator.advance(t); !advanced) return advanced.failure();
      }
      wall_ += Clock::now() - begin;
      if (auto recorded = record(k, steps, estimator); !recorded) return recorded.failure();
      if (options_.progress && k % 64 == 0 && !options_.progress(double(k) / double(steps))) {
        return Failure::interrupted();
      }
    }
    summary_.steps = steps;
    summary_.wall_s = std::chrono::duration<double>(wall_).count();
    finish(estimator.belief());
    EstimateResult result{std::move(trajectory_), {}, {}};
    if (options_.keep_innovations) result.innovations = watch_.table();
    watch_.tell(summary_);
    return result;
  }

 private:
  /// The readings that were collected: all of the same time.
  Result<std::monostate> take(filter::Estimator& estimator) {
    if (together_.empty()) return std::monostate{};
    auto pushed = estimator.push_together(together_);
    together_.clear();
    return pushed;
  }

  Result<std::monostate> record(long k, long steps, const filter::Estimator& estimator) {
    summary_.turn = std::max(summary_.turn, summary_.step * turning(machine_, estimator.belief().x));
    std::vector<double>& probability = summary_.branches;
    for (std::size_t i = 0; i < numbers_.size(); ++i) probability[numbers_[i]] = estimator.branches()[i];
    const int best = static_cast<int>(std::max_element(probability.begin(), probability.end()) - probability.begin());
    if (probability[best] < kSure || best != summary_.branch) since_ = estimator.t();
    sure_ = probability[best] >= kSure;
    summary_.branch = best;
    if (!options_.keep || (k % options_.every != 0 && k != steps)) return std::monostate{};
    if (!table_.row(estimator.belief(), probability, trajectory_.append(estimator.t()))) {
      return Failure::no_answer(fmt::format("no accelerations at t = {} s", time_text(estimator.t())));
    }
    return std::monostate{};
  }

  void finish(const filter::Belief& belief) {
    if (sure_) summary_.branch_time = since_ - summary_.time_start;
    tell_end(machine_, belief, summary_);
  }

  static constexpr double kSure = 0.99;
  Machine& machine_;
  EstimateTable table_;
  std::vector<int> numbers_;  // the branch of each of the estimator's
  const EstimateOptions& options_;
  EstimateSummary& summary_;
  InnovationWatch watch_;
  std::vector<filter::Measurement> together_;
  Trajectory trajectory_;
  Clock::duration wall_{};
  double since_ = 0;
  bool sure_ = false;
};

// Readings of a start that is hardly known are far from linear: without a second look a hypothesis may be led astray.
constexpr int kIterations = 5, kSecondLooks = 3;  // of a Kalman filter, of a smoother

filter::KalmanOptions kalman_options(const EstimateOptions& options, double step, bool unknown) {
  constexpr double kHuber = 2;  // standard deviations
  filter::KalmanOptions kalman;
  kalman.step = step;
  kalman.gate = options.gate;
  if (unknown) kalman.iterations = kIterations;
  if (options.loss == "huber") kalman.huber = options.loss_scale > 0 ? options.loss_scale : kHuber;
  return kalman;
}

Result<std::unique_ptr<filter::Kalman>> make_kalman(const Machine& machine, const filter::Belief& start,
                                                    const EstimateOptions& options, double step, bool unknown) {
  const filter::KalmanOptions kalman = kalman_options(options, step, unknown);
  if (options.filter == "ukf") {
    auto made = filter::Ukf::make(machine.space->clone(), start, kalman);
    if (!made) return made.failure();
    return std::unique_ptr<filter::Kalman>(*std::move(made));
  }
  auto made = filter::Ekf::make(machine.space->clone(), start, kalman);
  if (!made) return made.failure();
  return std::unique_ptr<filter::Kalman>(*std::move(made));
}

Result<std::unique_ptr<filter::Rewindable>> make_bank(const Machine& machine, const std::vector<filter::Belief>& starts,
                                                      const EstimateOptions& options, double step) {
  std::vector<std::unique_ptr<filter::Kalman>> filters;
  for (const filter::Belief& start : starts) {
    auto made = make_kalman(machine, start, options, step, starts.size() > 1);
    if (!made) return made.failure();
    filters.push_back(*std::move(made));
  }
  if (filters.size() == 1) return std::unique_ptr<filter::Rewindable>(std::move(filters.front()));
  constexpr int kPatience = 5;
  filter::BankOptions settings;
  settings.patience = kPatience;
  auto bank = filter::Bank::make(std::move(filters), {}, settings);
  if (!bank) return bank.failure();
  return std::unique_ptr<filter::Rewindable>(*std::move(bank));
}

Result<std::unique_ptr<filter::Rewindable>> make_particles(const Machine& machine, const EstimateStart& start,
                                                           const EstimateOptions& options, EstimateSummary& summary) {
  filter::ParticleOptions settings;
  settings.step = summary.step / summary.substeps;
  settings.proposal = options.proposal == "prior" ? filter::Proposal::prior : filter::Proposal::optimal;
  settings.seed = options.seed;
  settings.threads = options.threads;
  if (settings.proposal == filter::Proposal::optimal) {
    const auto cells = start.cells(options.particles);
    if (!cells) return cells.failure();
    if (!cells->empty()) {
      summary.particles = options.particles;
      auto made = filter::CellParticles::create(*machine.space, *cells, options.particles, start.branches(), settings);
      if (!made) return made.failure();
      return std::unique_ptr<filter::Rewindable>(*std::move(made));
    }
  }
  const auto particles = start.particles(options.particles);
  if (!particles) return particles.failure();
  summary.particles = static_cast<int>(particles->size());
  auto made =
      filter::ParticleFilter::create(*machine.space, summary.time_start, *particles, start.branches(), settings);
  if (!made) return made.failure();
  return std::unique_ptr<filter::Rewindable>(*std::move(made));
}

}  // namespace

Result<std::unique_ptr<filter::Estimator>> make_estimator(const Machine& machine, const EstimateStart& start,
                                                          const EstimateOptions& options, EstimateSummary& summary,
                                                          std::vector<int>& numbers) {
  numbers.resize(start.branches());
  std::iota(numbers.begin(), numbers.end(), 0);
  Result<std::unique_ptr<filter::Rewindable>> made = Failure::internal("not made");
  if (options.filter == "particle") {
    made = make_particles(machine, start, options, summary);
  } else {
    const auto starts = start.beliefs();
    if (!starts) return starts.failure();
    summary.hypotheses = static_cast<int>(starts->size());
    if (options.filter == "smoother") {
      filter::FixedLagSmootherOptions settings;
      settings.window = summary.window = options.window;
      settings.step = summary.step / summary.substeps;
      settings.loss = loss_of(options);
      if (starts->size() > 1) settings.iterations = kSecondLooks;
      auto bank = SmootherBank::make(*machine.space, *starts, start.branches(), settings);
      if (!bank) return bank.failure();
      return std::unique_ptr<filter::Estimator>(*std::move(bank));
    }
    numbers.clear();
    for (const filter::Belief& belief : *starts) {
      if (std::find(numbers.begin(), numbers.end(), belief.branch) == numbers.end()) numbers.push_back(belief.branch);
    }
    made = make_bank(machine, *starts, options, summary.step / summary.substeps);
  }
  if (!made) return made.failure();
  if (options.lag <= 0) return std::unique_ptr<filter::Estimator>(*std::move(made));
  filter::ReplayOptions replay;
  replay.lag = options.lag;
  return std::unique_ptr<filter::Estimator>(std::make_unique<filter::Replay>(*std::move(made), replay));
}

Loss loss_of(const EstimateOptions& options) {
  const auto scale = [&](double usual) { return options.loss_scale > 0 ? options.loss_scale : usual; };
  if (options.loss == "huber") return Loss::huber(scale(2));
  if (options.loss == "cauchy") return Loss::cauchy(scale(2));
  if (options.loss == "tukey") return Loss::tukey(scale(4.7));
  if (options.loss == "geman-mcclure") return Loss::geman_mcclure(scale(2));
  return Loss::none();
}

Result<std::monostate> choose_formulation(const Model& model, MachineSettings& settings) {
  if (model.spatial() || settings.formulation != "natural" || natural_friction(model)) return std::monostate{};
  settings.formulation = "screw";
  Failure faults{Failure::Kind::bad_input, {}};
  for (const JointFriction& friction : model.frictions) {
    for (const char* kind : beyond_screw(friction.dynamics)) {
      faults.diagnostics.push_back(
          {Severity::error, friction.where,
           fmt::format("joint friction {}: estimators cannot follow {} (simulate --formulation maximal can): leave it "
                       "out, --set {}.{}=0, and allow for it with more --process",
                       quote(friction.name), kind, friction.name, kind)});
    }
  }
  if (!faults.diagnostics.empty()) return faults;
  return std::monostate{};
}

double friction_span(const EstimateSummary& summary) {
  if (summary.filter == "ukf" || summary.filter == "particle") return 0;
  return (summary.filter == "batch" ? 0.5 : 1.5) * summary.step;
}

Result<EstimateResult> run_sequential(Machine& machine, const EstimateStart& start,
                                      const std::vector<LogReading>& readings, const EstimateOptions& options,
                                      EstimateSummary& summary) {
  std::vector<int> numbers;
  auto estimator = make_estimator(machine, start, options, summary, numbers);
  if (!estimator) return estimator.failure();
  return SequentialRun(machine, start.branches(), std::move(numbers), options, summary).run(**estimator, readings);
}

}  // namespace kinegraph::task
