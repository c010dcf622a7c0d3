#include "kinegraph/ensemble/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kinegraph::ensemble {
namespace {

Column::Kind kind_of(const Varied& varied) {
  const auto* choices = std::get_if<Choices>(&varied.values);
  const bool numbers = !choices || std::all_of(choices->texts.begin(), choices->texts.end(), is_number);
  return numbers ? Column::Kind::number : Column::Kind::text;
}

Field field(const Cell& cell) {
  if (cell.kind == Cell::Kind::number) return cell.number;
  return cell.kind == Cell::Kind::text ? Field(cell.text) : Field();
}

std::vector<Field> row(const Study& study, const Case& of, const Outcome& outcome) {
  std::vector<Field> fields = {of.number};
  if (!names_seed(study)) fields.emplace_back(of.seed);
  if (study.repetitions > 1) fields.emplace_back(of.repetition);
  for (const std::string& value : of.values) fields.emplace_back(value);
  for (std::size_t i = 0; i < study.outputs.size(); ++i) {
    fields.push_back(i < outcome.cells.size() ? field(outcome.cells[i]) : Field());
  }
  fields.emplace_back(static_cast<std::uint64_t>(outcome.status));
  fields.emplace_back(outcome.error);
  fields.emplace_back(std::uint64_t{outcome.warnings});
  return fields;
}

}  // namespace

bool names_seed(const Study& study) {
  return std::any_of(study.options.begin(), study.options.end(),
                     [](const FixedOption& option) { return option.name.text == "seed"; }) ||
         std::any_of(study.vary.begin(), study.vary.end(),
                     [](const Varied& varied) { return varied.option && varied.name.text == "seed"; });
}

Result<std::vector<bool>> text_outputs(const Study& study, Journal& journal, const Progress& progress) {
  std::vector<bool> texts(study.outputs.size());
  const auto see = [&](const Outcome& outcome) {
    for (std::size_t i = 0; i < std::min(texts.size(), outcome.cells.size()); ++i) {
      if (outcome.cells[i].kind == Cell::Kind::text) texts[i] = true;
    }
  };
  if (const auto seen = journal.visit(see, progress); !seen) return seen.failure();
  return texts;
}

std::vector<Column> table_columns(const Study& study, const std::vector<bool>& texts) {
  using enum Column::Kind;
  std::vector<Column> columns = {{"case", whole}};
  if (!names_seed(study)) columns.push_back({"seed", whole});
  if (study.repetitions > 1) columns.push_back({"repetition", whole});
  for (const Varied& varied : study.vary) columns.push_back({varied.written(), kind_of(varied)});
  for (std::size_t i = 0; i < study.outputs.size(); ++i) {
    columns.push_back({study.outputs[i].name, i < texts.size() && texts[i] ? text : number});
  }
  columns.insert(columns.end(), {{"status", whole}, {"error", text}, {"warnings", whole}});
  return columns;
}

Result<TableSummary> write_table(TableFile& table, const Study& study, const Design& design, Journal& journal,
                                 const Progress& progress) {
  constexpr std::uint64_t kRowsPerReport = 4096;
  constexpr double kRowsShare = 0.5;  // the passes for percentiles take about as long
  std::vector<Moments> moments(study.outputs.size());
  TableSummary summary;
  for (std::uint64_t k = 0; k < design.cases() && !table.failed(); ++k) {
    const std::optional<Outcome> outcome = journal.read(k);
    if (!outcome) return Failure::internal(fmt::format("case {} is not in the journal", k));
    table.add(row(study, design.at(k), *outcome));
    if (outcome->warnings > 0 && summary.warned++ == 0) {
      summary.first = k;
      summary.warning = outcome->warning;
    }
    for (std::size_t i = 0; i < std::min(moments.size(), outcome->cells.size()); ++i) {
      if (outcome->cells[i].kind == Cell::Kind::number) moments[i].add(outcome->cells[i].number);
    }
    if (k % kRowsPerReport == 0 && progress &&
        !progress(kRowsShare * static_cast<double>(k) / static_cast<double>(design.cases()))) {
      return Failure::interrupted();
    }
  }
  for (const Moments& m : moments) summary.spreads.push_back(m.spread());
  const auto further = [&](double share) { return !progress || progress(kRowsShare + (1 - kRowsShare) * share); };
  if (const auto found = find_percentiles(journal, summary.spreads, further); !found) return found.failure();
  if (const auto done = table.finish(); !done) return done.failure();
  return summary;
}

}  // namespace kinegraph::ensemble
