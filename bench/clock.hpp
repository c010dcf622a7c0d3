#pragma once

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "kinegraph/base/result.hpp"

namespace kinegraph::bench {

/// Seconds that this process has computed: other programs of a busy machine do not count.
inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The same of this thread alone.
inline double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The value, or the end of the program with the reason.
template <class T>
T require(Result<T> result, const char* what) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s: %s\n", what, result.failure().to_string().c_str());
  std::exit(1);
}

}  // namespace kinegraph::bench
