#include "kinegraph/ensemble/case_index.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "kinegraph/io/output.hpp"

namespace kinegraph::ensemble {
namespace {

constexpr std::size_t kWindow = 4096;  // entries read at once

}  // namespace

Result<CaseIndex> CaseIndex::create(const std::string& beside, std::uint64_t cases) {
  const std::filesystem::path parent = std::filesystem::path(beside).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {  // not every file system has files without a name
    std::string name = folder + "/.kinegraph-XXXXXX";
    descriptor = ::mkstemp(name.data());
    if (descriptor >= 0) ::unlink(name.c_str());
  }
  if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(cases * sizeof(std::uint64_t))) != 0) {
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    return Failure::bad_input({folder, 0, 0}, "cannot write there: " + system_message(error));
  }
  return CaseIndex(descriptor, cases);
}

CaseIndex::CaseIndex(CaseIndex&& other) noexcept
    : descriptor_(other.descriptor_), cases_(other.cases_), first_(other.first_), window_(std::move(other.window_)) {
  other.descriptor_ = -1;
}

CaseIndex::~CaseIndex() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool CaseIndex::set(std::uint64_t number, std::uint64_t offset) {
  if (number >= first_ && number - first_ < window_.size()) window_[number - first_] = offset;
  return ::pwrite(descriptor_, &offset, sizeof(offset), static_cast<off_t>(number * sizeof(offset))) == sizeof(offset);
}

void CaseIndex::load(std::uint64_t number) {
  if (number >= first_ && number - first_ < window_.size()) return;
  first_ = number;
  window_.assign(std::min<std::uint64_t>(kWindow, cases_ - number), 0);
  const std::size_t bytes = window_.size() * sizeof(std::uint64_t);
  std::size_t read = 0;
  while (read < bytes) {
    const ssize_t got = ::pread(descriptor_, reinterpret_cast<char*>(window_.data()) + read, bytes - read,
                                static_cast<off_t>(number * sizeof(std::uint64_t) + read));
    if (got <= 0) break;
    read += static_cast<std::size_t>(got);
  }
}

std::uint64_t CaseIndex::get(std::uint64_t number) {
  load(number);
  return window_[number - first_];
}

std::uint64_t CaseIndex::next_missing(std::uint64_t number) {
  while (number < cases_ && get(number) != 0) ++number;
  return number;
}

}  // namespace kinegraph::ensemble
