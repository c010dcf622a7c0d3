#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/task/spatial_motion.hpp"

namespace kinegraph::task {

/// The dynamics of one robot for whatever is known: a plan for each set of known joints, made when it is first asked
/// for.
class SpatialSolver {
 public:
  /// `ordering` as screw_order() names them; empty or "best": the best for what is known.
  /// `planar_loops`: see build::screw_problem().
  SpatialSolver(std::shared_ptr<const screw::Tree> tree, std::string ordering, bool planar_loops)
      : tree_(std::move(tree)), ordering_(std::move(ordering)), planar_loops_(planar_loops) {}

  Result<build::Dynamics*> plan(const std::vector<build::Given>& given);

  /// One sample: known numbers of a and tau are read, unknown ones written. No answer: says when and why; so it is
  /// where known numbers contradict each other.
  Result<build::Dynamics::Outcome> solve(build::Dynamics& dynamics, const SpatialMotion& motion, double t,
                                         Eigen::VectorXd& a, Eigen::VectorXd& tau) const;

  int plans() const { return static_cast<int>(plans_.size()); }

 private:
  std::shared_ptr<const screw::Tree> tree_;
  std::string ordering_;
  bool planar_loops_;
  std::map<std::vector<build::Given>, build::Dynamics> plans_;
};

}  // namespace kinegraph::task
