#include "kinegraph/io/csv.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/files_read.hpp"
#include "kinegraph/io/line_reader.hpp"
#include "kinegraph/io/number_text.hpp"

namespace kinegraph {
namespace {

constexpr std::size_t kMostCsvFaults = 20;
constexpr std::size_t kMostColumns = 100'000;
constexpr int kRowsPerReport = 1 << 15;

struct CsvField {
  std::string_view text;
  std::size_t offset = 0;  ///< in its line, of the first character
};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string shown(std::string_view text) { return text.empty() ? "nothing" : quote(text); }

class TableReader {
 public:
  TableReader(LineReader& lines, std::string name, const CsvOptions& options, std::size_t bytes)
      : lines_(lines), name_(std::move(name)), options_(options), bytes_(bytes) {}

  Result<Trajectory> read();

 private:
  bool first_row(std::string_view line);
  bool name_columns(std::vector<std::string> names);
  void judge_columns(std::string_view line, std::vector<std::string>& names);
  bool sound_names(std::string_view line, const std::vector<std::string>& names);
  void row(std::string_view line);
  bool split(std::string_view line);
  bool between_tabs(std::string_view line);
  bool text_only(std::string_view line);

  void fault(std::string_view line, std::size_t offset, std::string message);
  Result<Trajectory> finish();

  LineReader& lines_;
  std::string name_;
  const CsvOptions& options_;
  std::size_t bytes_;

