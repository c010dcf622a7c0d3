#pragma once

#include <string>
#include <vector>

namespace kinegraph::experiments {

/// A table on the screen, and the same as CSV in out/experiments/NAME.csv.
class Table {
 public:
  Table(std::string name, std::vector<std::string> header) : name_(std::move(name)), rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void show() const;
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }  ///< the header first

 private:
  std::string name_;
  std::vector<std::vector<std::string>> rows_;
};

/// "0.0712", "−": three digits; what is not a number is a dash.
std::string figure(double value);

double median(std::vector<double> values);  ///< NaN of none

}  // namespace kinegraph::experiments
