#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/io/output.hpp"

namespace kinegraph::ensemble {

struct Column {
  enum class Kind : std::uint8_t { whole, number, text };

  std::string name;
  Kind kind = Kind::number;
};

/// Nothing, a whole number, a number or a text. A text in a column of numbers is a number as it was written.
using Field = std::variant<std::monostate, std::uint64_t, double, std::string>;

/// Where the rows of a table go, one after the other. An error is kept and told by finish().
class TableFile {
 public:
  virtual ~TableFile() = default;
  virtual void add(const std::vector<Field>& row) = 0;
  virtual bool failed() const = 0;
  [[nodiscard]] virtual Result<std::monostate> finish() = 0;
};

/// One line per row; fields are quoted where they have to be. `file` must stay.
std::unique_ptr<TableFile> csv_table(OutputFile& file, const std::vector<Column>& columns);

}  // namespace kinegraph::ensemble
