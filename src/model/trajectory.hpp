#pragma once

#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph {

/// A time grid and named series: input and output of every task. Names are element.quantity ("P1.x", "theta.v").
/// Row-major: one row per time, so that a simulation appends a row and a file is written row by row.
class Trajectory {
 public:
  Trajectory() = default;
  explicit Trajectory(std::vector<std::string> names) : names_(std::move(names)) {}

  const std::vector<std::string>& names() const { return names_; }
  int series() const { return static_cast<int>(names_.size()); }
  int samples() const { return static_cast<int>(times_.size()); }
  const std::vector<double>& times() const { return times_; }

  void reserve(int samples);
  /// Appends a sample and returns its row, to be filled with series() numbers.
  double* append(double t);
  double at(int sample, int series) const { return data_[static_cast<std::size_t>(sample) * names_.size() + series]; }
  double& at(int sample, int series) { return data_[static_cast<std::size_t>(sample) * names_.size() + series]; }

  const double* row(int sample) const { return data_.data() + static_cast<std::size_t>(sample) * names_.size(); }

  int find(const std::string& name) const;  ///< −1 if there is none
  std::vector<double> column(int series) const;
  /// The step of an even grid, or why it is not even (names the sample). Tolerance: 1e-6 of the step, or the times' own
  /// printed digits where those are coarser (1e-2 of the step at most).
  Result<double> even_step() const;

  /// Where the data came from, for messages: the header's and each row's line in the file (empty if computed).
  std::string file;
  int header_line = 0;
  std::vector<int> lines;          ///< per sample
  std::vector<int> columns;        ///< per series: the column (character) of its header
  std::vector<double> resolution;  ///< per series: half a unit of the last printed digit (0 if computed or exact)
  double time_resolution = 0;      ///< the same for the times

 private:
  std::vector<std::string> names_;
  std::vector<double> times_, data_;
};

}  // namespace kinegraph
