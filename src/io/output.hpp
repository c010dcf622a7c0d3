#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "kinegraph/base/result.hpp"

namespace kinegraph {

/// A file that appears whole or not at all: it is written beside its final name, brought to the disk, then renamed.
/// What stood under that name before stays until then. "-" is standard output; pipes and devices are written directly.
class OutputFile {
 public:
  /// Fails at once if the place cannot be written, so that no long work is done in vain.
  static Result<OutputFile> create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  ///< without finish(): nothing is left

  /// An error is kept and told by finish().
  void write(std::string_view text);
  [[nodiscard]] Result<std::monostate> finish();

  bool failed() const { return error_ != 0; }
  const std::string& path() const { return path_; }
  /// Where a library that opens files by name may write instead of write(); empty where there is no such place
  /// (standard output, pipes, devices). It must have closed the file before finish().
  const std::string& place() const { return temporary_; }

 private:
  OutputFile() = default;
  void flush();
  void close_and_forget();
  Failure cannot_write() const;

  std::string path_;       ///< as the user gave it
  std::string final_;      ///< symbolic links followed
  std::string temporary_;  ///< empty where the file is written directly
  int descriptor_ = -1;
  int error_ = 0;  ///< the first errno
  int slot_ = -1;  ///< in the list of unfinished files
  std::string buffer_;
};

[[nodiscard]] Result<std::monostate> write_file(const std::string& path, std::string_view text);

/// What the system says of an errno, in the middle of a sentence: "permission denied".
std::string system_message(int error);

/// Removes the temporary files of all unfinished outputs. Safe in a signal handler.
void remove_unfinished_outputs() noexcept;

}  // namespace kinegraph
