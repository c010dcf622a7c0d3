#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/random.hpp"
#include "kinegraph/identify/problem_implementation.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"

namespace kinegraph::identify {

template <class Visit>
void Problem::Implementation::visit_readings(const std::vector<double>& poses, const Visit& visit) {
  for (int k = 0; k < steps(); ++k) {
    if (first_reading[k] == first_reading[k + 1]) continue;
    const double* q = pose(poses, k);
    pairs[0].set(pose(poses, k - 1), q, length(k - 1), true);
    pairs[1].set(q, pose(poses, k + 1), length(k), true);
    for (int i = first_reading[k]; i < first_reading[k + 1]; ++i) {
      const Reading& reading = run.readings[i];
      between.set(q, pairs[0], pairs[1], reading.fraction, true);
      rows.clear();
      readings.add(reading, between, plain[i].data(), &rows);
      for (int c = 0, row = 0; c < 6; ++c) {
        if (!std::isnan(plain[i][c])) visit(k, readings.first_channel(reading.sensor) + c, rows.states(row++));
      }
    }
  }
}

/// tr(J H⁻¹ Jᵀ) = E zᵀ J H⁻¹ Jᵀ z for z of independent ±1, with a standard deviation below √(2 γ) of each z. The same
/// ones every time; more of them where a recording is so short that little is taken up.
Eigen::VectorXd Problem::absorbed(const MachinePoint& machine, const std::vector<double>& poses,
                                  const linear::Arrowhead& arrow) {
  constexpr int kLeastProbes = 4, kMostProbes = 64, kEnough = 2000;  // knots, of all probes
  constexpr unsigned long kSeed = 3326;
  Implementation& all = *implementation_;
  all.set_machine(machine, true);
  const int n = all.n, probes = std::clamp(kEnough / knots(), kLeastProbes, kMostProbes);
  linear::Arrowhead::RowMajor x = linear::Arrowhead::RowMajor::Zero(static_cast<Eigen::Index>(n) * knots(), probes);
  Eigen::RowVectorXd signs(probes);
  Random random(kSeed), again(kSeed);
  const auto draw = [&](Random& from) {
    for (double& sign : signs) sign = from.uniform() < 0.5 ? -1 : 1;
  };
  // rows of the step that begins at knot k are on the arrow's knots k, k + 1, k + 2, the first of which is knot −1
  all.visit_readings(poses, [&](int k, int, const double* row) {
    draw(random);
    for (int i = 0; i < 3 * n; ++i) {
      if (row[i] != 0) x.row(static_cast<Eigen::Index>(k) * n + i) += row[i] * signs;
    }
  });
  arrow.solve(x);
  Eigen::VectorXd out = Eigen::VectorXd::Zero(all.readings.channels());
  all.visit_readings(poses, [&](int k, int channel, const double* row) {
    draw(again);
    for (int i = 0; i < 3 * n; ++i) {
      if (row[i] != 0) out[channel] += row[i] * x.row(static_cast<Eigen::Index>(k) * n + i).dot(signs) / probes;
    }
  });
  return out;
}

/// The joint that moves most at the step that is lost.
std::string Problem::fault() const {
  const Implementation& all = *implementation_;
  const std::string file = all.run.file.empty() ? "" : all.run.file + ": ";
  if (all.lost_reading >= 0) {
    const Reading& reading = all.run.readings[all.lost_reading];
    return fmt::format("{}the reading at t = {:g} s is compared with a number that is not finite", file, reading.t);
  }
  if (all.lost_step < 0) return file + "its sum is too large";
  const maximal::Mechanism& mechanism = *all.mechanism;
  const int k = all.lost_step;
  const double t = all.run.times[k];
  std::vector<double> twist(static_cast<std::size_t>(all.n));
  const double *q = all.pose(all.last, k), *before = all.pose(all.last, k - 1);
  maximal::local(all.n / 6, before, q, twist.data());
  for (double& x : twist) x /= all.length(k - 1);
  Eigen::VectorXd rates = Eigen::VectorXd::Zero(mechanism.tree().freedoms());
  maximal::rates_of(mechanism, all.numbers, q, twist.data(), rates.data());
  if (!rates.allFinite()) return fmt::format("{}there is no motion at t = {:g} s", file, t);
  std::string fastest;
  double most = -1;
  for (const maximal::Freedom& freedom : mechanism.freedoms()) {
    const double rate = std::abs(rates[freedom.velocity]);
    if (rate <= most) continue;
    most = rate;
    fastest = fmt::format("{} moves at {:.3g} {}", mechanism.joints()[freedom.joint].name, rate,
                          freedom.angular ? "rad/s" : "m/s");
  }
  return fmt::format("{}the model has no step at t = {:g} s{}{}", file, t, fastest.empty() ? "" : ", where ", fastest);
}

}  // namespace kinegraph::identify
