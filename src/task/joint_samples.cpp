#include "kinegraph/task/joint_samples.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "kinegraph/model/joint_names.hpp"
#include "kinegraph/task/differentiate.hpp"
#include "kinegraph/task/spatial_columns.hpp"

namespace kinegraph::task {
namespace {

constexpr double kUnit = 1e-3;  // how far from one the length of a quaternion may be

bool has_quaternion(JointType type) { return type == JointType::ball || type == JointType::floating; }

class JointReader {
 public:
  JointReader(const Trajectory& table, const JointSeries& series, double noise)
      : table_(table), series_(series), noise_(noise) {}

  Result<JointSamples> read(bool accelerations) {
    const int n = table_.samples();
    samples_.q = columns(series_.q);
    if (has_quaternion(series_.type) && series_.q.front() < 0) samples_.q.row(0).setOnes();  // not turned
    samples_.v = Eigen::MatrixXd::Zero(series_.v.size(), n);
    samples_.a = Eigen::MatrixXd::Zero(series_.a.size(), n);
    const bool has_v = given(series_.v), has_a = !accelerations || given(series_.a);
    if (has_quaternion(series_.type)) {
      if (auto failure = check_quaternions()) return *failure;
    }
    if (!has_v || !has_a) {
      const Result<double> step = find_step(has_v, has_a);
      if (!step) return step.failure();
      step_ = *step;
    }
    if (!has_v) differentiate_positions(has_a);
    if (has_v) samples_.v = columns(series_.v);
    if (has_v && !has_a) differentiate_velocities();
    if (accelerations && has_a) samples_.a = columns(series_.a);
    return std::move(samples_);
  }

 private:
  static bool given(std::span<const int> series) {
    return series.empty() || std::any_of(series.begin(), series.end(), [](int s) { return s >= 0; });
  }

  Eigen::MatrixXd columns(std::span<const int> series) const {
    Eigen::MatrixXd values(series.size(), table_.samples());
    for (std::size_t i = 0; i < series.size(); ++i)
      for (int k = 0; k < table_.samples(); ++k) values(i, k) = series[i] < 0 ? 0 : table_.at(k, series[i]);
    return values;
  }

  std::optional<Failure> check_quaternions() {
    for (int k = 0; k < table_.samples(); ++k) {
      auto q = samples_.q.col(k).head<4>();
      const double length = q.norm();
      if (std::abs(length - 1) > kUnit) {
        return Failure::bad_input(row_of(table_, k), fmt::format("the quaternion {}.qw … {}.qz has length {:g}, not 1",
                                                                 series_.name, series_.name, length));
      }
      q /= length;
      if (k > 0 && q.dot(samples_.q.col(k - 1).head<4>()) < 0) q = -q;  // the same rotation, on a continuous curve
    }
    return {};
  }

  Result<double> find_step(bool has_v, bool has_a) const {
    std::vector<std::string> wanted;
    if (!has_v) wanted.push_back(velocity_names(series_.name, series_.type).front());
    if (!has_a) wanted.push_back(acceleration_names(series_.name, series_.type).front());
    const bool several = series_.v.size() > 1;
    const std::string hint = fmt::format("'{}'{}", fmt::join(wanted, several ? "' …, '" : "', '"), several ? " …" : "");
    if (table_.samples() == 1) {
      return Failure::bad_input(header_of(table_), fmt::format("a single sample has no rates: give {} too", hint));
    }
    Result<double> step = table_.even_step();
    if (step) return step;
    Failure failure = step.failure();
    failure.diagnostics.front().message += fmt::format("; rates are found on equal steps only: or give {}", hint);
    return failure;
  }

  static std::vector<double> row(const Eigen::MatrixXd& samples, Eigen::Index i) {
    std::vector<double> values(samples.cols());
    Eigen::RowVectorXd::Map(values.data(), samples.cols()) = samples.row(i);
    return values;
  }

  SmoothMotion smooth(const std::vector<double>& values, int series, double noise) {
    const bool printed = series >= 0 && series < static_cast<int>(table_.resolution.size());
    return differentiate(values, step_, printed ? table_.resolution[series] : 0.0, noise);
  }

  void differentiate_positions(bool has_a) {
    const Eigen::Index stored = samples_.q.rows(), n = samples_.q.cols();
    Eigen::MatrixXd rate(stored, n), second(stored, n);
    for (Eigen::Index i = 0; i < stored; ++i) {
      std::vector<double> values = row(samples_.q, i);
      if (series_.type == JointType::continuous) unwrap(values);
      const SmoothMotion motion = smooth(values, series_.q[i], noise_);
      for (Eigen::Index k = 0; k < n; ++k) {
        if (!has_a) samples_.q(i, k) = motion.value[k];  // the curve itself: its rates belong to it
        rate(i, k) = motion.rate[k];
        second(i, k) = motion.acceleration[k];
      }
      if (!has_a) samples_.smoothing_max = std::max(samples_.smoothing_max, motion.residual_max);
    }
    if (!has_quaternion(series_.type)) {
      samples_.v = rate;
      samples_.a = second;
      return;
    }
    for (Eigen::Index k = 0; k < n; ++k) set_body_rates(k, rate.col(k), second.col(k));
  }

  void set_body_rates(Eigen::Index k, const Eigen::VectorXd& rate, const Eigen::VectorXd& second) {
    auto stored = samples_.q.col(k);
    const auto quaternion = [](const auto& x) { return Eigen::Quaterniond(x[0], x[1], x[2], x[3]); };
    const Eigen::Quaterniond q = quaternion(stored), q1 = quaternion(rate), q2 = quaternion(second);
    const double square = q.squaredNorm();
    const Eigen::Vector3d omega = 2 * (q.conjugate() * q1).vec() / square;
    const double growth = 2 * q.coeffs().dot(q1.coeffs());
    samples_.v.col(k).head<3>() = omega;
    samples_.a.col(k).head<3>() = 2 * (q.conjugate() * q2).vec() / square - omega * (growth / square);
    stored.head<4>() /= std::sqrt(square);
    if (series_.type != JointType::floating) return;
    const Eigen::Matrix3d R = q.normalized().toRotationMatrix();
    const Eigen::Vector3d v = R.transpose() * rate.segment<3>(4);
    samples_.v.col(k).tail<3>() = v;
    samples_.a.col(k).tail<3>() = R.transpose() * second.segment<3>(4) - omega.cross(v);
  }

  /// Rates of v are accelerations for every type of joint.
  void differentiate_velocities() {
    for (Eigen::Index i = 0; i < samples_.v.rows(); ++i) {
      const SmoothMotion motion = smooth(row(samples_.v, i), series_.v[i], 0);
      for (Eigen::Index k = 0; k < samples_.v.cols(); ++k) samples_.a(i, k) = motion.rate[k];
    }
  }

  const Trajectory& table_;
  const JointSeries& series_;
  double noise_, step_ = 0;
  JointSamples samples_;
};

}  // namespace

Result<JointSamples> read_joint_samples(const Trajectory& table, const JointSeries& series, bool accelerations,
                                        double noise) {
  return JointReader(table, series, noise).read(accelerations);
}

}  // namespace kinegraph::task
