#include "kinegraph/base/result.hpp"

#include <fmt/format.h>

namespace kinegraph {

std::string to_string(const Location& where) {
  std::string text = where.file;
  if (where.line > 0) text += fmt::format("{}{}", text.empty() ? "" : ":", where.line);
  if (where.line > 0 && where.column > 0) text += fmt::format(":{}", where.column);
  return text;
}

std::string to_string(const Diagnostic& diagnostic) {
  const std::string where = to_string(diagnostic.where);
  return fmt::format("{}{}{}: {}", where, where.empty() ? "" : ": ",
                     diagnostic.severity == Severity::error ? "error" : "warning", diagnostic.message);
}

Failure Failure::bad_input(Location where, std::string message) {
  return {Kind::bad_input, {{Severity::error, std::move(where), std::move(message)}}};
}

Failure Failure::no_answer(std::string message) {
  return {Kind::no_answer, {{Severity::error, {}, std::move(message)}}};
}

Failure Failure::internal(std::string message) {
  return {Kind::internal, {{Severity::error, {}, "internal fault: " + std::move(message)}}};
}

Failure Failure::interrupted() { return {Kind::interrupted, {{Severity::error, {}, "interrupted"}}}; }

int Failure::exit_status() const {
  switch (kind) {
    case Kind::bad_input:
      return 2;
    case Kind::no_answer:
      return 1;
    case Kind::internal:
      return 3;
    case Kind::interrupted:
      return 130;
  }
  return 3;
}

std::string Failure::to_string() const {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += '\n';
    text += kinegraph::to_string(diagnostic);
  }
  return text;
}

}  // namespace kinegraph
