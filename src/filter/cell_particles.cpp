#include "kinegraph/filter/cell_particles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/particle_resampling.hpp"
#include "kinegraph/filter/square_root.hpp"
#include "kinegraph/filter/ukf.hpp"

namespace kinegraph::filter {
namespace {

constexpr std::uint64_t kCells = 0x63656c6c73303031;  // key of random numbers
constexpr double kNegligible = 1e-3;                  // probability of cells that need not lie with the others
constexpr double kNeighbours = 9;                     // squared distance in standard deviations

/// ln of the volume of P = L Lᵀ, and in how many directions it has any.
std::pair<double, int> extent(const MatrixXd& L) {
  std::pair<double, int> sum = {0, 0};
  for (Eigen::Index i = 0; i < L.rows(); ++i) {
    if (L(i, i) > 0) sum.first += std::log(L(i, i)), ++sum.second;
  }
  return sum;
}

}  // namespace

struct CellParticles::Kept final : Snapshot {
  bool drawn = false;
  Extent extent;
  std::unique_ptr<Snapshot> cells, particles;
};

CellParticles::CellParticles(const StateSpace& space, int count, int branches, const ParticleOptions& options)
    : space_(space.clone()), options_(options), count_(count), probability_(branches, 0.0) {}

Result<std::unique_ptr<CellParticles>> CellParticles::create(const StateSpace& space, const std::vector<Belief>& cells,
                                                             int particles, int branches,
                                                             const ParticleOptions& options) {
  if (cells.empty()) return Failure::bad_input("particles: there is no cell to start from");
  if (particles < 1) return Failure::bad_input(fmt::format("particles: must be ≥ 1, are {}", particles));
  KalmanOptions kalman;
  kalman.step = options.step;
  kalman.noise_factor = options.noise_factor;
  std::vector<std::unique_ptr<Kalman>> filters;
  for (const Belief& cell : cells) {
    if (cell.branch < 0 || cell.branch >= branches) {
      return Failure::internal(fmt::format("particles: branch {} of {}", cell.branch, branches));
    }
    auto made = Ukf::make(space.clone(), cell, kalman);
    if (!made) return made.failure();
    filters.push_back(*std::move(made));
  }
  BankOptions bank;
  bank.abandon = options.dead_branch;
  auto made = Bank::make(std::move(filters), {}, bank);
  if (!made) return made.failure();
  std::unique_ptr<CellParticles> filter(new CellParticles(space, particles, branches, options));
  filter->cells_ = *std::move(made);
  filter->cells_->on_innovation = [self = filter.get()](const Innovation& told) {
    if (self->on_innovation) self->on_innovation(told);
  };
  filter->sum_branches();
  return filter;
}

Result<std::monostate> CellParticles::push(const Measurement& measurement) {
  if (auto pushed = now().push(measurement); !pushed || drawn_) return pushed;
  sum_branches();
  if (narrows() || !together()) return std::monostate();
  return draw();
}

Result<std::monostate> CellParticles::push_together(const std::vector<Measurement>& readings) {
  return drawn_ ? particles_->push_together(readings) : Estimator::push_together(readings);
}

Result<std::monostate> CellParticles::advance(double t) {
  auto moved = now().advance(t);
  if (!drawn_) sum_branches();
  return moved;
}

void CellParticles::sum_branches() {
  std::fill(probability_.begin(), probability_.end(), 0.0);
  const std::vector<int>& numbers = cells_->branch_numbers();
  for (std::size_t s = 0; s < numbers.size(); ++s) probability_[numbers[s]] = cells_->branches()[s];
}

/// Whether the last reading left less of the best cell than may be left of particles.
bool CellParticles::narrows() {
  covariance(cells_->filter(cells_->best()).state().S, P_);
  const Extent before = extent_;
  extent_ = square_root(P_, L_) ? extent(L_) : Extent();
  return extent_.second != before.second || extent_.first - before.first < std::log(std::min(0.5, options_.resample));
}

/// Whether all cells but a negligible share are of one branch and one heap: from the most probable one all others are
/// reached over neighbours.
bool CellParticles::together() {
  const int best = cells_->best();
  const double least = std::log(kNegligible / cells_->alive());
  double others = 0;
  apart_.clear();
  for (int i = 0; i < cells_->size(); ++i) {
    if (i == best || !(cells_->log_weight(i) > -kInfinity)) continue;
    const bool same = cells_->filter(i).branch() == cells_->filter(best).branch();
    if (!same) others += std::exp(cells_->log_weight(i));
    if (same && cells_->log_weight(i) > least) apart_.push_back(i);
  }
  if (others >= kNegligible) return false;
  reached_.assign(1, best);
  for (std::size_t from = 0; from < reached_.size(); ++from) {
    const auto far = [&](int i) { return !(cells_->distance(reached_[from], i) <= kNeighbours); };
    const auto near = std::stable_partition(apart_.begin(), apart_.end(), far);
    reached_.insert(reached_.end(), near, apart_.end());
    apart_.erase(near, apart_.end());
  }
  return apart_.empty();
}

Result<std::monostate> CellParticles::draw() {
  std::vector<double> share = probability_;
  const double most = *std::max_element(share.begin(), share.end());
  double sum = 0;
  int living = 0;
  for (double& p : share) {
    if (p < options_.dead_branch && p < most) p = 0;
    sum += p, living += p > 0;
  }
  for (double& p : share) p /= sum;
  std::vector<int> counts;
  allocate(share, count_, std::max(1, static_cast<int>(options_.branch_share * count_ / living)), counts);
  std::vector<Particle> start;
  for (int b = 0; b < static_cast<int>(share.size()); ++b) {
    if (counts[b] == 0) continue;
    const std::size_t first = start.size();
    draw_branch(b, counts[b], start);
    for (std::size_t i = first; i < start.size(); ++i) start[i].log_weight = std::log(share[b] / counts[b]);
  }
  auto made = ParticleFilter::create(*space_, cells_->t(), start, static_cast<int>(share.size()), options_);
  if (!made) return made.failure();
  particles_ = *std::move(made);
  particles_->on_innovation = cells_->on_innovation;
  drawn_ = true;
  return std::monostate();
}

void CellParticles::draw_branch(int branch, int count, std::vector<Particle>& out) {
  of_branch_.clear(), weight_.clear();
  for (int i = 0; i < cells_->size(); ++i) {
    if (cells_->filter(i).branch() != branch || !(cells_->log_weight(i) > -kInfinity)) continue;
    of_branch_.push_back(i);
    weight_.push_back(std::exp(cells_->log_weight(i)));
  }
  const double most = *std::max_element(weight_.begin(), weight_.end());
  for (double& w : weight_) w /= most;
  std::vector<int> parent(count);
  const double u = Random(options_.seed ^ kCells, 0, static_cast<std::uint32_t>(branch)).uniform();
  systematic(weight_.data(), static_cast<int>(weight_.size()), u, count, parent.data());
  VectorXd normal(space_->tangent());
  for (int k = 0; k < count; ++k) {
    const GaussianState& cell = cells_->filter(of_branch_[parent[k]]).state();
    Random random(options_.seed ^ kCells, 1, static_cast<std::uint32_t>(out.size()));
    random.normal(normal.data(), static_cast<int>(normal.size()));
    const VectorXd delta = cell.S * normal;
    Particle particle{cell.x, branch, 0};
    const bool there = space_->retract(cell.t, cell.x.data(), cell.chart, delta.data(), particle.x.data());
    if (!there || !particle.x.allFinite()) particle.x = cell.x;
    out.push_back(std::move(particle));
  }
}

std::unique_ptr<Snapshot> CellParticles::snapshot() const {
  auto kept = std::make_unique<Kept>();
  kept->cells = cells_->snapshot();
  return kept;
}

void CellParticles::save(Snapshot& snapshot) const {
  auto& kept = static_cast<Kept&>(snapshot);
  kept.drawn = drawn_;
  kept.extent = extent_;
  if (!drawn_) return cells_->save(*kept.cells);
  if (!kept.particles) kept.particles = particles_->snapshot();
  particles_->save(*kept.particles);
}

void CellParticles::restore(const Snapshot& snapshot) {
  const auto& kept = static_cast<const Kept&>(snapshot);
  drawn_ = kept.drawn;
  extent_ = kept.extent;
  if (drawn_) return particles_->restore(*kept.particles);
  cells_->restore(*kept.cells);
  sum_branches();
}

}  // namespace kinegraph::filter
