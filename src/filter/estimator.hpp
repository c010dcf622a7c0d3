#pragma once

#include <array>
#include <functional>
#include <limits>
#include <variant>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/filter/state_space.hpp"

namespace kinegraph::filter {

inline constexpr double kSameTime = 1e-9;  ///< times nearer than this share of a step are one
inline constexpr double kMostSteps = 1e6;  ///< of one interval between readings

/// One reading of one sensor. A channel that is not given is NaN.
struct Measurement {
  double t = 0;  ///< when it was measured, not when it came
  int sensor = 0;
  std::array<double, kMostRows> y = {};
};

/// What a reading said against what was expected of it.
struct Innovation {
  double t = 0;
  int sensor = 0;
  std::array<double, kMostRows> e = {}, sd = {};  ///< NaN where not given; sd: expected, √diag(H P Hᵀ + R)
  double nis = 0;                                 ///< eᵀ S⁻¹ e
  int rows = 0;                                   ///< numbers that were given
  bool accepted = true;                           ///< false: gated out
};

/// What is known of the state at a time.
struct Belief {
  double t = 0;
  VectorXd x;
  Chart chart;
  MatrixXd P;      ///< covariance of δ in that chart
  int branch = 0;  ///< of the machine's assembly
};

/// A sequential estimator: takes readings as they come, in bounded time each. Readings that come late are put in their
/// place as far back as the estimator keeps its past (`lag`); older ones are refused (no_answer).
class Estimator {
 public:
  virtual ~Estimator() = default;

  /// Takes in a reading; moves on to its time if that is later than the present.
  virtual Result<std::monostate> push(const Measurement& measurement) = 0;
  /// Several of the same time, in their order: the same belief as one after the other, which may take longer. Particles
  /// are drawn anew once and not after each reading: where they are, the two are different draws of that belief. Ends
  /// at the first that is not taken in.
  virtual Result<std::monostate> push_together(const std::vector<Measurement>& readings) {
    for (const Measurement& m : readings) {
      if (auto pushed = push(m); !pushed) return pushed;
    }
    return std::monostate();
  }
  /// Moves on to a time without a reading.
  virtual Result<std::monostate> advance(double t) = 0;

  virtual double t() const = 0;
  /// The present belief: of the most probable branch.
  virtual const Belief& belief() const = 0;
  /// Probability of each branch, in the order in which they were given.
  virtual const std::vector<double>& branches() const = 0;

  std::function<void(const Innovation&)> on_innovation;  ///< told every reading that was taken in
};

}  // namespace kinegraph::filter
