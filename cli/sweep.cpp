#include "kinegraph/ensemble/sweep.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "hdf5_table.hpp"
#include "kinegraph/base/checksum.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/ensemble/study_file.hpp"
#include "kinegraph/ensemble/table.hpp"
#include "progress_bar.hpp"
#include "summary.hpp"
#include "sweep_cases.hpp"

namespace kinegraph::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using ensemble::Spread;

class Sweep final : public Verb {
 public:
  std::string_view name() const override { return "sweep"; }
  std::string_view purpose() const override { return "any verb many times: grids, tolerances, Monte Carlo"; }
  std::string_view teaching() const override {
    return "Examples:\n"
           "  kinegraph sweep tolerance.yaml                       writes tolerance.csv, a row per case\n"
           "  kinegraph sweep tolerance.yaml --threads 8 --out t.csv --json -\n"
           "  mpirun -n 64 kinegraph sweep tolerance.yaml          across machines; the same table, bit for bit\n"
           "  kinegraph sweep tolerance.yaml --paths               all outputs that the study could ask for\n"
           "  kinegraph sweep tolerance.yaml --case 17             the command that case 17 is\n\n"
           "STUDY is a file:\n"
           "  verb: simulate\n"
           "  model: fourbar.yaml               # relative to the study; so are files among the options\n"
           "  options: {time: 2, step: 1ms, set: {theta.v: 60rpm}}\n"
           "  design: latin-hypercube           # how the distributions are drawn: random, latin-hypercube, sobol\n"
           "  samples: 10000                    # how many draws\n"
           "  vary:\n"
           "    crank_length: {distribution: normal, mean: 1, sd: 1mm}\n"
           "    rocker.mass: {distribution: uniform, low: 3.9, high: 4.1}\n"
           "    theta.q: {from: 0, to: 90deg, count: 4}          # a grid; or step instead of count, spacing: log\n"
           "    --integrator: [trapezoidal, hermite-simpson]     # two dashes: an option of the verb; a list\n"
           "  outputs: [energy_drift, columns.theta.v.max, columns.P2.y.p95]\n"
           "The cases are all combinations of grids and lists, each with all draws (`samples`) of the distributions, "
           "each\n"
           "repeated (`repetitions`) with seeds of their own. Outputs are paths of the summary (as --json writes it), "
           "or\n"
           "columns of the trajectory with min max mean sd rms first last count or p0 … p100 (p2.5). "
           "docs/sweep.md has more.\n\n"
           "A case that fails is a row with its error; the sweep goes on and its status is 1. Finished cases are kept "
           "in a\n"
           "journal beside the table: after Ctrl-C, a crash or kill -9 the same command goes on where it was. Results "
           "do\n"
           "not depend on the number of threads or processes. Memory does not grow with the number of cases.\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("MODEL", common_.model, "the study: a YAML file")->type_name("STUDY");
    app.add_option("--out", common_.out, "the table, a row per case; default STUDY.csv in this folder. FILE.h5 is HDF5")
        ->type_name("FILE.csv");
    app.add_option("--json", common_.json, "write the statistics for machines; - is standard output")
        ->type_name("FILE|-");
    app.add_flag("--restart", restart_, "throw away what an interrupted sweep has finished");
    app.add_option("--threads", common_.threads, "default: all cores; of mpirun one per process")->type_name("N");
    app.add_flag("--paths", paths_, "only list all outputs that there are");
    app.add_option("--case", case_, "only print the command that this case is")->type_name("K");
    app.add_option("--progress", progress_, "a line on standard error every T: for logs")->type_name("T");
    app.add_flag("--quiet", common_.quiet, "no progress bar (none either where stderr is not a terminal)");
  }
  Done run() override;

 private:
  struct Files {
    std::string table, journal;
  };
  Files files() const;
  Done run_checked(const ensemble::Study& study, SweepCases& cases);
  Done help(const ensemble::Study& study, bool sound);
  Done show(const ensemble::Study& study, SweepCases& cases);
  Result<ensemble::Journal> open_journal(const ensemble::Study& study, SweepCases& cases);
  ensemble::SweepOptions options(const ensemble::Study& study, SweepCases& cases, ProgressBar& bar);
  bool tell(const ensemble::SweepState& state, ProgressBar& bar);
  Done finish(const ensemble::Study& study, const SweepCases& cases, ensemble::Journal& journal, OutputFile& table,
              ProgressBar& bar);
  Summary summarize(const ensemble::Study& study, const ensemble::Journal& journal,
                    const ensemble::TableSummary& table) const;

