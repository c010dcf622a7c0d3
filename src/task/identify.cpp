#include "kinegraph/task/identify.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/time_text.hpp"
#include "kinegraph/identify/natural_kappa.hpp"
#include "kinegraph/mechanics/maximal/contact.hpp"
#include "kinegraph/model/planar_robot.hpp"
#include "kinegraph/task/identify_check.hpp"
#include "kinegraph/task/identify_compare.hpp"
#include "kinegraph/task/identify_fit.hpp"
#include "kinegraph/task/identify_knowledge.hpp"
#include "kinegraph/task/identify_misfit.hpp"
#include "kinegraph/task/identify_motion.hpp"
#include "kinegraph/task/identify_residuals.hpp"
#include "kinegraph/task/identify_weights.hpp"
#include "kinegraph/task/option_rules.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {
namespace {

Result<std::shared_ptr<const maximal::Mechanism>> mechanism_of(const Model& model) {
  const Result<Robot> robot = robot_of(model, PlanarForces::kept);
  if (!robot) return robot.failure();
  return maximal::Mechanism::make(*robot);
}

/// The work of one call: recordings, fits and what is told of them.
class Identification {
 public:
  Identification(const std::vector<Trajectory>& recordings, const std::vector<Trajectory>& held_out,
                 const IdentifyOptions& options)
      : recordings_(recordings), held_out_(held_out), options_(options) {}

  Result<IdentifyResult> run(const Model& model);

 private:
  std::optional<Failure> find_controllers();
  std::optional<Failure> guess(const maximal::Mechanism& mechanism);
  void find_contacts(const maximal::Mechanism& mechanism);
  Result<IdentifyResult> answer(const Model& model);
  std::optional<Failure> compare(const maximal::Mechanism& mechanism, Model& model);
  std::optional<Failure> fit_all();
  std::optional<Failure> know();
  Failure misfit_failure() const;
  std::optional<Failure> judge_search() const;
  std::optional<Failure> extrapolate(const maximal::Mechanism& mechanism);
  std::optional<Failure> find_bias(const maximal::Mechanism& mechanism);
  void summarize_fit();
  Progress progress(double begin, double end) const { return part_of(options_.progress, begin, end); }

