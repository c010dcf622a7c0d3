#include "kinegraph/filter/particle_resampling.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::filter {

namespace {

/// Items first … last − 1, before which the running sum is `reached`: the points from k on, below `end`.
void take_points(const double* w, int first, int last, double reached, double scale, double u, int k, int end,
                 int* parent) {
  int taken = first;
  for (int i = first; i < last && k < end; ++i) {
    if (w[i] <= 0) continue;
    reached += w[i];
    taken = i;
    const double before = reached * scale - u;
    while (k < end && k < before) parent[k++] = i;
  }
  while (k < end) parent[k++] = taken;  // rounding of the sum
}

}  // namespace

// The points (k + u) Σw / count, k = 0 …, are read off the running sum.
void systematic(const double* w, int n, double u, int count, int* parent) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += w[i];
  take_points(w, 0, n, 0, count / sum, u, 0, count, parent);
}

void systematic(const Team& team, const double* w, int n, double u, int count, int* parent, std::vector<double>& sums) {
  const int parts = team.parts();
  sums.assign(parts + 1, 0.0);
  team.share(n, [&](int part, int first, int last) {
    double sum = 0;
    for (int i = first; i < last; ++i) sum += w[i];
    sums[part + 1] = sum;
  });
  for (int p = 0; p < parts; ++p) sums[p + 1] += sums[p];
  const double scale = count / sums[parts];
  int last_part = parts;  // that has any
  while (last_part > 1 && !(sums[last_part] > sums[last_part - 1])) --last_part;
  // the first point of a part is the first that its predecessors do not reach
  const auto point = [&](int part) {
    if (part >= last_part) return count;
    return std::clamp(static_cast<int>(std::ceil(sums[part] * scale - u)), 0, count);
  };
  team.share(n, [&](int part, int first, int last) {
    if (part < last_part) take_points(w, first, last, sums[part], scale, u, point(part), point(part + 1), parent);
  });
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
