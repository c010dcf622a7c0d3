#include "kinegraph/io/source_text.hpp"

#include <algorithm>

#include "kinegraph/base/names.hpp"

namespace kinegraph::io {

SourceText::SourceText(std::string text, std::string file) : file_(std::move(file)), text_(std::move(text)) {
  starts_.push_back(0);
  int count = 0;
  for (std::size_t at = 0; at < text_.size(); ++at) {
    if (at % kBlock == 0) before_block_.push_back(count);
    count += (static_cast<unsigned char>(text_[at]) & 0xC0) != 0x80;  // as characters() counts, one byte at a time
    const bool first_of_pair = text_[at] == '\r' && at + 1 < text_.size() && text_[at + 1] == '\n';
    if (text_[at] == '\n' || (text_[at] == '\r' && !first_of_pair)) starts_.push_back(at + 1);
  }
  before_block_.push_back(count);
}

Location SourceText::location(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  return location(offset,
                  static_cast<int>(std::upper_bound(starts_.begin(), starts_.end(), offset) - starts_.begin()) - 1);
}

Location SourceText::location(std::size_t offset, int line) const {
  return {file_, line + 1, characters_before(offset) - characters_before(starts_[line]) + 1};
}

int SourceText::characters_before(std::size_t offset) const {
  const std::size_t block = offset / kBlock;
  return before_block_[block] + characters(std::string_view(text_).substr(block * kBlock, offset % kBlock));
}

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

std::size_t find_invalid(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const int more = byte < 0x80 ? 0 : byte >= 0xC2 && byte < 0xE0 ? 1 : byte >= 0xE0 && byte < 0xF0 ? 2 : 3;
    if (byte == 0 || (more == 3 && (byte < 0xF0 || byte > 0xF4))) return i;
    if (i + more >= text.size()) return i;
    for (int k = 1; k <= more; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return i;
    }
    i += more + 1;
  }
  return std::string_view::npos;
}

}  // namespace kinegraph::io
