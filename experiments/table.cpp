#include "experiments/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

namespace kinegraph::experiments {
namespace {

std::string path_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path("out") / "experiments";
  std::filesystem::create_directories(folder);
  return (folder / file).string();
}

/// Characters, not bytes: "µ" and "σ" take one column.
std::size_t width(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
}

std::string quoted(const std::string& text) {
  return text.find_first_of(",\"") == std::string::npos ? text : "\"" + text + "\"";
}

}  // namespace

void Table::show() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::ofstream csv(path_of(name_ + ".csv"));
  for (const auto& row : rows_) {
    std::string line = "  ", values;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width(row[i]), ' ');
      line += i == 0 ? row[i] + space : "  " + space + row[i];
      values += (i == 0 ? "" : ",") + quoted(row[i]);
    }
    fmt::print("{}\n", line);
    csv << values << '\n';
  }
}

std::string figure(double value) { return std::isfinite(value) ? fmt::format("{:.3g}", value) : "-"; }

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace kinegraph::experiments
