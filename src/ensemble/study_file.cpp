#include "kinegraph/ensemble/study_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>

#include "kinegraph/base/names.hpp"
#include "kinegraph/ensemble/sobol.hpp"
#include "kinegraph/ensemble/study_schema.hpp"
#include "kinegraph/expr/expression.hpp"
#include "kinegraph/io/task_fields.hpp"
#include "kinegraph/io/text_file.hpp"

namespace kinegraph::ensemble {
namespace {

using io::shown;
using io::TaskFields;
using io::written;
using io::YamlNode;
using Kind = YamlNode::Kind;

constexpr double kMostCases = 1e12;
constexpr double kLargestSeed = 9007199254740992.0;  // 2⁵³: what a double counts

class StudyReader {
 public:
  StudyReader(Study& study, std::vector<Diagnostic>& faults) : study_(study), faults_(faults) {}

  void read(const YamlNode& root) {
    if (root.kind != Kind::map) {
      return error(root.where, "expected a map with verb, model, vary, outputs, …, found " + describe(root));
    }
    std::vector<std::string> parts;
    for (const TaskSection& section : study_sections().subspan(1)) parts.emplace_back(section.key);
    const TaskFields f(study_sections()[0], root, faults_, parts);
    for (const auto& [key, value] : root.keys) {
      if (key->text == "options") options(*value);
      if (key->text == "vary") vary(*value);
      if (key->text == "outputs") outputs(*value), outputs_given_ = true;
    }
    file(f);
    if (!outputs_given_) error(root.where, "missing key 'outputs' of a study: which numbers of the summary are kept");
    columns();
    count(f);
  }

 private:
  /// The names of the table's columns: each once.
  void columns() {
    const auto own = [](const std::string& name) {
      constexpr std::string_view kOwn[] = {"case", "seed", "repetition", "status", "error", "warnings"};
      return std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn);
    };
    for (const StudyOutput& output : study_.outputs) {
      if (own(output.name)) {
        error(output.path.where, quote(output.name) + " is a column of its own of the table: say {name: path}");
      }
    }
    std::set<std::string_view> outputs;
    for (const StudyOutput& output : study_.outputs) outputs.insert(output.name);
    for (const Varied& varied : study_.vary) {
      const std::string name = varied.written();
      if (own(name)) error(varied.name.where, quote(name) + " is a column of its own of the table");
      if (outputs.contains(name)) {
        error(varied.name.where, quote(name) + " is an output, too: give that another name, {name: path}");
      }
    }
  }

  void error(const Location& where, std::string message) {
    faults_.push_back({Severity::error, where, std::move(message)});
  }

  static std::uint64_t whole(const TaskFields& f, const char* key, double least, double most, std::uint64_t fallback) {
    if (!f.has(key)) return fallback;
    const double n = f.number(key, static_cast<double>(fallback));
    if (n >= least && n <= most && n == std::floor(n)) return static_cast<std::uint64_t>(n);
    f.error(f.where(key),
            fmt::format("{}: must be a whole number from {} to {}, is {}", key, least, most, written(*f.find(key))));
    return fallback;
  }

  void file(const TaskFields& f) {
    study_.verb = f.name("verb");
    study_.model = f.name("model");
    study_.design =
        static_cast<Study::Joint>(std::max(0, f.choice("design", {"random", "latin-hypercube", "sobol"}, 0)));
    study_.samples = whole(f, "samples", 1, kMostCases, 1);
    study_.repetitions = whole(f, "repetitions", 1, kMostCases, 1);
    study_.seed = whole(f, "seed", 0, kLargestSeed, 0);
    const std::size_t drawn = study_.distributions();
    if (drawn > 0 && !f.has("samples")) {
      f.error(f.where(), "missing key 'samples' of a study with distributions: how many draws of them");
    }
    if (drawn == 0 && f.has("samples") && !vary_faulty_) {
      f.error(f.where("samples"), "samples: nothing under vary has a distribution");
    }
    if (study_.design == Study::Joint::sobol && drawn > kSobolDimensions) {
      f.error(f.where("design"),
              fmt::format("design: sobol has {} dimensions, there are {} distributions", kSobolDimensions, drawn));
    }
  }

