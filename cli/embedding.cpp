#include "embedding.hpp"

#include <fmt/format.h>

namespace kinegraph::cli {

const Result<Model>& ModelStore::read(const std::string& path, const ReadOptions& options) {
  const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", path, options.loops.string(), options.sensors.string(),
                                      options.strict, options.base ? static_cast<int>(*options.base) : -1);
  const std::lock_guard lock(mutex_);
  const auto found = read_.find(key);
  return found != read_.end() ? found->second : read_.emplace(key, read_model(path, options)).first->second;
}

}  // namespace kinegraph::cli
