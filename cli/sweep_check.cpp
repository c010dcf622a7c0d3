#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/units.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/model/setting_quantity.hpp"
#include "progress_bar.hpp"
#include "sweep_cases.hpp"
#include "sweep_outputs.hpp"
#include "sweep_words.hpp"

namespace kinegraph::cli {
namespace {

using ensemble::Study;

/// Options that a study cannot give: cases write no files, and the sweep itself has the threads.
bool refused(const std::string& verb, const std::string& option) {
  constexpr std::string_view kOfTheSweep[] = {"beside", "threads", "quiet", "verbose"};
  return writes_file(verb, option) ||
         std::find(std::begin(kOfTheSweep), std::end(kOfTheSweep), option) != std::end(kOfTheSweep);
}

bool same(const Location& a, const Location& b) { return a.file == b.file && a.line == b.line && a.column == b.column; }

bool is_at(const Diagnostic& fault, const TaskName& place) { return same(place.where, fault.where); }

/// Takes what these faults of a case are of out of a study: what is at their places, or names the file that they are
/// in. Whether there was something.
bool leave_out(Study& study, const SweepCases& cases, const std::vector<Diagnostic>& faults) {
  const auto is_place = [&](const TaskName& name) {
    return std::any_of(faults.begin(), faults.end(), [&](const Diagnostic& fault) { return is_at(fault, name); });
  };
  const auto has_fault = [&](const std::string& option, const std::string& value) {
    return std::any_of(faults.begin(), faults.end(),
                       [&](const Diagnostic& fault) { return is_of_value(cases, fault, option, value); });
  };
  const std::size_t all = study.options.size() + study.vary.size();
  std::erase_if(study.options, [&](const ensemble::FixedOption& option) {
    return std::any_of(option.values.begin(), option.values.end(), [&](const TaskName& value) {
      return is_place(value) || has_fault(option.name.text, value.text);
    });
  });
  const ensemble::Case first = cases.design().at(0);
  std::vector<ensemble::Varied> vary;
  for (std::size_t i = 0; i < study.vary.size(); ++i) {
    const ensemble::Varied& varied = study.vary[i];
    if (is_place(varied.name) || (varied.option && has_fault(varied.name.text, first.values[i]))) continue;
    vary.push_back(varied);
  }
  study.vary = std::move(vary);
  return study.options.size() + study.vary.size() < all;
}

/// The study as it is tried although it is refused: with what its file says of the model, and the options that it gives
/// and lists. Of grids the first number. Whether that is all of it.
bool leave_what_is_tried(Study& study) {
  bool whole = true;
  const ensemble::Case first = ensemble::Design(study).at(0);
  std::vector<ensemble::Varied> vary;
  for (std::size_t i = 0; i < study.vary.size(); ++i) {
    const ensemble::Varied& varied = study.vary[i];
    if (!varied.option) continue;
    const bool list = std::holds_alternative<ensemble::Choices>(varied.values);
    const bool tried = !varied.distribution() && (varied.sound || list);
    if (tried) vary.push_back(varied);
    if (tried && !list) vary.back().values = ensemble::Choices{{first.values[i]}};
    whole = whole && tried;
  }
  study.vary = std::move(vary);
  study.samples = study.repetitions = 1;
  study.design = Study::Joint::random;
  std::erase_if(study.options, [](const ensemble::FixedOption& option) { return option.name.text == "set"; });
  return whole;
}

/// What cases tell of outputs and of the values of options, with the model as its file says: of a study that is refused
/// anyway. Options that it refuses are told and left out, so that the others and the outputs are still seen. That
/// something is missing there is no wonder, and not told. `whole`: as OutputCheck::tell() has it. Draws of
/// distributions are not tried: one that does not do is a case that fails, no fault of the study; nor are numbers that
/// the reader made up where the study has none.
std::vector<Diagnostic> faults_of_trial(Study study, const std::vector<OptionShape>& shapes, bool whole) {
  constexpr std::chrono::seconds kPatience{3};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  const auto stopped = [end] { return std::chrono::steady_clock::now() > end; };
  whole = leave_what_is_tried(study) && whole;
  std::vector<Diagnostic> faults;
  for (bool again = true; again;) {
    again = false;
    Embedding found;
    found.keep_trajectory = true;
    found.stopped = stopped;
    Failure failure;
    SweepCases cases(study, shapes);
    if (!cases.run(0, found, failure)) return faults;
    if (found.summary.is_object()) {
      OutputCheck outputs(study);
      outputs.see(found);
      if (!outputs.see_others(cases, 0, stopped)) return faults;
      Probe told;
      outputs.tell(whole, told);
      faults.insert(faults.end(), told.failure.diagnostics.begin(), told.failure.diagnostics.end());
    } else if (failure.kind == Failure::Kind::bad_input) {
      for (const Diagnostic& fault : failure.diagnostics) {
        if (std::optional<Diagnostic> told = of_option(cases, study, fault)) faults.push_back(*std::move(told));
      }
      const Study all = study;
      again = leave_out(study, SweepCases(all, shapes), failure.diagnostics);
      whole = whole && !again;
    }
  }
  return faults;
}

class StudyChecker {
 public:
  explicit StudyChecker(const ensemble::StudyDraft& draft) : study_(draft.study), faults_(draft.faults) {}

