#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/filter/chart.hpp"

namespace kinegraph::filter {

using Eigen::MatrixXd;
using Eigen::VectorXd;

inline constexpr int kMostRows = 6;  ///< numbers of one reading

/// What an estimator knows of a sensor.
struct SensorInfo {
  struct Channel {
    std::string name;  ///< "gyro.w"
    double noise = 0;  ///< standard deviation, > 0
    bool circular = false;
    double turn = 2 * EIGEN_PI;  ///< of a circular one: what a full turn is of its readings
  };
  std::string name;
  std::vector<Channel> channels;
};

class StateLanes;

/// A system to estimate: states on a manifold, a motion with process noise, sensors. A machine (machine_space.hpp) or a
/// test's toy. An object has work space of its own: one per thread (clone()). Functions return false where there is no
/// answer; they allocate nothing once their outputs have their sizes.
class StateSpace {
 public:
  virtual ~StateSpace() = default;
  virtual std::unique_ptr<StateSpace> clone() const = 0;

  virtual int stored() const = 0;   ///< numbers of a state x
  virtual int tangent() const = 0;  ///< numbers of a change δ
  /// What δᵢ is, for messages: "theta.q", "theta.v", "imu.bias.wx".
  virtual std::string tangent_name(const Chart& chart, int i) const = 0;

  // ---- the manifold
  virtual bool choose(double t, const double* x, Chart& chart) = 0;  ///< a given chart is kept as long as it serves
  virtual bool retract(double t, const double* x, const Chart& chart, const double* delta, double* out) = 0;
  virtual void local(const double* x, const Chart& chart, const double* other, double* delta) = 0;
  /// Of several others, one after the other: stored() numbers each, tangent() numbers of δ each.
  virtual void local_many(const double* x, const Chart& chart, int count, const double* others, double* delta);
  /// δ in another chart at the same state: δ' = T δ.
  virtual bool transition(double t, const double* x, const Chart& from, const Chart& to, MatrixXd& T) = 0;

  // ---- the motion
  virtual bool advance(double t, double h, const double* x, double* next) = 0;
  /// With F = ∂δ⁺/∂δ and the covariance Q of the process noise over the step, both in `next_chart` at next (chosen anew
  /// if what is given does not serve there).
  virtual bool advance(double t, double h, const double* x, const Chart& chart, double* next, Chart& next_chart,
                       MatrixXd& F, MatrixXd& Q) = 0;
  virtual int noises() const = 0;  ///< independent normal numbers that one step draws
  /// x ← x changed by the process noise of a step h: `normal` holds noises() numbers of N(0, 1).
  virtual bool disturb(double t, double h, double* x, const double* normal) = 0;

  // ---- many states at once: what each of them would give alone, to rounding, whatever the others are. x: stored()
  // numbers each, one after the other; good[i]: whether there is an answer for state i.
  virtual void advance_many(double t, double h, int count, const double* x, double* next, bool* good);
  /// normal: noises() numbers each.
  virtual void disturb_many(double t, double h, int count, double* x, const double* normal, bool* good);
  /// y: kMostRows numbers each; B: one matrix each.
  virtual void response_many(double t, double h, int count, const double* x, int sensor, double* y, MatrixXd* B,
                             bool* good);

  // ---- the sensors
  virtual const std::vector<SensorInfo>& sensors() const = 0;
  virtual bool predict(double t, const double* x, int sensor, double* y) = 0;
  /// H: rows × tangent.
  virtual bool predict(double t, const double* x, const Chart& chart, int sensor, double* y, MatrixXd& H) = 0;
  /// How the reading would answer to disturb(t, h, x, n): y(n) ≈ y + B n. B: rows × noises.
  virtual bool response(double t, double h, const double* x, int sensor, double* y, MatrixXd& B) = 0;

  // ---- many states in their charts, and what sensors read of many: as above
  struct Retraction {
    const double* x = nullptr;
    const Chart* chart = nullptr;
    const double* delta = nullptr;
  };
  virtual void retract_many(double t, int count, const Retraction* from, double* out, bool* good);
  virtual void predict_many(double t, int count, const double* x, int sensor, double* y, bool* good);
  /// Each in its chart.
  virtual void predict_many(double t, int count, const double* x, const Chart* const* chart, int sensor, double* y,
                            MatrixXd* H, bool* good);
  /// A faster way for eight at once; null: none.
  virtual StateLanes* lanes() { return nullptr; }
};

/// y − prediction, the shorter way round for circular channels; channels that are not given stay NaN.
void innovation(const SensorInfo& sensor, const double* y, const double* predicted, double* e);

}  // namespace kinegraph::filter
