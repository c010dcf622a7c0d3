#include "kinegraph/io/files_read.hpp"

namespace kinegraph {

thread_local FilesRead* FilesRead::current_ = nullptr;

void FilesRead::add(const struct stat& info) {
  if (current_ && S_ISREG(info.st_mode)) current_->files_.emplace(info.st_dev, info.st_ino);
}

bool FilesRead::have(const std::string& path) {
  struct stat info {};
  return current_ && stat(path.c_str(), &info) == 0 && current_->files_.contains({info.st_dev, info.st_ino});
}

}  // namespace kinegraph
