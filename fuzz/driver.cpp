/// The entry of libFuzzer: one program for all targets, the environment's KINEGRAPH_FUZZ_TARGET chooses.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "fuzz/targets.hpp"

namespace {

constexpr double kMost = 1.0;  // s of processor time per input, sanitizers included

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const kinegraph::fuzz::Target& chosen() {
  const char* name = std::getenv("KINEGRAPH_FUZZ_TARGET");
  for (const auto& target : kinegraph::fuzz::targets()) {
    if (name && std::strcmp(target.name, name) == 0) return target;
  }
  kinegraph::fuzz::check(false, "KINEGRAPH_FUZZ_TARGET names a target");
  return kinegraph::fuzz::targets().front();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto& target = chosen();
  static bool first = true;  // libsdformat reads its schema once
  const double start = processor_time();
  target.read(std::string(reinterpret_cast<const char*>(data), size));
  kinegraph::fuzz::check(first || processor_time() - start < kMost, "an input is read within a second");
  first = false;
  return 0;
}
