#pragma once

#include <string_view>

namespace kinegraph {

enum class NumberFault { none, not_a_number, not_finite };

/// The whole text as a number: "-1.5e-3", "+2". NaN and infinities are faults, and so is what is larger than
/// kLargest; what is too small for a double is rounded to it.
NumberFault read_number(std::string_view text, double& value);

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
