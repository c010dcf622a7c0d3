#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kinegraph/identify/run.hpp"

namespace kinegraph::identify {

/// What drives a machine over its steps: columns of a table, and laws of the model where there is none.
class RunInputs {
 public:
  RunInputs(const Model& model, const maximal::Mechanism& mechanism);

  const std::vector<std::string>& columns() const { return columns_; }  ///< all that it may be given
  bool takes(const std::string& column) const;
  /// Means over the steps between `times`.
  std::vector<step::StepInput> over(const Trajectory& table, const std::vector<double>& times) const;

 private:
  /// One number of a StepInput.
  struct Channel {
    std::string column;
    enum class What { torque, control, force, moment } what = What::torque;
    int index = 0, axis = 0;
    Law law;              ///< where no column is given
    std::string instead;  ///< a column that makes the law void, too
  };
  void add(Channel channel);
  static double& place(step::StepInput& input, const Channel& channel);

  const maximal::Mechanism& mechanism_;
  std::vector<Channel> channels_;
  std::vector<std::string> columns_;
};

/// The mean over each step of straight lines between samples, held beyond the ends; NaN: no sample.
std::vector<double> means_over(const std::vector<double>& t, const std::vector<double>& values,
                               const std::vector<double>& times);

}  // namespace kinegraph::identify
