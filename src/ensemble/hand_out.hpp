#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "kinegraph/ensemble/sweep.hpp"

namespace kinegraph::ensemble {

/// Some cases in a row; none: there are no more.
struct Chunk {
  std::uint64_t first = 0, count = 0;
};

/// Who does what: hands out the cases that the journal lacks, each once, and takes their outcomes. For any thread.
class HandOut {
 public:
  /// `workers`: of all processes together.
  HandOut(Journal& journal, int workers)
      : journal_(journal), workers_(workers), before_(journal.finished()), start_(Clock::now()), synced_(start_) {}

  Chunk next(std::uint64_t most = 1);
  /// For a process with so many of the workers: what they do in about half a second, less towards the end.
  Chunk next_share(int workers) { return next(share(workers)); }
  void take(const Outcome& outcome);
  void stop(Failure why);  ///< nothing more is handed out

  SweepState state();
  std::optional<Failure> failure();

 private:
  using Clock = std::chrono::steady_clock;
  std::uint64_t share(int workers);

  std::mutex mutex_;
  Journal& journal_;
  int workers_;
  std::uint64_t before_ = 0;  // finished when it began: their time is not known here
  std::uint64_t cursor_ = 0;
  std::optional<Failure> failure_;
  Clock::time_point start_, synced_;
};

}  // namespace kinegraph::ensemble
