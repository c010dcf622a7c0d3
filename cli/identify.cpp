#include "kinegraph/task/identify.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "controller.hpp"
#include "identify_report.hpp"
#include "identify_summary.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/settings_file.hpp"
#include "memory.hpp"
#include "outputs.hpp"
#include "progress_bar.hpp"

namespace kinegraph::cli {
namespace {

class Identify final : public Verb {
 public:
  std::string_view name() const override { return "identify"; }
  std::string_view purpose() const override {
    return "masses, friction, gains … from recorded motion, and what of them can be known";
  }
  std::string_view teaching() const override {
    return "Examples:\n"
           "  kinegraph identify pendulum.yaml --log swing.csv --free A.viscous,A.dry\n"
           "  kinegraph identify pendulum.yaml --log swing.csv --free A.dry --compare "
           "viscous,dry,dry+quadratic,stribeck\n"
           "  kinegraph identify arm.urdf --log run1.csv --log run2.csv --validate run3.csv --free "
           "arm.inertia,elbow.dry\n"
           "  kinegraph identify arm.urdf --log run1.csv --free elbow.gain --bound elbow.gain=0.01:1 --horizon 0.2s\n"
           "  kinegraph identify crank.yaml --log encoder.csv --free crank.mass --prior crank.mass=50g --save "
           "fitted.set\n"
           "  kinegraph simulate crank.yaml --set @fitted.set --formulation maximal --input encoder.csv\n\n"
           "A log is a table: t, then columns of\n"
           "  readings    channels of the model's sensors (gyro.w); positions and rates of joints (theta.q, elbow.v)\n"
           "  inputs      torques of motors (theta.tau), commands (theta.u, the torque is gain times that), loads "
           "(load.fx)\n"
           "--columns t,theta.q,- names them where the file does not; - leaves a column out.\n"
           "--free takes any name that --set takes, and as groups: LINK.inertia (mass, centre and moments, always "
           "those of\n"
           "a possible solid; --prior then is relative), gravity.direction. A parameter of the file moves all that "
           "depends\n"
           "on it. Without --bound friction, damping, stiffness and armature are at least 0; links stay possible "
           "solids.\n"
           "--kappa says how much the model is trusted against the readings: large, and the motion must follow the "
           "model.\n"
           "Unless told it is found: noise of readings and impulses are those under which the recordings are most "
           "likely.\n"
           "--fit replay goes on from that answer to the one whose simulation, started once, stays nearest to the "
           "whole "
           "of each\n"
           "recording. Best for stable machines and friction; an unstable motion cannot be replayed for long.\n"
           "--controller 'theta.u: theta.q@theta.target alpha.q +feedforward limit=10 order=1': the command theta.u "
           "was "
           "computed\n"
           "from these readings less their targets (columns of the logs; without one 0), what they and it were up to "
           "`order`\n"
           "rows before, and something added, within the limit. The gains are found in the logs. Predictions and "
           "replays then\n"
           "are those of machine and controller: commands after their start are computed, not taken from the log.\n"
           "Standard deviations are those of errors that depend on each other in time (sandwich); --json has also "
           "those of\n"
           "independent ones. What the recordings cannot tell is named and gets no deviation; if that is all, the "
           "status\n"
           "is 1.\n"
           "--richardson solves at the step and at half of it and extrapolates: the answer's bias falls from h² to "
           "h⁴.\n"
           "--compare fits the friction of joints in several forms: none, viscous, dry, quadratic, stribeck, load, "
           "joined\n"
           "by + (viscous+dry). Without held-out data the second half of each recording is foretold from the first.\n"
           "--out has a row per step: joints' .q .v .a as simulate writes them, and readings to expect of every "
           "sensor.\n"
           "--save writes the fitted numbers and the start of the first recording; every verb reads it by --set "
           "@FILE.\n";
  }
  void declare(CLI::App& app) override;
  Done run() override;

 private:
  task::IdentifyOptions read_options(OptionReader& reader);
  void read_free(OptionReader& reader, task::IdentifyOptions& options);
  void read_loss(OptionReader& reader, task::IdentifyOptions& options);
  void check_files(OptionReader& reader) const;
  Result<std::vector<Trajectory>> read_tables(const std::vector<std::string>& files, const Progress& progress) const;
  std::string saved_text(const task::IdentifyResult& result) const;
  Done write_motions(const task::IdentifyResult& result, Summary& summary, const Progress& progress) const;