  bool is_map(const YamlNode& node, const char* key, const char* such_as) {
    if (node.kind == Kind::map) return true;
    if (node.kind != Kind::nothing) {
      error(node.where, fmt::format("{}: expected a map such as {}, found {}", key, such_as, describe(node)));
    }
    return false;
  }

  bool is_new(const YamlNode& key, std::set<std::string_view>& seen) {
    if (key.kind != Kind::text) {
      error(key.where, "expected a text as key, found " + describe(key));
      return false;
    }
    if (seen.insert(key.text).second) return true;
    error(key.where, "duplicate key " + quote(key.text));
    return false;
  }

  void options(const YamlNode& node) {
    if (!is_map(node, "options", "{time: 2, step: 1ms}")) return;
    std::set<std::string_view> seen;
    for (const auto& [key, value] : node.keys) {
      if (!is_new(*key, seen)) continue;
      FixedOption option{{key->text, key->where}, {}};
      if (option.name.text.starts_with("--")) option.name.text.erase(0, 2);
      if (value->kind == Kind::text) option.values.push_back({value->text, value->where});
      for (const YamlNode* item : value->items) {
        if (item->kind == Kind::text) {
          option.values.push_back({item->text, item->where});
        } else {
          error(item->where, fmt::format("{}: expected a text, found {}", shown(key->text), describe(*item)));
        }
      }
      for (const auto& [name, of_name] : value->keys) {  // set: {theta.v: 60rpm}
        if (name->kind == Kind::text && of_name->kind == Kind::text) {
          option.values.push_back({name->text + "=" + of_name->text, name->where});
        } else {
          error(name->where, fmt::format("{}: expected name: value", shown(key->text)));
        }
      }
      if (value->kind == Kind::nothing)
        error(key->where, fmt::format("{}: expected a value, found nothing", shown(key->text)));
      study_.options.push_back(std::move(option));
    }
  }

  void vary(const YamlNode& node) {
    if (!is_map(node, "vary", "{crank_length: {from: 0.9, to: 1.1, count: 5}}")) return;
    std::set<std::string_view> seen;
    const std::size_t before = faults_.size();
    for (const auto& [key, value] : node.keys) {
      if (!is_new(*key, seen)) continue;
      Varied varied;
      varied.option = key->text.starts_with("--");
      varied.name = {varied.option ? key->text.substr(2) : key->text, key->where};
      if (value->kind == Kind::list) {
        varied.values = choices(*value, varied);
      } else if (value->kind == Kind::map) {
        const std::size_t without = faults_.size();
        read_values(TaskFields(study_sections()[2], *value, faults_), varied);
        varied.sound = faults_.size() == without;
      } else {
        error(value->where,
              fmt::format("{}: expected a list [a, b, …] or a map such as {{from: 0, to: 1, count: 11}} or "
                          "{{distribution: normal, mean: 1, sd: 0.1}}, found {}",
                          shown(key->text), describe(*value)));
        continue;
      }
      study_.vary.push_back(std::move(varied));
    }
    vary_faulty_ = faults_.size() > before;
  }

  Choices choices(const YamlNode& node, Varied& varied) {
    const std::string name = varied.written();
    const bool any_text = varied.option;
    Choices made;
    std::vector<Result<double>> numbers;
    if (node.items.empty()) error(node.where, fmt::format("{}: the list is empty", shown(name)));
    for (const YamlNode* item : node.items) {
      if (item->kind != Kind::text) {
        error(item->where, fmt::format("{}: expected a value, found {}", shown(name), describe(*item)));
        continue;
      }
      const Result<double> number = parse_number(item->text, item->where);
      for (std::size_t i = 0; !any_text && !number && i < number.failure().diagnostics.size(); ++i) {
        faults_.push_back(number.failure().diagnostics[i]);
      }
      made.texts.push_back(item->text);
      varied.words.push_back({{item->text, item->where}});
      numbers.push_back(number);
    }
    // Numbers with units are told in SI, as those of grids are; plain ones keep their digits. Words are words, though
    // one may be a number, too ("e").
    const bool all_numbers = std::all_of(numbers.begin(), numbers.end(), [](const auto& n) { return n.ok(); });
    const auto is_word = [](const std::string& text) { return text.find_first_of("0123456789") == std::string::npos; };
    for (std::size_t i = 0; all_numbers && i < numbers.size(); ++i) {
      if (!is_number(made.texts[i]) && !(any_text && is_word(made.texts[i])))
        made.texts[i] = fmt::format("{}", *numbers[i]);
    }
    return made;
  }

