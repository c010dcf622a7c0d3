#include "kinegraph/identify/expected_reading.hpp"

#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::identify {

ExpectedReading::ExpectedReading(const MachinePoint& machine, std::shared_ptr<const maximal::Mechanism> mechanism)
    : machine_(machine), mechanism_(std::move(mechanism)) {
  // Where sensors sit, and what is down, belongs to the machine.
  Model with_sensors = machine.model;
  with_sensors.sensors = machine.sensors;
  std::shared_ptr<const maximal::Mechanism> now = mechanism_;
  if (const Result<Robot> robot = robot_of(machine.model, PlanarForces::kept)) {
    if (const auto made = maximal::Mechanism::make(*robot)) now = *made;
  }
  observer_ = sensor::make_observer(with_sensors, now);
  const screw::Tree& tree = mechanism_->tree();
  joints_ = {tree.start_position(), Eigen::VectorXd::Zero(tree.freedoms()), Eigen::VectorXd::Zero(tree.freedoms())};
  rates_.resize(tree.freedoms());
  move_.resize(mechanism_->tangent());
  instant_.q.resize(mechanism_->stored() + tree.stored());
  instant_.q.tail(tree.stored()) = joints_.q;
  instant_.v.resize(mechanism_->tangent());
  instant_.a.resize(mechanism_->tangent());
  instant_.tau.setZero(tree.freedoms());
  instant_.reaction.setZero(6 * static_cast<Eigen::Index>(tree.bodies().size() + tree.loops().size()));
}

void ExpectedReading::move(const double* q, const double* before, const double* after, double h, double fraction) {
  const double s = fraction;
  for (int i = 0; i < static_cast<int>(move_.size()); ++i) {
    const double change = after[i] - before[i];
    move_[i] = h * (s * after[i] + 0.5 * s * (s - 1) * change);
    instant_.v[i] = 0.5 * (before[i] + after[i]) + s * change;
    instant_.a[i] = change / h;
  }
  maximal::retract(static_cast<int>(mechanism_->bodies().size()), q, move_.data(), instant_.q.data());
}

void ExpectedReading::set_reference(const Eigen::VectorXd& reference) {
  for (std::size_t f = 0; f < mechanism_->freedoms().size(); ++f) {
    const int position = mechanism_->freedoms()[f].position;
    if (position >= 0) joints_.q[position] = reference[static_cast<Eigen::Index>(f)];
  }
  instant_.q.tail(joints_.q.size()) = joints_.q;
}

const ExpectedReading::Joints& ExpectedReading::joints(const double* q, const double* before, const double* after,
                                                       double h, double fraction) {
  move(q, before, after, h, fraction);
  const Eigen::VectorXd& numbers = machine_.numbers;
  maximal::coordinates_of(*mechanism_, numbers, instant_.q.data(), joints_.q.data());
  maximal::rates_of(*mechanism_, numbers, instant_.q.data(), instant_.v.data(), joints_.v.data());
  maximal::rates_of(*mechanism_, numbers, instant_.q.data(), before, rates_.data());
  maximal::rates_of(*mechanism_, numbers, instant_.q.data(), after, joints_.a.data());
  joints_.a = (joints_.a - rates_) / h;
  instant_.q.tail(joints_.q.size()) = joints_.q;
  return joints_;
}

const double* ExpectedReading::read(const double* q, const double* before, const double* after, double h,
                                    double fraction, int sensor) {
  move(q, before, after, h, fraction);
  observer_->read(instant_, sensor, y_.data());
  const std::vector<SensorChannel>& channels = machine_.sensors[sensor].channels;
  for (std::size_t i = 0; i < channels.size(); ++i) y_[i] = channels[i].scale * y_[i] + channels[i].bias;
  return y_.data();
}

}  // namespace kinegraph::identify
