#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/codegen/program.hpp"

namespace kinegraph::codegen {

/// A program as machine code: compiled by the compiler of this machine, kept in the user's cache folder under a name
/// made of its content, loaded. $XDG_CACHE_HOME/kinegraph, else ~/.cache/kinegraph. A file of the cache appears whole
/// or not at all, whoever else makes the same one; one that is damaged is made anew; a folder that others may write to
/// is not used.
class Compiled {
 public:
  /// Fails where there is no compiler, or no place for the cache: the message says so, and callers go on with numeric
  /// elimination. $KINEGRAPH_CXX names the compiler; else $CXX, c++, g++, clang++, the first that is found.
  /// `lanes`: 4 or 8 for run_batch() too. `progress` is asked while the compiler works.
  static Result<std::shared_ptr<const Compiled>> make(const Program& program, int lanes = 0,
                                                      const Progress& progress = {});
  ~Compiled();
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  /// Inputs and outputs as those of the program. Returns the smallest relative pivot. Safe from many threads.
  double run(const double* const* inputs, double* const* outputs) const { return function_(inputs, outputs); }

  /// Of as many states as there are lanes: number k of state s stands at [lanes · k + s] of each array. Only with
  /// lanes.
  double run_batch(const double* const* inputs, double* const* outputs) const { return batch_(inputs, outputs); }

  const std::string& file() const { return file_; }  ///< in the cache
  const std::string& compiler() const { return compiler_; }
  bool was_cached() const { return was_cached_; }

 private:
  using Function = double (*)(const double* const* inputs, double* const* outputs);
  Compiled() = default;
  bool load(bool batch);

  void* library_ = nullptr;
  Function function_ = nullptr, batch_ = nullptr;
  std::string file_, compiler_;
  bool was_cached_ = false;
};

}  // namespace kinegraph::codegen
