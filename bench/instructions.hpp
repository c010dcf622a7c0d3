#pragma once

#include <optional>
#include <string>

#include "kinegraph/codegen/program.hpp"

namespace kinegraph::bench {

/// Instructions that one call of a program's function takes, counted by callgrind: exact, whatever else the machine
/// does. Compiled by `compiler` for AVX2, as callgrind knows no AVX-512. Nothing where there is no valgrind.
std::optional<long> instructions(const codegen::Program& program, const std::string& compiler);

}  // namespace kinegraph::bench
