#include "kinegraph/io/line_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace kinegraph {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

}  // namespace

LineReader::LineReader(int descriptor, std::function<bool()> go_on)
    : descriptor_(descriptor), waits_((fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0), go_on_(std::move(go_on)) {}

LineReader::LineReader(std::string_view text) : unread_(text), ended_(true) {}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  std::size_t end = unread_.find('\n');
  while (end == std::string_view::npos && !ended_) {
    searched = unread_.size();
    if (searched > kLongestLine || !fill()) break;
    end = unread_.find('\n', searched);
  }
  if (error_ != 0 || stopped_) return false;
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

/// Until there is something to read, or nobody left to write it.
bool LineReader::wait() {
  constexpr int kMilliseconds = 100;
  pollfd ready{descriptor_, POLLIN, 0};
  while (poll(&ready, 1, kMilliseconds) <= 0) {
    stopped_ = go_on_ && !go_on_();
    if (stopped_) return false;
  }
  return true;
}

/// Moves what is left to the front of the buffer and reads a chunk behind it.
bool LineReader::fill() {
  if (waits_ && !wait()) return false;
  buffer_.erase(0, buffer_.size() - unread_.size());
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + kChunk);
  ssize_t got = 0;
  do {
    got = read(descriptor_, buffer_.data() + kept, kChunk);
  } while (got < 0 && (errno == EINTR || (errno == EAGAIN && wait())));
  if (got < 0 && !stopped_) error_ = errno;
  if (got <= 0) ended_ = true;
  buffer_.resize(kept + (got > 0 ? static_cast<std::size_t>(got) : 0));
  unread_ = buffer_;
  return got > 0;
}

}  // namespace kinegraph
