#include "kinegraph/identify/problem_readings.hpp"

#include <cmath>
#include <limits>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/identify/problem_joint.hpp"
#include "kinegraph/mechanics/sensor/screw_places.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::identify {
namespace {

using Eigen::Vector3d;
using maximal::BodyNumbers;
using maximal::Freedom;
using maximal::Joint;
using maximal::Mechanism;

Loss loss_of(const Weights& weights) {
  const double k = weights.loss_scale > 0 ? weights.loss_scale : 3;
  if (weights.loss == "huber") return Loss::huber(k);
  if (weights.loss == "cauchy") return Loss::cauchy(k);
  if (weights.loss == "tukey") return Loss::tukey(k);
  return Loss::none();
}

}  // namespace

ReadingRows::ReadingRows(const Model& model, std::shared_ptr<const Mechanism> mechanism, const Weights& weights)
    : mechanism_(std::move(mechanism)), loss_(loss_of(weights)), n_(mechanism_->tangent()) {
  for (std::size_t i = 0; i < model.sensors.size(); ++i) {
    Place place;
    place.type = model.sensors[i].type;
    place.channel = channels();
    place.channels = static_cast<int>(model.sensors[i].channels.size());
    for (int c = 0; c < place.channels; ++c) {
      const std::size_t at = noise_.size();
      const double sigma = at < weights.noise.size() ? weights.noise[at] : 1;
      noise_.push_back(sigma > 0 && std::isfinite(sigma) ? sigma : 1);
    }
    sensors_.push_back(std::move(place));
  }
  const std::vector<sensor::ScrewPlace> places = sensor::screw_places(model, mechanism_->tree());
  for (std::size_t i = 0; i < places.size(); ++i) {
    Place& place = sensors_[i];
    const sensor::ScrewPlace& where = places[i];
    if (place.type == SensorType::torque || place.type == SensorType::load_cell) continue;
    place.kind = Place::Kind::observed;
    for (const int body : {where.on, where.other}) {
      if (body >= 0) place.bodies.push_back(body);
    }
    for (int k = 0; where.line && k < where.line->points; ++k) {
      if (where.line->body[k] >= 0) place.bodies.push_back(where.line->body[k]);
    }
    const bool of_joint = (place.type == SensorType::encoder || place.type == SensorType::tachometer) && !where.line;
    if (of_joint && where.coordinate < 0) place.kind = Place::Kind::ignored;  // does not move
    if (of_joint && where.coordinate >= 0) {
      const screw::Coordinate& c = mechanism_->tree().coordinates()[where.coordinate];
      for (std::size_t f = 0; f < mechanism_->freedoms().size(); ++f) {
        const Freedom& freedom = mechanism_->freedoms()[f];
        const Joint& joint = mechanism_->joints()[freedom.joint];
        if (joint.coordinate != where.coordinate) continue;
        if (freedom.position == c.q + where.q) {
          place.kind = Place::Kind::freedom;
          place.freedom = static_cast<int>(f);
          place.ratio = where.ratio;
          place.offset = where.offset;
          if (freedom.angular && place.type == SensorType::encoder) {
            place.turn = std::abs(kTurn * where.ratio / joint.ratio);
          }
        }
        for (const int body : {joint.a, joint.b}) {
          if (body >= 0) place.bodies.push_back(body);
        }
      }
    }
    std::sort(place.bodies.begin(), place.bodies.end());
    place.bodies.erase(std::unique(place.bodies.begin(), place.bodies.end()), place.bodies.end());
    place.instant.q.setZero(mechanism_->stored());
    for (int b = 0; b < n_ / 6; ++b) place.instant.q[7 * b] = 1;
    place.instant.v.setZero(n_);
    place.instant.a.setZero(n_);
  }
}

int ReadingRows::sensor_of(int channel) const {
  int sensor = static_cast<int>(sensors_.size()) - 1;
  while (sensor > 0 && sensors_[sensor].channel > channel) --sensor;
  return sensor;
}

