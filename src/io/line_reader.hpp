#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kinegraph {

/// The lines of a file or of a text, one at a time, in memory that does not grow with the file.
class LineReader {
 public:
  /// Longer lines are not text made by anyone: they are refused rather than swallowed.
  static constexpr std::size_t kLongestLine = 10'000'000;

  /// `go_on` is asked while a pipe or terminal lets wait: false ends the reading, as stopped(). Null: waits for ever.
  explicit LineReader(int descriptor, std::function<bool()> go_on = {});
  explicit LineReader(std::string_view text);

  /// The next line without its end (\n or \r\n), valid until the next call. False at the end or on a fault.
  bool next(std::string_view& line);

  int line() const { return line_; }               ///< of the last one, from 1
  std::size_t bytes() const { return consumed_; }  ///< up to and with the last line
  bool too_long() const { return too_long_; }
  bool stopped() const { return stopped_; }
  int error() const { return error_; }  ///< errno of a failed read

 private:
  bool fill();
  bool wait();

  int descriptor_ = -1;
  bool waits_ = false;  // a read of the descriptor blocks
  std::function<bool()> go_on_;
  std::string buffer_;
  std::string_view unread_;
  std::size_t consumed_ = 0;
  int line_ = 0, error_ = 0;
  bool ended_ = false, too_long_ = false, stopped_ = false;
};

}  // namespace kinegraph
