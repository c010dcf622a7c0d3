#include "kinegraph/identify/machine_numbers.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/identify/solid.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::identify {
namespace {

constexpr double kStep = 1e-3;        // of differences, over what is typical: truncation and rounding are 1e-12 both
constexpr double kFlatSlope = 1e-10;  // slopes below this, over the number's magnitude, are rounding
constexpr double kConstant = 1e-8;    // changes of slopes below this are none
constexpr double kProbe = 0.1;        // how far, over what is typical, slopes are compared

/// "gyro.bias" of a sensor called gyro.
bool names(const std::string& setting, const std::string& sensor, const char* quantity) {
  return setting.size() == sensor.size() + 1 + std::char_traits<char>::length(quantity) &&
         setting.starts_with(sensor) && setting[sensor.size()] == '.' && setting.ends_with(quantity);
}

void put_link(const Inertia& inertia, double* out) {
  const Matrix3d& I = inertia.about_com;
  const double ten[] = {inertia.mass, inertia.com.x(), inertia.com.y(), inertia.com.z(), I(0, 0),
                        I(0, 1),      I(0, 2),         I(1, 1),         I(1, 2),         I(2, 2)};
  std::copy_n(ten, 10, out);
}

}  // namespace

MachineSize::MachineSize(const Robot& robot) {
  double largest = 0, longest = 0;
  for (const Link& link : robot.links) {
    largest = std::max(largest, link.inertia.mass);
    longest = std::max(longest, link.inertia.com.norm());
  }
  for (const Joint& joint : robot.joints) {
    longest = std::max({longest, joint.X_PF.position().norm(), joint.X_CM.position().norm()});
  }
  if (largest > 0) mass = largest;
  if (longest > 0) length = longest;
}

std::vector<Sensor> MachineNumbers::added_sensors(const Model& model) {
  if (model.spatial() && !model.source) return model.sensors;
  const Result<Model> read = model.with({});
  std::vector<Sensor> added;
  for (const Sensor& sensor : model.sensors) {
    const auto same = [&](const Sensor& other) { return other.name == sensor.name; };
    if (!read || std::none_of(read->sensors.begin(), read->sensors.end(), same)) added.push_back(sensor);
  }
  return added;
}

Result<MachineNumbers> MachineNumbers::make(const Model& model, std::shared_ptr<const maximal::Mechanism> mechanism,
                                            std::vector<std::string> settings, const Eigen::VectorXd& start,
                                            const Eigen::VectorXd& typical, const std::vector<int>& flat) {
  MachineNumbers made;
  made.model_ = model;
  made.added_ = added_sensors(model);
  made.mechanism_ = std::move(mechanism);
  made.settings_ = std::move(settings);
  made.start_ = start;
  made.typical_ = typical;
  made.flat_ = flat;
  made.numbers_ = static_cast<int>(made.mechanism_->numbers().size());
  made.biases_ = made.numbers_ + 10 * static_cast<int>(made.mechanism_->tree().robot().links.size());
  for (const Sensor& sensor : model.sensors) made.channels_ += static_cast<int>(sensor.channels.size());
  Result<Point> point = made.at(start);
  if (!point) return point.failure();
  made.start_y_ = std::move(point->y);
  made.magnitude_ = made.magnitudes();
  if (Result<bool> found = made.find_constants(); !found) return found.failure();
  return made;
}

Result<MachineNumbers::Point> MachineNumbers::at(const Eigen::VectorXd& s) const {
  Settings changes;
  std::vector<Sensor> added = added_;
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    bool own = false;
    for (Sensor& sensor : added) {
      const bool bias = names(settings_[i], sensor.name, "bias"), scale = names(settings_[i], sensor.name, "scale");
      own = own || bias || scale;
      for (SensorChannel& channel : sensor.channels) {
        if (bias) channel.bias = s[i];
        if (scale) channel.scale = s[i];
      }
    }
    if (!own) changes[settings_[i]] = s[i];
  }
  for (const int i : flat_) changes[settings_[i + 3]] = FlatSolid::about_point(s.segment<4>(i));
  Result<Model> model =
      changes.empty() && (model_.spatial() || !model_.source) ? Result<Model>(model_) : model_.with(changes);
  if (!model) return model.failure();
  if (model_.spatial() && !model_.source) model->sensors.clear();
  for (Sensor& sensor : added) {
    const auto same = [&](const Sensor& other) { return other.name == sensor.name; };
    const auto found = std::find_if(model->sensors.begin(), model->sensors.end(), same);
    if (found == model->sensors.end()) {
      model->sensors.push_back(std::move(sensor));
    } else {
      *found = std::move(sensor);
    }
  }
  Result<Robot> robot = robot_of(*model, PlanarForces::kept);
  if (!robot) return robot.failure();
  const Result<Eigen::VectorXd> numbers = mechanism_->numbers(*robot);
  if (!numbers) return numbers.failure();
  Point point;
  point.y.resize(size());
  point.y.head(numbers_) = *numbers;
  for (std::size_t i = 0; i < robot->links.size(); ++i) {
    put_link(robot->links[i].inertia, point.y.data() + links() + 10 * i);
  }
  int channel = 0;
  for (const Sensor& sensor : model->sensors) {
    for (const SensorChannel& one : sensor.channels) {
      point.y[biases() + channel] = one.bias;
      point.y[scales() + channel++] = one.scale;
    }
  }
  point.model = *std::move(model);
  return point;
}

