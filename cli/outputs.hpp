#pragma once

#include <optional>
#include <string>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/output.hpp"
#include "kinegraph/model/trajectory.hpp"
#include "options.hpp"
#include "report_page.hpp"
#include "summary.hpp"
#include "verb.hpp"

namespace kinegraph::cli {

/// The files of --out, --json and --report. Opened before the work, so that a place that cannot be written is told at
/// once, and given their final names after all of it.
class Outputs {
 public:
  static Result<Outputs> open(const CommonOptions& options);

  bool has_trajectory() const {  ///< someone wants it
    return trajectory_.has_value() || wants_page() || (embedding_ && embedding_->keep_trajectory);
  }
  bool has_table() const { return trajectory_.has_value(); }                             ///< --out
  bool needs_all() const { return has_trajectory() && (wants_page() || !has_table()); }  ///< not row by row

  /// Names the machine that the report draws and the command that made it. What is returned may be filled until
  /// write(); null: no report is asked for. `model` must stay until then.
  ReportContent* show(const Model& model, const std::string& command);
  ReportContent* report() { return wants_page() ? &content_ : nullptr; }

  /// Rows as they come, instead of a trajectory at the end.
  void stream(const std::vector<std::string>& names);
  void sample(double t, const double* row);
  bool failed() const { return failed_; }
  Failure why_failed();  ///< after failed()

  /// Writes what is asked for; prints the summary unless standard output carries data (of this, or `silent`: of another
  /// output).
  Done write(const Summary& summary, const Trajectory* trajectory, const Progress& progress, bool silent = false);

 private:
  bool wants_page() const { return report_.has_value() || (embedding_ && embedding_->keep_page); }
  void keep(const Summary& summary, const Trajectory* trajectory);

  std::optional<OutputFile> trajectory_, json_, report_;
  std::optional<Trajectory> beside_;
  ReportContent content_;
  Embedding* embedding_ = nullptr;
  std::optional<CsvWriter> writer_;
  long rows_ = 0;
  std::size_t columns_ = 0;
  bool failed_ = false;
};

}  // namespace kinegraph::cli
