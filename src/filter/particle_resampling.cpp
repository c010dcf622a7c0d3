#include "kinegraph/filter/particle_resampling.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::filter {

// The points (k + u) Σw / count, k = 0 …, are read off the running sum.
void systematic(const double* w, int n, double u, int count, int* parent) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += w[i];
  const double scale = count / sum;
  double reached = 0;
  int k = 0, last = 0;
  for (int i = 0; i < n; ++i) {
    if (w[i] <= 0) continue;
    reached += w[i];
    last = i;
    const double end = reached * scale - u;
    while (k < count && k < end) parent[k++] = i;
  }
  while (k < count) parent[k++] = last;  // rounding of the sum
}

double effective_size(const double* w, int n) {
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) sum += w[i], squares += w[i] * w[i];
  return squares > 0 ? sum * sum / squares : 0;
}

void allocate(const std::vector<double>& probability, int total, int least, std::vector<int>& counts) {
  const int n = static_cast<int>(probability.size());
  counts.assign(n, 0);
  int alive = 0;
  for (double p : probability) alive += p > 0;
  if (alive == 0) return;
  least = std::min(least, total / alive);

  // Branches below their least share get that; the rest share what is left, until none falls below.
  int left = total;
  double mass = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (int b = 0; b < n; ++b) {
      if (probability[b] <= 0 || counts[b] > 0 || probability[b] / mass * left >= least) continue;
      counts[b] = least, left -= least, mass -= probability[b];
      changed = true;
    }
  }
  int given = total - left, heaviest = 0;
  for (int b = 0; b < n; ++b) {
    if (probability[b] > probability[heaviest]) heaviest = b;
    if (probability[b] <= 0 || counts[b] > 0) continue;
    counts[b] = static_cast<int>(std::floor(probability[b] / mass * left));
    given += counts[b];
  }
  counts[heaviest] += total - given;
}

}  // namespace kinegraph::filter
