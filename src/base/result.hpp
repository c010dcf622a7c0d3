#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kinegraph {

/// A place in an input file. Lines and columns count from 1; 0 means unknown.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

enum class Severity { warning, error };

/// One fault, as the user sees it: `crank.yaml:12:9: error: unknown point 'P7'; did you mean 'P1'?`
struct Diagnostic {
  Severity severity = Severity::error;
  Location where;
  std::string message;
};

std::string to_string(const Location&);
std::string to_string(const Diagnostic&);

/// Why there is no result. The kind decides the exit status of the command line (2, 1, 3, 130).
struct Failure {
  enum class Kind { bad_input, no_answer, internal, interrupted };

  Kind kind = Kind::internal;
  std::vector<Diagnostic> diagnostics;

  static Failure bad_input(Location where, std::string message);
  static Failure bad_input(std::string message) { return bad_input({}, std::move(message)); }
  static Failure no_answer(std::string message);
  static Failure internal(std::string message);
  static Failure interrupted();

  int exit_status() const;
  std::string to_string() const;  ///< one line per diagnostic
};

/// A value, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::move(value)) {}
  Result(Failure failure) : content_(std::move(failure)) {}

  explicit operator bool() const { return content_.index() == 0; }
  bool ok() const { return content_.index() == 0; }

  T& operator*() & { return std::get<0>(content_); }
  const T& operator*() const& { return std::get<0>(content_); }
  T&& operator*() && { return std::get<0>(std::move(content_)); }
  T* operator->() { return &std::get<0>(content_); }
  const T* operator->() const { return &std::get<0>(content_); }

  const Failure& failure() const& { return std::get<1>(content_); }
  Failure&& failure() && { return std::get<1>(std::move(content_)); }

 private:
  std::variant<T, Failure> content_;
};

/// The candidate nearest to a misspelt name, as the tail of a message: `; did you mean 'P1'?`, or empty if none is
/// near.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace kinegraph
