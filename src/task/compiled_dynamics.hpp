#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/codegen/compiled.hpp"

namespace kinegraph::task {

/// The dynamics of a robot as code that was generated for it and compiled here; where that cannot be, a note that says
/// why, and callers go on with numeric elimination.
class CompiledDynamics {
 public:
  /// Fails only where it is interrupted. `given` per coordinate: its torque or its acceleration.
  static Result<CompiledDynamics> make(const std::shared_ptr<const screw::Tree>& tree,
                                       const std::vector<build::Given>& given, const Progress& progress);
  /// None, and why.
  static CompiledDynamics none(const std::string& reason);

  explicit operator bool() const { return code_ != nullptr; }
  /// What computes: "generated code of 957 operations, compiled by /usr/bin/c++", or "numeric elimination (…)".
  const std::string& note() const { return note_; }

  /// `known` and `out` per freedom: what is given, and the other one. False near a singular position, or where
  /// a number is not finite: ask numeric elimination.
  bool run(const double* q, const double* v, const double* known, double* out) const;

 private:
  std::shared_ptr<const codegen::Compiled> code_;
  std::string note_;
  int freedoms_ = 0;
};

}  // namespace kinegraph::task