/// f′ = (8 (f₁ − f₋₁) − (f₂ − f₋₂)) / 12 δ; where the rules forbid one side
/// f′ = (−25 f₀ + 48 f₁ − 36 f₂ + 16 f₃ − 3 f₄) / 12 δ
Result<Eigen::VectorXd> MachineNumbers::column(const Eigen::VectorXd& s, const Eigen::VectorXd& y, int setting) const {
  Failure last = Failure::internal("");
  for (double step = kStep * typical_[setting]; step > 1e-7 * typical_[setting]; step /= 10) {
    Eigen::VectorXd moved = s, f[4];
    const auto all = [&](std::initializer_list<int> places) {
      int i = 0;
      for (const int place : places) {
        moved[setting] = s[setting] + place * step;
        Result<Point> point = at(moved);
        if (!point) return last = std::move(point).failure(), false;
        f[i++] = std::move(point->y);
      }
      return true;
    };
    Eigen::VectorXd slope;
    if (all({1, -1, 2, -2})) {
      slope = (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * step);
    } else if (all({1, 2, 3, 4})) {
      slope = (-25 * y + 48 * f[0] - 36 * f[1] + 16 * f[2] - 3 * f[3]) / (12 * step);
    } else if (all({-1, -2, -3, -4})) {
      slope = -(-25 * y + 48 * f[0] - 36 * f[1] + 16 * f[2] - 3 * f[3]) / (12 * step);
    } else {
      continue;
    }
    for (int k = 0; k < slope.size(); ++k) {
      if (std::abs(slope[k]) * typical_[setting] < kFlatSlope * magnitude_[k]) slope[k] = 0;
    }
    return slope;
  }
  return last;
}

Result<Eigen::MatrixXd> MachineNumbers::slope(const Eigen::VectorXd& s, const Eigen::VectorXd& y) const {
  Eigen::MatrixXd all = start_slope_;
  for (int i = 0; i < all.cols(); ++i) {
    if (constant_[i]) continue;
    Result<Eigen::VectorXd> one = column(s, y, i);
    if (!one) return one.failure();
    all.col(i) = *one;
  }
  return all;
}

/// How large the terms are of which each number is made: what rounding is relative to. Moments about the centre of mass
/// are differences of those about the frame's origin.
Eigen::VectorXd MachineNumbers::magnitudes() const {
  using namespace maximal;
  Eigen::VectorXd size = start_y_.cwiseAbs();
  const double length = MachineSize(mechanism_->tree().robot()).length;
  size.segment<3>(Mechanism::kGravity).setConstant(start_y_.segment<3>(Mechanism::kGravity).norm());
  for (const Body& body : mechanism_->bodies()) {
    const int n = body.numbers;
    const double arm = std::max(start_y_.segment<3>(n + BodyNumbers::com).norm(), length);
    const double own = size.segment<6>(n + BodyNumbers::inertia).maxCoeff();
    size.segment<3>(n + BodyNumbers::com).setConstant(arm);
    size.segment<6>(n + BodyNumbers::inertia).setConstant(own + size[n + BodyNumbers::mass] * arm * arm);
  }
  for (const maximal::Joint& joint : mechanism_->joints()) {
    for (const int frame : {JointNumbers::F, JointNumbers::M}) {
      size.segment<9>(joint.numbers + frame).setOnes();
      size.segment<3>(joint.numbers + frame + 9).setConstant(length);
    }
  }
  for (int link = links(); link < biases_; link += 10) {
    const double arm = start_y_.segment<3>(link + 1).squaredNorm();
    size.segment<3>(link + 1).setConstant(length);
    size.segment<6>(link + 4).setConstant(size.segment<6>(link + 4).maxCoeff() + start_y_[link] * arm);
  }
  return size;
}

/// Slopes are compared at two places near the start that the rules allow.
Result<bool> MachineNumbers::find_constants() {
  const int count = static_cast<int>(settings_.size());
  start_slope_.resize(size(), count);
  for (int i = 0; i < count; ++i) {
    Result<Eigen::VectorXd> one = column(start_, start_y_, i);
    if (!one) return one.failure();
    start_slope_.col(i) = *one;
  }
  constant_.assign(count, true);
  for (int round = 0; round < 2; ++round) {
    const Eigen::VectorXd s = probe(round);
    const Result<Point> point = at(s);
    if (s == start_) constant_.assign(count, false);  // nothing to compare with
    for (int i = 0; i < count; ++i) {
      if (!constant_[i]) continue;
      const Result<Eigen::VectorXd> there = point ? column(s, point->y, i) : Result<Eigen::VectorXd>(point.failure());
      constant_[i] = there.ok();
      if (!there) continue;
      const Eigen::ArrayXd change = (*there - start_slope_.col(i)).array().abs() * typical_[i];
      constant_[i] =
          (change <= kConstant * (magnitude_.array() + start_slope_.col(i).array().abs() * typical_[i])).all();
    }
  }
  return true;
}

/// A place near the start, in no special direction: nearer while the rules forbid it.
Eigen::VectorXd MachineNumbers::probe(int round) const {
  constexpr double kGolden = 0.6180339887498949;
  for (double far = kProbe; far > 1e-6; far /= 2) {
    for (const double sign : {1.0, -1.0}) {
      Eigen::VectorXd s = start_;
      for (int i = 0; i < s.size(); ++i) {
        const double part = std::fmod((i + 1) * (round + 1) * kGolden, 1.0);
        s[i] += sign * far * typical_[i] * (0.5 + 0.5 * part);
      }
      if (at(s)) return s;
    }
  }
  return start_;
}

}  // namespace kinegraph::identify
