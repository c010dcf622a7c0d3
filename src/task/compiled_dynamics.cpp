#include "kinegraph/task/compiled_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/codegen/generate.hpp"

namespace kinegraph::task {
namespace {

/// Of its usual size: elimination without a choice of pivots may lose as many digits as its square has.
constexpr double kLeastPivot = 1e-4;

}  // namespace

CompiledDynamics CompiledDynamics::none(const std::string& reason) {
  CompiledDynamics nothing;
  nothing.note_ = fmt::format("numeric elimination ({})", reason);
  return nothing;
}

Result<CompiledDynamics> CompiledDynamics::make(const std::shared_ptr<const screw::Tree>& tree,
                                                const std::vector<build::Given>& given, const Progress& progress) {
  const auto is = [](build::Given what) { return [what](build::Given g) { return g == what; }; };
  codegen::Request request;
  request.problem = std::all_of(given.begin(), given.end(), is(build::Given::torque)) ? codegen::Problem::forward
                    : std::all_of(given.begin(), given.end(), is(build::Given::acceleration))
                        ? codegen::Problem::inverse
                        : codegen::Problem::hybrid;
  request.given = given;
  request.progress = progress;
  const Result<codegen::Generated> generated = codegen::generate(tree, request);
  const auto why_not = [](const Failure& failure) -> Result<CompiledDynamics> {
    if (failure.kind == Failure::Kind::interrupted) return failure;
    return none(failure.diagnostics.front().message);
  };
  if (!generated) return why_not(generated.failure());
  auto code = codegen::Compiled::make(generated->program, 0, progress);
  if (!code) return why_not(code.failure());
  CompiledDynamics made;
  made.code_ = *std::move(code);
  made.freedoms_ = tree->freedoms();
  made.note_ = fmt::format("generated code of {} operations, compiled by {}", generated->program.cost().flops(),
                           made.code_->compiler());
  return made;
}

bool CompiledDynamics::run(const double* q, const double* v, const double* known, double* out) const {
  const double* inputs[] = {q, v, known};
  double* outputs[] = {out};
  return code_->run(inputs, outputs) > kLeastPivot &&
         std::all_of(out, out + freedoms_, [](double x) { return std::isfinite(x); });
}

}  // namespace kinegraph::task
