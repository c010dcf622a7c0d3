#pragma once

#include <chrono>
#include <string>

#include "kinegraph/base/progress.hpp"
#include "verb.hpp"

namespace kinegraph::cli {

/// From here on Ctrl-C asks the work to stop, and files half written are removed. A second Ctrl-C ends at once. A crash
/// is told as the internal fault that it is.
void catch_signals();
bool interrupted();

/// To standard output; a full disk or a closed pipe is an error like any other.
Done print(const std::string& text);

/// One line on the terminal, once the work has taken half a second.
class ProgressBar {
 public:
  ProgressBar(std::string label, bool quiet);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  /// Valid as long as the bar. Returns false after Ctrl-C.
  Progress callback() {
    return [this](double share) { return update(share); };
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool update(double share);
  void draw(double share, double elapsed_s);

  std::string label_;
  bool enabled_ = false, drawn_ = false;
  Clock::time_point start_, next_;
};

}  // namespace kinegraph::cli
