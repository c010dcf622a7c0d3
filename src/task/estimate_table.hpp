#pragma once

#include <string>
#include <vector>

#include "kinegraph/filter/estimator.hpp"
#include "kinegraph/task/machine.hpp"

namespace kinegraph::task {

/// The series that what is known of a machine is written as. Of every coordinate, point or joint q, v and a, named as
/// `simulate` names them; sensors' offsets and unknown forces; readings to expect of every sensor, whether the log has
/// it or not. Each with its standard deviation (`theta.q.sd`), to first order in the covariance:
///
///     sd² = g P gᵀ,    g: how the number changes along the directions of the chart
class EstimateTable {
 public:
  struct Options {
    bool deviations = true;  ///< false: the numbers alone, of a motion that is known; then without offsets
    bool sensors = true;
    int branches = 1;  ///< more than one: their probabilities follow, branch.0 …
  };
  EstimateTable(Machine& machine, const Options& options);

  const std::vector<std::string>& names() const { return names_; }
  /// One row, names().size() numbers. False: the machine has no accelerations there. Without deviations P may be empty.
  bool row(const filter::Belief& belief, const std::vector<double>& branches, double* out);
  /// The machine at the state of the last row.
  const sensor::Instant& instant() const { return instant_; }

 private:
  enum class Of { position, rotation, translation, velocity, acceleration };
  struct Series {
    Of of = Of::position;
    int index = 0;   ///< of q, v or a
    int column = 0;  ///< positions: the first number of v that moves it
    int first = 0;   ///< rotations (a number of a quaternion), translations: the first number of the joint in q
  };
  struct Channel {
    int sensor = 0, row = 0;
  };
  void name_planar();
  void name_joints();
  void name_sensors();
  void add(const std::string& name);
  Eigen::RowVectorXd direction(const Series& series) const;

  Machine& machine_;
  Options options_;
  std::vector<std::string> names_;
  std::vector<Series> series_;
  std::vector<Channel> channels_;
  int first_extra_ = 0;
  sensor::Instant instant_;
  Eigen::MatrixXd moving_, H_;
};

}  // namespace kinegraph::task