  std::string case_, progress_;
  bool restart_ = false, paths_ = false;
  int threads_ = 1, processes_ = 1;
  double log_every_ = 0, wall_s_ = 0;
  std::unique_ptr<ensemble::Ranks> ranks_;
  Clock::time_point start_, next_line_;
};

/// What decides about results: the study, and the files that it names.
std::vector<std::string> content(const ensemble::Study& study, const SweepCases& cases) {
  std::vector<std::string> lines = study.content();
  for (std::string& line : cases.file_contents()) lines.push_back(std::move(line));
  return lines;
}

std::uint64_t fingerprint(const std::vector<std::string>& lines) {
  std::uint64_t sum = checksum("");
  for (const std::string& line : lines) sum = checksum(line + "\n", sum);
  return sum;
}

/// ".csv", in small letters however it is written.
std::string extension(const std::string& path) {
  std::string text = fs::path(path).extension().string();
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

bool is_hdf5(const std::string& path) { return extension(path) == ".h5" || extension(path) == ".hdf5"; }

std::string spread_table(const ensemble::Study& study, const std::vector<Spread>& spreads) {
  int width = 6;
  for (const auto& output : study.outputs) width = std::max(width, characters(output.name));
  std::string text = fmt::format("\n  {:<{}}  {:>12}  {:>12}  {:>12}", "output", width, "mean", "sd", "least");
  for (const double percent : ensemble::kPercentiles) text += fmt::format("  {:>10} %", percent);
  text += fmt::format("  {:>12}\n", "largest");
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    const Spread& s = spreads[i];
    const std::string& name = study.outputs[i].name;
    text += "  " + name + std::string(static_cast<std::size_t>(width - characters(name)), ' ');
    if (s.count == 0) {
      text += "  no numbers\n";
      continue;
    }
    text += fmt::format("  {:>12.6g}  {:>12.6g}  {:>12.6g}", s.mean, s.sd, s.min);
    for (const double x : s.percentiles) text += fmt::format("  {:>12.6g}", x);
    text += fmt::format("  {:>12.6g}\n", s.max);
  }
  return text;
}

nlohmann::ordered_json to_json(const ensemble::StudyOutput& output, const Spread& s) {
  nlohmann::ordered_json json{{"name", output.name}, {"path", output.path.text}, {"count", s.count}};
  if (s.count == 0) return json;
  json["mean"] = s.mean;
  json["sd"] = s.count > 1 ? nlohmann::ordered_json(s.sd) : nlohmann::ordered_json();
  json["min"] = s.min;
  for (std::size_t p = 0; p < ensemble::kPercentiles.size(); ++p) {
    json[fmt::format("p{}", ensemble::kPercentiles[p])] = s.percentiles[p];
  }
  json["max"] = s.max;
  return json;
}

Sweep::Files Sweep::files() const {
  const std::string stem = fs::path(common_.model).stem().string();
  const std::string table = common_.out.empty() ? stem + ".csv" : common_.out;
  return {table, (table == "-" ? stem : table) + ".journal"};
}

Summary Sweep::summarize(const ensemble::Study& study, const ensemble::Journal& journal,
                         const ensemble::TableSummary& table) const {
  const std::vector<Spread>& spreads = table.spreads;
  nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < spreads.size(); ++i) outputs.push_back(to_json(study.outputs[i], spreads[i]));
  const auto fresh = static_cast<double>(journal.finished() - journal.resumed());
  Summary summary("sweep", common_.model);
  summary.add("asked", study.verb.text, "verb")
      .add("machine", study.model.text, "model")
      .add("design", std::string(to_string(study.design)), study.distributions() > 0 ? "design" : "")
      .add("cases", journal.cases(), "cases")
      .add("failed", journal.failed(), "failed")
      .add("warned", table.warned, "")
      .add("resumed", journal.resumed(), journal.resumed() > 0 ? "finished before" : "")
      .add("processes", processes_, processes_ > 1 ? "processes" : "")
      .add("threads", threads_, "threads")
      .add("wall_s", wall_s_, "computed in", "s")
      .add("rate", wall_s_ > 0 ? fresh / wall_s_ : 0.0, "rate", "cases/s")
      .add("outputs", outputs, "");
  summary.add_text(spread_table(study, spreads));
  if (table.warned > 0) {
    summary.add_text(fmt::format("\n  {} case{} with warnings: the first is case {}: {}\n", table.warned,
                                 table.warned == 1 ? "" : "s", table.first, table.warning));
  }
  return summary;
}

