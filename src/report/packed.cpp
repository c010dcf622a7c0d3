#include "kinegraph/report/packed.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace kinegraph::report {
namespace {

/// The bytes of a number, the lowest first, whatever the machine's own order.
template <class Word>
void append(std::vector<std::uint8_t>& bytes, Word word) {
  for (std::size_t i = 0; i < sizeof(Word); ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i) & 0xff));
}

}  // namespace

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const std::uint32_t three = static_cast<std::uint32_t>(bytes[i]) << 16 |
                                (left > 1 ? static_cast<std::uint32_t>(bytes[i + 1]) << 8 : 0) |
                                (left > 2 ? static_cast<std::uint32_t>(bytes[i + 2]) : 0);
    text += kDigits[three >> 18 & 63];
    text += kDigits[three >> 12 & 63];
    text += left > 1 ? kDigits[three >> 6 & 63] : '=';
    text += left > 2 ? kDigits[three & 63] : '=';
  }
  return text;
}

nlohmann::ordered_json packed(std::span<const double> values) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(4 * values.size());
  for (const double value : values) {
    const bool finite = std::isfinite(value) && std::abs(value) <= std::numeric_limits<float>::max();
    append(bytes,
           std::bit_cast<std::uint32_t>(finite ? static_cast<float>(value) : std::numeric_limits<float>::quiet_NaN()));
  }
  return {{"f32", base64(bytes)}};
}

nlohmann::ordered_json quantised(std::span<const double> values) {
  constexpr double kMost = 32767;
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  const double scale = largest > 0 ? largest / kMost : 1;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(2 * values.size());
  for (const double value : values) {
    const auto step = static_cast<std::int16_t>(std::isfinite(value) ? std::lround(value / scale) : 0);
    append(bytes, static_cast<std::uint16_t>(step));
  }
  return {{"i16", base64(bytes)}, {"scale", scale}};
}

nlohmann::ordered_json packed_times(std::span<const double> times) {
  const std::size_t n = times.size();
  const double step = n > 1 ? (times[n - 1] - times[0]) / static_cast<double>(n - 1) : 0;
  bool even = true;
  for (std::size_t i = 0; i < n && even; ++i) {
    even = std::abs(times[i] - (times[0] + step * static_cast<double>(i))) <= 1e-6 * step;
  }
  if (even) return {{"from", n > 0 ? times[0] : 0.0}, {"step", step}, {"count", n}};
  std::vector<std::uint8_t> bytes;
  bytes.reserve(8 * n);
  for (const double t : times) append(bytes, std::bit_cast<std::uint64_t>(t));
  return {{"f64", base64(bytes)}};
}

}  // namespace kinegraph::report