void ReadingRows::set_machine(const MachinePoint& machine) {
  machine_ = &machine;
  slopes_.reset(n_, static_cast<int>(machine.directions.cols()));
  bool observed = false;
  for (Place& place : sensors_) {
    find_columns(place);
    if (place.kind != Place::Kind::observed) continue;
    observed = true;
    const int directions = 18 * static_cast<int>(place.bodies.size()) + static_cast<int>(place.columns.size());
    for (Eigen::MatrixXd* m : {&place.instant.dq, &place.instant.dv, &place.instant.da}) m->setZero(n_, directions);
    place.H.setZero(place.channels, directions);
  }
  if (!observed) return;
  // Where sensors sit, and what is down, belongs to the machine.
  Model with_sensors = machine.model;
  with_sensors.sensors = machine.sensors;
  std::shared_ptr<const Mechanism> now = mechanism_;
  const Result<Robot> robot = robot_of(machine.model, PlanarForces::kept);
  if (robot) {
    if (Result<std::shared_ptr<const Mechanism>> made = Mechanism::make(*robot)) now = *made;
  }
  observer_ = sensor::make_observer(with_sensors, now);
}

/// Parameters that move what a sensor reads at the same poses.
void ReadingRows::find_columns(Place& place) const {
  place.columns.clear();
  const Eigen::MatrixXd& directions = machine_->directions;
  const auto touches = [&](int number, int column) { return directions(number, column) != 0; };
  const bool sees_gravity =
      place.type == SensorType::accelerometer || place.type == SensorType::imu || place.type == SensorType::tilt;
  for (int c = 0; c < static_cast<int>(directions.cols()); ++c) {
    bool found = false;
    if (place.kind == Place::Kind::freedom) {
      const Joint& joint = mechanism_->joints()[mechanism_->freedoms()[place.freedom].joint];
      for (int i = 0; i < 30 && !found; ++i) {
        const int number = joint_number(*mechanism_, joint, i);
        found = number >= 0 && touches(number, c);
      }
    } else if (place.kind == Place::Kind::observed) {
      for (int k = 0; k < 3; ++k) {
        found = found || (sees_gravity && touches(Mechanism::kGravity + k, c));
        for (const int body : place.bodies) {
          found = found || touches(mechanism_->bodies()[body].numbers + BodyNumbers::com + k, c);
        }
      }
    }
    if (found) place.columns.push_back(c);
  }
}

template <class T>
maximal::Row<T> ReadingRows::row(const Freedom& freedom, Interpolation& at, const double* v, T& rate) const {
  const Joint& joint = mechanism_->joints()[freedom.joint];
  const auto q = [&](int body) { return body < 0 ? nullptr : at.body(body, false).q; };
  const JointSight<T> sight(*mechanism_, joint, machine_->numbers, q(joint.a), q(joint.b));
  maximal::Row<T> rows[6];
  maximal::freedom_rows(joint, sight.make(), rows);
  rate = T(0.0);
  for (int k = 0; k < 12; ++k) rate += rows[freedom.index].G[k] * v[k];
  return rows[freedom.index];
}