/// Without a journal the study is tried first: nothing is written where it cannot do.
Result<ensemble::Journal> Sweep::open_journal(const ensemble::Study& study, SweepCases& cases) {
  std::optional<Probe> tried;
  if (restart_ || !ensemble::Journal::is_begun(files().journal)) {
    tried = probe(cases, study);
    if (!tried->failure.diagnostics.empty()) return tried->failure;
    for (const std::string& warning : tried->warnings) common_.warn(warning);
  }
  Result<ensemble::Journal> journal =
      ensemble::Journal::open(files().journal, content(study, cases), cases.design().cases(), restart_);
  if (!journal || !tried) return journal;
  for (const ensemble::Outcome& outcome : tried->outcomes) {
    if (const auto written = journal->append(outcome); !written) return written.failure();
  }
  return journal;
}

bool Sweep::tell(const ensemble::SweepState& state, ProgressBar& bar) {
  const Clock::time_point now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const auto fresh = static_cast<double>(state.finished - state.resumed), all = static_cast<double>(state.cases);
  const double rate = elapsed > 0 ? fresh / elapsed : 0;
  std::string note = fmt::format("{} of {}, {:.3g} cases/s", state.finished, state.cases, rate);
  if (rate > 0) note += fmt::format(", {} left", duration((all - static_cast<double>(state.finished)) / rate));
  if (state.failed > 0) note += fmt::format(", {} failed", state.failed);
  if (log_every_ > 0 && now >= next_line_) {
    say(fmt::format("sweep: {}\n", note));
    next_line_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(log_every_));
  }
  return bar.show(static_cast<double>(state.finished) / all, note);
}

ensemble::SweepOptions Sweep::options(const ensemble::Study& study, SweepCases& cases, ProgressBar& bar) {
  ensemble::SweepOptions made;
  made.threads = threads_;
  made.ranks = ranks_.get();
  made.study = fingerprint(content(study, cases));
  made.progress = [this, &bar](const ensemble::SweepState& state) { return tell(state, bar); };
  return made;
}

Done Sweep::finish(const ensemble::Study& study, const SweepCases& cases, ensemble::Journal& journal, OutputFile& table,
                   ProgressBar& bar) {
  const bool hdf5 = is_hdf5(table.path());
  const auto shown = [&](double share) { return bar.show(share, "writing the table"); };
  const auto texts = hdf5 ? ensemble::text_outputs(study, journal, shown) : std::vector<bool>{};
  if (!texts) return texts.failure();
  const std::vector<ensemble::Column> columns = ensemble::table_columns(study, *texts);
  Result<std::unique_ptr<ensemble::TableFile>> rows =
      hdf5 ? hdf5_table(table, columns) : ensemble::csv_table(table, columns);
  if (!rows) return rows.failure();
  const auto written = ensemble::write_table(**rows, study, cases.design(), journal, shown);
  if (!written) return written.failure();
  Summary summary = summarize(study, journal, *written);
  const std::string& file = table.path();
  if (!common_.json.empty()) {
    if (Done done = write_file(common_.json, summary.json()); !done) return done;
  }
  journal.remove();
  if (file != "-") {
    summary.add_text(fmt::format("  wrote {}: {} rows, {} columns\n", file, journal.cases(), columns.size()));
  }
  return file == "-" || common_.json == "-" ? Done(std::monostate{}) : print(summary.text());
}

/// Every case, or what is left of them, and the table.
Done Sweep::run_checked(const ensemble::Study& study, SweepCases& cases) {
  for (const std::string& place : {files().table, common_.json}) {  // told now, and opened when the work is done:
    if (place.empty()) continue;                                    // nothing stays half written after kill -9
    for (const std::string& input : cases.files()) {
      std::error_code none;
      if (input == place || fs::equivalent(input, place, none)) {
        return Failure::bad_input(fmt::format("{}: the study reads it; say --out FILE.csv", place));
      }
    }
    Result<OutputFile> file = OutputFile::create(place);
    if (!file) return file.failure();
    if (place != files().table || !is_hdf5(place)) continue;
    if (const auto possible = hdf5_table(*file, {}); !possible) return possible.failure();
  }
  start_ = Clock::now();  // cases that are tried count, and so does their time
  Result<ensemble::Journal> journal = open_journal(study, cases);
  if (!journal) return journal.failure();
  if (!journal->not_locked().empty()) {
    common_.warn(fmt::format("warning: {} cannot be locked ({}): see that no other sweep writes it", journal->path(),
                             journal->not_locked()));
  }
  if (journal->damaged() > 0) {
    common_.warn(fmt::format("warning: {} is damaged at {} place{}: the cases that stood there are run again",
                             journal->path(), journal->damaged(), journal->damaged() == 1 ? "" : "s"));
  }
  if (journal->resumed() > 0 && !common_.quiet) {
    common_.warn(fmt::format("going on with {}: {} of {} cases are there", journal->path(), journal->resumed(),
                             journal->cases()));
  }
  ProgressBar bar("sweep", common_);
  next_line_ = Clock::now();
  const Done done = ensemble::sweep(
      *journal, [&](std::uint64_t k) { return cases.run(k); }, options(study, cases, bar));
  wall_s_ = std::chrono::duration<double>(Clock::now() - start_).count();
  ranks_.reset();
  if (!done) {
    common_.warn(fmt::format("{} of {} cases are kept in {}: the same command goes on there", journal->finished(),
                             journal->cases(), journal->path()));
    return done;
  }
  std::string first;
  if (journal->failed() > 0) {
    for (std::uint64_t k = 0; first.empty(); ++k) {
      const auto outcome = journal->read(k);
      if (!outcome || outcome->status != 0) first = fmt::format("case {}: {}", k, outcome ? outcome->error : "");
    }
  }
  Result<OutputFile> table = OutputFile::create(files().table);
  if (!table) return table.failure();
  if (Done written = finish(study, cases, *journal, *table, bar); !written) return written;
  if (first.empty()) return std::monostate{};
  return Failure::no_answer(
      fmt::format("{} of {} cases failed, the first is {}", journal->failed(), journal->cases(), first));
}

