#include "bench/instructions.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kinegraph/codegen/emit.hpp"

namespace kinegraph::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kCalls = 100;

/// Arrays of ones are as good as any: nothing in the code depends on its numbers.
std::string source_of(const codegen::Program& program) {
  codegen::EmitOptions options;
  options.name = "counted";
  std::string text = codegen::emit_header(program, options), arguments;
  const auto declare = [&](const codegen::Array& array) {
    text += fmt::format("static double {}_[{}];\n", array.name, array.values.size() + 1);
    arguments += fmt::format("{}{}_", arguments.empty() ? "" : ", ", array.name);
  };
  for (const codegen::Array& array : program.inputs) declare(array);
  for (const codegen::Array& array : program.outputs) declare(array);
  text +=
      fmt::format("extern \"C\" __attribute__((noinline)) double measured() {{ return counted({}); }}\n", arguments);
  text += "int main() {\n";
  for (const codegen::Array& array : program.inputs)
    text += fmt::format("  for (double& x : {}_) x = 0.5;\n", array.name);
  return text + fmt::format(
                    "  double sum = 0;\n  for (int i = 0; i < {}; ++i) sum += measured();\n  return sum > 1e300;\n}}\n",
                    kCalls);
}

}  // namespace

std::optional<long> instructions(const codegen::Program& program, const std::string& compiler) {
  std::string folder = (fs::temp_directory_path() / "kinegraph_count_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return {};
  std::ofstream(fs::path(folder) / "main.cpp") << source_of(program);
  const std::string command = fmt::format(
      "cd {} && {} -std=c++17 -O3 -march=x86-64-v3 main.cpp -o main > log 2>&1 && valgrind --tool=callgrind "
      "--toggle-collect=measured --callgrind-out-file=counts ./main > log 2>&1",
      folder, compiler);
  std::optional<long> count;
  if (std::system(command.c_str()) == 0) {
    std::ifstream file(fs::path(folder) / "counts");
    for (std::string word; file >> word;) {
      long total = 0;
      if ((word == "summary:" || word == "totals:") && file >> total) count = total / kCalls;
    }
  }
  fs::remove_all(folder);
  return count;
}

}  // namespace kinegraph::bench
