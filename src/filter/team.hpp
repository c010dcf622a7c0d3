#pragma once

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace kinegraph::filter {

/// Work in a fixed number of parts that threads take one after the other. What a part is does not depend on the
/// threads: sums that are made by part and added in the order of the parts are the same bits for any number of them.
class Team {
 public:
  explicit Team(int parts = 1, int threads = 1) : parts_(parts) {
    threads = std::min({threads, parts, tbb::info::default_concurrency()});
    if (threads > 1) arena_ = std::make_unique<tbb::task_arena>(threads);
  }
  int parts() const { return parts_; }

  /// task(i), i = 0 … count − 1
  template <class Task>
  void run(int count, const Task& task) const {
    if (arena_ && count > 1) {
      arena_->execute([&] { tbb::parallel_for(0, count, task, tbb::simple_partitioner()); });
    } else {
      for (int i = 0; i < count; ++i) task(i);
    }
  }
  /// task(part, first, last): things first … last − 1 of n are those of a part.
  template <class Task>
  void share(int n, const Task& task) const {
    run(parts_, [&](int part) { task(part, begin_of(part, n), begin_of(part + 1, n)); });
  }

 private:
  int begin_of(int part, int n) const { return static_cast<int>(static_cast<long>(n) * part / parts_); }

  int parts_;
  std::unique_ptr<tbb::task_arena> arena_;  // null: the calling thread
};

}  // namespace kinegraph::filter
