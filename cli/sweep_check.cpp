#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "kinegraph/base/names.hpp"
#include "kinegraph/ensemble/extract.hpp"
#include "kinegraph/io/task_file.hpp"
#include "sweep_cases.hpp"

namespace kinegraph::cli {
namespace {

using ensemble::Study;

/// Options that a study cannot give: cases write no files, and the sweep itself has the threads.
constexpr std::string_view kRefused[] = {"out",  "json",        "report",  "beside",  "threads", "quiet",
                                         "save", "innovations", "sensors", "verbose", "motion"};

bool refused(const std::string& verb, const std::string& option) {
  if (option == "motion" && verb != "plan") return false;  // an input elsewhere
  return std::find(std::begin(kRefused), std::end(kRefused), option) != std::end(kRefused);
}

class StudyChecker {
 public:
  explicit StudyChecker(const Study& study) : study_(study) {}

  Failure check() {
    const std::vector<std::string> verbs = sweepable_verbs();
    if (std::find(verbs.begin(), verbs.end(), study_.verb.text) == verbs.end()) {
      error(study_.verb.where, fmt::format("verb: must be one of {}, is {}{}", fmt::join(verbs, ", "),
                                           quote(study_.verb.text), did_you_mean(study_.verb.text, verbs)));
    } else {
      check_options();
    }
    check_names();
    std::stable_sort(faults_.begin(), faults_.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
    });
    return {Failure::Kind::bad_input, std::move(faults_)};
  }

 private:
  void error(const Location& where, std::string message) {
    faults_.push_back({Severity::error, where, std::move(message)});
  }

  const OptionShape* known_option(const TaskName& name) {
    std::vector<std::string> names;
    for (const OptionShape& option : shapes_) {
      if (refused(study_.verb.text, option.name)) continue;
      if (option.name == name.text) return &option;
      names.push_back(option.name);
    }
    if (refused(study_.verb.text, name.text)) {
      error(name.where,
            fmt::format("{}: cannot be given in a study: cases write no files and run on one thread each", name.text));
    } else {
      error(name.where, fmt::format("unknown option {} of {}{}", quote(name.text), study_.verb.text,
                                    did_you_mean(name.text, names)));
    }
    return nullptr;
  }

  void check_options() {
    shapes_ = options_of(*find_verb(study_.verb.text));
    std::set<std::string> given;
    for (const ensemble::FixedOption& option : study_.options) {
      const OptionShape* shape = known_option(option.name);
      given.insert(option.name.text);
      if (!shape) continue;
      if (!shape->repeats && option.values.size() > 1) {
        error(option.name.where,
              fmt::format("{}: takes one value; to vary it, say --{} under vary", option.name.text, option.name.text));
      }
      for (const TaskName& value : option.values) check_flag(*shape, value.text, value.where);
    }
    for (const ensemble::Varied& varied : study_.vary) {
      if (!varied.option) continue;
      const OptionShape* shape = known_option(varied.name);
      if (!shape) continue;
      if (given.contains(varied.name.text) && !shape->repeats) {
        error(varied.name.where, fmt::format("--{}: is given under options, too", varied.name.text));
      }
      const auto* list = std::get_if<ensemble::Choices>(&varied.values);
      if (shape->flag && !list) error(varied.name.where, varied.written() + ": expected [true, false]");
      for (std::size_t i = 0; list && i < list->texts.size(); ++i) {
        check_flag(*shape, list->texts[i], varied.name.where);
      }
    }
  }

  void check_flag(const OptionShape& shape, const std::string& value, const Location& where) {
    if (shape.flag && value != "true" && value != "false") {
      error(where, fmt::format("{}: must be true or false, is {}", shape.name, quote(value)));
    }
  }

  std::string fixed(const std::string& name) const {
    for (const ensemble::FixedOption& option : study_.options) {
      if (option.name.text == name && !option.values.empty()) return option.values.front().text;
    }
    return "";
  }

  /// The model as the file says, with the options that decide how it is read.
  Result<Model> model() const {
    Embedding quiet;
    CommonOptions common;
    common.embedding = &quiet;
    common.model = study_.model.text;
    common.base = fixed("base");
    common.loops = beside_study(study_, fixed("loops"));
    common.sensor_file = beside_study(study_, fixed("sensor-file"));
    common.strict = fixed("strict") == "true";
    if (study_.verb.text != "plan") return common.read_model();
    const Result<PlanTask> task = read_task(study_.model.text);
    if (!task) return task.failure();
    common.model = task->model.text;
    if (common.base.empty() && task->base) common.base = *task->base == Robot::Base::floating ? "floating" : "fixed";
    return common.read_model();
  }

