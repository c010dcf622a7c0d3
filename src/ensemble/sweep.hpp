#pragma once

#include <functional>
#include <variant>

#include "kinegraph/ensemble/journal.hpp"
#include "kinegraph/ensemble/ranks.hpp"

namespace kinegraph::ensemble {

/// Runs one case. Called by several threads at once; what it returns must be a function of the number alone. A failure
/// (interrupted) ends the sweep; a case that has no answer is an Outcome as well.
using RunCase = std::function<Result<Outcome>(std::uint64_t number)>;

struct SweepState {
  std::uint64_t cases = 0, finished = 0, failed = 0;
  std::uint64_t resumed = 0;  ///< finished before this run
};

struct SweepOptions {
  int threads = 1;          ///< of this process
  Ranks* ranks = nullptr;   ///< other processes that help
  std::uint64_t study = 0;  ///< a checksum of the study: other processes must have read the same
  /// Told a few times per second by one thread; false stops.
  std::function<bool(const SweepState&)> progress;
};

/// Runs the cases that the journal does not have yet; afterwards it has all. Cases are handed out one after the other
/// to whoever is free, here and on other ranks.
[[nodiscard]] Result<std::monostate> sweep(Journal& journal, const RunCase& run, const SweepOptions& options);

/// What a process of another rank than 0 does: asks for cases and sends their outcomes until there are no more.
[[nodiscard]] Result<std::monostate> help_sweep(const RunCase& run, const SweepOptions& options);

/// Sends the other ranks home, where there will be no sweep.
void dismiss(Ranks& ranks);

}  // namespace kinegraph::ensemble