  const std::vector<Trajectory>& recordings_;
  const std::vector<Trajectory>& held_out_;
  IdentifyOptions options_;
  FitData data_;
  identify::Weights weights_;
  std::optional<Fit> fit_;
  std::optional<Misfit> misfit_;
  int said_ = 0;  // sensors of the model: of the others, columns of recordings, nobody said what noise they have
  Eigen::VectorXd coarse_, half_;  // of extrapolation
  Eigen::VectorXd bias_;           // of x, by the step; empty: not known
  int substeps_ = 1;
  bool weigh_ = false;                      // κ is found
  std::vector<std::vector<double>> guess_;  // of the motions
  std::string contacts_;                    // what to say of shapes that touch; empty: none do
  IdentifyResult result_;
};

/// The laws of the controllers, as the recordings that are fitted have them.
std::optional<Failure> Identification::find_controllers() {
  constexpr double kWell = 0.99;
  for (std::size_t i = 0; i < options_.controllers.size(); ++i) {
    identify::ControlLaw& law = options_.controllers[i];
    std::vector<const identify::ControlRecord*> records;
    for (const identify::Run& run : data_.runs) records.push_back(&run.control[i]);
    if (auto failure = identify::find_gains(records, law)) return failure;
    if (law.explained < kWell) {
      result_.summary.warnings.push_back(
          fmt::format("controller of {}: its law explains {:.1f} % of the changes of its commands: it sees or does "
                      "something else, too, or its order is higher",
                      quote(law.command), 100 * law.explained));
    }
  }
  result_.summary.controllers = options_.controllers;
  return {};
}

/// The first guess of the motions, and of κ unless it is told.
std::optional<Failure> Identification::guess(const maximal::Mechanism& mechanism) {
  for (const identify::Run& run : data_.runs) {
    auto made = identify::first_guess(data_.model, mechanism, mechanism.numbers(), run, data_.options);
    if (!made) return made.failure();
    guess_.push_back(*std::move(made));
  }
  if (!std::isnan(options_.kappa)) return {};
  weigh_ = options_.reestimate && options_.fit == "states";
  options_.length = identify::natural_length(mechanism);
  weights_ = weights_of(data_.model.sensors, data_.runs, options_);
  options_.kappa = identify::natural_kappa(mechanism, data_.runs, guess_,
                                           noise_unit(data_.model.sensors, data_.runs, weights_), options_.length);
  return {};
}

/// Contacts are not part of the problem: what they push is taken for an error of the model, or of its numbers.
void Identification::find_contacts(const maximal::Mechanism& mechanism) {
  maximal::ContactFinder finder(mechanism);
  if (finder.empty()) return;
  const auto name = [&](int body) { return body < 0 ? "the ground" : quote(mechanism.bodies()[body].name); };
  std::vector<maximal::Contact> contacts;
  for (std::size_t r = 0; r < data_.runs.size() && contacts.empty(); ++r) {
    const identify::Run& run = data_.runs[r];
    for (int k = 0; k < run.knots() && contacts.empty(); ++k) {
      finder.find(mechanism.numbers(), guess_[r].data() + (k + 1) * mechanism.stored(), 0, contacts);
      if (contacts.empty()) continue;
      contacts_ = fmt::format(
          "{}: {} and {} touch, or nearly, at t = {} s: identify knows no contacts, and takes what "
          "they push for something else; leave that out (--from, --to)",
          run.file, name(contacts[0].a()), name(contacts[0].b()), time_text(run.times[k]));
    }
  }
}

/// Where nothing else is free, the friction that is best is the answer.
std::optional<Failure> Identification::compare(const maximal::Mechanism& mechanism, Model& model) {
  if (options_.compare.empty()) return {};
  auto compared = compare_friction(model, mechanism, recordings_, data_, options_, progress(0, 0.5));
  if (!compared) return compared.failure();
  result_.summary.comparisons = std::move(compared->rows);
  if (!options_.free.empty()) return {};
  if (!compared->best) {
    return Failure::no_answer("compare: none of these models of friction can be fitted: " +
                              result_.summary.comparisons.front().failure);
  }
  model = std::move(compared->best->model);
  options_.free = std::move(compared->best->free);
  data_.model = model;
  return {};
}

std::optional<Failure> Identification::fit_all() {
  Result<identify::Parameters> parameters = identify::Parameters::make(data_.model, options_.free);
  if (!parameters) return parameters.failure();
  for (const Diagnostic& warning : parameters->warnings()) result_.summary.warnings.push_back(warning.message);
  weights_ = weights_of(data_.model.sensors, data_.runs, options_);
  const FitStart start{parameters->start(), options_.compare.empty() ? &guess_ : nullptr};
  const Progress part = progress(options_.compare.empty() ? 0 : 0.5, 0.7);
  Result<Fit> found = weigh_
                          ? fit_and_weigh(data_.model, *parameters, data_, options_, start, weights_, part)
                          : fit(data_.model, *parameters, data_.runs, data_.options, weights_, options_, start, part);
  if (!found) return found.failure();
  fit_.emplace(*std::move(found));
  return {};
}

Failure Identification::misfit_failure() const {
  const double begin = fit_->runs.front().times.front(), since = misfit_->since;
  const std::string less = since > begin ? fmt::format("less of them (--to {}), ", time_text(since)) : "";
  return Failure::no_answer(fmt::format(
      "the recordings are not fitted, so that nothing can be told: {}; else try {}a shorter --step, a nearer "
      "start (--set), or the noise that the sensor has",
      misfit_text(*misfit_, data_, recordings_, *fit_, said_, options_), less));
}

/// Of a motion that misses the readings nothing can be known, nor where a search has not ended.
std::optional<Failure> Identification::judge_search() const {
  if (misfit_ && misfit_->failed()) return misfit_failure();
  if (fit_->report.converged) return {};
  return Failure::no_answer(fmt::format(
      "the search did not converge: {} after {} iterations, {:.3g} is left per number read; try more --iterations, a "
      "nearer start (--set), or less of the recordings (--to)",
      fit_->report.why_stopped, fit_->report.iterations,
      std::sqrt(fit_->report.cost / static_cast<double>(std::max(fit_->reading_rows(), 1L)))));
}

/// What can be known.
std::optional<Failure> Identification::know() {
  if (const auto failure = add_knowledge(*fit_, data_, weights_, options_, bias_, result_.summary)) {
    return misfit_ && misfit_->doubtful() && failure->kind == Failure::Kind::no_answer ? misfit_failure() : *failure;
  }
  if (misfit_ && misfit_->doubtful()) {
    result_.summary.warnings.push_back("the motion does not explain all readings: " +
                                       misfit_text(*misfit_, data_, recordings_, *fit_, said_, options_));
  }
  if (!weigh_ || !misfit_) return {};
  const double natural = weights_of(data_.model.sensors, data_.runs, options_).kappa;
  if (auto text = wrong_motion_text(*misfit_, natural, weights_.kappa, data_, recordings_, *fit_, said_, options_)) {
    result_.summary.warnings.push_back(*std::move(text));
  }
  return {};
}

/// χ ≈ (4 χ(h/2) − χ(h))/3: the error of the step is of second order.
std::optional<Failure> Identification::extrapolate(const maximal::Mechanism& mechanism) {
  if (!options_.richardson) return {};
  Result<FitData> fine =
      read_data(fit_->parameters.model(), mechanism, recordings_, held_out_, options_, data_.options.step / 2);
  if (!fine) return fine.failure();
  fit_->free_rows();
  Result<Fit> found = fit(fine->model, fit_->parameters, fine->runs, fine->options, weights_, options_,
                          {fit_->x, nullptr}, progress(0.7, 0.85));
  if (!found) return found.failure();
  const identify::Parameters& parameters = found->parameters;
  const Eigen::VectorXd coarse = fit_->x, half = found->x;
  Eigen::VectorXd x = ((4 * half - coarse) / 3).cwiseMax(parameters.lower()).cwiseMin(parameters.upper());
  Result<identify::MachinePoint> there = parameters.at(x);
  if (!there || !possible(parameters, x)) {
    result_.summary.warnings.emplace_back(
        "the extrapolation to no step would leave what is physically possible: the answer is that of half the step");
    x = half;
    there = parameters.at(x);
    if (!there) return there.failure();
  }
  result_.summary.richardson = true;
  coarse_ = coarse;
  half_ = half;
  data_ = *std::move(fine);
  const identify::SolverReport before = std::move(fit_->report);
  fit_.emplace(*std::move(found));
  continue_search(before, fit_->report);
  if (fit_->x != x) fit_->report.path.push_back(x);
  fit_->x = x;
  fit_->machine = *std::move(there);
  // an answer without bias of the step is replayed with small ones
  substeps_ = std::max(1, static_cast<int>(std::lround(data_.options.step / 1e-3)));
  return {};
}

/// How one Gauss-Newton step with twice the step moves the answer. The bias is of second order, so that of the step
/// itself is
///
///     χ(h) − χ(0) ≈ (χ(2h) − χ(h))/3
std::optional<Failure> Identification::find_bias(const maximal::Mechanism& mechanism) {
  if (options_.richardson || weights_.hard || fit_->parameters.size() == 0) return {};
  const Result<FitData> coarse =
      read_data(fit_->parameters.model(), mechanism, recordings_, {}, options_, 2 * data_.options.step);
  if (!coarse || coarse->runs.size() != fit_->runs.size()) return {};
  const int stored = mechanism.stored(), bodies = stored / 7;
  std::vector<identify::Problem> problems;
  std::vector<std::vector<double>> poses;
  for (std::size_t r = 0; r < coarse->runs.size(); ++r) {
    identify::Run run = coarse->runs[r];
    // readings at knots of the fit are not to be interpolated here: they would tell of that, not of the step
    std::erase_if(run.readings,
                  [](const identify::Reading& reading) { return std::abs(reading.fraction - 0.5) < 1e-6; });
    const std::vector<double>& fine = fit_->poses[r];
    std::vector<double> all(static_cast<std::size_t>(stored) * (run.knots() + 1));
    if (2 * run.knots() - 1 > fit_->runs[r].knots()) return {};
    for (int k = 0; k < run.knots(); ++k) {
      std::copy_n(fine.data() + (2 * k + 1) * stored, stored, all.data() + (k + 1) * stored);
    }
    Eigen::VectorXd back(6 * bodies);
    maximal::local(bodies, fine.data() + stored, fine.data(), back.data());
    maximal::retract(bodies, fine.data(), back.data(), all.data());
    identify::set_references(mechanism, fit_->machine.numbers, all, run);
    problems.emplace_back(data_.model, fit_->parameters.shared_mechanism(), run, regularization_of(options_), weights_);
    poses.push_back(std::move(all));
  }
  identify::SolverOptions once;
  once.most_iterations = 1;
  once.measure = false;
  once.blind = true;
  once.memory = fit_->memory.get();
  once.progress = progress(0.7, 0.85);
  Eigen::VectorXd x = fit_->x;
  const auto report = identify::solve(fit_->parameters, problems, x, poses, once);
  if (!report && report.failure().kind == Failure::Kind::interrupted) return report.failure();
  if (report && report->converged) {
    bias_ = (x - fit_->x) / 3;
  } else {
    const std::string why = report ? "no step of the search is found" : report.failure().diagnostics.front().message;
    result_.summary.warnings.push_back(
        fmt::format("how much the step of {:g} s moves the values cannot be told, and deviations do not count it: with "
                    "twice that step {}; take a shorter --step, or --richardson",
                    data_.options.step, why.substr(0, why.find("; look at"))));
  }
  return {};
}

void Identification::summarize_fit() {
  IdentifySummary& out = result_.summary;
  const identify::SolverReport& report = fit_->report;
  out.costs = report.costs;
  for (const Eigen::VectorXd& x : report.path) out.path.push_back(fit_->parameters.settings(x));
  out.why_stopped = report.why_stopped;
  out.converged = report.converged;
  out.iterations = report.iterations;
  out.first_cost = report.first_cost;
  out.cost = report.cost;
  out.solve_s = report.seconds;
  out.coordinates = fit_->parameters.size();
  out.fitted_runs = static_cast<int>(data_.runs.size());
  for (const identify::Run& run : data_.runs) out.knots += run.knots();
  out.impulse_square = weights_.hard ? std::nan("") : fit_->impulse_cost() / static_cast<double>(out.knots);
  out.readings = fit_->reading_rows();
  out.step = data_.options.step;
  const double unit = noise_unit(data_.model.sensors, data_.runs, weights_);
  out.kappa = weights_.kappa * unit * unit;
  out.length = weights_.length;
  out.fit = options_.fit;
  out.channels = residual_channels(*fit_, weights_);
  for (const std::string& warning : input_warnings(*fit_)) out.warnings.push_back(warning);
}

Result<IdentifyResult> Identification::run(const Model& model) {
  Result<IdentifyResult> result = answer(model);
  if (result || contacts_.empty() || result.failure().kind != Failure::Kind::no_answer) return result;
  Failure failure = result.failure();
  failure.diagnostics.push_back({Severity::warning, {}, contacts_});
  return failure;
}

Result<IdentifyResult> Identification::answer(const Model& model) {
  const Clock::time_point begin = Clock::now();
  const auto mechanism = mechanism_of(model);
  if (!mechanism) return mechanism.failure();
  const double step = options_.step > 0 ? options_.step : default_step(recordings_);
  Result<FitData> data = read_data(model, **mechanism, recordings_, held_out_, options_, step);
  if (!data) return data.failure();
  data_ = *std::move(data);
  result_.summary.warnings = data_.warnings;
  said_ = static_cast<int>(model.sensors.size());
  const Result<std::string> rates = judge_rates(data_, options_);
  if (!rates) return rates.failure();
  if (!rates->empty()) result_.summary.warnings.push_back(*rates);
  if (const auto failure = find_controllers()) return *failure;
  if (const auto failure = guess(**mechanism)) return *failure;
  find_contacts(**mechanism);
  if (!contacts_.empty()) result_.summary.warnings.push_back(contacts_);
  if (const auto failure = compare(**mechanism, data_.model)) return *failure;
  if (const auto failure = fit_all()) return *failure;
  misfit_ = worst_misfit(*fit_, data_.model.sensors, said_, options_);
  if (const auto failure = judge_search()) return *failure;
  if (const auto failure = extrapolate(**mechanism)) return *failure;
  if (const auto failure = judge_search()) return *failure;
  summarize_fit();
  if (const auto failure = find_bias(**mechanism)) return *failure;
  if (const auto failure = know()) return *failure;
  if (result_.summary.richardson) add_steps(fit_->parameters, coarse_, half_, result_.summary);
  if (const auto failure =
          add_checks(*fit_, data_, weights_, options_, substeps_, progress(0.85, 1), result_.summary)) {
    return *failure;
  }
  const auto made_of = fit_->parameters.shared_mechanism();
  for (std::size_t i = 0; options_.keep && i < data_.runs.size(); ++i) {
    result_.motions.push_back(motion_table(fit_->machine, made_of, fit_->runs[i], fit_->poses[i]));
  }
  result_.fitted = fit_->parameters.settings(fit_->x);
  std::vector<std::string> unnamed;
  result_.start = start_values(fit_->machine, made_of, fit_->runs.front(), fit_->poses.front(), unnamed);
  for (const std::string& name : unnamed) {
    result_.summary.warnings.push_back(fmt::format(
        "the start of joint {} has no name that --set takes: a relative coordinate of the model gives it one",
        quote(name)));
  }
  result_.summary.wall_s = seconds_since(begin);
  return std::move(result_);
}

}  // namespace

