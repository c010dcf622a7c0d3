#pragma once

#include <string>
#include <vector>

namespace kinegraph::report {

struct Curve {
  std::string label;
  std::vector<double> x, y;
  bool dashed = false;
};

/// What lies between two curves, shaded: a confidence interval. It has the colour of the curve of the same number.
struct Band {
  std::vector<double> x, low, high;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
  bool equal_scales = false;  ///< one metre is as long on both axes: for paths
  std::vector<Band> bands = {};
  bool log_x = false, log_y = false;  ///< for numbers above zero: others are left out
};

/// Round numbers that cover a range with about `count` steps: 1, 2 or 5 times a power of ten apart.
std::vector<double> ticks(double low, double high, int count);

/// A picture of its own: no script, no font file, readable on paper and on a screen.
std::string svg(const Plot& plot);

}  // namespace kinegraph::report
