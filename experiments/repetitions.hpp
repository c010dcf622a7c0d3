#pragma once

#include <algorithm>
#include <cstdlib>

namespace kinegraph::experiments {

/// How often to repeat what is random: `all`, or a tenth of it, at least 4, where KINEGRAPH_QUICK is set (run.py
/// --quick). What is shown must say how often it was.
inline int repetitions(int all) {
  const char* quick = std::getenv("KINEGRAPH_QUICK");
  return quick && *quick ? std::max(4, all / 10) : all;
}

}  // namespace kinegraph::experiments
