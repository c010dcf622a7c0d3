#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kinegraph/filter/bank.hpp"
#include "kinegraph/filter/particle_filter.hpp"

namespace kinegraph::filter {

/// Particles whose start is known so little that they would lie far apart. A start particle then stands for all the
/// states around it, up to its neighbours; readings are sharp beside what such a cell may read. Weighed as points, the
/// particle that happens to lie best wins at once, and its branch with it. So the start is a sum of normal cells,
///
///     p(x₀) = Σ wᵢ N(xᵢ, Pᵢ),    wᵢ ← wᵢ N(eᵢ; 0, Hᵢ Pᵢ Hᵢᵀ + R)       (Alspach, Sorenson 1972)
///
/// one unscented Kalman filter each (Bank; linearised, wide cells would be too sure of what they expect), until the
/// belief is one that the particles can hold: the cells that are left are of one branch and lie together, and a reading
/// does not narrow them much any more. There the particles are drawn from the sum and go on by themselves
/// (ParticleFilter); as long as branches cannot be told apart, cells stay.
///
/// The time of a push is bounded by the number of cells, which only falls. Same bits for any number of threads.
class CellParticles final : public Rewindable {
 public:
  /// Cells: not necessarily as many as particles; all at the same time, equally probable, of branches 0 … branches − 1.
  static Result<std::unique_ptr<CellParticles>> create(const StateSpace& space, const std::vector<Belief>& cells,
                                                       int particles, int branches, const ParticleOptions& options);

  Result<std::monostate> push(const Measurement& measurement) override;
  Result<std::monostate> push_together(const std::vector<Measurement>& readings) override;
  Result<std::monostate> advance(double t) override;
  double t() const override { return now().t(); }
  const Belief& belief() const override { return now().belief(); }
  const std::vector<double>& branches() const override { return drawn_ ? particles_->branches() : probability_; }

  std::unique_ptr<Snapshot> snapshot() const override;
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;
  const std::vector<SensorInfo>& sensors() const override { return cells_->sensors(); }

  bool drawn() const { return drawn_; }          ///< whether particles have taken over
  int alive() const { return cells_->alive(); }  ///< cells; of when the particles were drawn

 private:
  struct Kept;
  using Extent = std::pair<double, int>;  // ln of a volume, and its dimensions
  CellParticles(const StateSpace& space, int count, int branches, const ParticleOptions& options);
  Estimator& now() { return drawn_ ? static_cast<Estimator&>(*particles_) : *cells_; }
  const Estimator& now() const { return drawn_ ? static_cast<const Estimator&>(*particles_) : *cells_; }
  void sum_branches();
  bool together();
  bool narrows();
  Result<std::monostate> draw();
  void draw_branch(int branch, int count, std::vector<Particle>& out);

  std::unique_ptr<StateSpace> space_;
  ParticleOptions options_;
  int count_;
  std::unique_ptr<Bank> cells_;
  std::unique_ptr<ParticleFilter> particles_;
  bool drawn_ = false;
  Extent extent_ = {0, -1};  // of the best cell after the last reading
  std::vector<double> probability_;
  std::vector<int> of_branch_, apart_, reached_;  // work space
  std::vector<double> weight_;
  MatrixXd P_, L_;
};

}  // namespace kinegraph::filter
