#include "kinegraph/ensemble/outcome.hpp"

namespace kinegraph::ensemble {
namespace {

void put_text(std::string& bytes, const std::string& text) {
  put(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}

bool take_text(std::string_view& bytes, std::string& text) {
  std::uint32_t size = 0;
  if (!take(bytes, size) || bytes.size() < size) return false;
  text = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

bool take_cell(std::string_view& bytes, Cell& cell) {
  if (!take(bytes, cell.kind)) return false;
  switch (cell.kind) {
    case Cell::Kind::nothing:
      return true;
    case Cell::Kind::number:
      return take(bytes, cell.number);
    case Cell::Kind::text:
      return take_text(bytes, cell.text);
  }
  return false;
}

}  // namespace

std::string encode(const Outcome& outcome) {
  std::string bytes;
  put(bytes, outcome.number);
  put(bytes, static_cast<std::int32_t>(outcome.status));
  put_text(bytes, outcome.error);
  put(bytes, outcome.warnings);
  put_text(bytes, outcome.warning);
  put(bytes, static_cast<std::uint32_t>(outcome.cells.size()));
  for (const Cell& cell : outcome.cells) {
    put(bytes, cell.kind);
    if (cell.kind == Cell::Kind::number) put(bytes, cell.number);
    if (cell.kind == Cell::Kind::text) put_text(bytes, cell.text);
  }
  return bytes;
}

std::optional<Outcome> decode(std::string_view bytes) {
  Outcome outcome;
  std::int32_t status = 0;
  std::uint32_t cells = 0;
  if (!take(bytes, outcome.number) || !take(bytes, status) || !take_text(bytes, outcome.error) ||
      !take(bytes, outcome.warnings) || !take_text(bytes, outcome.warning) || !take(bytes, cells) ||
      cells > bytes.size()) {
    return {};
  }
  outcome.status = status;
  outcome.cells.resize(cells);
  for (Cell& cell : outcome.cells) {
    if (!take_cell(bytes, cell)) return {};
  }
  if (!bytes.empty()) return {};
  return outcome;
}

}  // namespace kinegraph::ensemble