/// --case and --paths
Done Sweep::show(const ensemble::Study& study, SweepCases& cases) {
  if (!case_.empty()) {
    OptionReader reader;
    const long most = static_cast<long>(cases.design().cases()) - 1;
    const long k = reader.whole("case", case_, 0, most);
    return reader.ok() ? print(cases.command(static_cast<std::uint64_t>(k)) + "\n") : Done(reader.failure());
  }
  const Probe tried = probe(cases, study);
  if (tried.paths.empty()) return tried.failure;
  std::string text;
  for (const std::string& path : tried.paths) text += path + "\n";
  return print(text);
}

Done Sweep::run() {
  OptionReader reader;
  if (!progress_.empty()) {
    log_every_ = reader.seconds("progress", progress_);
    if (!(log_every_ > 0)) reader.fault("progress", "must be > 0, is " + progress_);
  }
  if (!common_.threads.empty()) threads_ = static_cast<int>(reader.whole("threads", common_.threads, 1, 4096));
  if (common_.out.empty() && !common_.json.empty() && files().table == common_.json) {
    reader.fault("out, json", "both name the file " + quote(common_.json));
  }
  if (extension(common_.out) == ".parquet") {
    reader.fault("out",
                 "there is CSV and HDF5 (FILE.h5), no Parquet: pandas.read_csv(…).to_parquet(…) makes it of CSV");
  }
  if (!reader.ok()) return reader.failure();
  Result<std::unique_ptr<ensemble::Ranks>> joined = ensemble::join_ranks();
  if (!joined) return joined.failure();
  ranks_ = *std::move(joined);
  if (ranks_) processes_ = ranks_->size();
  if (common_.threads.empty() && !ranks_)
    threads_ = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));

  const Result<ensemble::StudyDraft> draft = ensemble::read_study(common_.model);
  Failure faults = draft ? check_study(*draft) : draft.failure();
  const bool sound = faults.diagnostics.empty();
  const ensemble::Study study = sound ? draft->study : ensemble::Study{};
  if (ranks_ && ranks_->rank() > 0) return help(study, sound);
  std::optional<SweepCases> cases;
  if (sound) cases.emplace(study, options_of(*find_verb(study.verb.text)));
  Done done = !sound                     ? Done(std::move(faults))
              : paths_ || !case_.empty() ? show(study, *cases)
                                         : run_checked(study, *cases);
  if (ranks_) ensemble::dismiss(*ranks_);  // there was no sweep
  return done;
}

/// Another rank than 0. It prints nothing: rank 0 sees the same faults, or tells that it does not.
Done Sweep::help(const ensemble::Study& study, bool sound) {
  ensemble::SweepOptions made;
  made.threads = threads_;
  made.ranks = ranks_.get();
  std::optional<SweepCases> cases;
  if (sound) {
    cases.emplace(study, options_of(*find_verb(study.verb.text)));
    made.study = fingerprint(content(study, *cases));
  }
  const Done done = ensemble::help_sweep([&](std::uint64_t k) { return cases->run(k); }, made);
  ranks_.reset();
  return done;
}

}  // namespace

std::unique_ptr<Verb> make_sweep() { return std::make_unique<Sweep>(); }

}  // namespace kinegraph::cli
