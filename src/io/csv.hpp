#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/base/result.hpp"
#include "kinegraph/io/output.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph {

/// What becomes of a column, by its name.
struct ColumnUse {
  enum class What { read, leave_out, refuse };
  What what = What::read;
  std::string message;  ///< why it is refused
};

struct CsvOptions {
  /// The names of the columns, the first being "t" or "time": for tables without a header row, or instead of theirs.
  /// "-" leaves a column out.
  std::vector<std::string> columns;
  /// Columns in which nothing between two commas means "not given": NaN in the trajectory. Null: none.
  std::function<bool(const std::string& column)> may_be_empty = {};
  /// Judges the columns beside the time, with their place in the file. Null: all are read. A table of which none is
  /// read then has rows without series.
  std::function<ColumnUse(const std::string& column, const Location& where)> judge = {};
  bool equal_times = false;  ///< the time may stand still from row to row, but not go backwards
  Progress progress;
};

/// Reads a table of numbers: one sample per row, the first column being the time. The columns stand between commas, or
/// between blanks or tabs if the first row has no comma; lines that begin with % or # are comments. "-" is standard
/// input. Every fault is told with its place, twenty at most.
Result<Trajectory> read_csv(const std::string& path, const CsvOptions& options = {});

/// The same from memory; `name` stands in messages.
Result<Trajectory> parse_csv(const std::string& text, const std::string& name, const CsvOptions& options = {});

/// Writes rows as they come: the shortest digits that read back as the same number.
class CsvWriter {
 public:
  /// Writes the header, "t" first. With `gaps`, what is NaN was not given: nothing between two commas.
  CsvWriter(OutputFile& file, const std::vector<std::string>& names, bool gaps = false);

  /// False if a number is not finite: nothing is written then, and finish() tells which.
  bool row(double t, const double* values);
  [[nodiscard]] Result<std::monostate> finish();

 private:
  OutputFile& file_;
  std::vector<std::string> names_;
  bool gaps_;
  std::string line_;
  std::string fault_;
};

[[nodiscard]] Result<std::monostate> write_csv(OutputFile& file, const Trajectory& trajectory,
                                               const Progress& progress = {}, bool gaps = false);
[[nodiscard]] Result<std::monostate> write_csv(const std::string& path, const Trajectory& trajectory,
                                               const Progress& progress = {}, bool gaps = false);

}  // namespace kinegraph