  bool started_ = false, comma_ = false;
  bool tabs_ = false;  ///< each tab begins a column: two of them stand about an empty field
  std::vector<CsvField> fields_;
  std::vector<std::string> names_;  ///< per column of the file
  std::vector<int> series_;         ///< per column: its series; −1 the time, −2 left out
  std::vector<char> optional_;      ///< per column: its fields may be empty
  std::vector<DigitStatistics> digits_;
  std::vector<double> values_;
  Trajectory trajectory_;
  std::vector<Diagnostic> faults_;
};

void TableReader::fault(std::string_view line, std::size_t offset, std::string message) {
  const int column = characters(line.substr(0, std::min(offset, line.size()))) + 1;
  faults_.push_back({Severity::error, {name_, lines_.line(), column}, std::move(message)});
}

Result<Trajectory> TableReader::read() {
  std::string_view line;
  while (faults_.size() < kMostCsvFaults && lines_.next(line)) {
    if (lines_.line() == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    const std::string_view content = trimmed(line);
    if (content.empty() || content.front() == '%' || content.front() == '#') continue;
    if (!started_) {
      if (!first_row(line)) break;
      started_ = true;
    } else {
      row(line);
    }
    if (options_.progress && lines_.line() % kRowsPerReport == 0) {
      const double share = bytes_ > 0 ? std::min(1.0, static_cast<double>(lines_.bytes()) / bytes_) : 0;
      if (!options_.progress(share)) return Failure::interrupted();
    }
  }
  return finish();
}

Result<Trajectory> TableReader::finish() {
  if (lines_.error() != 0) {
    return Failure::bad_input({name_, 0, 0}, "cannot read the file: " + system_message(lines_.error()));
  }
  if (lines_.stopped()) return Failure::interrupted();
  if (lines_.too_long()) {
    fault({}, 0, fmt::format("the line is longer than {} MB; this is no table", LineReader::kLongestLine / 1'000'000));
  } else if (faults_.size() >= kMostCsvFaults) {
    faults_.push_back({Severity::error, {name_, lines_.line(), 1}, "too many faults, the rest is not read"});
  } else if (faults_.empty() && !started_) {
    faults_.push_back(
        {Severity::error, {name_, 1, 1}, lines_.line() == 0 ? "the file is empty" : "there are only comments"});
  } else if (faults_.empty() && trajectory_.samples() == 0) {
    faults_.push_back({Severity::error, {name_, trajectory_.header_line, 1}, "no rows of numbers follow the header"});
  }
  if (!faults_.empty()) return Failure{Failure::Kind::bad_input, std::move(faults_)};

  for (std::size_t c = 0; c < series_.size(); ++c) {
    if (series_[c] == -1) trajectory_.time_resolution = digits_[c].resolution();
    if (series_[c] >= 0) trajectory_.resolution[series_[c]] = digits_[c].resolution();
  }
  return std::move(trajectory_);
}

bool TableReader::text_only(std::string_view line) {
  if (line.starts_with("\xFF\xFE") || line.starts_with("\xFE\xFF")) {
    fault(line, 0, "the text is UTF-16; save it as UTF-8");
    return false;
  }
  const auto odd = std::find_if(line.begin(), line.end(),
                                [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r'; });
  if (odd == line.end()) return true;
  fault(line, odd - line.begin(), "expected a table of numbers, found bytes that are no text");
  return false;
}

/// Whether the fields of the first row, which are in fields_, stand between single tabs. (Tabs may also be there to
/// align columns: then two of them are one blank.)
bool TableReader::between_tabs(std::string_view line) {
  if (comma_ || line.find('\t') == std::string_view::npos) return false;
  const std::vector<CsvField> by_blanks = fields_;
  tabs_ = true;
  const bool same = split(line) && fields_.size() == by_blanks.size() &&
                    std::none_of(fields_.begin(), fields_.end(), [](const CsvField& f) { return f.text.empty(); });
  fields_ = by_blanks;
  return same;
}

/// The first row decides: commas, tabs or blanks, a header or none.
bool TableReader::first_row(std::string_view line) {
  if (!text_only(line)) return false;
  comma_ = line.find(',') != std::string_view::npos;
  if (const std::size_t semicolon = line.find(';'); !comma_ && semicolon != std::string_view::npos) {
    fault(line, semicolon, "expected commas or blanks between the columns, found ';'");
    return false;
  }
  if (!split(line)) return false;
  tabs_ = between_tabs(line);

  double value = 0;
  const bool header = read_number(fields_[0].text, value) == NumberFault::not_a_number;
  if (!header && options_.columns.empty()) {
    fault(line, fields_[0].offset, "expected a header row, found numbers; name the columns with --columns t,…");
    return false;
  }
  std::vector<std::string> names = options_.columns;
  if (names.empty()) {
    for (const CsvField& field : fields_) names.emplace_back(field.text);
  } else if (names.size() != fields_.size()) {
    fault(line, fields_[0].offset,
          fmt::format("the table has {} columns, --columns names {}", fields_.size(), names.size()));
    return false;
  }
  if (!sound_names(line, names)) return false;
  if (options_.judge) judge_columns(line, names);
  if (!name_columns(std::move(names))) return false;
  if (!header) row(line);
  return true;
}

/// The name of a column among those before it, or what is wrong with it.
std::optional<std::string> column_fault(const std::string& name, std::size_t c,
                                        std::unordered_map<std::string_view, std::size_t>& seen) {
  if (c == 0 && name != "t" && name != "time") {
    return fmt::format("expected 't' or 'time' as the first column, found {}", shown(name));
  }
  if (name.empty()) return fmt::format("expected the name of column {}, found nothing", c + 1);
  if (name == "-") return {};
  const auto [first, fresh] = seen.try_emplace(name, c);
  if (fresh) return {};
  return fmt::format("column {} has the same name as column {}: {}", c + 1, first->second + 1, quote(name));
}

bool TableReader::sound_names(std::string_view line, const std::vector<std::string>& names) {
  if (names.size() > kMostColumns) {
    fault(line, 0, fmt::format("the table has {} columns, more than {}", names.size(), kMostColumns));
    return false;
  }
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t c = 0; c < names.size() && faults_.size() < kMostCsvFaults; ++c) {
    if (const auto message = column_fault(names[c], c, seen)) fault(line, fields_[c].offset, *message);
  }
  return faults_.empty();
}

/// Columns that are left out, or refused: the rows are read all the same, so that all faults are told at once.
void TableReader::judge_columns(std::string_view line, std::vector<std::string>& names) {
  for (std::size_t c = 1; c < names.size() && faults_.size() < kMostCsvFaults; ++c) {
    if (names[c] == "-") continue;
    const int column = characters(line.substr(0, std::min(fields_[c].offset, line.size()))) + 1;
    ColumnUse use = options_.judge(names[c], {name_, lines_.line(), column});
    if (use.what == ColumnUse::What::read) continue;
    if (use.what == ColumnUse::What::refuse) fault(line, fields_[c].offset, std::move(use.message));
    names[c].assign(1, '-');
  }
}

bool TableReader::name_columns(std::vector<std::string> names) {
  std::vector<std::string> kept;
  std::vector<int> at;
  for (std::size_t c = 0; c < names.size(); ++c) {
    const bool left_out = c > 0 && names[c] == "-";
    series_.push_back(c == 0 ? -1 : left_out ? -2 : static_cast<int>(kept.size()));
    if (c == 0 || left_out) continue;
    kept.push_back(names[c]);
    at.push_back(static_cast<int>(fields_[c].offset) + 1);
  }
  if (kept.empty() && !options_.judge) {
    faults_.push_back({Severity::error, {name_, lines_.line(), 1}, "expected columns beside the time, found none"});
    return false;
  }
  trajectory_ = Trajectory(std::move(kept));
  trajectory_.file = name_;
  trajectory_.header_line = lines_.line();
  trajectory_.columns = std::move(at);
  trajectory_.resolution.assign(trajectory_.series(), 0.0);
  digits_.resize(names.size());
  values_.resize(names.size());
  for (std::size_t c = 0; c < names.size(); ++c) {
    optional_.push_back(c > 0 && options_.may_be_empty && options_.may_be_empty(names[c]));
  }
  names_ = std::move(names);
  return true;
}

/// Fills fields_. A field may stand in double quotes.
bool TableReader::split(std::string_view line) {
  fields_.clear();
  std::size_t i = 0;
  const char separator = tabs_ ? '\t' : ',';
  const bool separated = comma_ || tabs_;
  const auto skip_blanks = [&] {
    while (i < line.size() && is_blank(line[i]) && !(tabs_ && line[i] == '\t')) ++i;
  };
  const auto ends = [&](char c) { return separated ? c == separator : is_blank(c); };
  skip_blanks();
  while (true) {
    if (i < line.size() && line[i] == '"') {
      const std::size_t close = line.find('"', i + 1);
      if (close == std::string_view::npos) {
        fault(line, i, "the quotes are not closed on this line");
        return false;
      }
      fields_.push_back({trimmed(line.substr(i + 1, close - i - 1)), i});
      i = close + 1;
      if (i < line.size() && !is_blank(line[i]) && !ends(line[i])) {
        fault(line, i,
              fmt::format("expected the end of the column after the quotes, found {}", shown(line.substr(i, 1))));
        return false;
      }
    } else {
      const std::size_t begin = i;
      while (i < line.size() && !ends(line[i])) ++i;
      fields_.push_back({trimmed(line.substr(begin, i - begin)), begin});
    }
    skip_blanks();
    if (i >= line.size()) return true;
    if (separated) {
      ++i;
      skip_blanks();
    }
  }
}

void TableReader::row(std::string_view line) {
  const std::size_t before = faults_.size();
  if (!split(line)) return;
  if (tabs_ && fields_.size() != names_.size()) {  // tabs that align the columns of this row
    tabs_ = false;
    const bool sound = split(line);
    tabs_ = true;
    if (!sound) return;
  }
  if (fields_.size() != names_.size()) {
    const std::size_t at = fields_.size() > names_.size() ? fields_[names_.size()].offset : line.size();
    fault(line, at, fmt::format("expected {} values, found {}", names_.size(), fields_.size()));
    return;
  }
  for (std::size_t c = 0; c < fields_.size(); ++c) {
    if (series_[c] == -2) continue;
    if (fields_[c].text.empty() && optional_[c]) {
      values_[c] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    const NumberFault kind = read_number(fields_[c].text, values_[c]);
    if (kind == NumberFault::none) {
      digits_[c].add(fields_[c].text);
    } else {
      fault(line, fields_[c].offset,
            fmt::format("expected a {} for {}, found {}", expected_number(kind), quote(names_[c]),
                        shown(fields_[c].text)));
    }
  }
  if (faults_.size() > before) return;

  const auto& times = trajectory_.times();
  const bool backwards = !times.empty() && values_[0] < times.back();
  const bool stands = !times.empty() && values_[0] == times.back() && !options_.equal_times;
  if (backwards || stands) {
    fault(line, fields_[0].offset,
          fmt::format("the time must {}: {} follows {}", options_.equal_times ? "not go backwards" : "increase",
                      values_[0], times.back()));
    return;
  }
  double* sample = trajectory_.append(values_[0]);
  for (std::size_t c = 1; c < values_.size(); ++c) {
    if (series_[c] >= 0) sample[series_[c]] = values_[c];
  }
  trajectory_.lines.push_back(lines_.line());
}

std::string header_name(const std::string& name) {
  const bool plain = name.find_first_of(", \t\"") == std::string::npos;
  return plain ? name : fmt::format("\"{}\"", name);
}

}  // namespace

Result<Trajectory> parse_csv(const std::string& text, const std::string& name, const CsvOptions& options) {
  LineReader lines{std::string_view(text)};
  return TableReader(lines, name, options, text.size()).read();
}

Result<Trajectory> read_csv(const std::string& path, const CsvOptions& options) {
  const auto go_on = [&] { return !options.progress || options.progress(0); };
  if (path == "-") {
    LineReader lines(STDIN_FILENO, go_on);
    return TableReader(lines, "standard input", options, 0).read();
  }
  // Without waiting: the opening of a pipe to which nobody writes would never end.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return Failure::bad_input({path, 0, 0}, "cannot read the file: " + system_message(errno));
  struct stat info {};
  if (fstat(descriptor, &info) == 0) FilesRead::add(info);
  LineReader lines(descriptor, go_on);
  Result<Trajectory> result = TableReader(lines, path, options, static_cast<std::size_t>(info.st_size)).read();
  close(descriptor);
  if (S_ISFIFO(info.st_mode) && lines.line() == 0 && !lines.stopped()) {
    return Failure::bad_input({path, 0, 0}, "cannot read the file: nobody writes to this pipe");
  }
  return result;
}

CsvWriter::CsvWriter(OutputFile& file, const std::vector<std::string>& names, bool gaps)
    : file_(file), names_(names), gaps_(gaps) {
  file_.write("t");
  for (const std::string& name : names_) {
    file_.write(",");
    file_.write(header_name(name));
  }
  file_.write("\n");
}

bool CsvWriter::row(double t, const double* values) {
  constexpr std::size_t kWidest = 32;
  line_.resize((names_.size() + 1) * kWidest);
  char* const end = line_.data() + line_.size();
  char* at = std::to_chars(line_.data(), end, t).ptr;
  bool finite = std::isfinite(t);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const bool gap = gaps_ && std::isnan(values[i]);
    finite = finite && (gap || std::isfinite(values[i]));
    if (!finite && fault_.empty()) {
      fault_ = fmt::format("{} is not a number at t = {}", names_[i], t);
      return false;
    }
    *at++ = ',';
    if (!gap) at = std::to_chars(at, end, values[i]).ptr;
  }
  *at++ = '\n';
  file_.write({line_.data(), static_cast<std::size_t>(at - line_.data())});
  return true;
}

Result<std::monostate> CsvWriter::finish() {
  if (!fault_.empty()) return Failure::internal(fault_);
  return file_.finish();
}

Result<std::monostate> write_csv(OutputFile& file, const Trajectory& trajectory, const Progress& progress, bool gaps) {
  CsvWriter writer(file, trajectory.names(), gaps);
  const int samples = trajectory.samples();
  for (int i = 0; i < samples; ++i) {
    if (!writer.row(trajectory.times()[i], trajectory.row(i)) || file.failed()) break;
    if (progress && i % kRowsPerReport == 0 && !progress(static_cast<double>(i) / samples))
      return Failure::interrupted();
  }
  return writer.finish();
}

Result<std::monostate> write_csv(const std::string& path, const Trajectory& trajectory, const Progress& progress,
                                 bool gaps) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.failure();
  return write_csv(*file, trajectory, progress, gaps);
}

}  // namespace kinegraph