  Failure check() {
    const std::vector<std::string> verbs = sweepable_verbs();
    if (!study_.verb.given()) {
      // Told by the reader.
    } else if (std::find(verbs.begin(), verbs.end(), study_.verb.text) == verbs.end()) {
      error(study_.verb.where, fmt::format("verb: must be one of {}, is {}{}", fmt::join(verbs, ", "),
                                           quote(study_.verb.text), did_you_mean(study_.verb.text, verbs)));
    } else {
      check_options();
    }
    if (study_.model.given()) check_names();
    if (!shapes_.empty() && model_read_) {
      leave_what_is_sound();
      check_words();
      if (!faults_.empty() && !interrupted()) try_what_is_sound();
    }
    if (interrupted()) return Failure::interrupted();
    ensemble::order_faults(faults_, study_.file);
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
      const bool list = std::holds_alternative<ensemble::Choices>(varied.values);
      if (shape->flag && !list) error(varied.name.where, varied.written() + ": expected [true, false]");
      for (std::size_t i = 0; list && i < varied.words.size(); ++i) {
        check_flag(*shape, varied.words[i].text, varied.words[i].where);
      }
    }
  }

  bool is_faulty(const std::vector<TaskName>& at) const {
    return std::any_of(at.begin(), at.end(), [&](const TaskName& place) {
      return std::any_of(faults_.begin(), faults_.end(), [&](const Diagnostic& fault) { return is_at(fault, place); });
    });
  }

  /// The study without what is known to be wrong, and its numbers of the model if anything is.
  void leave_what_is_sound() {
    sound_ = study_;
    if (faults_.empty()) return;
    sound_.design = Study::Joint::random;
    std::erase_if(sound_.options, [&](const ensemble::FixedOption& option) {
      std::vector<TaskName> places = option.values;
      places.push_back(option.name);
      return is_faulty(places);
    });
    std::erase_if(sound_.vary, [&](const ensemble::Varied& varied) {
      std::vector<TaskName> places(varied.words.begin(), varied.words.end());
      places.push_back(varied.name);
      const auto* grid = std::get_if<ensemble::Grid>(&varied.values);
      const auto* list = std::get_if<ensemble::Choices>(&varied.values);
      return !varied.option || (grid && grid->count == 0) || (list && list->texts.empty()) || is_faulty(places);
    });
  }