void ReadingRows::read_freedom(const Place& place, Interpolation& at, bool slopes) {
  const Freedom& freedom = mechanism_->freedoms()[place.freedom];
  const Joint& joint = mechanism_->joints()[freedom.joint];
  const bool rate = place.type == SensorType::tachometer;
  const int bodies[2] = {joint.a, joint.b};
  double v[12] = {}, by_q[12], by_v[12], speed = 0;
  for (int e = 0; e < 2; ++e) {
    if (bodies[e] >= 0) std::copy_n(at.body(bodies[e], rate).v, 6, v + 6 * e);
  }
  const maximal::Row<double> plain = row<double>(freedom, at, v, speed);
  value_[0] = place.ratio * (rate ? speed : plain.value) + place.offset * (rate ? 0 : 1);
  if (!slopes) return;
  slopes_.clear();
  slopes_.add(0);
  if (rate) {
    ByPose change;
    row<ByPose>(freedom, at, v, change);
    for (int k = 0; k < 12; ++k) by_q[k] = place.ratio * change.v[k], by_v[k] = place.ratio * plain.G[k];
  } else {
    for (int k = 0; k < 12; ++k) by_q[k] = place.ratio * plain.G[k], by_v[k] = 0;
  }
  using Row3 = Eigen::Map<Eigen::RowVector3d>;
  for (int e = 0; e < 2; ++e) {
    if (bodies[e] < 0) continue;
    const BodyInstant& body = at.body(bodies[e], rate);
    for (int k = 0; k < 3; ++k) {
      if (k != 1 && !rate && at.at_knot()) continue;
      double* out = slopes_.states(0) + k * n_ + 6 * bodies[e];
      Row3(out) += Row3(by_q + 6 * e) * body.turn[k];
      Row3(out + 3) += Row3(by_q + 6 * e + 3) * at.shift(k);
      if (!rate) continue;
      Row3(out) += Row3(by_v + 6 * e) * body.spin[k];
      Row3(out + 3) += Row3(by_v + 6 * e + 3) * at.speed(k);
    }
  }
  if (place.columns.empty()) return;
  ByNumbers change;
  const maximal::Row<ByNumbers> moved = row<ByNumbers>(freedom, at, v, change);
  if (!rate) change = moved.value;
  for (const int c : place.columns) {
    for (int i = 0; i < 30; ++i) {
      const int number = joint_number(*mechanism_, joint, i);
      if (number >= 0) slopes_.border(0)[c] += place.ratio * change.v[i] * machine_->directions(number, c);
    }
  }
}

void ReadingRows::fill_instant(Place& place, Interpolation& at, bool slopes) const {
  sensor::Instant& instant = place.instant;
  for (std::size_t i = 0; i < place.bodies.size(); ++i) {
    const int b = place.bodies[i];
    const BodyInstant& body = at.body(b);
    std::copy_n(body.q, 7, instant.q.data() + 7 * b);
    std::copy_n(body.v, 6, instant.v.data() + 6 * b);
    std::copy_n(body.a, 6, instant.a.data() + 6 * b);
    for (int k = 0; slopes && k < 3; ++k) {
      const int row = 6 * b, column = static_cast<int>(18 * i) + 6 * k;
      const auto put = [&](Eigen::MatrixXd& m, const Eigen::Matrix3d& turn, double shift) {
        m.block<3, 3>(row, column) = turn;
        m.block<3, 3>(row + 3, column + 3) = shift * Eigen::Matrix3d::Identity();
      };
      put(instant.dq, body.turn[k], at.shift(k));
      put(instant.dv, body.spin[k], at.speed(k));
      put(instant.da, body.spin_rate[k], at.push(k));
    }
  }
}

