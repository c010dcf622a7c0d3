#pragma once

#include <memory>
#include <vector>

#include "kinegraph/filter/screw_curved.hpp"
#include "kinegraph/filter/screw_tangent.hpp"

namespace kinegraph::filter {

/// Positions q = q₀ ⊕ δ with closed loops, what a chart counts of δ being held. See screw_closure.cpp. Without loops
/// any δ will do. Allocates nothing after the first calls.
class ScrewClosure {
 public:
  ScrewClosure(std::shared_ptr<const screw::Tree> tree, int freedoms);

  /// From a q₀ whose loops are closed.
  bool begin(const double* q0, const Chart& chart);
  /// The same where the chart is still to be chosen: the freedoms of the tree's joints that tell the motion best.
  bool begin(const double* q0);
  const Chart& chart() const { return chart_; }
  const Eigen::MatrixXd& span() const { return span_; }  ///< N at q₀

  /// Changes δ so that q = q₀ ⊕ δ has closed loops; C δ stays. False: there is none nearby.
  bool close(Eigen::VectorXd& delta, double* q);

 private:
  bool start();  // at q₀
  bool iterate(Eigen::VectorXd& delta, double* q, double accepted);

  std::shared_ptr<const screw::Tree> tree_;
  CurvedJoints curved_;
  ScrewTangent tangent_;
  Chart chart_;
  bool at_start_ = false;  // tangent_ is that of q₀
  std::vector<double> q0_;
  screw::Poses poses_;
  Eigen::MatrixXd span_, residual_, step_, counted_, turned_;
};

}  // namespace kinegraph::filter
