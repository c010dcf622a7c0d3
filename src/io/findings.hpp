#pragma once

#include <map>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph::io {

/// What a reader finds wrong with a file: all errors, and of each kind of warning the first with the count of the rest.
class Findings {
 public:
  explicit Findings(bool strict = false) : strict_(strict) {}

  void error(Location where, std::string message);

  /// `kind` groups warnings ("unknown element"); `subject` is what this one is about ('inertail'), quoted, and is
  /// listed after the count: "… (and 3 more such: 'a', 'b')".
  void warning(const std::string& kind, Location where, std::string message, std::string subject = "");

  /// Whether a warning of this kind was given: more of them are only counted, and not worth the search for near names.
  bool warned(const std::string& kind) const { return groups_.contains(kind); }

  /// A warning, or an error if the reader is strict.
  void doubt(const std::string& kind, Location where, std::string message, std::string subject = "");

  bool failed() const { return !errors_.empty(); }
  bool strict() const { return strict_; }

  /// No more than kMostErrors are worth the search for near names.
  bool many() const { return errors_.size() >= kMostErrors; }

  Failure failure() const;                   ///< the errors in the order of the file
  std::vector<Diagnostic> warnings() const;  ///< one per kind, in the order of the file

 private:
  static constexpr std::size_t kMostErrors = 100;

  struct Group {
    Diagnostic first;
    std::string subject;
    int more = 0;
    std::vector<std::string> others;  // subjects, each once
  };

  bool strict_;
  std::vector<Diagnostic> errors_;
  std::map<std::string, Group> groups_;
};

}  // namespace kinegraph::io
