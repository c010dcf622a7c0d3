#pragma once

#include <optional>
#include <string>

#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/output.hpp"
#include "verb.hpp"

namespace kinegraph::cli {

/// A table that an option names: of a file, or of a program that asks ("<motion>", Embedding::given).
Result<Trajectory> read_table(const Embedding* embedding, const std::string& path, const CsvOptions& options = {});

/// What a verb writes beside --out, --json and --report: to a file, or to the program that asks ("<sensors>").
class SideFile {
 public:
  /// Fails at once if the place cannot be written.
  static Result<SideFile> create(Embedding* embedding, const std::string& path);

  Done write(const std::string& text);
  Done write(const Trajectory& table, const Progress& progress, bool gaps);

 private:
  Embedding* embedding_ = nullptr;  ///< null: the file
  std::string name_;
  std::optional<OutputFile> file_;
};

}  // namespace kinegraph::cli
