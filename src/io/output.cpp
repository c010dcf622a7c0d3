#include "kinegraph/io/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "kinegraph/io/files_read.hpp"

namespace kinegraph {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;

// A signal handler may not walk containers, so the names of unfinished files also stand in a fixed table of C strings.
std::array<std::atomic<const char*>, 16> unfinished{};

int remember(const char* path) {
  for (std::size_t i = 0; i < unfinished.size(); ++i) {
    const char* expected = nullptr;
    if (unfinished[i].compare_exchange_strong(expected, path)) return static_cast<int>(i);
  }
  return -1;
}

Failure cannot_write_because(const std::string& path, const std::string& why) {
  return Failure::bad_input(
      fmt::format("cannot write {}: {}", path == "-" ? "standard output" : "'" + path + "'", why));
}

/// The permissions that a newly created file would have, or those of the file to be replaced.
mode_t mode_for(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0) return info.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/// A rename is on the disk only when its folder is. Not every file system can do that: an error here is none of ours.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

std::filesystem::path folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? "." : folder;
}

/// Where the bytes go in the end: the target of a symbolic link, also of one that points to nothing yet.
std::string follow_links(const std::string& path) {
  std::filesystem::path at = path;
  std::error_code error;
  for (int depth = 0; depth < 40 && std::filesystem::is_symlink(std::filesystem::symlink_status(at, error)); ++depth) {
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error) break;
    at = target.is_absolute() ? target : at.parent_path() / target;
  }
  return at.string();
}

constexpr const char* kRead = "the command reads it";

/// Opens a pipe, a device or a socket to write. A pipe that nobody reads from would keep us waiting, Ctrl-C or not: its
/// reader, which may just be starting, is given two seconds. Fails with ENXIO then, and so do some others at once.
int open_device(const char* path, bool pipe) {
  constexpr int kTries = 200;
  constexpr timespec kPause = {0, 10'000'000};
  int descriptor = -1;
  for (int i = 0; i < kTries; ++i) {
    descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0 || errno != ENXIO || !pipe) break;
    nanosleep(&kPause, nullptr);
    errno = ENXIO;
  }
  if (descriptor >= 0) fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  return descriptor;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile file;
  file.path_ = path;
  file.buffer_.reserve(kBuffer);
  if (path == "-") {
    file.descriptor_ = STDOUT_FILENO;
    return file;
  }
  if (path.empty()) return Failure::bad_input("cannot write '': the file name is empty");

  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status) || path.back() == '/') return cannot_write_because(path, "it is a folder");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    const bool pipe = std::filesystem::is_fifo(status);
    file.descriptor_ = open_device(path.c_str(), pipe);
    if (file.descriptor_ < 0 && errno == ENXIO && pipe) return cannot_write_because(path, "nobody reads from it");
    if (file.descriptor_ < 0) return cannot_write_because(path, system_message(errno));
    return file;
  }
  file.final_ = follow_links(path);

  if (FilesRead::have(file.final_)) return cannot_write_because(path, kRead);

  const std::filesystem::path folder = folder_of(file.final_);
  if (!std::filesystem::exists(folder, ignored)) {
    return cannot_write_because(path, fmt::format("there is no folder '{}'", folder.string()));
  }
  file.temporary_ =
      (folder / fmt::format(".{}.XXXXXX", std::filesystem::path(file.final_).filename().string())).string();
  file.descriptor_ = mkostemp(file.temporary_.data(), O_CLOEXEC);
  if (file.descriptor_ < 0) {
    const int error = errno;
    file.temporary_.clear();
    return cannot_write_because(path, system_message(error));
  }
  fchmod(file.descriptor_, mode_for(file.final_));
  file.slot_ = remember(file.temporary_.c_str());
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      final_(std::move(other.final_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      error_(other.error_),
      slot_(std::exchange(other.slot_, -1)),
      buffer_(std::move(other.buffer_)) {
  other.temporary_.clear();
  if (slot_ >= 0) unfinished[slot_] = temporary_.c_str();
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
  close_and_forget();
}

void OutputFile::close_and_forget() {
  if (slot_ >= 0) unfinished[slot_] = nullptr;
  slot_ = -1;
  if (descriptor_ > STDERR_FILENO && close(descriptor_) != 0 && error_ == 0) error_ = errno;
  descriptor_ = -1;
}

void OutputFile::write(std::string_view text) {
  if (error_ != 0) return;
  buffer_.append(text);
  if (buffer_.size() >= kBuffer) flush();
}

void OutputFile::flush() {
  const char* from = buffer_.data();
  std::size_t left = buffer_.size();
  while (left > 0 && error_ == 0) {
    const ssize_t written = ::write(descriptor_, from, left);
    if (written >= 0) {
      from += written;
      left -= static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

Failure OutputFile::cannot_write() const { return cannot_write_because(path_, system_message(error_)); }

Result<std::monostate> OutputFile::finish() {
  if (error_ == 0) flush();
  if (temporary_.empty()) {
    close_and_forget();
    if (error_ != 0) return cannot_write();
    return std::monostate{};
  }
  if (FilesRead::have(final_)) return cannot_write_because(path_, kRead);
  if (error_ == 0 && fsync(descriptor_) != 0) error_ = errno;
  close_and_forget();
  if (error_ == 0 && rename(temporary_.c_str(), final_.c_str()) != 0) error_ = errno;
  if (error_ != 0) return cannot_write();  // the destructor removes the temporary file
  temporary_.clear();
  sync_folder(folder_of(final_));
  return std::monostate{};
}

Result<std::monostate> write_file(const std::string& path, std::string_view text) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.failure();
  file->write(text);
  return file->finish();
}

std::string system_message(int error) {
  std::string text = error == ENOENT ? "no such file" : std::strerror(error);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

void remove_unfinished_outputs() noexcept {
  for (const auto& entry : unfinished) {
    if (const char* path = entry.load()) unlink(path);
  }
}

}  // namespace kinegraph
