#pragma once

#include <sys/stat.h>

#include <set>
#include <string>
#include <utility>

namespace kinegraph {

/// The files that a command has read, whoever named them: the user, a task, or nobody (what stands beside a model is
/// read too). No output may take the place of one of them.
class FilesRead {
 public:
  /// From here on what this thread reads is kept, until the end of the object.
  FilesRead() : outer_(std::exchange(current_, this)) {}
  ~FilesRead() { current_ = outer_; }
  FilesRead(const FilesRead&) = delete;
  FilesRead& operator=(const FilesRead&) = delete;

  static void add(const struct stat& info);
  /// Whether the command on this thread has read the file of that name, by this or any other name.
  static bool have(const std::string& path);

 private:
  static thread_local FilesRead* current_;
  FilesRead* outer_;
  std::set<std::pair<dev_t, ino_t>> files_;
};

}  // namespace kinegraph
