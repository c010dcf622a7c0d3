#include "outputs.hpp"

#include <fmt/format.h>

#include "kinegraph/io/csv.hpp"
#include "progress_bar.hpp"

namespace kinegraph::cli {

Result<Outputs> Outputs::open(const CommonOptions& options) {
  Outputs outputs;
  outputs.content_.meshes.assign(options.meshes.begin(), options.meshes.end());
  outputs.embedding_ = options.embedding;
  if (!options.out.empty()) {
    Result<OutputFile> file = OutputFile::create(options.out);
    if (!file) return file.failure();
    outputs.trajectory_.emplace(*std::move(file));
  }
  if (!options.json.empty()) {
    Result<OutputFile> file = OutputFile::create(options.json);
    if (!file) return file.failure();
    outputs.json_.emplace(*std::move(file));
  }
  if (!options.report.empty()) {
    Result<OutputFile> file = OutputFile::create(options.report);
    if (!file) return file.failure();
    outputs.report_.emplace(*std::move(file));
  }
  if (!options.beside.empty()) {
    CsvOptions csv;
    csv.may_be_empty = [](const std::string&) { return true; };
    Result<Trajectory> table = read_csv(options.beside, csv);
    if (!table) return table.failure();
    outputs.beside_.emplace(*std::move(table));
    outputs.content_.page.inputs.emplace_back("beside", options.beside);
  }
  return outputs;
}

ReportContent* Outputs::show(const Model& model, const std::string& command) {
  content_.model = &model;
  content_.command = command;
  return report();
}

void Outputs::stream(const std::vector<std::string>& names) {
  writer_.emplace(*trajectory_, names);
  columns_ = names.size() + 1;
}

void Outputs::sample(double t, const double* row) {
  if (failed_) return;
  failed_ = !writer_->row(t, row) || trajectory_->failed();
  ++rows_;
}

Failure Outputs::why_failed() { return writer_->finish().failure(); }

/// For the program that asks. The page is made when it wants it: by then this object and the verb's model are gone.
void Outputs::keep(const Summary& summary, const Trajectory* trajectory) {
  embedding_->summary = summary.data();
  if (trajectory && embedding_->keep_trajectory) embedding_->trajectory = *trajectory;
  if (!embedding_->keep_page) return;
  const auto model = content_.model ? std::make_shared<const Model>(*content_.model) : nullptr;
  const auto motion = trajectory ? std::make_shared<const Trajectory>(*trajectory) : nullptr;
  embedding_->page = [content = content_, summary, model, motion](const Trajectory* beside) {
    ReportContent shown = content;
    shown.model = model.get();
    if (beside && motion) {
      for (report::Beside& b : report::beside(*motion, *beside, "beside", false)) shown.beside.push_back(std::move(b));
    }
    return report_html(std::move(shown), summary, motion.get());
  };
}

Done Outputs::write(const Summary& summary, const Trajectory* trajectory, const Progress& progress, bool silent) {
  if (interrupted(embedding_)) return Failure::interrupted();
  if (embedding_) {
    keep(summary, trajectory);
    silent = true;
  }
  const auto is_stdout = [](const std::optional<OutputFile>& file) { return file && file->path() == "-"; };
  silent = silent || is_stdout(trajectory_) || is_stdout(json_) || is_stdout(report_);

  std::string written;
  if (trajectory_ && trajectory) {
    if (!writer_) {
      rows_ = trajectory->samples();
      columns_ = trajectory->names().size() + 1;
    }
    Done done = writer_ ? writer_->finish() : write_csv(*trajectory_, *trajectory, progress);
    if (!done) return done;
    written += fmt::format("  wrote {}: {} rows, {} columns\n", trajectory_->path(), rows_, columns_);
  }
  if (json_) {
    json_->write(summary.json());
    if (Done done = json_->finish(); !done) return done;
    written += fmt::format("  wrote {}\n", json_->path());
  }
  if (report_) {
    if (beside_ && trajectory) {
      for (report::Beside& b : report::beside(*trajectory, *beside_, "beside", false)) {
        content_.beside.push_back(std::move(b));
      }
    }
    const std::string page = report_html(std::move(content_), summary, trajectory);
    report_->write(page);
    if (Done done = report_->finish(); !done) return done;
    written += fmt::format("  wrote {}: {:.2f} MB, opens in any browser\n", report_->path(),
                           static_cast<double>(page.size()) / 1e6);
  }
  return silent ? Done(std::monostate{}) : print(summary.text() + written);
}

}  // namespace kinegraph::cli
