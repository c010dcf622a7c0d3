#include "memory.hpp"

#include <algorithm>

#include "kinegraph/base/names.hpp"

namespace kinegraph::cli {
namespace {

bool in_memory(const Embedding* embedding, const std::string& name) {
  return embedding && name.size() > 2 && name.front() == '<' && name.back() == '>';
}

}  // namespace

Result<Trajectory> read_table(const Embedding* embedding, const std::string& path, const CsvOptions& options) {
  if (!in_memory(embedding, path)) return read_csv(path, options);
  const auto found = embedding->given.find(path);
  if (found == embedding->given.end()) return Failure::bad_input({path, 0, 0}, "there is no such table in memory");
  Result<Trajectory> table = parse_csv(found->second, path, options);
  if (!table) return table;
  // Numbers of a program are what they are, however few digits tell them.
  std::fill(table->resolution.begin(), table->resolution.end(), 0.0);
  table->time_resolution = 0;
  return table;
}

Result<SideFile> SideFile::create(Embedding* embedding, const std::string& path) {
  SideFile made;
  made.name_ = path;
  if (in_memory(embedding, path)) {
    made.embedding_ = embedding;
    return made;
  }
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.failure();
  made.file_.emplace(*std::move(file));
  return made;
}

Done SideFile::write(const std::string& text) {
  if (embedding_) {
    embedding_->texts[name_] = text;
    return std::monostate{};
  }
  file_->write(text);
  return file_->finish();
}

Done SideFile::write(const Trajectory& table, const Progress& progress, bool gaps) {
  if (!embedding_) return write_csv(*file_, table, progress, gaps);
  embedding_->tables[name_] = table;
  return std::monostate{};
}

}  // namespace kinegraph::cli
