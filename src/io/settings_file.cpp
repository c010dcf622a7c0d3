#include "kinegraph/io/settings_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kinegraph/base/names.hpp"
#include "kinegraph/expr/expression.hpp"
#include "kinegraph/io/line_reader.hpp"
#include "kinegraph/io/text_file.hpp"

namespace kinegraph {
namespace {

constexpr std::size_t kLargestSettings = 10'000'000;
constexpr std::size_t kMostSettingFaults = 20;

std::string_view trimmed_setting(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

class SettingsParser {
 public:
  SettingsParser(const std::string& text, const std::string& name) : lines_(text), file_(name) {}

  Result<std::vector<FileSetting>> parse() {
    std::string_view line;
    while (faults_.size() < kMostSettingFaults && lines_.next(line)) take(line);
    if (!faults_.empty()) return Failure{Failure::Kind::bad_input, std::move(faults_)};
    return std::move(settings_);
  }

 private:
  Location at(std::string_view line, std::string_view part) const {
    return {file_, lines_.line(), characters(line.substr(0, static_cast<std::size_t>(part.data() - line.data()))) + 1};
  }

  void take(std::string_view line) {
    const std::string_view content = trimmed_setting(line.substr(0, line.find('#')));
    if (content.empty()) return;
    const std::size_t equals = content.find('=');
    const std::string_view name = trimmed_setting(content.substr(0, equals));
    if (equals == std::string_view::npos || name.empty()) {
      return fault(at(line, content), "expected name = value, found " + quote(content));
    }
    const std::string_view text = trimmed_setting(content.substr(equals + 1));
    if (text.empty()) return fault(at(line, content.substr(equals)), "expected a value after =");
    const Location where = at(line, name);
    const Result<double> value = parse_number(std::string(text), at(line, text));
    if (!value) {
      const std::vector<Diagnostic>& found = value.failure().diagnostics;
      faults_.insert(faults_.end(), found.begin(), found.end());
      return;
    }
    if (const auto [first, fresh] = lines_of_.emplace(name, where.line); !fresh) {
      return fault(where, fmt::format("{} is given twice, first in line {}", quote(name), first->second));
    }
    settings_.push_back({std::string(name), *value, where, {}, std::string(text)});
  }

  void fault(Location where, std::string message) {
    faults_.push_back({Severity::error, std::move(where), std::move(message)});
  }

  LineReader lines_;
  std::string file_;
  std::vector<FileSetting> settings_;
  std::map<std::string, int, std::less<>> lines_of_;
  std::vector<Diagnostic> faults_;
};

}  // namespace

Result<std::vector<FileSetting>> parse_settings(const std::string& text, const std::string& name) {
  return SettingsParser(text, name).parse();
}

Result<std::vector<FileSetting>> read_settings_file(const std::filesystem::path& path) {
  const Result<std::string> text = io::read_text_file(path, kLargestSettings);
  if (!text) return text.failure();
  if (text->size() > kLargestSettings) {
    return Failure::bad_input({path.string(), 0, 0}, fmt::format("is larger than {} bytes", kLargestSettings));
  }
  return parse_settings(*text, path.string());
}

std::string settings_text(const std::vector<FileSetting>& settings, const std::string& heading) {
  std::string text;
  std::string_view line;
  LineReader lines{std::string_view(heading)};
  while (lines.next(line)) text += fmt::format("# {}\n", line);
  std::size_t width = 0;
  for (const FileSetting& setting : settings) width = std::max(width, setting.name.size());
  for (const FileSetting& setting : settings) {
    text += fmt::format("{:<{}} = {}", setting.name, width, setting.value);
    text += setting.comment.empty() ? "\n" : "  # " + setting.comment + "\n";
  }
  return text;
}

}  // namespace kinegraph
