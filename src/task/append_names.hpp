#pragma once
#include <string>
#include <vector>

namespace kinegraph::task {

inline void append(std::vector<std::string>& to, const std::vector<std::string>& names) {
  to.insert(to.end(), names.begin(), names.end());
}

}  // namespace kinegraph::task
