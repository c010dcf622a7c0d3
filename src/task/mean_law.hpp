#pragma once

#include <vector>

#include "kinegraph/expr/law.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

/// A function of time by its means over steps: of a recording exactly (straight lines between samples, the first and
/// last value held beyond its ends), of a law by three points of Gauss.
class MeanLaw {
 public:
  explicit MeanLaw(Law law) : law_(std::move(law)) {}
  /// `factor` times a series of a table.
  MeanLaw(const Trajectory& table, int series, double factor = 1);

  double operator()(double t) const;
  double mean(double from, double to) const;

 private:
  double integral(double t) const;  // of the recording, from its first sample on

  Law law_;
  std::vector<double> times_, values_, integral_;
};

}  // namespace kinegraph::task
