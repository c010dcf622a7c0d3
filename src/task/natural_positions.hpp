#pragma once

#include <memory>
#include <vector>

#include "kinegraph/mechanics/natural/system.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/task/branch_follower.hpp"

namespace kinegraph::task {

/// The constraints of a planar mechanism in natural coordinates, at one time. Each row is counted in what it changes by
/// with a change of q at the start, so that areas, lengths and angles weigh alike.
class NaturalPositions final : public ClosedPositions {
 public:
  NaturalPositions(const Model& model, std::shared_ptr<const natural::System> system, const Eigen::VectorXd& start);
  int changes() const override { return static_cast<int>(scale_.size()); }
  double scale(int column) const override { return scale_[column]; }
  bool angle(int column) const override { return angle_[column]; }
  double digits() const override { return 1e-9; }
  void evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& phi, Eigen::MatrixXd* jacobian) override;
  void retract(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& out) const override;
  void local(const Eigen::VectorXd& q, const Eigen::VectorXd& other, Eigen::VectorXd& delta) const override;
  void curvature(const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::VectorXd& gamma) override;

  void set_time(double t) { t_ = t; }
  /// All coordinates but these.
  std::vector<int> others(const std::vector<int>& leading) const;
  std::vector<std::string> names() const;

 private:
  std::shared_ptr<const natural::System> system_;
  double t_ = 0;
  std::vector<double> scale_, row_;
  std::vector<bool> angle_;
  Eigen::VectorXd values_;
};

}  // namespace kinegraph::task
