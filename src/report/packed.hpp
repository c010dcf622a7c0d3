#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace kinegraph::report {

/// Bytes as text, by RFC 4648 with padding.
std::string base64(std::span<const std::uint8_t> bytes);

/// {"f32": …}: single precision, little endian. Numbers that are not finite become NaN, which the page leaves out.
nlohmann::ordered_json packed(std::span<const double> values);

/// {"i16": …, "scale": s}: whole multiples of s = max|x| / 32767, for poses.
nlohmann::ordered_json quantised(std::span<const double> values);

/// Times: {"from": a, "step": h, "count": n} where they are even to 1e-6 of a step, else {"f64": …}.
nlohmann::ordered_json packed_times(std::span<const double> times);

}  // namespace kinegraph::report
