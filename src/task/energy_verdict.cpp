#include "kinegraph/task/energy_verdict.hpp"

#include <fmt/format.h>

#include <limits>

namespace kinegraph::task {
namespace {

constexpr double kOff = 1e-3, kOffSoft = 1e-2;  // of the motion's energy: beyond it the user is told
constexpr double kWrong = 0.1;                  // of the motion's energy: beyond it the motion is another one
constexpr double kNoGive = 1e3;

}  // namespace

void EnergyBalance::start(double energy, double kinetic) {
  *this = {};
  start_ = end_ = energy;
  kinetic_start_ = kinetic_max_ = kinetic;
}

void EnergyBalance::pass(double energy, double kinetic, double work) {
  see_kinetic(kinetic);
  end_ = energy;
  work_ = work;
  work_max_ = std::max(work_max_, std::abs(work));
}

void EnergyBalance::add(double t, double energy, double kinetic, double work) {
  pass(energy, kinetic, work);
  const double off = energy - start_ - work;
  error_ = std::max(error_, std::abs(off));
  if (const double jump = std::abs(off - off_); jump > worst_) worst_ = jump, worst_t_ = t;
  off_ = off;
}

void EnergyBalance::tell(SimulateSummary& s, double give) const {
  s.energy_start = start_;
  s.energy_end = end_;
  s.kinetic_start = kinetic_start_;
  s.kinetic_max = kinetic_max_;
  s.work = work_;
  s.energy_error = error_;
  s.energy_worst_t = worst_t_;
  const double over = scale() > give ? scale() : kNoGive * give;
  const bool moves = std::max(kinetic_max_, work_max_) >= over || over > scale();
  s.energy_drift = moves || error_ <= over ? error_ / over : std::numeric_limits<double>::quiet_NaN();
}

void warn_of_energy(SimulateSummary& s, bool gives) {
  if (std::isnan(s.energy_drift)) {
    s.warnings.push_back(
        fmt::format("the energy is off by {:.3g} J, and nothing moves: are the inputs sound?", s.energy_error));
    return;
  }
  if (!(s.energy_drift > (gives ? kOffSoft : kOff))) return;
  const char* wrong =
      s.energy_drift > kWrong && !gives ? "from there on this is another motion than the model's; " : "";
  s.warnings.push_back(
      fmt::format("the energy is off by {:.2g} of the motion's, most of it in the step to t = {:g} s; {}take a smaller "
                  "step than {:g} s{}",
                  s.energy_drift, s.energy_worst_t, wrong, s.step, gives ? ", or a smaller --compliance" : ""));
}

}  // namespace kinegraph::task
