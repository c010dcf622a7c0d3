#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kinegraph {

/// The lines of a file or of a text, one at a time, in memory that does not grow with the file.
class LineReader {
 public:
  /// Longer lines are not text made by anyone: they are refused rather than swallowed.
  static constexpr std::size_t kLongestLine = 100'000'000;

  explicit LineReader(int descriptor);
  explicit LineReader(std::string_view text);

  /// The next line without its end (\n or \r\n), valid until the next call. False at the end or on a fault.
  bool next(std::string_view& line);

  int line() const { return line_; }               ///< of the last one, from 1
  std::size_t bytes() const { return consumed_; }  ///< up to and with the last line
  bool too_long() const { return too_long_; }
  int error() const { return error_; }  ///< errno of a failed read

 private:
  bool fill();

  int descriptor_ = -1;
  std::string buffer_;
  std::string_view unread_;
  std::size_t consumed_ = 0;
  int line_ = 0, error_ = 0;
  bool ended_ = false, too_long_ = false;
};

}  // namespace kinegraph
