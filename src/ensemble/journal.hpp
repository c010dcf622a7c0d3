#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/ensemble/case_index.hpp"
#include "kinegraph/ensemble/outcome.hpp"

namespace kinegraph::ensemble {

/// The outcomes of a sweep on disk, in the order in which they came. Records are only appended, each with its length
/// and checksum, so that whatever ends the program, all but the last one are whole; a torn end is dropped when the
/// journal is opened again, and what is damaged is passed over. Its head holds the study's content: another study
/// is refused.
///
///     "kinegraph sweep 2\n"   { length u32, checksum u64, bytes }  head, then one per case
///
/// A record without bytes says that the damage before it was told to the one who opened the journal.
class Journal {
 public:
  /// Opens or begins a journal. `content` as Study::content(), with what else decides about results. `restart`: what
  /// is there is thrown away. Locked until it is closed, where the file system has locks: two sweeps never share one.
  static Result<Journal> open(const std::string& path, const std::vector<std::string>& content, std::uint64_t cases,
                              bool restart);

  /// Whether a sweep stands there, whosever it is: a whole head. One that was torn while it was written holds nothing.
  static bool is_begun(const std::string& path);

  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  const std::string& path() const { return path_; }
  std::uint64_t cases() const { return index_.cases(); }
  std::uint64_t finished() const { return finished_; }
  std::uint64_t failed() const { return failed_; }
  std::uint64_t resumed() const { return resumed_; }  ///< how many were there when it was opened
  std::size_t damaged() const { return damaged_; }    ///< places where it could not be read, new since the last time
  /// Whether another sweep that writes it would be seen; else why not.
  const std::string& not_locked() const { return not_locked_; }
  std::uint64_t next_missing(std::uint64_t number) { return index_.next_missing(number); }

  [[nodiscard]] Result<std::monostate> append(const Outcome& outcome);
  void to_disk();  ///< what is written so far survives a power failure too
  /// The outcome of a case, if it is there.
  std::optional<Outcome> read(std::uint64_t number);
  /// All outcomes, in the order of the file.
  [[nodiscard]] Result<std::monostate> visit(const std::function<void(const Outcome&)>& use,
                                             const Progress& progress = {});
  void remove();  ///< the work is done

 private:
  Journal(std::string path, int descriptor, CaseIndex index)
      : path_(std::move(path)), descriptor_(descriptor), index_(std::move(index)) {}
  std::optional<Failure> begin(const std::vector<std::string>& content, bool restart);
  std::optional<Failure> write_head(const std::string& head);
  std::optional<Failure> load();
  bool is_torn(std::uint64_t offset);
  bool buffer(std::uint64_t offset, std::size_t size);
  std::optional<std::string> record(std::uint64_t offset);
  std::optional<Outcome> outcome(std::uint64_t offset, std::uint64_t* end = nullptr);
  std::uint64_t next_whole(std::uint64_t offset);
  Failure cannot_write() const;
  Failure cannot_read() const;

  std::string path_, not_locked_;
  int descriptor_ = -1;
  CaseIndex index_;
  std::uint64_t begin_ = 0, end_ = 0;                          // of the records
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps_;  // among them, what is none of a case
  std::size_t damaged_ = 0;
  std::uint64_t finished_ = 0, failed_ = 0, resumed_ = 0;
  std::string buffer_;  // a piece of the file, from buffered_ on
  std::uint64_t buffered_ = 0;
  int read_error_ = 0;  // errno: what could not be read is not what is not there
};

}  // namespace kinegraph::ensemble
