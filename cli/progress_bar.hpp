#pragma once

#include <chrono>
#include <string>

#include "kinegraph/base/progress.hpp"
#include "verb.hpp"

namespace kinegraph::cli {

/// From here on Ctrl-C asks the work to stop, and files half written are removed. A second Ctrl-C ends at once. A crash
/// is told as the internal fault that it is.
void catch_signals();
bool interrupted(const Embedding* embedding = nullptr);  ///< or the program that asks wants it to end

/// To standard output; a full disk or a closed pipe is an error like any other.
Done print(const std::string& text);

/// To standard error. Where that cannot be written (a full disk, closed by the caller) nobody can be told, and the exit
/// status is what it would be.
void say(const std::string& text);

/// "12 s", "3 min 05 s"
std::string duration(double s);

/// One line on the terminal, once the work has taken half a second.
class ProgressBar {
 public:
  ProgressBar(std::string label, const CommonOptions& options);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  /// In place of the time left; false after Ctrl-C.
  bool show(double share, std::string note) {
    note_ = std::move(note);
    return update(share);
  }

  void note(std::string text) { note_ = std::move(text); }  ///< what is shown in place of the time left
  void clear();                                             ///< for other lines

  /// Valid as long as the bar. Returns false after Ctrl-C.
  Progress callback() {
    return [this](double share) { return update(share); };
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool update(double share);
  void draw(double share, double elapsed_s);

  std::string label_, note_;
  const Embedding* embedding_;
  bool enabled_ = false, drawn_ = false;
  Clock::time_point start_, next_;
};

}  // namespace kinegraph::cli
