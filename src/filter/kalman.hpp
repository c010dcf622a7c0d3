#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kinegraph/filter/linear_update.hpp"
#include "kinegraph/filter/rewindable.hpp"

namespace kinegraph::filter {

struct KalmanOptions {
  double step = 0.01;  ///< longest step of prediction, s; steps end exactly at readings
  /// A reading is not used if its NIS is above the χ² quantile of this probability (0.999, say); 0: all are used.
  double gate = 0;
  /// A number that is more than so many of its standard deviations off (2, say) is taken as noisier, in proportion:
  /// what it can do to the state is bounded (Huber). 0: off.
  double huber = 0;
  double noise_factor = 1;  ///< readings are weighed as if their noise were so many times as large
  int iterations = 1;       ///< extended filter: linearisations per reading, at the corrected state from the second on
  /// Unscented filter: the spread of its points, √(α² (n + κ)) standard deviations, and β ≥ α²; see ukf.hpp.
  double alpha = 0.5, beta = 2, kappa = 0;
};

/// A Gaussian belief on a manifold: a state x and the square root S of the covariance of δ in a chart at x, P = S Sᵀ.
struct GaussianState {
  double t = 0;
  VectorXd x;
  Chart chart;
  MatrixXd S;
};

/// What the Kalman filters share: time, the update with gate and robust weights, charts. How a belief moves and what it
/// expects of a reading is up to the kind of filter.
///
/// A push that fails leaves the belief where the motion could last be followed. A reading of which nothing finite comes
/// (or that the sensor's prediction cannot be compared with) is not used and told as not accepted.
class Kalman : public Rewindable {
 public:
  Result<std::monostate> push(const Measurement& measurement) final;
  Result<std::monostate> advance(double t) final;
  double t() const final { return now_.t; }
  const Belief& belief() const final;
  const std::vector<double>& branches() const final { return one_; }  ///< 1: it has but one
  const std::vector<SensorInfo>& sensors() const final { return space_->sensors(); }

  std::unique_ptr<Snapshot> snapshot() const final;
  void save(Snapshot& snapshot) const final;
  void restore(const Snapshot& snapshot) final;

  int branch() const { return branch_; }
  const GaussianState& state() const { return now_; }
  /// ln of the density of the last reading pushed, as expected before it. Of a reading that was gated out: as if it
  /// lay just at the gate, so that one outlier cannot decide between hypotheses.
  /// Of a filter that linearises more than once: by its last linearisation, about the corrected state.
  double log_likelihood() const { return log_likelihood_; }
  double nis() const { return nis_; }         ///< of the last reading pushed; of one that cannot be compared: 60
  int rows() const { return reading_.rows; }  ///< numbers that it gave
  /// δᵀ (P + P')⁻¹ δ: the squared distance of another filter's belief (at the same time), in standard deviations;
  /// infinity if it cannot be compared.
  double distance(const Kalman& other);
  /// Mean and covariance of a mixture of this belief and of others with probabilities `weights` (the rest is this
  /// one's). False if that has no answer.
  bool mix(std::span<const Kalman* const> others, std::span<const double> weights, GaussianState& out);
  /// Becomes that mixture. False, and nothing changed, if it has no answer.
  bool merge(const Kalman& other, double weight);

 protected:
  Kalman(std::unique_ptr<StateSpace> space, KalmanOptions options);
  /// The belief at the start. If it has no chart, one is chosen, and P is meant in it.
  Result<std::monostate> start(const Belief& belief);

  /// The belief a step h later, in next_. False if there is none.
  virtual bool step(double h) = 0;
  /// What is expected of the given rows of a reading, linearised about now_.x with correction δ (zero: the first time).
  /// reading_.e holds e + H δ, so that the update is always from now_.
  virtual bool expect(const Measurement& measurement, const VectorXd& delta, LinearReading& reading) = 0;
  virtual int linearisations() const { return 1; }

  int size() const { return static_cast<int>(now_.x.size()); }
  int tangent() const { return static_cast<int>(now_.S.rows()); }
  /// Notes which rows of a reading are given, and their noise.
  void given(const Measurement& measurement, LinearReading& reading) const;
  /// expect() by the derivative of the sensor.
  bool linearise(const Measurement& measurement, const VectorXd& delta, LinearReading& reading);
  /// Lets next_.chart be one that serves at next_.x. False if there is none.
  bool settle();

  std::unique_ptr<StateSpace> space_;
  KalmanOptions options_;
  GaussianState now_, next_;

 private:
  void update(const Measurement& measurement);
  bool correct(const Measurement& measurement, Innovation& told);
  bool correct_with(const Measurement& measurement, const double* inflate);
  bool express(const Kalman& other, VectorXd& delta, MatrixXd& S);

  int branch_ = 0;
  std::vector<double> one_ = {1.0};
  std::array<double, kMostRows + 1> gates_ = {};  // NIS, by rows
  double log_likelihood_ = 0, nis_ = 0;
  LinearReading reading_;
  LinearUpdate update_;
  Chart scratch_;
  VectorXd delta_, last_;
  VectorXd at_, mean_;
  MatrixXd T_, moved_, work_;
  std::vector<MatrixXd> H_;  // by sensor: they differ in size
  mutable Belief belief_;
  mutable bool stale_ = true;
};

/// "the reading of 'gyro' at t = 1.2 s came 0.3 s late; …"
Failure too_late(const SensorInfo& sensor, const Measurement& measurement, double now, double lag);
/// Refuses what cannot be a reading: an unknown sensor, a time or a number that is not finite (NaN: not given).
Result<std::monostate> check(const std::vector<SensorInfo>& sensors, const Measurement& measurement);

}  // namespace kinegraph::filter
