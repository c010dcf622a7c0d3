#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweep_cases.hpp"

namespace kinegraph::cli {

/// Whether the verb says a fault of an option's value: "step: must be > 0, is -1", "set crank.mass: expected …",
/// "cannot set 'crank.mas': …", or of the file that the value names.
bool is_of_value(const SweepCases& cases, const Diagnostic& fault, const std::string& option, const std::string& value);

/// The same fault at the place of that value in the study. What a file has at one of its lines stays there.
Diagnostic told_at(const Location& where, const std::string& option, Diagnostic fault);

/// The same at the place of the option of case 0 whose value it is of; nothing if it is of none.
std::optional<Diagnostic> of_option(const SweepCases& cases, const ensemble::Study& study, const Diagnostic& fault);

/// A fault of a word; `where` is the word's place in the study, though the fault may be in the file that it names.
struct WordFault {
  Location where;
  Diagnostic fault;
};

/// Words of varied options that the verb refuses whatever the others are: with the first values of these, and with the
/// last. It is asked with the words as the study writes them, so that units are judged as on the command line. Of
/// numbers that no case has (the bounds of a distribution, the step of a grid) only the unit is. After Ctrl-C the rest
/// is not asked.
std::vector<WordFault> faults_of_words(SweepCases& cases, const ensemble::Study& study);

/// What the failure of all cases tells of the study: faults at the places of the options that they are of; else of what
/// is given or varied without which there is no such fault, where a case that is stopped at once has it; else of the
/// verb.
Failure blame(SweepCases& cases, const ensemble::Study& study, Failure failure);

}  // namespace kinegraph::cli
