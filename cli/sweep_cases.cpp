#include "sweep_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>

#include "kinegraph/base/checksum.hpp"
#include "kinegraph/ensemble/extract.hpp"
#include "kinegraph/ensemble/table.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/io/task_meshes.hpp"
#include "kinegraph/io/text_file.hpp"
#include "version.hpp"

namespace kinegraph::cli {
namespace {

namespace fs = std::filesystem;
using ensemble::Outcome;

/// All of a failure in one line.
std::string one_line(const Failure& failure) {
  std::string text;
  for (const Diagnostic& diagnostic : failure.diagnostics) {
    if (!text.empty()) text += "; ";
    const std::string place = to_string(diagnostic.where);
    text += place.empty() ? diagnostic.message : place + ": " + diagnostic.message;
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? "no answer" : text;
}

Done ask_safely(const std::string& verb, std::vector<std::string> arguments, Embedding& found) {
  try {
    return ask(verb, std::move(arguments), found);
  } catch (const std::bad_alloc&) {
    return Failure::no_answer("not enough memory for a problem of this size");
  } catch (const std::exception& fault) {
    return Failure::internal(fmt::format("internal fault: {}", fault.what()));
  }
}

}  // namespace

std::string beside_study(const ensemble::Study& study, const std::string& path) {
  if (path.empty() || path == "-") return path;
  return (fs::path(study.file).parent_path() / path).string();
}

SweepCases::SweepCases(const ensemble::Study& study, const std::vector<OptionShape>& options)
    : study_(study), options_(options), design_(study) {
  columns_ = std::any_of(study.outputs.begin(), study.outputs.end(),
                         [](const auto& output) { return ensemble::asks_for_column(output.path.text); });
}

const OptionShape& SweepCases::shape(const std::string& name) const {
  return *std::find_if(options_.begin(), options_.end(), [&](const OptionShape& o) { return o.name == name; });
}

/// Files are told relative to the study.
std::string SweepCases::option_text(const OptionShape& shape, const std::string& value) const {
  if (shape.type.find("@FILE") != std::string::npos) {
    return value.starts_with('@') ? "@" + beside_study(study_, value.substr(1)) : value;
  }
  return shape.type.starts_with("FILE") || shape.type.starts_with("FOLDER") ? beside_study(study_, value) : value;
}

void SweepCases::add(std::vector<std::string>& words, const OptionShape& shape, const std::string& value) const {
  if (!shape.flag) {
    words.push_back(fmt::format("--{}={}", shape.name, option_text(shape, value)));
  } else if (value == "true") {
    words.push_back("--" + shape.name);
  }
}

std::vector<std::string> SweepCases::arguments(std::uint64_t number, const Changes& changes) const {
  const ensemble::Case of = design_.at(number);
  const auto changed = [&](const std::string& name) {
    const auto found = changes.find(name);
    return found != changes.end() ? &found->second : nullptr;
  };
  std::vector<std::string> words{study_.model.text};
  for (const ensemble::FixedOption& option : study_.options) {
    const auto* other = changed("--" + option.name.text);
    for (const TaskName& value : option.values) {
      if (!other || other->has_value()) add(words, shape(option.name.text), value.text);
    }
  }
  for (std::size_t i = 0; i < study_.vary.size(); ++i) {
    const ensemble::Varied& varied = study_.vary[i];
    const auto* other = changed(varied.written());
    if (other && !other->has_value()) continue;
    const std::string& value = other ? **other : of.values[i];
    if (varied.option) {
      add(words, shape(varied.name.text), value);
    } else {
      words.push_back(fmt::format("--set={}={}", varied.name.text, value));
    }
  }
  if (!ensemble::names_seed(study_)) words.push_back(fmt::format("--seed={}", of.seed));
  return words;
}

std::string SweepCases::command(std::uint64_t number) const {
  std::string line = "kinegraph " + study_.verb.text;
  for (const std::string& word : arguments(number)) line += " " + shell_word(word);
  return study_.verb.text == "codegen" ? line + " --out=-" : line;
}

Result<Outcome> SweepCases::run(std::uint64_t number) {
  Embedding found;
  Failure failure;
  return run(number, found, failure);
}

std::vector<Diagnostic> SweepCases::refusals(std::uint64_t number, const Changes& changes) {
  Embedding found;
  found.stopped = [] { return true; };
  Failure failure;
  const bool ended = run(number, found, failure, changes).ok();
  return ended && failure.kind == Failure::Kind::bad_input ? std::move(failure.diagnostics) : std::vector<Diagnostic>{};
}

Result<Outcome> SweepCases::run(std::uint64_t number, Embedding& found, Failure& failure, const Changes& changes) {
  std::vector<std::string> words = arguments(number, changes);
  words.insert(words.end(), {"--threads=1", "--quiet"});
  found.models = &models_;
  found.summary_only = true;
  found.keep_trajectory = found.keep_trajectory || columns_;
  const Done done = ask_safely(study_.verb.text, std::move(words), found);
  Outcome outcome;
  outcome.number = number;
  if (!done) {
    failure = done.failure();
    if (failure.kind == Failure::Kind::interrupted) return failure;
    outcome.status = failure.exit_status();
    outcome.error = one_line(failure);
  }
  if (const auto warnings = found.summary.find("warnings"); warnings != found.summary.end() && warnings->is_array()) {
    outcome.warnings = static_cast<std::uint32_t>(warnings->size());
    if (outcome.warnings > 0 && warnings->front().is_string()) outcome.warning = warnings->front().get<std::string>();
  }
  for (const ensemble::StudyOutput& output : study_.outputs) {
    outcome.cells.push_back(ensemble::extract(found.summary, found.trajectory, output.path.text).cell);
  }
  return outcome;
}

std::string SweepCases::file_of(const std::string& option, const std::string& value) const {
  const OptionShape& of = shape(option);
  if (of.type.find("@FILE") == std::string::npos) return of.type.starts_with("FILE") ? option_text(of, value) : "";
  return value.starts_with('@') ? option_text(of, value).substr(1) : "";
}

std::vector<std::string> SweepCases::files() const {
  std::vector<std::string> files{study_.model.text};
  if (study_.verb.text == "plan") {
    if (const Result<PlanTask> task = read_task(study_.model.text)) {
      files.push_back(task->model.text);
      if (task->guess.file.given()) files.push_back(task->guess.file.text);
    }
  }
  for (const std::string& robot : std::vector<std::string>(files)) {  // its sidecars
    for (const char* extension : {".loops.yaml", ".sensors.yaml"}) {
      files.push_back(fs::path(robot).replace_extension(extension).string());
    }
  }
  const auto add_option = [&](const std::string& name, const std::string& value) {
    if (std::string file = file_of(name, value); !file.empty()) files.push_back(std::move(file));
  };
  for (const ensemble::FixedOption& option : study_.options) {
    for (const TaskName& value : option.values) add_option(option.name.text, value.text);
  }
  for (const ensemble::Varied& varied : study_.vary) {
    const auto* list = std::get_if<ensemble::Choices>(&varied.values);
    for (std::size_t i = 0; varied.option && list && i < list->texts.size(); ++i) {
      add_option(varied.name.text, list->texts[i]);
    }
  }
  return files;
}

std::vector<std::string> SweepCases::file_contents() const {
  constexpr std::size_t kLargest = 1'000'000'000;
  std::vector<std::string> lines{fmt::format("kinegraph {}", kVersion)};
  for (const std::string& file : files()) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) continue;
    const Result<std::string> text = io::read_text_file(file, kLargest);
    if (text) lines.push_back(fmt::format("file {}: {:016x}", file, checksum(*text)));
  }
  for (std::string& line : mesh_contents()) lines.push_back(std::move(line));
  return lines;
}

/// Found and read as the cases do it: by the corners that there are, whatever else a file says.
std::vector<std::string> SweepCases::mesh_contents() const {
  if (study_.verb.text != "plan") return {};
  Result<PlanTask> task = read_task(study_.model.text);
  const Result<Model> model = task ? read_model(task->model.text) : Result<Model>(task.failure());
  if (!model) return {};  // what is wrong there is told by the cases
  std::vector<fs::path> folders;
  for (const ensemble::FixedOption& option : study_.options) {
    for (const TaskName& value : option.values) {
      if (option.name.text == "meshes") folders.emplace_back(option_text(shape("meshes"), value.text));
    }
  }
  read_meshes(*task, *model, folders);
  std::vector<std::string> lines;
  for (const auto& [name, corners] : task->meshes) {
    std::string numbers;
    for (const Vector3d& corner : corners) numbers += fmt::format("{} {} {}\n", corner[0], corner[1], corner[2]);
    lines.push_back(fmt::format("mesh {}: {:016x}", name, checksum(numbers)));
  }
  return lines;
}

}  // namespace kinegraph::cli