  std::vector<std::string> logs_, validate_, free_, bounds_, priors_, horizons_, controllers_;
  std::string step_, fit_ = "states", kappa_, compliance_ = "1e-8", relaxation_ = "20ms", loss_ = "none", from_, to_;
  std::string validate_from_, noise_, smoothing_ = "10", iterations_ = "30", compare_, columns_, save_;
  bool richardson_ = false, held_ = false;
};

void Identify::declare(CLI::App& app) {
  const auto repeats = [](CLI::Option* option, const char* type) {
    option->type_name(type)->allow_extra_args(false)->take_all();
  };
  repeats(app.add_option("--log", logs_, "a recording; may be repeated; - is standard input"), "FILE.csv");
  repeats(app.add_option("--free", free_, "what is not known; may be repeated"), "NAME,...");
  repeats(app.add_option("--bound", bounds_, "limits of a free number: 0.1:0.5, 0: (not below), :2 (not above)"),
          "NAME=LO:HI");
  repeats(app.add_option("--prior", priors_, "standard deviation about the model's value"), "NAME=SD");
  app.add_option("--step", step_, "between states; default 10ms, or the sampling interval if that is longer")
      ->type_name("H");
  app.add_option("--fit", fit_, "what is made small, see below; default states")->type_name("states|replay");
  app.add_option("--kappa", kappa_,
                 "weight of impulses that the model misses, see below; default: as the recordings have it")
      ->type_name("K");
  app.add_option("--compliance", compliance_, "of constraints, m/N; default 1e-8")->type_name("E");
  app.add_option("--relaxation", relaxation_, "time in which errors of constraints are taken back; default 20ms")
      ->type_name("T");
  app.add_option("--loss", loss_, "readings far off count less, from k standard deviations on; default none")
      ->type_name("none|huber|cauchy|tukey[:K]");
  app.add_option("--noise", noise_, "standard deviation of columns that are no sensor of the model; default 1e-3")
      ->type_name("SD");
  app.add_option("--from", from_, "the part of each recording that is used")->type_name("T");
  app.add_option("--to", to_, "… its end")->type_name("T");
  repeats(app.add_option("--validate", validate_, "a recording that is not fitted but foretold; may be repeated"),
          "FILE.csv");
  app.add_option("--validate-from", validate_from_, "what is later in the recordings is not fitted but foretold")
      ->type_name("T");
  repeats(app.add_option("--horizon", horizons_,
                         "also predict so far ahead, from states by all readings and by those before; may be repeated"),
          "T");
  repeats(app.add_option("--controller", controllers_,
                         "of a controller that computed commands of the logs, see below; may be repeated"),
          "LAW");
  app.add_flag("--held", held_, "recorded inputs keep each value until the next, as a controller's commands do");
  app.add_flag("--richardson", richardson_, "also at half the step, extrapolated to none");
  app.add_option("--compare", compare_, "friction of joints in several forms, see below")->type_name("NAME,...");
  app.add_option("--columns", columns_, "names for the columns of the logs, the first is t")->type_name("t,NAME,...");
  app.add_option("--smoothing", smoothing_, "cut-off of the filter for the first guess, default 10 Hz")
      ->type_name("HZ");
  app.add_option("--iterations", iterations_, "the most of a stage (large kappa and replays take several), default 30")
      ->type_name("N");
  app.add_option("--save", save_, "write what was fitted, for --set @FILE")->type_name("FILE");
  common_.declare(app, true);
}

/// "arm.mass,A.dry" with their bounds and priors.
void Identify::read_free(OptionReader& reader, task::IdentifyOptions& options) {
  for (const std::string& list : free_) {
    for (const std::string& name : split_list(list)) {
      if (name.empty()) {
        reader.fault("free", "expected names between commas, found " + quote(list));
        continue;
      }
      options.free.emplace_back().name = name;
    }
  }
  const auto find = [&](const std::string& field, const std::string& name) -> identify::FreeParameter* {
    std::vector<std::string> names;
    for (identify::FreeParameter& parameter : options.free) {
      if (parameter.name == name) return &parameter;
      names.push_back(parameter.name);
    }
    reader.fault(field, quote(name) + " is not free" + did_you_mean(name, names));
    return nullptr;
  };
  std::map<std::string, int> given;
  for (const std::string& text : bounds_) {
    const std::size_t equals = text.find('='), colon = text.find(':', equals == std::string::npos ? 0 : equals);
    if (equals == 0 || equals == std::string::npos || colon == std::string::npos) {
      reader.fault("bound", "expected name=low:high, found " + quote(text));
      continue;
    }
    const std::string name = text.substr(0, equals), low = text.substr(equals + 1, colon - equals - 1);
    const std::string high = text.substr(colon + 1);
    if (given[name]++ > 0) reader.fault("bound", quote(name) + " is given twice");
    identify::FreeParameter* parameter = find("bound", name);
    if (!parameter) continue;
    if (!low.empty()) parameter->lower = reader.number("bound " + name, low);
    if (!high.empty()) parameter->upper = reader.number("bound " + name, high);
    if (parameter->lower >= parameter->upper) {
      reader.fault("bound " + name,
                   fmt::format("must rise from low to high, is {:g}:{:g}", parameter->lower, parameter->upper));
    }
  }
  for (const std::string& text : priors_) {
    const auto [name, sd] = reader.setting("prior", text);
    if (name.empty()) continue;
    if (sd <= 0) reader.fault("prior " + name, fmt::format("must be > 0, is {:g}", sd));
    identify::FreeParameter* parameter = find("prior", name);
    if (!parameter) continue;
    if (parameter->prior) reader.fault("prior", quote(name) + " is given twice");
    parameter->prior = sd;
  }
}

/// "huber", "huber:1.5"
void Identify::read_loss(OptionReader& reader, task::IdentifyOptions& options) {
  const std::size_t colon = loss_.find(':');
  options.loss = loss_.substr(0, colon);
  if (colon == std::string::npos) return;
  options.loss_scale = reader.number("loss", loss_.substr(colon + 1));
  if (options.loss == "none") reader.fault("loss", "none has no scale");
}

/// One reader of standard input.
void Identify::check_files(OptionReader& reader) const {
  const auto standard_input =
      std::count(logs_.begin(), logs_.end(), "-") + std::count(validate_.begin(), validate_.end(), "-");
  if (standard_input > 1) reader.fault("log, validate", "standard input can be read once");
}

task::IdentifyOptions Identify::read_options(OptionReader& reader) {
  task::IdentifyOptions options;
  const auto number = [&](const std::string& field, const std::string& text, double& value) {
    if (!text.empty()) value = reader.number(field, text);
  };
  const auto time = [&](const std::string& field, const std::string& text, double& value) {
    if (!text.empty()) value = reader.seconds(field, text);
  };
  if (logs_.empty()) reader.fault("log", "is needed: a recording of the motion");
  if (free_.empty() && compare_.empty()) reader.fault("free", "is needed: what is not known");
  read_free(reader, options);
  if (!step_.empty()) {
    options.step = reader.seconds("step", step_);
    if (options.step <= 0) reader.fault("step", fmt::format("must be > 0, is {:g}", options.step));
  }
  options.fit = fit_;
  number("kappa", kappa_, options.kappa);
  number("compliance", compliance_, options.compliance);
  time("relaxation", relaxation_, options.relaxation);
  number("noise", noise_, options.noise);
  time("from", from_, options.from);
  time("to", to_, options.to);
  time("validate-from", validate_from_, options.validate_from);
  number("smoothing", smoothing_, options.smoothing);
  read_loss(reader, options);
  for (const std::string& text : horizons_) {
    for (const std::string& one : split_list(text)) options.horizons.push_back(reader.seconds("horizon", one));
  }
  for (const std::string& text : controllers_) options.controllers.push_back(read_controller(reader, text));
  options.compare = split_list(compare_);
  options.richardson = richardson_;
  options.held = held_;
  options.iterations = static_cast<int>(reader.whole("iterations", iterations_, 1, 10000));
  check_files(reader);
  if (reader.ok()) {
    for (const Diagnostic& fault : task::check_options(options).diagnostics) reader.fault(fault);
  }
  return options;
}

Result<std::vector<Trajectory>> Identify::read_tables(const std::vector<std::string>& files,
                                                      const Progress& progress) const {
  CsvOptions csv;
  csv.columns = split_list(columns_);
  csv.may_be_empty = [](const std::string&) { return true; };
  csv.progress = progress;
  std::vector<Trajectory> tables;
  for (const std::string& file : files) {
    Result<Trajectory> table = read_table(common_.embedding, file, csv);
    if (!table) return table.failure();
    tables.push_back(*std::move(table));
  }
  return tables;
}

std::string Identify::saved_text(const task::IdentifyResult& result) const {
  std::map<std::string, const task::IdentifySummary::Quantity*> told;
  for (const auto& quantity : result.summary.quantities) told.emplace(quantity.name, &quantity);
  std::vector<FileSetting> settings;
  for (const auto& [name, value] : result.fitted) {
    FileSetting setting{name, value, {}, ""};
    if (const auto found = told.find(name); found != told.end()) {
      const auto& q = *found->second;
      setting.comment = !q.identifiable ? "not identifiable" : fmt::format("± {:.3g}", q.sandwich);
      if (q.at_bound) setting.comment += ", at its bound";
    }
    settings.push_back(std::move(setting));
  }
  for (const auto& [name, value] : result.start) settings.push_back({name, value, {}, ""});
  std::string from;
  for (const std::string& log : logs_) from += (from.empty() ? "" : ", ") + log;
  return settings_text(settings, fmt::format("{}, fitted by kinegraph identify to {}\nread by: kinegraph VERB {} --set "
                                             "@{}\nthe initial values are the start of the first recording",
                                             common_.model, from, common_.model, save_));
}

/// Motions of recordings after the first: motion.csv, motion-2.csv, …
Done Identify::write_motions(const task::IdentifyResult& result, Summary& summary, const Progress& progress) const {
  namespace fs = std::filesystem;
  const fs::path first(common_.out);
  for (std::size_t i = 1; i < result.motions.size() && common_.out != "-" && !common_.out.empty(); ++i) {
    const fs::path name =
        first.parent_path() / fmt::format("{}-{}{}", first.stem().string(), i + 1, first.extension().string());
    if (Done done = write_csv(name.string(), result.motions[i], progress); !done) return done;
    summary.add_text(fmt::format("  wrote {}: {} rows\n", name.string(), result.motions[i].samples()));
  }
  return std::monostate{};
}

Done Identify::run() {
  OptionReader reader;
  common_.read(reader);
  task::IdentifyOptions options = read_options(reader);
  if (!reader.ok()) return reader.failure();

  Result<Outputs> outputs = Outputs::open(common_);
  if (!outputs) return outputs.failure();
  std::optional<SideFile> saved;
  if (!save_.empty()) {
    Result<SideFile> file = SideFile::create(common_.embedding, save_);
    if (!file) return file.failure();
    saved.emplace(*std::move(file));
  }
  const Result<Model> model = common_.read_model();
  if (!model) return model.failure();
  ProgressBar bar("identify", common_);
  const auto recordings = read_tables(logs_, bar.callback());
  if (!recordings) return recordings.failure();
  const auto held_out = read_tables(validate_, bar.callback());
  if (!held_out) return held_out.failure();
  options.progress = bar.callback();
  options.keep = outputs->has_trajectory();
  const Result<task::IdentifyResult> result = task::identify(*model, *recordings, *held_out, options);
  if (!result) return result.failure();
  for (const std::string& warning : result->summary.warnings) common_.warn("warning: " + warning);
  if (ReportContent* report = outputs->show(*model, command)) {
    for (const std::string& log : logs_) report->page.inputs.emplace_back("log", log);
    for (const std::string& log : validate_) report->page.inputs.emplace_back("held out", log);
    fill_identify_report(*model, *recordings, *result, *report);
  }
  Summary summary = summarize_identify(common_.model, result->summary);
  if (saved) {
    if (Done done = saved->write(saved_text(*result)); !done) return done;
    summary.add_text(fmt::format("  wrote {}: {} numbers\n", save_, result->fitted.size() + result->start.size()));
  }
  if (Done done = write_motions(*result, summary, bar.callback()); !done) return done;
  static const Trajectory none;
  return outputs->write(summary, result->motions.empty() ? &none : &result->motions.front(), bar.callback(),
                        save_ == "-");
}

}  // namespace

std::unique_ptr<Verb> make_identify() { return std::make_unique<Identify>(); }

}  // namespace kinegraph::cli
