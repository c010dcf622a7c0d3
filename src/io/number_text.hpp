#pragma once

#include <string>
#include <string_view>

namespace kinegraph {

enum class NumberFault { none, not_a_number, not_finite, too_large };

/// The whole text as a number: "-1.5e-3", "+2". NaN and infinities are faults, and so is what is larger than
/// kLargest; what is too small for a double is rounded to it.
NumberFault read_number(std::string_view text, double& value);

/// The same where infinity says that there is none, as of limits: what is larger than kLargest is infinite ("1.79769e+308"
/// is what Gazebo writes for it). NaN stays a fault.
NumberFault read_bound(std::string_view text, double& value);

/// What was expected where there is this fault: "number", "finite number", "number from -1e+50 to 1e+50".
std::string expected_number(NumberFault fault);

/// How finely a column of numbers was printed.
///
/// A table printed with D significant digits, or N decimals, rounds its largest entry most: by half a unit of that
/// one's last digit. Programs that drop trailing zeros ("0.5" among "0.4794255") hide digits, so the largest D and the
/// largest magnitude of the column count, not each number alone. A column of whole numbers only is taken as exact.
class DigitStatistics {
 public:
  void add(std::string_view number);
  double resolution() const;

 private:
  bool whole_ = true;
  int coarsest_last_ = -1000;  ///< power of ten of the last digit, the largest seen
  int digits_ = 0;             ///< significant digits, the most seen
  int first_ = -1000;          ///< power of ten of the first digit, the largest seen
};

}  // namespace kinegraph
