#pragma once

#include <vector>

namespace kinegraph {

/// Whether n numbers in the order of time are independent of each other, by their correlations rₖ with those k = 1, 2,
/// … before:
///
///     Q = n (n + 2) Σ rₖ² / (n − k),     χ² of as many degrees as there are rₖ, if so      (Ljung, Box 1978)
struct LjungBox {
  double statistic = 0;
  double p_value = 1;  ///< the probability of that or more
};
LjungBox ljung_box(const std::vector<double>& correlation, long n);

}  // namespace kinegraph
