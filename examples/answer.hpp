#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "kinegraph/base/result.hpp"

/// The value of a result, or the end of the program with the message and the exit status that the command line has.
template <class T>
T answer(kinegraph::Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.failure().to_string().c_str());
  std::exit(result.failure().exit_status());
}