  /// One of grid, list, distribution: by the key that only it has; what belongs to another is refused.
  void read_values(const TaskFields& f, Varied& varied) {
    const bool grid = f.has("from") || f.has("to") || f.has("count") || f.has("step");
    const bool list = f.has("list"), drawn = f.has("distribution");
    if (grid + list + drawn != 1) {
      return f.error(f.where(),
                     fmt::format("{}: expected one of a grid (from, to, count or step), a list, a distribution",
                                 shown(varied.written())));
    }
    if (!drawn) {
      for (const char* key : {"mean", "sd", "low", "high"}) {
        if (f.has(key)) f.error(f.where(key), fmt::format("{}: belongs to a distribution", key));
      }
    }
    if (!grid && f.has("spacing")) f.error(f.where("spacing"), "spacing: belongs to a grid");
    if (grid) varied.values = read_grid(f);
    if (list) varied.values = choices(*f.find("list"), varied);
    if (drawn) varied.values = read_distribution(f);
    for (const char* key : {"from", "to", "step", "mean", "sd", "low", "high"}) {
      const YamlNode* number = f.find(key);
      const bool met = key == std::string_view("from") || (key == std::string_view("to") && f.has("count"));
      if (number && number->kind == Kind::text) varied.words.push_back({{number->text, number->where}, met});
    }
  }

  static Grid read_grid(const TaskFields& f) {
    Grid grid;
    for (const char* key : {"from", "to"}) {
      if (!f.has(key)) f.error(f.where(), fmt::format("missing key '{}' of a grid", key));
    }
    grid.from = f.number("from", 0), grid.to = f.number("to", 1);
    grid.logarithmic = f.choice("spacing", {"linear", "log"}, 0) == 1;
    if (f.has("count") == f.has("step")) {
      f.error(f.where(), "a grid needs either count (how many values) or step (the distance between two)");
      return grid;
    }
    if (grid.logarithmic && !(grid.from > 0 && grid.to > 0)) {
      f.error(f.where("spacing"), "spacing: log needs from and to > 0");
      return grid;
    }
    if (grid.logarithmic && !has_ratio(grid.from, grid.to)) {
      f.error(f.where("to"), "to: too far from `from` for a number");
    }
    if (f.has("count")) {
      grid.count = whole(f, "count", 1, kMostCases, 0);
      if (grid.count == 1 && grid.from != grid.to) {
        f.error(f.where("count"), "count: one value cannot reach from `from` to `to`");
      }
      return grid;
    }
    if (grid.logarithmic) f.error(f.where("step"), "step: a grid of equal ratios needs count");
    grid.step = f.number("step", 1);
    const double steps = (grid.to - grid.from) / grid.step;
    if (grid.step == 0 || !(steps >= 0 && steps < kMostCases)) {
      f.error(f.where("step"), fmt::format("step: the grid is empty: no step of {} leads from {} to {}",
                                           written(*f.find("step")), grid.from, grid.to));
      return grid;
    }
    grid.count = static_cast<std::uint64_t>(std::floor(steps * (1 + 1e-12) + 1e-9)) + 1;
    return grid;
  }

  static Distribution read_distribution(const TaskFields& f) {
    Distribution d;
    const std::vector<std::string> types{"normal", "uniform", "log-uniform"};
    const int type = f.choice("distribution", types, 0);
    if (std::find(types.begin(), types.end(), f.find("distribution")->text) == types.end()) return d;
    d.type = static_cast<Distribution::Type>(type);
    const bool normal = d.type == Distribution::Type::normal;
    const std::vector<const char*> needed = normal ? std::vector{"mean", "sd"} : std::vector{"low", "high"};
    for (const char* key : needed) {
      if (!f.has(key)) f.error(f.where(), fmt::format("missing key '{}' of this distribution", key));
    }
    for (const char* key : {"mean", "sd"}) {
      if (!normal && f.has(key)) f.error(f.where(key), fmt::format("{}: belongs to a normal distribution", key));
    }
    d.mean = f.number("mean", 0), d.sd = f.positive("sd", 1);
    d.low = f.number("low", normal ? -Distribution::kInfinity : 0);
    d.high = f.number("high", normal ? Distribution::kInfinity : 1);
    if (!(d.low < d.high) && f.has("low") && f.has("high")) {
      f.error(f.where("high"), fmt::format("high: must be > low, which is {}, is {}", d.low, written(*f.find("high"))));
    } else if (d.type == Distribution::Type::log_uniform && !(d.low > 0) && f.has("low")) {
      f.error(f.where("low"), fmt::format("low: must be > 0, is {}", written(*f.find("low"))));
    } else if (d.type == Distribution::Type::log_uniform && d.low > 0 && !has_ratio(d.low, d.high)) {
      f.error(f.where("high"), "high: too far from `low` for a number");
    } else if (normal && (d.low > d.mean + kWidest * d.sd || d.high < d.mean - kWidest * d.sd)) {
      f.error(f.where("distribution"),
              fmt::format("distribution: hardly a draw lies between low and high: more than {} "
                          "standard deviations from the mean",
                          kWidest));
    }
    return d;
  }

