#include "kinegraph/ensemble/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "kinegraph/base/checksum.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/io/output.hpp"

namespace kinegraph::ensemble {
namespace {

constexpr std::string_view kMagic = "kinegraph sweep 2\n";
constexpr std::size_t kFrame = sizeof(std::uint32_t) + sizeof(std::uint64_t);  // length, checksum
constexpr std::uint32_t kLongest = 64 << 20;                                   // bytes of a record
constexpr std::size_t kPiece = 1 << 16;                                        // read at once

std::string framed(const std::string& bytes) {
  std::string all;
  all.reserve(kFrame + bytes.size());
  put(all, static_cast<std::uint32_t>(bytes.size()));
  put(all, checksum(bytes));
  return all + bytes;
}

struct Frame {
  std::uint32_t length = 0;
  std::uint64_t sum = 0;
};

Frame frame_of(std::string_view bytes) {
  Frame frame;
  take(bytes, frame.length), take(bytes, frame.sum);
  return frame;
}

/// What flock() says where a file system (of a network, of a cluster) has no locks, or no more.
bool has_no_locks(int error) { return error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK; }

bool write_all(int descriptor, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return true;
}

/// What one list of lines has and the other has not, in a few words.
std::string difference(const std::string& before, const std::string& now) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
    }
    return lines;
  };
  const std::vector<std::string> a = lines_of(before), b = lines_of(now);
  const auto lacks = [](const std::vector<std::string>& list, const std::string& line) {
    return std::find(list.begin(), list.end(), line) == list.end();
  };
  const auto old = std::find_if(a.begin(), a.end(), [&](const std::string& line) { return lacks(b, line); });
  const auto fresh = std::find_if(b.begin(), b.end(), [&](const std::string& line) { return lacks(a, line); });
  if (old != a.end() && fresh != b.end()) return fmt::format("{}, was {}", quote(*fresh), quote(*old));
  if (fresh != b.end()) return quote(*fresh) + " is new";
  if (old != a.end()) return quote(*old) + " is gone";
  return "the order of its parts";
}

}  // namespace

Result<Journal> Journal::open(const std::string& path, const std::vector<std::string>& content, std::uint64_t cases,
                              bool restart) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    return Failure::bad_input({path, 0, 0}, "cannot write the file: " + system_message(errno));
  }
  const int refused = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  if (refused != 0 && !has_no_locks(refused)) {
    ::close(descriptor);
    return Failure::bad_input({path, 0, 0}, refused == EWOULDBLOCK
                                                ? "another sweep is writing this journal"
                                                : "cannot lock the file: " + system_message(refused));
  }
  Result<CaseIndex> index = CaseIndex::create(path, cases);
  if (!index) {
    ::close(descriptor);
    return std::move(index).failure();
  }
  Journal journal(path, descriptor, *std::move(index));
  if (refused != 0) journal.not_locked_ = system_message(refused);
  if (auto failure = journal.begin(content, restart)) return *failure;
  if (auto failure = journal.load()) return *failure;
  return journal;
}

