#include "kinegraph/io/line_reader.hpp"

#include <unistd.h>

#include <cerrno>

namespace kinegraph {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

}  // namespace

LineReader::LineReader(int descriptor) : descriptor_(descriptor) {}

LineReader::LineReader(std::string_view text) : unread_(text), ended_(true) {}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  std::size_t end = unread_.find('\n');
  while (end == std::string_view::npos && !ended_) {
    searched = unread_.size();
    if (searched > kLongestLine || !fill()) break;
    end = unread_.find('\n', searched);
  }
  if (error_ != 0) return false;
  if (unread_.empty()) return false;
  ++line_;
  if ((end == std::string_view::npos ? unread_.size() : end) > kLongestLine) {
    too_long_ = true;
    return false;
  }

  const bool last = end == std::string_view::npos;
  line = unread_.substr(0, end);
  const std::size_t taken = last ? unread_.size() : end + 1;
  unread_.remove_prefix(taken);
  consumed_ += taken;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

/// Moves what is left to the front of the buffer and reads a chunk behind it.
bool LineReader::fill() {
  buffer_.erase(0, buffer_.size() - unread_.size());
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + kChunk);
  ssize_t got = 0;
  do {
    got = read(descriptor_, buffer_.data() + kept, kChunk);
  } while (got < 0 && errno == EINTR);
  if (got < 0) error_ = errno;
  if (got <= 0) ended_ = true;
  buffer_.resize(kept + (got > 0 ? static_cast<std::size_t>(got) : 0));
  unread_ = buffer_;
  return got > 0;
}

}  // namespace kinegraph