  /// Of positive numbers, which may be as small as 1e-308.
  static bool has_ratio(double from, double to) { return std::isfinite(std::log(to / from)); }

  void outputs(const YamlNode& node) {
    std::set<std::string_view> seen;
    const auto add = [&](const YamlNode& name, const YamlNode& path) {
      if (path.kind != Kind::text || path.text.empty()) {
        return error(path.where, "outputs: expected a path such as energy_drift, found " + describe(path));
      }
      if (is_new(name, seen)) study_.outputs.push_back({name.text, {path.text, path.where}});
    };
    if (node.kind == Kind::list) {
      for (const YamlNode* item : node.items) add(*item, *item);
    } else if (node.kind == Kind::map) {
      for (const auto& [name, path] : node.keys) add(*name, *path);
    } else if (node.kind != Kind::nothing) {
      return error(node.where, "outputs: expected a list of paths, or a map {name: path, …}, found " + describe(node));
    }
    if (node.items.empty() && node.keys.empty()) error(node.where, "outputs: the list is empty");
  }

  void count(const TaskFields& f) {
    double cases = static_cast<double>(study_.samples) * static_cast<double>(study_.repetitions);
    for (const Varied& varied : study_.vary) {
      if (const auto* grid = std::get_if<Grid>(&varied.values)) cases *= static_cast<double>(grid->count);
      if (const auto* list = std::get_if<Choices>(&varied.values)) cases *= static_cast<double>(list->texts.size());
    }
    if (cases > kMostCases)
      f.error(f.where(), fmt::format("the study has {:.3g} cases; {:g} are possible", cases, kMostCases));
  }

  static constexpr double kWidest = 8;  // standard deviations
  Study& study_;
  std::vector<Diagnostic>& faults_;
  bool outputs_given_ = false, vary_faulty_ = false;
};

Result<StudyDraft> draft(const std::string& text, const std::string& file_name) {
  const Result<io::YamlTree> tree = io::YamlTree::parse(text, file_name);
  if (!tree) return tree.failure();
  StudyDraft draft;
  draft.study.file = file_name;
  StudyReader(draft.study, draft.faults).read(tree->root());
  return draft;
}

}  // namespace

void order_faults(std::vector<Diagnostic>& faults, const std::string& file_name) {
  const auto place = [&](const Diagnostic& fault) {
    return std::tuple(fault.where.file != file_name, fault.where.line, fault.where.column);
  };
  std::set<std::string> told;
  std::erase_if(faults, [&](const Diagnostic& fault) { return !told.insert(to_string(fault)).second; });
  std::stable_sort(faults.begin(), faults.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  io::keep_first_faults(faults, file_name);
}

Result<Study> parse_study(const std::string& text, const std::string& file_name) {
  Result<StudyDraft> read = draft(text, file_name);
  if (!read) return read.failure();
  if (read->faults.empty()) return std::move(read->study);
  order_faults(read->faults, file_name);
  return Failure{Failure::Kind::bad_input, std::move(read->faults)};
}

Result<StudyDraft> read_study(const std::filesystem::path& path) {
  const Result<std::string> text = io::read_text_file(path, io::YamlTree::kLargestFile);
  if (!text) return text.failure();
  Result<StudyDraft> read = draft(*text, path.string());
  if (read && read->study.model.given()) {
    read->study.model.text = (path.parent_path() / read->study.model.text).string();
  }
  return read;
}

}  // namespace kinegraph::ensemble
