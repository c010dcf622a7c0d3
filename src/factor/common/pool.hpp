#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kinegraph {

/// Working memory for factors that several threads evaluate at once. Allocates only where there are more users at a
/// time than ever before.
template <class T>
class Pool {
 public:
  explicit Pool(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) { free_.push_back(make_()); }

  class Lease {
   public:
    Lease(const Pool& pool, std::unique_ptr<T> item) : pool_(pool), item_(std::move(item)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.free_.push_back(std::move(item_));
    }
    T* operator->() const { return item_.get(); }
    T& operator*() const { return *item_; }

   private:
    const Pool& pool_;
    std::unique_ptr<T> item_;
  };

  Lease borrow() const {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return Lease(*this, make_());
    std::unique_ptr<T> item = std::move(free_.back());
    free_.pop_back();
    return Lease(*this, std::move(item));
  }

 private:
  std::function<std::unique_ptr<T>()> make_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<T>> free_;
};

}  // namespace kinegraph
