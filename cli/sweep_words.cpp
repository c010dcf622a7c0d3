#include "sweep_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/units.hpp"
#include "kinegraph/expr/expression.hpp"
#include "progress_bar.hpp"

namespace kinegraph::cli {
namespace {

using ensemble::Study;
using ensemble::Varied;

/// What a study gives or varies, as it writes it.
struct Part {
  std::string written;  // "--step", "crank.mass"
  std::string value;    // of the first case
  Location where;

  bool is_option() const { return written.starts_with("--"); }
  std::string name() const { return is_option() ? written.substr(2) : written; }
};

std::vector<Part> parts_of(const SweepCases& cases, const Study& study) {
  std::vector<Part> parts;
  for (const ensemble::FixedOption& option : study.options) {
    for (const TaskName& value : option.values) parts.push_back({"--" + option.name.text, value.text, value.where});
  }
  const ensemble::Case first = cases.design().at(0);
  for (std::size_t i = 0; i < study.vary.size(); ++i) {
    parts.push_back({study.vary[i].written(), first.values[i], study.vary[i].name.where});
  }
  return parts;
}

class Judge {
 public:
  Judge(SweepCases& cases, const Study& study) : cases_(cases), parts_(parts_of(cases, study)) {}

  /// What the verb has against a value of an option; nothing, if not whatever the others are.
  std::vector<Diagnostic> faults(const Varied& option, const std::string& value) {
    std::vector<Diagnostic> first = ask(0, option, value);
    const std::uint64_t last = cases_.design().cases() - 1;
    return first.empty() || last == 0 || !ask(last, option, value).empty() ? first : std::vector<Diagnostic>{};
  }

 private:
  /// Others that are refused themselves would hide what is said of this one: they are left out.
  std::vector<Diagnostic> ask(std::uint64_t number, const Varied& option, const std::string& value) {
    SweepCases::Changes changes{{option.written(), value}};
    for (bool again = true; again;) {
      again = false;
      std::vector<Diagnostic> faults = cases_.refusals(number, changes);
      const auto is_other = [&](const Diagnostic& fault) {
        return !is_of_value(cases_, fault, option.name.text, value);
      };
      for (const Diagnostic& fault : faults) {
        if (!is_other(fault)) continue;
        for (const Part& part : parts_) {
          if (part.written == option.written() || !is_about(fault, part)) continue;
          again |= changes.emplace(part.written, std::nullopt).second;
        }
      }
      std::erase_if(faults, is_other);
      if (!faults.empty()) return faults;
    }
    return {};
  }

  bool is_about(const Diagnostic& fault, const Part& part) const {
    return fault.message.starts_with(part.name() + ":") || fault.message.starts_with(part.name() + " ") ||
           (part.is_option() && is_of_value(cases_, fault, part.name(), part.value));
  }

  SweepCases& cases_;
  std::vector<Part> parts_;
};

/// As the cases have a number.
std::string in_si(const std::string& text) {
  const Result<double> number = parse_number(text);
  return number ? fmt::format("{}", *number) : text;
}

std::vector<Diagnostic> faults_of(Judge& judge, const Varied& option, const ensemble::Word& word) {
  if (std::holds_alternative<ensemble::Choices>(option.values)) return judge.faults(option, word.text);
  const bool has_unit = only_unit(word.text) != nullptr;
  if (!has_unit) return word.met ? judge.faults(option, in_si(word.text)) : std::vector<Diagnostic>{};
  std::vector<Diagnostic> faults = judge.faults(option, word.text);
  if (word.met || faults.empty()) return faults;
  const std::vector<Diagnostic> of_number = judge.faults(option, in_si(word.text));
  return !of_number.empty() && of_number[0].message == faults[0].message ? std::vector<Diagnostic>{} : faults;
}

bool has(const std::vector<Diagnostic>& faults, const Diagnostic& one) {
  return std::any_of(faults.begin(), faults.end(),
                     [&](const Diagnostic& other) { return to_string(other) == to_string(one); });
}

/// What is given or varied without which the first case is not refused for this, nor for anything new; null if there
/// is none, or if it is not refused for this as it is: what is found later tells nothing by not being found.
const Part* cause(SweepCases& cases, const std::vector<Part>& parts, const Diagnostic& fault, const Failure& all) {
  if (!has(cases.refusals(0, {}), fault)) return nullptr;
  for (const Part& part : parts) {
    if (interrupted()) return nullptr;
    const std::vector<Diagnostic> left = cases.refusals(0, {{part.written, std::nullopt}});
    const auto known = [&](const Diagnostic& other) { return has(all.diagnostics, other); };
    if (!has(left, fault) && std::all_of(left.begin(), left.end(), known)) return &part;
  }
  return nullptr;
}

}  // namespace

bool is_of_value(const SweepCases& cases, const Diagnostic& fault, const std::string& option,
                 const std::string& value) {
  const std::string file = cases.file_of(option, value);
  if (!file.empty() && fault.where.file == file) return true;
  if (fault.where.line > 0) return false;
  if (fault.message.starts_with(option + ":")) return true;
  const std::size_t equals = value.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  const std::string key = value.substr(0, equals);
  return fault.message.starts_with(fmt::format("{} {}:", option, key)) ||
         (option == "set" && fault.message.starts_with("cannot set " + quote(key)));
}

Diagnostic told_at(const Location& where, const std::string& option, Diagnostic fault) {
  if (fault.where.line > 0) return fault;
  if (!fault.where.file.empty()) {
    fault.message = fmt::format("{}: {}: {}", option, to_string(fault.where), fault.message);
  }
  fault.where = where;
  return fault;
}

std::optional<Diagnostic> of_option(const SweepCases& cases, const Study& study, const Diagnostic& fault) {
  for (const Part& part : parts_of(cases, study)) {
    if (part.is_option() && is_of_value(cases, fault, part.name(), part.value)) {
      return told_at(part.where, part.name(), fault);
    }
  }
  return {};
}

std::vector<WordFault> faults_of_words(SweepCases& cases, const Study& study) {
  constexpr std::size_t kMost = 1000;  // words of one option; who has more does not type them
  Judge judge(cases, study);
  std::vector<WordFault> faults;
  for (const Varied& option : study.vary) {
    for (std::size_t i = 0; option.option && i < std::min(kMost, option.words.size()); ++i) {
      if (interrupted()) return faults;
      const ensemble::Word& word = option.words[i];
      for (const Diagnostic& fault : faults_of(judge, option, word)) {
        faults.push_back({word.where, told_at(word.where, option.name.text, fault)});
      }
    }
  }
  return faults;
}

Failure blame(SweepCases& cases, const Study& study, Failure failure) {
  const std::vector<Part> parts = parts_of(cases, study);
  const Failure all = failure;
  for (Diagnostic& fault : failure.diagnostics) {
    if (std::optional<Diagnostic> told = of_option(cases, study, fault)) {
      fault = *std::move(told);
      continue;
    }
    const std::string place = to_string(fault.where);
    const std::string said = place.empty() ? fault.message : place + ": " + fault.message;
    if (const Part* part = cause(cases, parts, fault, all)) {
      const bool named = said.starts_with(part->written + ":");
      fault = {Severity::error, part->where,
               named ? said : fmt::format("{}: with {}: {}", part->written, part->value, said)};
    } else if (fault.where.line == 0) {
      fault = {Severity::error, study.verb.where, fmt::format("{}: {}", study.verb.text, said)};
    }
  }
  return failure;
}

}  // namespace kinegraph::cli
