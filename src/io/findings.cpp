#include "kinegraph/io/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace kinegraph::io {
namespace {

constexpr std::size_t kMostSubjects = 5;

void sort_by_place(std::vector<Diagnostic>& diagnostics) {
  std::stable_sort(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.where.file, a.where.line, a.where.column) < std::tie(b.where.file, b.where.line, b.where.column);
  });
}

}  // namespace

void Findings::error(Location where, std::string message) {
  errors_.push_back({Severity::error, std::move(where), std::move(message)});
}

void Findings::warning(const std::string& kind, Location where, std::string message, std::string subject) {
  const auto [found, fresh] = groups_.try_emplace(kind);
  Group& group = found->second;
  if (fresh) {
    group.first = {Severity::warning, std::move(where), std::move(message)};
    group.subject = std::move(subject);
    return;
  }
  ++group.more;
  const bool known = subject == group.subject || group.others.size() > kMostSubjects ||
                     std::find(group.others.begin(), group.others.end(), subject) != group.others.end();
  if (!known) group.others.push_back(std::move(subject));
}

void Findings::doubt(const std::string& kind, Location where, std::string message, std::string subject) {
  if (strict_) return error(std::move(where), std::move(message));
  warning(kind, std::move(where), std::move(message), std::move(subject));
}

Failure Findings::failure() const {
  Failure failure{Failure::Kind::bad_input, errors_};
  sort_by_place(failure.diagnostics);
  if (failure.diagnostics.size() > kMostErrors) {
    const std::size_t more = failure.diagnostics.size() - kMostErrors;
    failure.diagnostics.resize(kMostErrors);
    failure.diagnostics.push_back(
        {Severity::error, {failure.diagnostics.front().where.file, 0, 0}, fmt::format("… and {} more faults", more)});
  }
  return failure;
}

std::vector<Diagnostic> Findings::warnings() const {
  std::vector<Diagnostic> warnings;
  for (const auto& [kind, group] : groups_) {
    Diagnostic& warning = warnings.emplace_back(group.first);
    if (group.more == 0) continue;
    std::vector<std::string> others = group.others;
    if (others.size() > kMostSubjects) others.resize(kMostSubjects), others.emplace_back("…");
    warning.message +=
        fmt::format(" (and {} more such{}{})", group.more, others.empty() ? "" : ": ", fmt::join(others, ", "));
  }
  sort_by_place(warnings);
  return warnings;
}

}  // namespace kinegraph::io
