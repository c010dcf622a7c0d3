#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph::identify {

/// The law by which a digital controller computes the command of a motor from readings, once per row of a recording:
///
///     cᵢ = Σ_r Σⱼ g_rj (y_r − w_r)ᵢ₋ⱼ + Σⱼ pⱼ cᵢ₋ⱼ + g₀      j = 0 … order, of p from 1 on
///     uᵢ = cᵢ + fᵢ within ± limit
///
/// y: readings, w: what they shall be, f: what is added. Order 1 is a PD controller whose rates are filtered, or PI.
struct ControlLaw {
  struct Term {
    std::string reading, target;  ///< columns; an empty target is 0
  };
  std::string command, added;  ///< columns; an empty `added` is 0
  std::vector<Term> terms;
  double limit = std::numeric_limits<double>::infinity();
  int order = 1;
  /// Per term g₀ … g_order, then p₁ … p_order, then the constant; empty: to be found in recordings, find_gains().
  Eigen::VectorXd gains;
  double explained = 0;  ///< share of the commands' changes that the law with these gains explains

  int numbers() const { return static_cast<int>(terms.size()) * (order + 1) + order + 1; }
};

/// What a controller saw and did in a run. Where a field of the table is empty, the value before stands.
struct ControlRecord {
  std::vector<double> t, u, added;  ///< per tick
  struct Term {
    int sensor = 0, row = 0;
    double delay = 0;               ///< a reading shows what was so long ago
    double turn = 0;                ///< of an angle that is read modulo that; else 0
    std::vector<double> y, target;  ///< per tick; angles go on over turns
  };
  std::vector<Term> terms;
  int before = 0;            ///< ticks before the run: they are known where it starts, and tell nothing of gains
  std::vector<double> rest;  ///< per step of the run: what else drives the freedom; empty: nothing does
  int freedom = 0;           ///< of the mechanism
  bool control = false;      ///< the command is a motor's control (its gain makes a torque of it), else a torque
};

/// The gains with which a law explains recorded commands best (least squares, of the smallest gains where several do).
/// Commands at the limit tell nothing of it. No answer: too few are left.
std::optional<Failure> find_gains(const std::vector<const ControlRecord*>& records, ControlLaw& law);

/// A controller along a motion that is foretold: up to the start its readings and commands are those recorded, then
/// readings are those to expect, and nothing of the recording is used but targets and what is added.
class ControlLoop {
 public:
  /// The reading of a sensor's row, at a time within the step that is being taken.
  using Read = std::function<double(int sensor, int row, double t)>;

  ControlLoop(const ControlLaw& law, const ControlRecord& record);

  const ControlRecord& record() const { return *record_; }
  void start(double t);
  /// The mean command in a time whose end may be ahead: `read` then tells what is to be expected at ticks until then.
  double mean(double from, double to, const Read& read);
  /// Takes the readings of all ticks before `to`; `read` knows them now.
  void pass(double to, const Read& read);

 private:
  int ticks() const { return static_cast<int>(record_->t.size()); }
  void compute(int tick);
  double reading(int term, int tick, const Read& read) const;

  const ControlLaw* law_;
  const ControlRecord* record_;
  std::vector<std::vector<double>> y_;  // per term and tick
  std::vector<double> c_, u_;
  std::vector<int> read_;                   // per term: ticks whose reading is known
  int known_ = 0, next_ = 0, touched_ = 0;  // ticks that were recorded; whose command is final; that may differ
};

}  // namespace kinegraph::identify
