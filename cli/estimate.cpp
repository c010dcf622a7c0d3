#include "kinegraph/task/estimate.hpp"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <tuple>

#include "estimate_summary.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/sensor_log.hpp"
#include "memory.hpp"
#include "outputs.hpp"
#include "progress_bar.hpp"

namespace kinegraph::cli {
namespace {

class Estimate final : public Verb {
 public:
  std::string_view name() const override { return "estimate"; }
  std::string_view purpose() const override { return "the motion from noisy sensors, with its uncertainty"; }
  std::string_view teaching() const override {
    return "Examples:\n"
           "  kinegraph simulate fourbar_gyro.yaml --sensors readings.csv --out truth.csv\n"
           "  kinegraph estimate fourbar_gyro.yaml --log readings.csv --filter particle --start unknown --out "
           "motion.csv\n"
           "  kinegraph estimate fourbar_gyro.yaml --log readings.csv --filter ekf --start-sd theta.q=5deg\n"
           "  kinegraph estimate fourbar_gyro.yaml --log readings.csv --filter batch --process theta=0.5 --json -\n"
           "  kinegraph estimate arm.urdf --log encoders.csv --log imu.csv --loss huber\n"
           "  kinegraph estimate press.yaml --log readings.csv --unknown theta=2 --innovations innovations.csv\n\n"
           "A log is a table: t, then a column per channel of the model's sensors (gyro.w, imu.ax, …); what is left "
           "empty "
           "was\n"
           "not read at that time. Sensors of the model that the log does not have are predicted: virtual sensors.\n"
           "--filter\n"
           "  smoother   the last --window instants at once, what is older as a prior (default); in real time\n"
           "  batch      all readings at once: the best trajectory afterwards\n"
           "  ekf, ukf   Kalman filters: extended, unscented\n"
           "  particle   many guesses, weighted: knows neither where the machine starts nor how it is assembled\n"
           "--start file takes the model's initial values at the first reading; unknown searches every assembly branch "
           "and\n"
           "position. Unless told: file where the model has initial values, and for robots; else unknown.\n"
           "--out has a row per step: t, then as simulate writes them positions, velocities and accelerations, "
           "sensors'\n"
           "offsets (imu.bias.wx), unknown forces (theta.tau), readings to expect of every sensor, each followed by "
           "its\n"
           "standard deviation (theta.q.sd); with several branches their probabilities (branch.0, branch.1, …).\n"
           "A state that the log cannot tell is named, and the status is 1: add a sensor, or say what is known of it "
           "with\n"
           "--start-sd.\n";
  }
  void declare(CLI::App& app) override;
  Done run() override;

 private:
  task::EstimateOptions read_options(OptionReader& reader);
  void read_start(OptionReader& reader, task::EstimateOptions& options);
  void read_loss(OptionReader& reader, task::EstimateOptions& options);
  void check_files(OptionReader& reader) const;
  std::map<std::string, double> read_settings(OptionReader& reader, const std::string& field,
                                              const std::vector<std::string>& texts);
  Result<std::vector<task::LogReading>> read_logs(const Model& model, const Progress& progress) const;
  void fill_report(const Model& model, const std::vector<task::LogReading>& readings, const Trajectory& motion,
                   ReportContent& report) const;

