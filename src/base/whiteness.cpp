#include "kinegraph/base/whiteness.hpp"

#include "kinegraph/base/chi_squared.hpp"

namespace kinegraph {

LjungBox ljung_box(const std::vector<double>& correlation, long n) {
  if (correlation.empty()) return {};
  double sum = 0;
  long lag = 0;
  for (const double r : correlation) sum += r * r / static_cast<double>(n - ++lag);
  const double statistic = static_cast<double>(n) * static_cast<double>(n + 2) * sum;
  return {statistic, chi_squared_above(statistic, static_cast<double>(correlation.size()))};
}

}  // namespace kinegraph
