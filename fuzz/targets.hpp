#pragma once

#include <span>
#include <string>

#include "kinegraph/base/result.hpp"

namespace kinegraph::fuzz {

/// A reader of text that a stranger may have written. It reads any bytes: what it accepts must be sound, what it
/// refuses must be told as a fault of the input. Anything else ends the program (check() below).
struct Target {
  const char* name;  ///< for KINEGRAPH_FUZZ_TARGET, and of the folder regressions/<name>
  void (*read)(const std::string& text);
};

std::span<const Target> targets();

/// Ends the program with `rule` unless it holds.
void check(bool holds, const char* rule);

/// A refusal is of the input, says something, and can be shown on a terminal.
void check_refusal(const Failure& failure);
void check_diagnostics(const std::vector<Diagnostic>& diagnostics);

void read_expression(const std::string& text);
void read_mechanism(const std::string& text);
void read_task(const std::string& text);
void read_study(const std::string& text);
void read_urdf(const std::string& text);
void read_sdf(const std::string& text);
void read_loops(const std::string& text);
void read_sensors(const std::string& text);
void read_table(const std::string& text);
void read_log(const std::string& text);
void read_settings(const std::string& text);
void read_mesh(const std::string& text);

}  // namespace kinegraph::fuzz