  /// Words that the verb refuses; they, too, are left out of what is sound.
  void check_words() {
    std::vector<WordFault> found;
    {
      SweepCases cases(sound_, shapes_);
      found = faults_of_words(cases, sound_);
    }
    const auto is_refused = [&](const ensemble::Word& word) {
      return std::any_of(found.begin(), found.end(), [&](const WordFault& of) { return same(of.where, word.where); });
    };
    for (ensemble::Varied& varied : sound_.vary) {
      auto* list = std::get_if<ensemble::Choices>(&varied.values);
      for (std::size_t i = varied.words.size(); list && varied.option && i-- > 0;) {
        if (is_refused(varied.words[i])) list->texts.erase(list->texts.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    std::erase_if(sound_.vary, [&](const ensemble::Varied& varied) {
      const auto* list = std::get_if<ensemble::Choices>(&varied.values);
      return list ? list->texts.empty() : std::any_of(varied.words.begin(), varied.words.end(), is_refused);
    });
    for (WordFault& of : found) faults_.push_back(std::move(of.fault));
  }

  /// A case of what is sound.
  void try_what_is_sound() {
    const std::size_t asked = count_options(study_), left = count_options(sound_);
    for (Diagnostic& fault : faults_of_trial(sound_, shapes_, left == asked)) faults_.push_back(std::move(fault));
  }

  static std::size_t count_options(const Study& study) {
    std::size_t options = study.options.size();
    for (const ensemble::Varied& varied : study.vary) options += varied.option;
    return options;
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
    model_read_ = read.ok();
    if (!read) {
      for (Diagnostic fault : read.failure().diagnostics) {
        if (fault.where.line == 0)
          fault = {Severity::error, study_.model.where,
                   "model: " + to_string(fault.where) + (fault.where.file.empty() ? "" : ": ") + fault.message};
        faults_.push_back(std::move(fault));
      }
      return;
    }
    check_units(*read);
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

  /// As --set and model files have them checked.
  void check_units(const Model& read) {
    const auto check = [&](const std::string& name, const std::string& text, const Location& where) {
      const std::string wrong = wrong_unit(text, quantity_of_setting(read, name));
      if (!wrong.empty()) error(where, fmt::format("{}: {}", name, wrong));
    };
    for (const ensemble::FixedOption& option : study_.options) {
      for (const TaskName& value : option.values) {
        const std::size_t equals = value.text.find('=');
        if (option.name.text != "set" || value.text.starts_with('@') || equals == std::string::npos) continue;
        check(value.text.substr(0, equals), value.text.substr(equals + 1), value.where);
      }
    }
    for (const ensemble::Varied& varied : study_.vary) {
      for (std::size_t i = 0; !varied.option && i < varied.words.size(); ++i) {
        check(varied.name.text, varied.words[i].text, varied.words[i].where);
      }
    }
  }

  const Study& study_;
  std::vector<OptionShape> shapes_;
  Study sound_;  // what is left of it when faults are taken away
  bool model_read_ = false;
  std::vector<Diagnostic> faults_;
};

}  // namespace

std::vector<std::string> sweepable_verbs() {
  return {"check", "kinematics", "simulate", "inverse", "hybrid", "estimate", "identify", "plan", "graph", "codegen"};
}

Failure check_study(const ensemble::StudyDraft& draft) { return StudyChecker(draft).check(); }

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
      OutputCheck outputs(study);
      outputs.see(found);
      auto others = outputs.see_others(cases, number, {});
      if (!others) {
        result.failure = std::move(others).failure();
        return result;
      }
      std::copy_if(others->begin(), others->end(), std::back_inserter(result.outcomes),
                   [&](const ensemble::Outcome& other) { return tried.insert(other.number).second; });
      outputs.tell(true, result);
      return result;
    }
    if (tried.size() == 1) first = failure;
    all_bad = all_bad && failure.kind == Failure::Kind::bad_input;
  }
  if (all_bad) {
    result.failure = blame(cases, study, std::move(first));
    std::vector<Diagnostic>& faults = result.failure.diagnostics;
    Study rest = study;
    if (!interrupted() && leave_out(rest, cases, faults)) {
      for (Diagnostic& fault : faults_of_trial(rest, options_of(*find_verb(study.verb.text)), false)) {
        faults.push_back(std::move(fault));
      }
    }
    if (interrupted()) {
      result.failure = Failure::interrupted();
      return result;
    }
    ensemble::order_faults(faults, study.file);
  } else {
    result.warnings.push_back(
        fmt::format("warning: none of the first {} cases has an answer: whether the outputs exist could not be checked",
                    tried.size()));
  }
  return result;
}

}  // namespace kinegraph::cli
