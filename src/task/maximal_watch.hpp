#pragma once

#include <string>
#include <vector>

#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/step/contact_step.hpp"
#include "kinegraph/task/energy_verdict.hpp"
#include "kinegraph/task/simulate.hpp"

namespace kinegraph::task {

/// Measures every step of a motion in maximal coordinates: its energy against the work of motors, drives, loads and
/// friction, how far joints give way, what sticks and what touches.
class MaximalWatch {
 public:
  explicit MaximalWatch(const maximal::Mechanism& mechanism);

  /// After step.advance(q, before, input, grip, after). `contacts`: null where nothing can touch.
  void add(double t, const double* q, const double* q_tree, const double* before, const double* after,
           const step::RegularizedStep& step, const step::StepInput& input, const std::vector<maximal::Grip>& grip,
           const step::ContactStep* contacts);
  void tell(SimulateSummary& summary) const;

 private:
  double step_work(const double* q, const double* before, const double* after, const step::RegularizedStep& step,
                   const step::StepInput& input) const;

  const maximal::Mechanism& mechanism_;
  std::vector<char> angular_;   // per constraint row
  std::vector<int> drive_row_;  // per freedom, −1: not driven
  Eigen::VectorXd middle_;
  bool begun_ = false, touched_ = false;
  EnergyBalance balance_;
  double now_ = 0, work_ = 0, last_work_ = 0;
  double yielded_max_ = 0;  // J: largest energy of constraints that give way
  double gap_m_ = 0, gap_rad_ = 0, penetration_ = 0;
  long held_ = 0, contact_steps_ = 0;
  int contacts_max_ = 0;
};

}  // namespace kinegraph::task