  /// All that is set must be a number of the model.
  void check_names() {
    std::vector<TaskName> names;
    std::set<std::string> seen;
    for (const ensemble::FixedOption& option : study_.options) {
      for (std::size_t i = 0; option.name.text == "set" && i < option.values.size(); ++i) {
        const TaskName& value = option.values[i];
        if (value.text.starts_with('@')) continue;
        names.push_back({value.text.substr(0, value.text.find('=')), value.where});
      }
    }
    for (const ensemble::Varied& varied : study_.vary) {
      if (!varied.option) names.push_back(varied.name);
    }
    const Result<Model> read = model();
    if (!read) {
      for (Diagnostic fault : read.failure().diagnostics) {
        if (fault.where.line == 0)
          fault = {Severity::error, study_.model.where,
                   "model: " + to_string(fault.where) + (fault.where.file.empty() ? "" : ": ") + fault.message};
        faults_.push_back(std::move(fault));
      }
      return;
    }
    for (const TaskName& name : names) {
      if (!seen.insert(name.text).second) {
        error(name.where, quote(name.text) + " is set twice");
        continue;
      }
      const Result<Model> set = read->with({{name.text, 1.0}});
      if (set) continue;
      for (const Diagnostic& fault : set.failure().diagnostics) {  // that 1 may not do is another matter
        if (fault.message.starts_with("cannot set " + quote(name.text))) error(name.where, fault.message);
      }
    }
  }

  const Study& study_;
  std::vector<OptionShape> shapes_;
  std::vector<Diagnostic> faults_;
};

/// Faults of options say the option's name first: "step: must be > 0, is -1".
bool blame_option(const Study& study, Diagnostic& fault) {
  for (const ensemble::FixedOption& option : study.options) {
    if (!fault.message.starts_with(option.name.text + ":")) continue;
    fault.where = option.values.empty() ? option.name.where : option.values.front().where;
    return true;
  }
  return false;
}

/// What the first case's failure tells of the study.
Failure blame(const Study& study, Failure failure) {
  for (Diagnostic& fault : failure.diagnostics) {
    if (fault.where.line > 0 || blame_option(study, fault)) continue;
    const std::string place = to_string(fault.where);
    fault.message = fmt::format("{}: {}{}", study.verb.text, place.empty() ? "" : place + ": ", fault.message);
    fault.where = study.verb.where;
  }
  return failure;
}

void check_outputs(const Study& study, const Embedding& found, Probe& probe) {
  probe.paths = ensemble::paths_of(found.summary, found.trajectory);
  for (const ensemble::StudyOutput& output : study.outputs) {
    const std::string& path = output.path.text;
    const ensemble::Extracted extracted = ensemble::extract(found.summary, found.trajectory, path);
    for (const char* clock : {"wall_s", "step_us", "solve_s", "sample_us"}) {
      if (extracted.found && path == clock) {
        probe.warnings.push_back(
            fmt::format("warning: output {} is a time of this computer: it differs from run to run", quote(path)));
      }
    }
    if (extracted.found) continue;
    std::string message = extracted.why.empty() ? fmt::format("unknown output {} of {}{}", quote(path), study.verb.text,
                                                              did_you_mean(path, probe.paths))
                                                : fmt::format("output {} {}", quote(path), extracted.why);
    if (extracted.why.empty() && !message.ends_with('?')) message += "; `kinegraph sweep STUDY --paths` lists all";
    probe.failure.diagnostics.push_back({Severity::error, output.path.where, std::move(message)});
  }
}

}  // namespace

std::vector<std::string> sweepable_verbs() {
  return {"check", "kinematics", "simulate", "inverse", "hybrid", "estimate", "identify", "plan"};
}

Failure check_study(const Study& study) { return StudyChecker(study).check(); }

Probe probe(SweepCases& cases, const Study& study) {
  Probe result{{Failure::Kind::bad_input, {}}, {}, {}, {}};
  const std::uint64_t n = cases.design().cases();
  std::set<std::uint64_t> tried;
  Failure first;
  bool all_bad = true;
  for (const std::uint64_t number : {std::uint64_t{0}, n / 2, n - 1, n / 4, n - 1 - n / 4}) {
    if (!tried.insert(number).second) continue;
    Embedding found;
    found.keep_trajectory = true;  // its columns are outputs, too
    Failure failure;
    const Result<ensemble::Outcome> outcome = cases.run(number, found, failure);
    if (!outcome) {
      result.failure = outcome.failure();
      return result;
    }
    result.outcomes.push_back(*outcome);
    if (found.summary.is_object()) {
      check_outputs(study, found, result);
      return result;
    }
    if (tried.size() == 1) first = failure;
    all_bad = all_bad && failure.kind == Failure::Kind::bad_input;
  }
  if (all_bad) {
    result.failure = blame(study, std::move(first));
  } else {
    result.warnings.push_back(
        fmt::format("warning: none of the first {} cases has an answer: whether the outputs exist could not be checked",
                    tried.size()));
  }
  return result;
}

}  // namespace kinegraph::cli
