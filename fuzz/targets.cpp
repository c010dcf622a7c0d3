#include "fuzz/targets.hpp"

#include <cstdio>
#include <cstdlib>

namespace kinegraph::fuzz {

std::span<const Target> targets() {
  static constexpr Target kTargets[] = {
      {"expression", read_expression},
      {"mechanism", read_mechanism},
      {"task", read_task},
      {"study", read_study},
      {"urdf", read_urdf},
      {"sdf", read_sdf},
      {"loops", read_loops},
      {"sensors", read_sensors},
      {"table", read_table},
      {"log", read_log},
      {"settings", read_settings},
      {"mesh", read_mesh},
  };
  return kTargets;
}

void check(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "broken rule: %s\n", rule);
  std::abort();
}

void check_diagnostics(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    check(!diagnostic.message.empty(), "a message says something");
    check(diagnostic.message.size() < 2'000, "a message can be read");
    check(diagnostic.where.line >= 0 && diagnostic.where.column >= 0, "lines and columns count from 1");
    for (const char c : diagnostic.message) {
      check((static_cast<unsigned char>(c) >= 0x20 || c == '\n') && c != 0x7F,
            "a message has no control characters of the input");
    }
  }
}

void check_refusal(const Failure& failure) {
  check(failure.kind == Failure::Kind::bad_input, "what cannot be read is a fault of the input");
  check(!failure.diagnostics.empty(), "a refusal says why");
  check(failure.diagnostics.size() <= 101, "a refusal names no more than a hundred faults");
  check_diagnostics(failure.diagnostics);
}

}  // namespace kinegraph::fuzz
