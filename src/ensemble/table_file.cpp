#include "kinegraph/ensemble/table_file.hpp"

#include <fmt/format.h>

namespace kinegraph::ensemble {
namespace {

/// As it stands in a CSV file: quoted where it has to be.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos && !text.starts_with(' ')) return text;
  std::string made = "\"";
  for (const char c : text) made += c == '"' ? std::string("\"\"") : std::string(1, c);
  return made + "\"";
}

std::string written(const Field& field) {
  if (const auto* whole = std::get_if<std::uint64_t>(&field)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&field)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&field)) return quoted(*text);
  return {};
}

class CsvTable final : public TableFile {
 public:
  CsvTable(OutputFile& file, const std::vector<Column>& columns) : file_(file) {
    std::string line;
    for (const Column& column : columns) line += (line.empty() ? "" : ",") + quoted(column.name);
    file_.write(line + "\n");
  }
  void add(const std::vector<Field>& row) override {
    line_.clear();
    for (std::size_t i = 0; i < row.size(); ++i) line_ += (i == 0 ? "" : ",") + written(row[i]);
    file_.write(line_ += "\n");
  }
  bool failed() const override { return file_.failed(); }
  Result<std::monostate> finish() override { return file_.finish(); }

 private:
  OutputFile& file_;
  std::string line_;
};

}  // namespace

std::unique_ptr<TableFile> csv_table(OutputFile& file, const std::vector<Column>& columns) {
  return std::make_unique<CsvTable>(file, columns);
}

}  // namespace kinegraph::ensemble
