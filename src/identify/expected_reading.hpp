#pragma once

#include <array>
#include <memory>

#include "kinegraph/identify/parameters.hpp"
#include "kinegraph/mechanics/sensor/observer.hpp"

namespace kinegraph::identify {

/// What a sensor is expected to read within a step, with its scale and bias:
///
///     q(s) = q ⊞ h [s v⁺ + ½ s (s − 1)(v⁺ − v)],   v(s) = ½ (v + v⁺) + s (v⁺ − v),   a = (v⁺ − v)/h
class ExpectedReading {
 public:
  ExpectedReading(const MachinePoint& machine, std::shared_ptr<const maximal::Mechanism> mechanism);

  /// The numbers of one sensor, good until the next call. Angles are near those of the last joints().
  const double* read(const double* q, const double* before, const double* after, double h, double fraction, int sensor);

  /// Per freedom of the mechanism: near what its angle is.
  void set_reference(const Eigen::VectorXd& reference);

  /// The joints at the same place and time: positions, rates and accelerations as Tree has them. Angles are those
  /// nearest to the last ones.
  struct Joints {
    Eigen::VectorXd q, v, a;
  };
  const Joints& joints(const double* q, const double* before, const double* after, double h, double fraction);

 private:
  void move(const double* q, const double* before, const double* after, double h, double fraction);

  const MachinePoint& machine_;
  std::shared_ptr<const maximal::Mechanism> mechanism_;
  std::unique_ptr<sensor::Observer> observer_;
  sensor::Instant instant_;  // of bodies; behind their poses the joints' positions
  Joints joints_;
  Eigen::VectorXd move_, rates_;
  std::array<double, 6> y_ = {};
};

}  // namespace kinegraph::identify
