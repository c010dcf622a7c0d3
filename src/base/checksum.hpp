#pragma once

#include <cstdint>
#include <string_view>

namespace kinegraph {

/// FNV-1a with 64 bits: the same on every machine; tells torn and changed bytes from sound ones.
constexpr std::uint64_t checksum(std::string_view bytes, std::uint64_t start = 0xcbf29ce484222325) {
  for (const char c : bytes) start = (start ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return start;
}

}  // namespace kinegraph
