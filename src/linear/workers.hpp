#pragma once

#include <functional>
#include <memory>

namespace kinegraph::linear {

/// A fixed number of threads for loops whose pieces are independent of each other. What a piece computes must not
/// depend on the worker that does it (worker: 0 to threads() − 1, for scratch memory).
class Workers {
 public:
  Workers();
  ~Workers();
  Workers(Workers&&) noexcept;
  Workers& operator=(Workers&&) noexcept;

  void set_threads(int threads);
  int threads() const { return threads_; }

  using Body = std::function<void(int piece, int worker)>;
  void run(int pieces, const Body& body) const;

 private:
  struct Arena;
  int threads_ = 1;
  std::unique_ptr<Arena> arena_;  // null: the calling thread
};

}  // namespace kinegraph::linear
