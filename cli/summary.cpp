#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "version.hpp"

namespace kinegraph::cli {
namespace {

using Json = nlohmann::ordered_json;

/// fmt counts code points for its width, but in a std::string it must be told so: pad by hand.
std::string padded(const std::string& text, int width) {
  return text + std::string(std::max(0, width - characters(text)), ' ');
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "undefined";
  return fmt::format("{:.6g}", value);
}

std::string people_text(const Json& value, const std::string& unit) {
  const auto with_unit = [&unit](const std::string& text) { return unit.empty() ? text : text + " " + unit; };
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return with_unit(value.get<std::string>());
  if (value.is_number_float()) return with_unit(number_text(value.get<double>()));
  if (!value.is_array()) return with_unit(value.dump());
  if (value.empty()) return "none";
  std::string text;
  for (const Json& part : value) text += (text.empty() ? "" : ", ") + people_text(part, "");
  return with_unit(text);
}

void replace_undefined(Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) value = nullptr;
  if (value.is_array()) {
    for (Json& part : value) replace_undefined(part);
  }
}

}  // namespace

Summary::Summary(const std::string& verb, const std::string& model) {
  json_["kinegraph"] = kVersion;
  json_["verb"] = verb;
  json_["model"] = model;
}

Summary& Summary::add_json(const std::string& key, Json value, const std::string& label, const std::string& unit) {
  if (!label.empty()) lines_.push_back({label, people_text(value, unit)});
  replace_undefined(value);
  json_[key] = std::move(value);
  return *this;
}

Summary& Summary::add_text(std::string block) {
  lines_.push_back({"", std::move(block)});
  return *this;
}

std::string Summary::text() const {
  int width = 0;
  for (const Line& line : lines_) width = std::max(width, characters(line.label));
  std::string out;
  for (const Line& line : lines_) {
    out += line.label.empty() ? line.value : fmt::format("  {}  {}\n", padded(line.label, width), line.value);
  }
  return out;
}

std::string Summary::json() const { return json_.dump(2) + "\n"; }

std::vector<std::pair<std::string, std::string>> Summary::facts() const {
  std::vector<std::pair<std::string, std::string>> found;
  for (const Line& line : lines_) {
    if (!line.label.empty()) found.emplace_back(line.label, line.value);
  }
  return found;
}

std::string position_table(const Trajectory& trajectory, const std::string& title) {
  constexpr int kMostColumns = 8;
  std::vector<int> shown;
  for (int i = 0; i < trajectory.series(); ++i) {
    const std::string& name = trajectory.names()[i];
    if (name.ends_with(".x") || name.ends_with(".y") || name.ends_with(".z") || name.ends_with(".q"))
      shown.push_back(i);
  }
  const int columns = std::min(trajectory.samples(), kMostColumns);
  const int rows = static_cast<int>(std::min(shown.size(), kMostRows));
  int width = 4;
  for (int r = 0; r < rows; ++r) width = std::max(width, characters(trajectory.names()[shown[r]]));

  std::string out = "  " + padded("", width);
  for (int c = 0; c < columns; ++c)
    out += fmt::format("  {:>12}", columns == 1 ? title : fmt::format("{} {}", title, c));
  out += trajectory.samples() > columns ? fmt::format("  … {} in all\n", trajectory.samples()) : "\n";
  for (int r = 0; r < rows; ++r) {
    const std::string& name = trajectory.names()[shown[r]];
    out += "  " + padded(name, width);
    for (int c = 0; c < columns; ++c) {
      const double value = trajectory.at(c, shown[r]);
      out += fmt::format("  {:>12.6f}", std::abs(value) < 0.5e-6 ? 0.0 : value);  // no "-0.000000"
    }
    out += name.ends_with(".q") ? "\n" : " m\n";
  }
  if (static_cast<int>(shown.size()) > rows)
    out += fmt::format("  … {} rows more, all in --out\n", shown.size() - rows);
  return out;
}

}  // namespace kinegraph::cli
