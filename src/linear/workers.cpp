#include "kinegraph/linear/workers.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace kinegraph::linear {

struct Workers::Arena {
  explicit Arena(int threads) : arena(threads) {}
  tbb::task_arena arena;
};

Workers::Workers() = default;
Workers::~Workers() = default;
Workers::Workers(Workers&&) noexcept = default;
Workers& Workers::operator=(Workers&&) noexcept = default;

void Workers::set_threads(int threads) {
  threads = std::max(threads, 1);
  if (threads == threads_) return;
  threads_ = threads;
  arena_ = threads > 1 ? std::make_unique<Arena>(threads) : nullptr;
}

void Workers::run(int pieces, const Body& body) const {
  if (!arena_ || pieces < 2) {
    for (int i = 0; i < pieces; ++i) body(i, 0);
    return;
  }
  const auto one = [&](int i) { body(i, std::clamp(tbb::this_task_arena::current_thread_index(), 0, threads_ - 1)); };
  arena_->arena.execute([&] { tbb::parallel_for(0, pieces, one, tbb::simple_partitioner()); });
}

}  // namespace kinegraph::linear
