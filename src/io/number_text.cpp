#include "kinegraph/io/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "kinegraph/base/largest.hpp"

namespace kinegraph {

NumberFault read_number(std::string_view text, double& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return NumberFault::not_a_number;
  // from_chars does not tell too large from too small, strtod does.
  const bool out_of_range = error == std::errc::result_out_of_range;
  if (out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
  if (is_usable(value)) return NumberFault::none;
  return out_of_range || std::isfinite(value) ? NumberFault::too_large : NumberFault::not_finite;
}

NumberFault read_bound(std::string_view text, double& value) {
  const NumberFault fault = read_number(text, value);
  const bool infinite = fault == NumberFault::too_large || (fault == NumberFault::not_finite && !std::isnan(value));
  if (!infinite) return fault;
  value = std::copysign(std::numeric_limits<double>::infinity(), value);
  return NumberFault::none;
}

std::string expected_number(NumberFault fault) {
  if (fault == NumberFault::too_large) return "number " + usable_range();
  return fault == NumberFault::not_finite ? "finite number" : "number";
}

void DigitStatistics::add(std::string_view number) {
  int decimals = 0, significant = 0, exponent = 0;
  bool point = false, whole = true;
  for (std::size_t i = 0; i < number.size(); ++i) {
    const char c = number[i];
    if (c >= '0' && c <= '9') {
      decimals += point;
      significant += significant > 0 || c != '0';
    } else if (c == '.') {
      point = true;
      whole = false;
    } else if (c == 'e' || c == 'E') {
      whole = false;
      const std::size_t digits = i + 1 + (i + 1 < number.size() && number[i + 1] == '+');
      std::from_chars(number.data() + digits, number.data() + number.size(), exponent);
      break;
    }
  }
  if (whole) exponent = 0;
  const int last = exponent - decimals;
  whole_ = whole_ && whole;
  coarsest_last_ = std::max(coarsest_last_, last);
  if (significant == 0) return;
  digits_ = std::max(digits_, significant);
  first_ = std::max(first_, last + significant - 1);
}

double DigitStatistics::resolution() const {
  if (whole_) return 0;
  const int last = digits_ > 0 ? std::min(coarsest_last_, first_ - digits_ + 1) : coarsest_last_;
  return 0.5 * std::pow(10.0, last);
}

}  // namespace kinegraph
