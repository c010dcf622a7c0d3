#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph::io {

/// A text file and where its lines start. Lines end with LF, CR LF or CR.
class SourceText {
 public:
  SourceText(std::string text, std::string file);

  const std::string& text() const { return text_; }
  const std::string& file() const { return file_; }

  int lines() const { return static_cast<int>(starts_.size()); }
  std::size_t line_start(int line) const { return starts_[line]; }  ///< lines from 0
  Location location(std::size_t offset) const;                      ///< columns count characters, not bytes
  Location location(std::size_t offset, int line) const;            ///< as a place of that line, even if behind its end

 private:
  static constexpr std::size_t kBlock = 1024;
  int characters_before(std::size_t offset) const;

  std::string file_, text_;
  std::vector<std::size_t> starts_;
  std::vector<int> before_block_;  // characters before each block: places in a very long line must not cost its length
};

/// The text without a byte order mark.
std::string_view without_byte_order_mark(std::string_view text);

/// The offset of the first byte that is not part of a UTF-8 character or is zero, or npos.
std::size_t find_invalid(std::string_view text);

}  // namespace kinegraph::io