bool Journal::is_begun(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(kMagic.size() + kFrame, '\0');
  if (!file.read(start.data(), static_cast<std::streamsize>(start.size())) || !start.starts_with(kMagic)) return false;
  const auto [length, sum] = frame_of(std::string_view(start).substr(kMagic.size()));
  if (length > kLongest) return false;
  std::string text(length, '\0');
  return file.read(text.data(), length) && checksum(text) == sum;
}

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)),
      not_locked_(std::move(other.not_locked_)),
      descriptor_(other.descriptor_),
      index_(std::move(other.index_)),
      begin_(other.begin_),
      end_(other.end_),
      gaps_(std::move(other.gaps_)),
      damaged_(other.damaged_),
      finished_(other.finished_),
      failed_(other.failed_),
      resumed_(other.resumed_),
      buffer_(std::move(other.buffer_)),
      buffered_(other.buffered_),
      read_error_(other.read_error_) {
  other.descriptor_ = -1;
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Failure Journal::cannot_write() const {
  return Failure::bad_input({path_, 0, 0}, "cannot write the file: " + system_message(errno));
}

Failure Journal::cannot_read() const {
  return Failure::bad_input({path_, 0, 0}, "cannot read the file: " + system_message(read_error_));
}

/// The head: of this study, or of none yet.
std::optional<Failure> Journal::begin(const std::vector<std::string>& content, bool restart) {
  std::string text;
  for (const std::string& line : content) text += line + "\n";
  const std::string head = std::string(kMagic) + framed(text);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return cannot_write();
  end_ = static_cast<std::uint64_t>(status.st_size);
  std::string start(std::min<std::size_t>(kMagic.size(), end_), '\0');
  if (!start.empty() && ::pread(descriptor_, start.data(), start.size(), 0) != static_cast<ssize_t>(start.size())) {
    return cannot_write();
  }
  if (!kMagic.starts_with(start)) {
    return Failure::bad_input({path_, 0, 0}, "is in the way: it is no journal of a sweep");
  }
  if (restart || end_ <= kMagic.size()) return write_head(head);
  const std::optional<std::string> before = record(kMagic.size());
  const bool begun = !before && is_torn(kMagic.size());
  // A head that was never finished has no records behind it, whose numbers are binary. One whose length is damaged has.
  const bool alone =
      begun && end_ - kMagic.size() <= kLongest && buffer(kMagic.size(), end_ - kMagic.size()) &&
      (end_ < kMagic.size() + kFrame || buffer_.find('\0', kMagic.size() + kFrame - buffered_) == std::string::npos);
  if (read_error_ != 0) return cannot_read();
  if (alone) return write_head(head);
  if (!before) {
    return Failure::bad_input({path_, 0, 0},
                              "is damaged at its head: whose sweep it holds cannot be told; --restart throws it away");
  }
  if (*before != text) {
    return Failure::bad_input({path_, 0, 0},
                              fmt::format("holds the unfinished sweep of another study ({}); --restart throws it away",
                                          difference(*before, text)));
  }
  begin_ = head.size();
  return {};
}

std::optional<Failure> Journal::write_head(const std::string& head) {
  if (::ftruncate(descriptor_, 0) != 0 || !write_all(descriptor_, head, 0)) return cannot_write();
  begin_ = end_ = head.size();
  buffer_.clear();
  return {};
}

/// Fills the index; what cannot be read at the end is cut off.
std::optional<Failure> Journal::load() {
  const std::string told = framed("");
  std::uint64_t at = begin_, next = 0;
  for (; at < end_; at = next) {
    const std::optional<Outcome> found = outcome(at, &next);
    if (!found) {
      const std::optional<std::string> other = record(at);
      const bool is_told = other && other->empty();
      next = is_told ? at + told.size() : next_whole(at + 1);
      if (read_error_ != 0) return cannot_read();
      if (next == end_ && !is_told) break;
      gaps_.emplace_back(at, next);
      damaged_ = is_told ? 0 : damaged_ + 1;
      continue;
    }
    if (index_.get(found->number) != 0) {
      return Failure::bad_input({path_, 0, 0},
                                fmt::format("holds case {} twice; --restart throws the journal away", found->number));
    }
    if (!index_.set(found->number, at)) return cannot_write();
    ++finished_;
    failed_ += found->status != 0;
  }
  const bool cut = at < end_ && !is_torn(at);
  if (read_error_ != 0) return cannot_read();
  if (at < end_ && ::ftruncate(descriptor_, static_cast<off_t>(at)) != 0) return cannot_write();
  end_ = at;
  buffer_.clear();
  if (damaged_ > 0) {
    if (!write_all(descriptor_, told, end_)) return cannot_write();
    gaps_.emplace_back(end_, end_ + told.size());
    end_ += told.size();
  }
  damaged_ += cut;
  resumed_ = finished_;
  return {};
}

/// Whether so many bytes from an offset on are there, in the buffer.
bool Journal::buffer(std::uint64_t offset, std::size_t size) {
  if (offset >= buffered_ && offset + size <= buffered_ + buffer_.size()) return true;
  if (offset + size > end_) return false;
  buffer_.resize(std::max(size, kPiece));
  ssize_t got = -1;
  do {
    got = ::pread(descriptor_, buffer_.data(), buffer_.size(), static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  if (got < 0) read_error_ = errno;
  buffer_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  buffered_ = offset;
  return buffer_.size() >= size;
}

/// The bytes of the record at an offset, if they are whole.
std::optional<std::string> Journal::record(std::uint64_t offset) {
  if (!buffer(offset, kFrame)) return {};
  const auto [length, sum] = frame_of({buffer_.data() + (offset - buffered_), kFrame});
  if (length > kLongest || !buffer(offset, kFrame + length)) return {};
  std::string bytes = buffer_.substr(offset - buffered_ + kFrame, length);
  if (checksum(bytes) != sum) return {};
  return bytes;
}

/// Whether what is at an offset is a record whose writing was not finished: nothing else ends before its end.
bool Journal::is_torn(std::uint64_t offset) {
  if (!buffer(offset, kFrame)) return true;
  const auto [length, sum] = frame_of({buffer_.data() + (offset - buffered_), kFrame});
  const std::uint64_t rest = end_ - offset - kFrame;
  if (length > kLongest || length <= rest) return false;
  // All its bytes are there: its length is damaged.
  return !buffer(offset, kFrame + rest) || checksum(buffer_.substr(offset - buffered_ + kFrame, rest)) != sum;
}

/// The outcome at an offset, if it is whole and of this sweep; `end` is where it ends.
std::optional<Outcome> Journal::outcome(std::uint64_t offset, std::uint64_t* end) {
  const std::optional<std::string> bytes = record(offset);
  std::optional<Outcome> found = bytes ? decode(*bytes) : std::nullopt;
  if (!found || found->number >= cases()) return {};
  if (end) *end = offset + kFrame + bytes->size();
  return found;
}

/// Where the first whole record from an offset on begins, of a case that is not there yet; end_ if there is none. Most
/// bytes are seen not to begin one by the case's number.
std::uint64_t Journal::next_whole(std::uint64_t offset) {
  for (std::uint64_t number = 0; buffer(offset, kFrame + sizeof number); ++offset) {
    std::string_view of_case(buffer_.data() + (offset - buffered_) + kFrame, sizeof number);
    take(of_case, number);
    if (number >= cases() || index_.get(number) != 0) continue;
    if (const auto found = outcome(offset); found && found->number == number) return offset;
  }
  return end_;
}

Result<std::monostate> Journal::append(const Outcome& outcome) {
  const std::string bytes = framed(encode(outcome));
  if (!write_all(descriptor_, bytes, end_) || !index_.set(outcome.number, end_)) return cannot_write();
  end_ += bytes.size();
  ++finished_;
  failed_ += outcome.status != 0;
  return std::monostate{};
}

void Journal::to_disk() { ::fdatasync(descriptor_); }

std::optional<Outcome> Journal::read(std::uint64_t number) {
  const std::uint64_t offset = index_.get(number);
  return offset != 0 ? outcome(offset) : std::nullopt;
}

Result<std::monostate> Journal::visit(const std::function<void(const Outcome&)>& use, const Progress& progress) {
  constexpr std::uint64_t kPerReport = 4096;
  auto gap = gaps_.begin();
  std::uint64_t seen = 0;
  for (std::uint64_t at = begin_, next = 0; at < end_; at = next) {
    if (gap != gaps_.end() && gap->first == at) {
      next = gap++->second;
      continue;
    }
    const std::optional<Outcome> found = outcome(at, &next);
    if (!found) return Failure::bad_input({path_, 0, 0}, "cannot be read again: the file has changed");
    use(*found);
    if (seen++ % kPerReport == 0 && progress && !progress(static_cast<double>(at) / static_cast<double>(end_))) {
      return Failure::interrupted();
    }
  }
  return std::monostate{};
}

void Journal::remove() { ::unlink(path_.c_str()); }

}  // namespace kinegraph::ensemble
