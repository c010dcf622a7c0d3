#include "kinegraph/io/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "kinegraph/io/files_read.hpp"
#include "kinegraph/io/output.hpp"

namespace kinegraph::io {
namespace {

/// Reads until the end, or one byte more than allowed. The error of the system, or 0.
int read_all(int descriptor, std::size_t largest, std::string& text) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  while (text.size() <= largest) {
    const std::size_t before = text.size();
    text.resize(before + std::min(kChunk, largest + 1 - before));
    const ssize_t got = ::read(descriptor, text.data() + before, text.size() - before);
    text.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) return 0;
    if (got < 0 && errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t largest) {
  const auto cannot_read = [&](const std::string& why) {
    return Failure::bad_input({path.string(), 0, 0}, "cannot read the file: " + why);
  };
  // Without waiting: the opening of a pipe to which nobody writes would never end.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return cannot_read(errno == ENXIO ? "it is a socket or a device" : system_message(errno));
  struct stat info {};
  const bool known = fstat(descriptor, &info) == 0;
  if (known) FilesRead::add(info);
  std::string text;
  int error = known ? 0 : errno;
  if (known && S_ISREG(info.st_mode)) error = read_all(descriptor, largest, text);
  close(descriptor);
  if (known && S_ISDIR(info.st_mode)) return cannot_read("it is a directory");
  if (known && !S_ISREG(info.st_mode)) return cannot_read("it is a pipe or a device");
  if (error != 0) return cannot_read(system_message(error));
  return text;
}

}  // namespace kinegraph::io
