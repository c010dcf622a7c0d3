#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "kinegraph/filter/lane_proposal.hpp"
#include "kinegraph/filter/particle_kernels.hpp"
#include "kinegraph/filter/particle_moments.hpp"
#include "kinegraph/filter/particle_proposal.hpp"
#include "kinegraph/filter/rewindable.hpp"

namespace kinegraph::filter {

/// One hypothesis of the start.
struct Particle {
  VectorXd x;
  int branch = 0;
  double log_weight = 0;  ///< need not be normalised
};

struct ParticleOptions {
  double step = 1e-3;  ///< longest step of the motion
  /// The process noise of up to this many steps is drawn at once at their end, so that it is drawn with the next
  /// reading in sight where the readings are some steps apart.
  int noise_steps = 4;
  Proposal proposal = Proposal::optimal;
  double resample = 0.5;  ///< when the effective number of particles falls below this share; ≥ 1: before each step
  /// Each branch is resampled by itself and keeps some particles, so that it does not die by chance; else all together.
  bool stratified = true;
  double dead_branch = 1e-6;  ///< stratified: a branch less probable than this is given up
  double branch_share = 0.2;  ///< stratified: of the particles, shared evenly among living branches whatever they weigh
  double noise_factor = 1;    ///< readings are weighed as if their noise were so many times as large
  /// Particles that must be resampled are drawn anew from kernels as wide as the particles around them say, with the
  /// readings in sight, in several steps where one asks too much: see particle_kernels.hpp. This is the kernels' width
  /// in units of what is best for a normal density; 0: resampled particles are copies.
  double kernel = 1;
  /// When no particle explains so many instants' readings in a row (more than six standard deviations off), all are at
  /// a wrong place: from then on kernels are made wide enough to explain them. 0: never.
  int recover = 3;
  std::uint64_t seed = 0;
  int threads = 1;  ///< does not change the results, not even in the last bit
};

/// Sequential Monte Carlo: the belief is a set of weighted particles, each a full state of the system with the branch
/// of its assembly (004, algorithm 1, with the likelihood of the new reading at the new state). Takes readings in the
/// order of time; those of the same time are weighed together, as if they had come at once.
class ParticleFilter final : public Rewindable {
 public:
  /// Particles: as many as the start has. Branches: 0 … branches − 1.
  static Result<std::unique_ptr<ParticleFilter>> create(const StateSpace& space, double t,
                                                        const std::vector<Particle>& start, int branches,
                                                        const ParticleOptions& options);

  Result<std::monostate> push(const Measurement& measurement) override;
  Result<std::monostate> push_together(const std::vector<Measurement>& readings) override;
  Result<std::monostate> advance(double t) override;
  double t() const override { return cloud_.t; }
  const Belief& belief() const override;  ///< computed when first asked for: not by two threads at once
  const std::vector<double>& branches() const override { return cloud_.probability; }

  std::unique_ptr<Snapshot> snapshot() const override;
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;
  const std::vector<SensorInfo>& sensors() const override { return blocks_[0].space->sensors(); }

  /// Every particle with its weight (Σ = 1): for expected values, (004, eq. 19).
  void visit(const std::function<void(const double* x, double weight, int branch)>& see) const;
  int particles() const { return static_cast<int>(cloud_.weight.size()); }
  double effective_particles() const;                      ///< 1 / Σ w²
  double log_evidence() const { return cloud_.evidence; }  ///< log p(all readings so far)
  long resamplings() const { return cloud_.resamplings; }

  /// Seconds spent since the start, by stage (004, section 6.2).
  struct StageTimes {
    double move = 0;       ///< motion, draws and weights: lines 1 to 6 of its algorithm 1
    double normalise = 0;  ///< of the weights
    double resample = 0;   ///< copies, and draws from kernels
  };
  const StageTimes& stage_times() const { return times_; }