/// A centre of mass that moves on its body by dc moves the body against it by −R dc; gravity that changes by dg is felt
/// as an acceleration of −dg, and as a turn of the body against the vertical.
void ReadingRows::move_by_parameter(Place& place, int direction, int column, Interpolation& at) const {
  const Eigen::MatrixXd& directions = machine_->directions;
  sensor::Instant& instant = place.instant;
  instant.dq.col(direction).setZero(), instant.dv.col(direction).setZero(), instant.da.col(direction).setZero();
  const Vector3d g = machine_->numbers.segment<3>(Mechanism::kGravity);
  const Vector3d dg = directions.block<3, 1>(Mechanism::kGravity, column);
  for (const int b : place.bodies) {
    const BodyInstant& body = at.body(b);
    const Eigen::Matrix3d R = SO3::load(body.q).matrix();
    const Vector3d dc = directions.block<3, 1>(mechanism_->bodies()[b].numbers + BodyNumbers::com, column);
    const Vector3d w(body.v[0], body.v[1], body.v[2]), alpha(body.a[0], body.a[1], body.a[2]);
    instant.dq.block<3, 1>(6 * b + 3, direction) = -R * dc;
    instant.dv.block<3, 1>(6 * b + 3, direction) = -R * w.cross(dc);
    instant.da.block<3, 1>(6 * b + 3, direction) = -R * (alpha.cross(dc) + w.cross(w.cross(dc)));
    if (place.type == SensorType::tilt) {
      if (g.squaredNorm() > 0) {
        instant.dq.block<3, 1>(6 * b, direction) = -R.transpose() * g.cross(dg) / g.squaredNorm();
      }
    } else {
      instant.da.block<3, 1>(6 * b + 3, direction) -= dg;
    }
  }
}

void ReadingRows::read_observed(Place& place, int sensor, Interpolation& at, bool slopes) {
  fill_instant(place, at, slopes);
  if (!slopes) return observer_->read(place.instant, sensor, value_);
  const int own = 18 * static_cast<int>(place.bodies.size());
  for (std::size_t c = 0; c < place.columns.size(); ++c) {
    move_by_parameter(place, own + static_cast<int>(c), place.columns[c], at);
  }
  observer_->read(place.instant, sensor, value_, place.H);
  slopes_.clear();
  for (int r = 0; r < place.channels; ++r) {
    slopes_.add(0);
    for (int d = 0; d < own; ++d) {
      const int body = place.bodies[d / 18], knot = d % 18 / 6;
      slopes_.states(r)[knot * n_ + 6 * body + d % 6] = place.H(r, d);
    }
    for (std::size_t c = 0; c < place.columns.size(); ++c) {
      slopes_.border(r)[place.columns[c]] = place.H(r, own + static_cast<int>(c));
    }
  }
}

double ReadingRows::add(const Reading& reading, Interpolation& at, double* plain, RowBlock* rows) {
  Place& place = sensors_[reading.sensor];
  std::fill_n(plain, 6, std::numeric_limits<double>::quiet_NaN());
  if (place.kind == Place::Kind::ignored) return 0;
  if (place.kind == Place::Kind::freedom) {
    read_freedom(place, at, rows != nullptr);
  } else {
    read_observed(place, reading.sensor, at, rows != nullptr);
  }
  double cost = 0;
  for (int c = 0; c < place.channels; ++c) {
    if (!std::isfinite(reading.y[c])) continue;
    const SensorChannel& channel = machine_->sensors[reading.sensor].channels[c];
    double expected = value_[c];
    const double turn = place.turn > 0 ? place.turn : channel.circular ? kTurn : 0;
    if (turn > 0 && channel.scale != 0) {
      expected += turn * std::round(((reading.y[c] - channel.bias) / channel.scale - expected) / turn);
    }
    plain[c] = channel.scale * expected + channel.bias - reading.y[c];
    const double sigma = noise_[place.channel + c], s = plain[c] * plain[c] / (sigma * sigma);
    if (!std::isfinite(s)) return std::numeric_limits<double>::infinity();
    cost += loss_.rho(s);
    if (!rows) continue;
    const double weight = std::sqrt(loss_.weight(s)) / sigma;
    rows->add_open(weight * plain[c]);
    const int last = rows->count() - 1, p = rows->parameters();
    for (int i = 0; i < 3 * n_; ++i) rows->states(last)[i] = weight * channel.scale * slopes_.states(c)[i];
    for (int i = 0; i < p; ++i) {
      rows->border(last)[i] =
          weight * (channel.scale * slopes_.border(c)[i] + machine_->scale(place.channel + c, i) * expected +
                    machine_->bias(place.channel + c, i));
    }
  }
  return cost;
}

}  // namespace kinegraph::identify
