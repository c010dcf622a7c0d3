#pragma once

#include <functional>
#include <optional>
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
  /// Of a column that drives a freedom: which one, and whether by the motor's control. Others: none.
  struct Motor {
    int freedom = 0;
    bool control = false;
  };
  std::optional<Motor> motor(const std::string& column) const;
  /// Of the steps between `times`. A step's velocity is its mean, so that forces at a knot lead from the middle of the
  /// step before to the middle of the one after: their means over that time. `held`: columns keep each value until the
  /// next, as commands of a digital controller do; else they are joined by straight lines. `without`: columns that
  /// count as zero.
  std::vector<step::StepInput> over(const Trajectory& table, const std::vector<double>& times, bool held = false,
                                    const std::vector<std::string>& without = {}) const;

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

/// The mean between successive `times` of straight lines between samples, or of held samples; held beyond the ends;
/// NaN: no sample.
std::vector<double> means_over(const std::vector<double>& t, const std::vector<double>& values,
                               const std::vector<double>& times, bool held = false);

}  // namespace kinegraph::identify