  std::vector<std::string> logs_, start_sd_, process_, unknown_;
  std::string filter_ = "smoother", step_, window_ = "10", lag_, particles_ = "200", proposal_ = "optimal";
  std::string chart_ = "independent", integrator_ = "rk4", start_, start_speed_ = "0", branches_, loss_ = "none";
  bool compiled_ = false;
  std::string gate_ = "0", input_, innovations_, every_ = "1";
  std::vector<std::tuple<std::string, std::string, const CLI::Option*>> of_one_filter_;  // name, filter, option
};

void Estimate::declare(CLI::App& app) {
  const auto repeats = [](CLI::Option* option, const char* type) {
    option->type_name(type)->allow_extra_args(false)->take_all();
  };
  repeats(app.add_option("--log", logs_, "what the sensors read; may be repeated; - is standard input"), "FILE.csv");
  app.add_option("--filter", filter_, "see below; default smoother")->type_name("smoother|batch|ekf|ukf|particle");
  app.add_option("--step", step_, "default: the finest interval of a sensor in the log, 10ms at most")->type_name("H");
  app.add_option("--window", window_, "instants that the smoother holds, default 10")->type_name("N");
  app.add_option("--lag", lag_,
                 "as in real time: readings that come later are refused; default: every reading in its place")
      ->type_name("T");
  app.add_option("--particles", particles_, "default 200")->type_name("N");
  app.add_flag("--compiled", compiled_, "particles of a planar machine move by code generated and compiled for it");
  app.add_option("--proposal", proposal_, "particles drawn with the reading in sight (default), or without")
      ->type_name("optimal|prior");
  app.add_option("--chart", chart_, "covariance of independent coordinates (default), or along the constraints")
      ->type_name("independent|manifold");
  app.add_option("--integrator", integrator_, "euler, midpoint, heun, rk4 (default), dopri5")->type_name("NAME");
  app.add_option("--start", start_, "see below")->type_name("file|unknown");
  repeats(app.add_option("--start-sd", start_sd_,
                         "how well the start is known: theta.q=5deg, theta.v=0.1; default 0.1 (rad, m), rates 1"),
          "NAME=SD");
  app.add_option("--start-speed", start_speed_, "unknown start: rates lie within ± this; default 0: at rest")
      ->type_name("V");
  app.add_option("--branches", branches_, "a hypothesis per assembly branch, or that of the file alone")
      ->type_name("all|file");
  repeats(app.add_option("--process", process_,
                         "what the model misses: white acceleration, (rad or m)/s² per √Hz, over the model's"),
          "NAME=DENSITY");
  repeats(app.add_option("--unknown", unknown_, "a force to find: how it wanders, N (m) per √s"), "NAME=WALK");
  app.add_option("--input", input_, "recorded torques and forces, as of simulate")->type_name("FILE.csv");
  app.add_option("--loss", loss_, "readings far off count less, from k standard deviations on; default none")
      ->type_name("none|huber|cauchy|tukey|geman-mcclure[:K]");
  app.add_option("--gate", gate_,
                 "Kalman filters: readings less probable than 1 - P are not used (0.999); default 0: all are")
      ->type_name("P");
  app.add_option("--innovations", innovations_, "write what each reading said against what was expected")
      ->type_name("FILE.csv");
  app.add_option("--every", every_, "keep every N-th step in --out")->type_name("N");
  common_.declare(app, true);
  for (const auto& [name, filter] : {std::pair("window", "smoother"), std::pair("particles", "particle"),
                                     std::pair("proposal", "particle"), std::pair("compiled", "particle")}) {
    of_one_filter_.emplace_back(name, filter, app.get_option(std::string("--") + name));
  }
}

std::map<std::string, double> Estimate::read_settings(OptionReader& reader, const std::string& field,
                                                      const std::vector<std::string>& texts) {
  std::map<std::string, double> settings;
  for (const std::string& text : texts) {
    const auto [name, value] = reader.setting(field, text);
    if (name.empty()) continue;
    if (value < 0) reader.fault(field + " " + name, fmt::format("must be >= 0, is {:g}", value));
    if (!settings.emplace(name, value).second) reader.fault(field, quote(name) + " is given twice");
  }
  return settings;
}

void Estimate::read_start(OptionReader& reader, task::EstimateOptions& options) {
  options.start = start_;
  options.branches = branches_;
  options.start_sd = read_settings(reader, "start-sd", start_sd_);
  options.start_speed = reader.number("start-speed", start_speed_);
}

/// One reader of standard input.
void Estimate::check_files(OptionReader& reader) const {
  const auto standard_input = std::count(logs_.begin(), logs_.end(), "-") + (input_ == "-" ? 1 : 0);
  if (standard_input > 1) reader.fault("log, input", "standard input can be read once");
}

/// "huber", "huber:1.5"
void Estimate::read_loss(OptionReader& reader, task::EstimateOptions& options) {
  const std::size_t colon = loss_.find(':');
  options.loss = loss_.substr(0, colon);
  if (colon == std::string::npos) return;
  options.loss_scale = reader.number("loss", loss_.substr(colon + 1));
  if (options.loss == "none") reader.fault("loss", "none has no scale");
  if (options.loss_scale <= 0) reader.fault("loss", fmt::format("its scale must be > 0, is {:g}", options.loss_scale));
}

task::EstimateOptions Estimate::read_options(OptionReader& reader) {
  constexpr long kMost = std::numeric_limits<int>::max();
  task::EstimateOptions options;
  options.filter = filter_;
  if (!step_.empty()) {
    options.step = reader.seconds("step", step_);
    if (options.step <= 0) reader.fault("step", fmt::format("must be > 0, is {:g}", options.step));
  }
  if (!lag_.empty()) {
    options.lag = reader.seconds("lag", lag_);
    if (options.lag < 0) reader.fault("lag", fmt::format("must be >= 0, is {:g}", options.lag));
  }
  options.window = static_cast<int>(reader.whole("window", window_, 2, kMost));
  options.particles = static_cast<int>(reader.whole("particles", particles_, 1, kMost));
  options.every = static_cast<int>(reader.whole("every", every_, 1, kMost));
  options.proposal = proposal_;
  options.compiled = compiled_;
  options.gate = reader.number("gate", gate_);
  options.seed = common_.seed_value;
  options.threads = common_.threads.empty() ? tbb::this_task_arena::max_concurrency()
                                            : static_cast<int>(std::strtol(common_.threads.c_str(), nullptr, 10));
  if (chart_ != "independent" && chart_ != "manifold") {
    reader.fault("chart", "must be independent or manifold, is " + quote(chart_));
  }
  options.machine.chart = chart_ == "manifold" ? filter::ChartKind::manifold : filter::ChartKind::independent;
  options.machine.integrator = integrator_;
  options.machine.process = read_settings(reader, "process", process_);
  options.machine.unknown = read_settings(reader, "unknown", unknown_);
  for (const auto& [name, walk] : options.machine.unknown) {
    if (walk == 0) reader.fault("unknown " + name, "must be > 0, else the force is known to be zero");
  }
  read_start(reader, options);
  read_loss(reader, options);
  if (logs_.empty()) reader.fault("log", "is needed: what the sensors read");
  for (const auto& [name, filter, option] : of_one_filter_) {
    if (option->count() > 0 && filter_ != filter) reader.fault(name, "is for --filter " + filter + " alone");
  }
  check_files(reader);
  for (const Diagnostic& fault : task::check_options(options).diagnostics) reader.fault(fault);
  return options;
}

Result<std::vector<task::LogReading>> Estimate::read_logs(const Model& model, const Progress& progress) const {
  const Result<SensorLog> log = read_sensor_log(
      logs_, model, progress,
      [this](const std::string& path, const CsvOptions& csv) { return read_table(common_.embedding, path, csv); });
  if (!log) return log.failure();
  for (const Diagnostic& warning : log->warnings) common_.warn(to_string(warning));
  std::vector<task::LogReading> readings;
  readings.reserve(log->readings.size());
  for (const SensorReading& r : log->readings) {
    static_assert(SensorReading::kMostChannels == filter::kMostRows);
    readings.push_back({r.arrived, {r.t, r.sensor, r.y}});
  }
  return readings;
}

/// Readings as dots beside what was made of them, and the graph of the motion.
void Estimate::fill_report(const Model& model, const std::vector<task::LogReading>& readings, const Trajectory& motion,
                           ReportContent& report) const {
  for (const std::string& log : logs_) report.page.inputs.emplace_back("log", log);
  if (!input_.empty()) report.page.inputs.emplace_back("input", input_);
  for (std::size_t s = 0; s < model.sensors.size(); ++s) {
    for (std::size_t c = 0; c < model.sensors[s].channels.size(); ++c) {
      report::Beside dots{model.sensors[s].channels[c].name, "measured", true, {}, {}};
      if (motion.find(dots.of) < 0) continue;
      for (const task::LogReading& r : readings) {
        if (r.measurement.sensor != static_cast<int>(s) || !std::isfinite(r.measurement.y[c])) continue;
        dots.times.push_back(r.measurement.t);
        dots.values.push_back(r.measurement.y[c]);
      }
      if (!dots.times.empty()) report.beside.push_back(std::move(dots));
    }
  }
  report.graph = motion_picture(model, model.spatial() ? "screw" : "independent", "trapezoidal");
}

Done Estimate::run() {
  OptionReader reader;
  common_.read(reader);
  task::EstimateOptions options = read_options(reader);
  if (!reader.ok()) return reader.failure();
  if (common_.embedding && common_.embedding->live) {  // readings will come one by one
    *common_.embedding->live = std::move(options);
    return std::monostate{};
  }

  Result<Outputs> outputs = Outputs::open(common_);
  if (!outputs) return outputs.failure();
  std::optional<SideFile> innovation_file;
  if (!innovations_.empty()) {
    Result<SideFile> file = SideFile::create(common_.embedding, innovations_);
    if (!file) return file.failure();
    innovation_file.emplace(*std::move(file));
  }
  const Result<Model> model = common_.read_model();
  if (!model) return model.failure();
  ProgressBar bar("estimate", common_);
  const auto readings = read_logs(*model, bar.callback());
  if (!readings) return readings.failure();
  if (!input_.empty()) {
    CsvOptions csv;
    csv.progress = bar.callback();
    Result<Trajectory> input = read_table(common_.embedding, input_, csv);
    if (!input) return input.failure();
    options.machine.input = *std::move(input);
  }
  options.progress = bar.callback();
  options.keep = outputs->has_trajectory();
  options.keep_innovations = innovation_file.has_value();
  ReportContent* report = outputs->show(*model, command);
  const Result<task::EstimateResult> result = task::estimate(*model, *readings, options);
  if (!result) return result.failure();
  if (report) fill_report(*model, *readings, result->trajectory, *report);
  for (const std::string& warning : result->summary.warnings) common_.warn("warning: " + warning);
  Summary summary = summarize_estimate(common_.model, result->summary);
  if (innovation_file) {
    if (Done done = innovation_file->write(result->innovations, bar.callback(), true); !done) return done;
    summary.add_text(fmt::format("  wrote {}: {} rows\n", innovations_, result->innovations.samples()));
  }
  return outputs->write(summary, &result->trajectory, bar.callback(), innovations_ == "-");
}

}  // namespace

std::unique_ptr<Verb> make_estimate() { return std::make_unique<Estimate>(); }

}  // namespace kinegraph::cli