 private:
  // All that changes with time: what a snapshot keeps.
  struct Cloud {
    double t = 0;
    double span = 0;                                    // seconds of noise that `x` has and `arrived` has not
    std::uint64_t draw = 0;                             // names the random numbers of that noise
    std::vector<double> x;                              // particles × stored
    std::vector<double> arrived;                        // the same before that noise
    std::vector<int> branch;                            // never falls
    std::vector<double> log_prior, log_weight, weight;  // before and after the readings at t; Σ weight = 1
    std::vector<Measurement> readings;                  // at t
    std::vector<double> probability;                    // of the branches
    double evidence = 0, evidence_before = 0;
    long resamplings = 0;
    int unexplained = 0, unexplained_before = 0;  // instants in a row whose readings no particle explains
  };
  struct Kept;
  // Some particles and the system that moves them; which particles does not depend on the number of threads.
  struct Block {
    int first = 0, last = 0;
    std::unique_ptr<StateSpace> space;
    std::unique_ptr<ParticleProposal> proposal;
    // of those that are moved at once
    int count = 0;
    std::array<int, kMostTogether> particle;
    std::array<bool, kMostTogether> good;
    std::array<double, kMostTogether> weight, log_weight;
    std::vector<Random> random;
    std::vector<double> here, next, normal;
    std::vector<InnovationSums> sums;  // of the readings that are told
    // where the space has lanes: eight at once
    std::unique_ptr<LaneProposal> lanes;
    std::vector<double> lane_x, lane_next, lane_normal;
    std::vector<LaneSums> lane_sums;
  };
  struct Motion {
    double from = 0, h = 0;
    int steps = 0, first_span = 0;  // steps; the noise is drawn after first_span steps, then every noise_steps
    std::uint64_t first_draw = 0;
  };

  ParticleFilter(const StateSpace& space, const ParticleOptions& options, int particles);
  Result<std::monostate> check_way(double t) const;
  bool takes_together(const std::vector<Measurement>& readings) const;
  Motion begin(double t);
  Result<std::monostate> finish(const Motion* motion);
  void run(const Motion* motion, bool told);
  void run_block(Block& block, const Motion* motion, bool told);
  void run_some(Block& block, int first, int last, const Motion* motion, int tell_from);
  void run_eight(Block& block, int first, int last, const Motion* motion, LaneSums* sums);
  void load(const std::vector<double>& all, int first, int last, double* x) const;
  void store(const double* x, int first, int last, const bool* good, std::vector<double>& all) const;
  static void draw_normals(std::uint64_t seed, std::uint64_t stream, int first, int count, double* out);
  void move(Block& block, const Motion& motion);
  void gather(Block& block, const std::vector<double>& all) const;
  void scatter(const Block& block, std::vector<double>& all) const;
  void draw(Block& block, int tell_from);
  bool normalise();
  void tell(int reading);
  void resample();
  bool choose_counts(const std::vector<int>& size);
  struct Source;
  void refine();
  bool refine_branch(int first, int n, bool lost);
  bool is_lost();
  void widen(const Source& source);
  bool spread(const Source& source, int count, double* x, double* log_weight);
  void aim(Block& block, const Source& source, int first, int last);
  bool has_lanes(const Block& block, const ParticleOrigin* const* origin, int count) const;
  void draw(Block& block, const Source& source, int first, int last, double share, double* x, double* log_weight);
  bool spread_copies(int first, int n, int to, int count, double log_probability);
  double weigh(const double* log_weight, int n, double* w);
  void sum_up(const double* w, int n);
  double evenness() const;
  double* x(int particle) { return cloud_.x.data() + static_cast<std::ptrdiff_t>(particle) * stored_; }
  double* arrived(int particle) { return cloud_.arrived.data() + static_cast<std::ptrdiff_t>(particle) * stored_; }

  ParticleOptions options_;
  int stored_ = 0;
  std::vector<Block> blocks_;
  Team team_;                                         // a part for each block
  std::vector<StateSpace*> spaces_;                   // of the blocks
  std::vector<double> most_, sum_, squares_, point_;  // of the parts
  std::vector<double> part_probability_;              // parts × branches
  int first_told_ = 0;                                // of the readings at t: those before it have been told
  std::optional<double> weighed_;  // what weigh() said of all, where their weights are still as it left them
  Cloud cloud_;

  // work space
  std::vector<int> parent_, size_, counts_;
  std::vector<double> gathered_;
  std::vector<double> gathered_weight_;
  std::vector<int> gathered_branch_;
  Chart chart_;  // of the start: offered wherever one is chosen
  ParticleKernels kernels_;
  std::vector<double> aimed_, chosen_;  // log of the weight that a parent can expect to give; what it is taken by
  std::vector<ParticleOrigin> origin_;
  std::vector<double> aim_;  // what the proposals keep of each parent
  std::vector<int> taken_;
  std::vector<double> stage_x_[2], stage_weight_[2];
  StageTimes times_;
  mutable ParticleMoments moments_;
  mutable Belief belief_;
  mutable bool belief_known_ = false;
};

}  // namespace kinegraph::filter
