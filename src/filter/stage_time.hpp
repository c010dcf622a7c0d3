#pragma once

#include <chrono>

namespace kinegraph::filter {

/// Adds the time that it lives to a sum.
class StageTime {
 public:
  explicit StageTime(double& seconds) : seconds_(seconds) {}
  ~StageTime() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
  StageTime(const StageTime&) = delete;
  StageTime& operator=(const StageTime&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace kinegraph::filter
