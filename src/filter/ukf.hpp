#pragma once

#include "kinegraph/filter/kalman.hpp"

namespace kinegraph::filter {

/// The unscented Kalman filter on a manifold: 2n + 1 states, the mean and c = √(α² (n + κ)) standard deviations to both
/// sides along each column of S, go through the motion and the sensors; see ukf.cpp for how mean and covariance come
/// out of them. Process noise is added from the linearised motion of the mean. Where one of the states has no image
/// (the machine does not close there), that step or reading is taken as in the extended filter.
class Ukf final : public Kalman {
 public:
  static Result<std::unique_ptr<Ukf>> make(std::unique_ptr<StateSpace> space, const Belief& start,
                                           const KalmanOptions& options = {});

 private:
  using Kalman::Kalman;
  bool step(double h) override;
  bool expect(const Measurement& measurement, const VectorXd& delta, LinearReading& reading) override;
  bool spread(int column, double sign);
  bool move_points(double h);
  bool see_points(const Measurement& measurement, const double* centre);

  double c_ = 1, extra_ = 0;  // spread; weight of the mean's own second-order part, β − α²
  MatrixXd F_, Q_, noise_, work_;
  MatrixXd slopes_, bends_;  // n × n each, of the motion: by column of S
  MatrixXd seen_, bent_;     // n × kMostRows, of a sensor
  VectorXd offset_, point_, image_, mean_;
};

}  // namespace kinegraph::filter
