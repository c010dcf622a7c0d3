#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kinegraph::ensemble {

/// One value of a table.
struct Cell {
  enum class Kind : std::uint8_t { nothing, number, text };

  Kind kind = Kind::nothing;
  double number = 0;
  std::string text;

  static Cell of(double number) { return {Kind::number, number, {}}; }
  static Cell of(std::string text) { return {Kind::text, 0, std::move(text)}; }
  bool operator==(const Cell&) const = default;
};

/// What a case gave: the asked outputs, or why there are none.
struct Outcome {
  std::uint64_t number = 0;  ///< of the case
  int status = 0;            ///< as the exit status of the command would be
  std::string error;         ///< one line; empty if it went well
  std::uint32_t warnings = 0;
  std::string warning;      ///< the first of them
  std::vector<Cell> cells;  ///< one per output

  bool operator==(const Outcome&) const = default;
};

/// As bytes, for the journal and for other machines of the same kind.
std::string encode(const Outcome& outcome);
std::optional<Outcome> decode(std::string_view bytes);

/// Bytes of plain numbers, one after the other.
template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}
/// Takes them off the front; false if there are not enough.
template <class T>
bool take(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof(T)) return false;
  bytes.copy(reinterpret_cast<char*>(&value), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return true;
}

}  // namespace kinegraph::ensemble