Failure check_options(const IdentifyOptions& o) {
  Failure faults{Failure::Kind::bad_input, {}};
  const auto positive = [&](const char* field, double value) {
    check_rule(std::isfinite(value) && value > 0, field, "must be > 0", value, faults);
  };
  const auto not_negative = [&](const char* field, double value) {
    check_rule(std::isfinite(value) && value >= 0, field, "must be >= 0", value, faults);
  };
  not_negative("step", o.step);
  if (!std::isnan(o.kappa)) positive("kappa", o.kappa);
  positive("compliance", o.compliance);
  not_negative("relaxation", o.relaxation);
  positive("smoothing", o.smoothing);
  not_negative("noise", o.noise);
  check_choice("fit", o.fit, {"states", "replay"}, faults);
  check_choice("loss", o.loss, {"none", "huber", "cauchy", "tukey"}, faults);
  positive("loss", o.loss_scale);
  check_rule(o.to > o.from, "to", fmt::format("must be after --from, {:g} s", o.from), o.to, faults);
  check_rule(o.validate_from > o.from, "validate-from", fmt::format("must be after --from, {:g} s", o.from),
             o.validate_from, faults);
  if (std::isfinite(o.validate_from)) {
    check_rule(o.validate_from < o.to, "validate-from", fmt::format("must be before --to, {:g} s", o.to),
               o.validate_from, faults);
  }
  for (const double horizon : o.horizons) positive("horizon", horizon);
  std::set<std::string> commands;
  for (const identify::ControlLaw& law : o.controllers) {
    if (!commands.insert(law.command).second) {
      faults.diagnostics.push_back(
          {Severity::error, {}, fmt::format("controller: {} is given twice", quote(law.command))});
    }
    check_rule(law.limit > 0, "controller", "its limit must be > 0", law.limit, faults);
    check_rule(law.order >= 0 && law.order <= 20, "controller", "its order must be 0 to 20", law.order, faults);
    if (law.terms.empty()) {
      faults.diagnostics.push_back({Severity::error, {}, "controller: needs a reading that the command follows"});
    }
  }
  check_rule(o.iterations >= 1, "iterations", "must be >= 1", o.iterations, faults);
  for (const std::string& name : o.compare) {
    const Result<FrictionChoice> choice = read_friction_choice(name);
    if (!choice) faults.diagnostics.push_back(choice.failure().diagnostics.front());
  }
  if (o.free.empty() && o.compare.empty()) {
    faults.diagnostics.push_back({Severity::error, {}, "free: is needed: what is not known"});
  }
  return faults;
}

Result<IdentifyResult> identify(const Model& model, const std::vector<Trajectory>& recordings,
                                const std::vector<Trajectory>& held_out, const IdentifyOptions& options) {
  if (Failure faults = check_options(options); !faults.diagnostics.empty()) return faults;
  if (recordings.empty()) return Failure::bad_input("log: is needed: a recording of the motion");
  return Identification(recordings, held_out, options).run(model);
}

}  // namespace kinegraph::task
