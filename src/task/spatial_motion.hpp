#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/task/branch_march.hpp"
#include "kinegraph/task/joint_samples.hpp"
#include "kinegraph/task/spatial_columns.hpp"
#include "kinegraph/task/spatial_start.hpp"

namespace kinegraph::task {

/// A robot's motion as a table gives it, sample by sample: every joint outside of loops by its own columns; in loops as
/// many as leave nothing free, the others follow from the closure. Together with what acts from outside: loads on
/// links and the motion of the base.
class SpatialMotion {
 public:
  struct Options {
    bool accelerations = true;  ///< they are asked of the table; else they are not looked at
    double noise = 0;           ///< of recorded positions, standard deviation
  };
  static Result<SpatialMotion> make(const SpatialStart& start, const Trajectory& table, const SpatialColumns& columns,
                                    const Options& options);

  /// Goes to a sample. Samples are visited in their order: loops are closed near the last one.
  Result<std::monostate> go_to(int sample);

  const Eigen::VectorXd& q() const { return q_; }
  const Eigen::VectorXd& v() const { return v_; }
  const Eigen::VectorXd& a() const { return a_; }  ///< of all joints; zero without `accelerations`
  const screw::Surroundings& surroundings() const { return surroundings_; }
  const screw::Poses& poses() const { return poses_; }                  ///< X of all bodies on the ground
  const std::vector<screw::Vector6d>& loads() const { return loads_; }  ///< per body, in its frame
  const Eigen::Matrix3d& base_rotation() const { return R_WG_; }        ///< of the ground in the world

  int loop_freedoms() const { return loop_freedoms_; }
  const std::vector<char>& given() const { return given_; }  ///< per coordinate: the table has its position
  const std::vector<char>& held() const { return held_; }    ///< per number of v: it leads the loops
  double smoothing_max() const { return smoothing_max_; }
  /// Largest distance of the loops from being closed, over the samples so far: as the table has them (where it has all
  /// their joints), and after closing.
  const std::vector<double>& open_in_table() const { return open_in_table_; }
  double closure_max() const { return closure_max_; }
  /// The sample may be near a singular position of the loops; and the sample with the joints that follow moved as far
  /// as the last digits of the table may move them.
  bool near_singular() const { return march_ && march_->nearly(); }
  MarchState shifted() const { return march_->shifted(digits_); }
  /// Singular positions met so far, and rows that do not fit together.
  std::vector<std::string> warnings() const { return march_ ? march_->warnings() : std::vector<std::string>(); }

 private:
  SpatialMotion(const SpatialStart& start, const Trajectory& table, const SpatialColumns& columns);
  Result<std::monostate> read_joints(const Options& options);
  Result<std::monostate> choose_held(const SpatialMobility& mobility);
  Result<std::monostate> read_base();
  Result<std::monostate> close(int sample, const Eigen::VectorXd& wanted);
  void make_march(const SpatialStart& start);
  Result<std::monostate> compare_with_table(int sample, const Eigen::VectorXd& wanted, const Eigen::VectorXd& found);
  void set_surroundings(int sample);

  std::shared_ptr<const screw::Tree> tree_;
  const Trajectory* table_;
  SpatialColumns columns_;
  std::vector<JointSamples> joints_;  ///< per coordinate that is given
  JointSamples base_;
  std::vector<char> given_, held_;
  std::vector<HeldFreedom> held_list_;
  bool all_given_ = false, accelerations_ = true;
  int loop_freedoms_ = 0;
  double noise_ = 0, smoothing_max_ = 0, closure_max_ = 0;
  std::vector<double> open_in_table_;

  std::unique_ptr<TreePositions> positions_;  ///< of robots with loops
  std::unique_ptr<BranchMarch> march_;
  std::vector<int> told_;  ///< numbers of v that follow, though the table has them
  double margin_chosen_ = 0, digits_ = 0;

  Eigen::VectorXd q_, v_, a_;
  screw::Poses poses_;
  std::vector<screw::Vector6d> loads_;
  Eigen::Matrix3d R_WG_ = Eigen::Matrix3d::Identity();
  screw::Surroundings surroundings_;
};

}  // namespace kinegraph::task
