#include "kinegraph/ensemble/hand_out.hpp"

#include <algorithm>

namespace kinegraph::ensemble {

std::uint64_t HandOut::share(int workers) {
  constexpr double kSeconds = 0.5;
  const std::lock_guard lock(mutex_);
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const double all = std::max(1, workers_), own = std::max(1, workers);
  const double rate = static_cast<double>(journal_.finished() - before_) / std::max(elapsed, 1e-3) / all;
  const double left = static_cast<double>(journal_.cases() - std::min(journal_.cases(), cursor_));
  return static_cast<std::uint64_t>(std::clamp(std::min(kSeconds * rate, left / (4 * all)) * own, own, 1e6));
}

Chunk HandOut::next(std::uint64_t most) {
  const std::lock_guard lock(mutex_);
  if (failure_) return {};
  cursor_ = journal_.next_missing(cursor_);
  Chunk chunk{cursor_, 0};
  while (cursor_ < journal_.cases() && chunk.count < most && journal_.next_missing(cursor_) == cursor_) {
    ++chunk.count, ++cursor_;
  }
  return chunk;
}

void HandOut::take(const Outcome& outcome) {
  constexpr auto kBetweenSyncs = std::chrono::seconds(5);
  const std::lock_guard lock(mutex_);
  if (failure_ && failure_->kind != Failure::Kind::interrupted) return;
  if (const auto written = journal_.append(outcome); !written) {
    failure_ = written.failure();
  } else if (const auto now = Clock::now(); now - synced_ > kBetweenSyncs) {
    journal_.to_disk();
    synced_ = now;
  }
}

void HandOut::stop(Failure why) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(why);
}

SweepState HandOut::state() {
  const std::lock_guard lock(mutex_);
  return {journal_.cases(), journal_.finished(), journal_.failed(), journal_.resumed()};
}

std::optional<Failure> HandOut::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace kinegraph::ensemble
