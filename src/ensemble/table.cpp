#include "kinegraph/ensemble/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kinegraph::ensemble {
namespace {

/// As it stands in a CSV file: quoted where it has to be.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos && !text.starts_with(' ')) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string field(const Cell& cell) {
  if (cell.kind == Cell::Kind::number) return fmt::format("{}", cell.number);
  return cell.kind == Cell::Kind::text ? field(cell.text) : "";
}

std::string header(const Study& study) {
  std::string line = "case";
  if (!names_seed(study)) line += ",seed";
  if (study.repetitions > 1) line += ",repetition";
  for (const Varied& varied : study.vary) line += "," + field(varied.written());
  for (const StudyOutput& output : study.outputs) line += "," + field(output.name);
  return line + ",status,error,warnings\n";
}

std::string row(const Study& study, const Case& of, const Outcome& outcome) {
  std::string line = std::to_string(of.number);
  if (!names_seed(study)) line += fmt::format(",{}", of.seed);
  if (study.repetitions > 1) line += fmt::format(",{}", of.repetition);
  for (const std::string& value : of.values) line += "," + field(value);
  for (std::size_t i = 0; i < study.outputs.size(); ++i) {
    line += "," + (i < outcome.cells.size() ? field(outcome.cells[i]) : std::string());
  }
  return line + fmt::format(",{},{},{}\n", outcome.status, field(outcome.error), outcome.warnings);
}

}  // namespace

bool names_seed(const Study& study) {
  return std::any_of(study.options.begin(), study.options.end(),
                     [](const FixedOption& option) { return option.name.text == "seed"; }) ||
         std::any_of(study.vary.begin(), study.vary.end(),
                     [](const Varied& varied) { return varied.option && varied.name.text == "seed"; });
}

Result<TableSummary> write_table(OutputFile& file, const Study& study, const Design& design, Journal& journal,
                                 const Progress& progress) {
  constexpr std::uint64_t kRowsPerReport = 4096;
  std::vector<Moments> moments(study.outputs.size());
  TableSummary summary;
  file.write(header(study));
  for (std::uint64_t k = 0; k < design.cases() && !file.failed(); ++k) {
    const std::optional<Outcome> outcome = journal.read(k);
    if (!outcome) return Failure::internal(fmt::format("case {} is not in the journal", k));
    file.write(row(study, design.at(k), *outcome));
    if (outcome->warnings > 0 && summary.warned++ == 0) {
      summary.first = k;
      summary.warning = outcome->warning;
    }
    for (std::size_t i = 0; i < std::min(moments.size(), outcome->cells.size()); ++i) {
      if (outcome->cells[i].kind == Cell::Kind::number) moments[i].add(outcome->cells[i].number);
    }
    if (k % kRowsPerReport == 0 && progress &&
        !progress(static_cast<double>(k) / static_cast<double>(design.cases()))) {
      return Failure::interrupted();
    }
  }
  for (const Moments& m : moments) summary.spreads.push_back(m.spread());
  if (const auto found = find_percentiles(journal, summary.spreads); !found) return found.failure();
  if (const auto done = file.finish(); !done) return done.failure();
  return summary;
}

}  // namespace kinegraph::ensemble
