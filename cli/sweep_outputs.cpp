#include "sweep_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "kinegraph/base/names.hpp"
#include "kinegraph/ensemble/extract.hpp"

namespace kinegraph::cli {
namespace {

using ensemble::Study;

/// A case of the study, or one with another word of an option.
struct Trial {
  std::uint64_t number = 0;
  SweepCases::Changes changes;
};

std::vector<Trial> others(const SweepCases& cases, const Study& study, std::uint64_t base) {
  constexpr std::size_t kMost = 30;
  const std::uint64_t last = cases.design().cases() - 1;
  const ensemble::Case a = cases.design().at(base), b = cases.design().at(last);
  std::vector<Trial> trials;
  if (base != last) trials.push_back({last, {}});
  for (std::size_t i = 0; i < study.vary.size(); ++i) {
    const auto* list = std::get_if<ensemble::Choices>(&study.vary[i].values);
    for (std::size_t k = 0; study.vary[i].option && list && k < list->texts.size() && trials.size() < kMost; ++k) {
      const std::string& word = list->texts[k];
      if (word != a.values[i] && word != b.values[i]) trials.push_back({base, {{study.vary[i].written(), word}}});
    }
  }
  return trials;
}

bool is_time_of_computer(const std::string& path) {
  constexpr std::string_view kClocks[] = {"wall_s", "step_us", "solve_s", "sample_us"};
  return std::find(std::begin(kClocks), std::end(kClocks), path) != std::end(kClocks);
}

}  // namespace

void OutputCheck::see(const Embedding& found) {
  for (std::string& path : ensemble::paths_of(found.summary, found.trajectory)) {
    if (std::find(paths_.begin(), paths_.end(), path) == paths_.end()) paths_.push_back(std::move(path));
  }
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const auto extracted = ensemble::extract(found.summary, found.trajectory, study_.outputs[i].path.text);
    seen_[i].found = seen_[i].found || extracted.found;
    if (seen_[i].why.empty()) seen_[i].why = extracted.why;
  }
}

bool OutputCheck::complete() const {
  return std::all_of(seen_.begin(), seen_.end(), [](const Seen& of) { return of.found || !of.why.empty(); });
}

Result<std::vector<ensemble::Outcome>> OutputCheck::see_others(SweepCases& cases, std::uint64_t base,
                                                               const std::function<bool()>& stopped) {
  std::vector<ensemble::Outcome> outcomes;
  for (const Trial& trial : others(cases, study_, base)) {
    if (complete()) break;
    Embedding found;
    found.keep_trajectory = true;
    found.stopped = stopped;
    Failure ignored;
    const Result<ensemble::Outcome> outcome = cases.run(trial.number, found, ignored, trial.changes);
    if (!outcome) return outcome.failure();
    if (trial.changes.empty()) outcomes.push_back(*outcome);
    if (found.summary.is_object()) see(found);
  }
  return outcomes;
}

void OutputCheck::tell(bool whole, Probe& probe) const {
  probe.paths = paths_;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const TaskName& output = study_.outputs[i].path;
    const std::string &path = output.text, &why = seen_[i].why;
    if (seen_[i].found) {
      if (!is_time_of_computer(path)) continue;
      probe.warnings.push_back(
          fmt::format("warning: output {} is a time of this computer: it differs from run to run", quote(path)));
      continue;
    }
    const std::string near = did_you_mean(path, paths_);
    if (!whole && why.empty() && near.empty()) continue;
    std::string message = why.empty() ? fmt::format("unknown output {} of {}{}", quote(path), study_.verb.text, near)
                                      : fmt::format("output {} {}", quote(path), why);
    if (why.empty() && !message.ends_with('?')) message += "; `kinegraph sweep STUDY --paths` lists all";
    probe.failure.diagnostics.push_back({Severity::error, output.where, std::move(message)});
  }
}

}  // namespace kinegraph::cli
