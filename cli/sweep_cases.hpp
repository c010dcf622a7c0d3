#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/ensemble/design.hpp"
#include "kinegraph/ensemble/outcome.hpp"
#include "kinegraph/ensemble/study_file.hpp"
#include "verb.hpp"

namespace kinegraph::cli {

/// The cases of a study as commands, and what they give. The model is read once; any thread may run any case.
class SweepCases {
 public:
  /// `study` must have passed check_study().
  SweepCases(const ensemble::Study& study, const std::vector<OptionShape>& options);

  const ensemble::Design& design() const { return design_; }

  /// What a trial has instead of what the study says, by the names that this has ("--step", "crank.mass"): another
  /// value of what is varied; without one it is left out, as fixed options can be, too.
  using Changes = std::map<std::string, std::optional<std::string>>;

  /// The words after the verb: as a user would type them.
  std::vector<std::string> arguments(std::uint64_t number, const Changes& changes = {}) const;
  std::string command(std::uint64_t number) const;

  /// Fails only where it is interrupted; what goes wrong otherwise is the outcome.
  Result<ensemble::Outcome> run(std::uint64_t number);
  /// The same, with all that the verb found left in `found`.
  Result<ensemble::Outcome> run(std::uint64_t number, Embedding& found, Failure& failure, const Changes& changes = {});
  /// A case that is stopped where it starts to compute: what its command is refused for, as bad input.
  std::vector<Diagnostic> refusals(std::uint64_t number, const Changes& changes);

  /// The file that a value of an option names, seen from here; empty if it names none.
  std::string file_of(const std::string& option, const std::string& value) const;
  std::vector<std::string> files() const;  ///< that decide about results: read by the cases
  /// Contents of the files that decide about results, each by its checksum.
  std::vector<std::string> file_contents() const;

 private:
  std::vector<std::string> mesh_contents() const;
  std::string option_text(const OptionShape& shape, const std::string& value) const;
  void add(std::vector<std::string>& words, const OptionShape& shape, const std::string& value) const;
  const OptionShape& shape(const std::string& name) const;

  const ensemble::Study& study_;
  std::vector<OptionShape> options_;
  ensemble::Design design_;
  ModelStore models_;
  bool columns_ = false;  // an output asks for a column
};

/// A path as the study says it, seen from here.
std::string beside_study(const ensemble::Study& study, const std::string& path);

/// Verbs that a study may ask: those that give a summary.
std::vector<std::string> sweepable_verbs();

/// Everything that can be wrong with a study: what its reader found, the verb, its options, the numbers of the model
/// that are set. All faults at once, with their places. Where there are some, what is sound is tried once, so that
/// wrong outputs and values of options are told in the same round.
Failure check_study(const ensemble::StudyDraft& draft);

/// Runs some cases to see whether the outputs exist and the options are sound; `outcomes` are theirs.
struct Probe {
  Failure failure;  ///< without diagnostics: all is well
  std::vector<ensemble::Outcome> outcomes;
  std::vector<std::string> paths;     ///< all outputs that there are
  std::vector<std::string> warnings;  ///< for people
};
Probe probe(SweepCases& cases, const ensemble::Study& study);

}  // namespace kinegraph::cli
