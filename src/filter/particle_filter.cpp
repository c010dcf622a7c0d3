#include "kinegraph/filter/particle_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/kalman.hpp"
#include "kinegraph/filter/stage_time.hpp"

namespace kinegraph::filter {
namespace {

constexpr int kFewParticles = 128;  // up to here one thread is faster
constexpr int kBlock = 32, kMostBlocks = 16;

int blocks_of(int particles) {
  return particles <= kFewParticles ? 1 : std::min(kMostBlocks, (particles + kBlock - 1) / kBlock);
}

Result<std::monostate> check(const StateSpace& space, double t, const std::vector<Particle>& start, int branches,
                             const ParticleOptions& options) {
  if (start.empty()) return Failure::bad_input("particles: there is none to start from");
  if (!std::isfinite(t)) return Failure::bad_input("particles: the time of the start is not a number");
  double most = -kInfinity;
  for (const Particle& p : start) {
    if (p.x.size() != space.stored() || !p.x.allFinite()) {
      return Failure::internal(fmt::format("particles: a state of {} numbers, all finite, is wanted", space.stored()));
    }
    if (p.branch < 0 || p.branch >= branches) {
      return Failure::internal(fmt::format("particles: branch {} of {}", p.branch, branches));
    }
    if (!std::isnan(p.log_weight)) most = std::max(most, p.log_weight);
  }
  if (!std::isfinite(most)) return Failure::bad_input("particles: all weigh nothing");
  if (!(options.step > 0)) return Failure::bad_input(fmt::format("step: must be > 0, is {:g}", options.step));
  if (!(options.noise_factor > 0)) {
    return Failure::bad_input(fmt::format("noise factor: must be > 0, is {:g}", options.noise_factor));
  }
  return std::monostate();
}

}  // namespace

struct ParticleFilter::Kept final : Snapshot {
  Cloud cloud;
};

ParticleFilter::ParticleFilter(const StateSpace& space, const ParticleOptions& options, int particles)
    : options_(options),
      stored_(space.stored()),
      blocks_(blocks_of(particles)),
      team_(static_cast<int>(blocks_.size()), options.threads),
      most_(blocks_.size()),
      sum_(blocks_.size()),
      squares_(blocks_.size()) {
  const int n = particles, blocks = team_.parts();
  for (int b = 0; b < blocks; ++b) {
    Block& block = blocks_[b];
    block.first = static_cast<int>(static_cast<long>(n) * b / blocks);
    block.last = static_cast<int>(static_cast<long>(n) * (b + 1) / blocks);
    block.space = space.clone();
    spaces_.push_back(block.space.get());
    block.proposal = std::make_unique<ParticleProposal>(*block.space, options.proposal, options.noise_factor);
    if (StateLanes* lanes = block.space->lanes()) {
      block.lanes = std::make_unique<LaneProposal>(*block.space, *lanes, options.proposal, options.noise_factor);
      block.lane_x.assign(static_cast<std::size_t>(kLanes) * stored_, 0.0);
      block.lane_next = block.lane_x;
      block.lane_normal.assign(static_cast<std::size_t>(kLanes) * (space.noises() + space.tangent()), 0.0);
    }
    block.random.assign(kMostTogether, Random(0));
    for (auto* x : {&block.here, &block.next}) x->assign(static_cast<std::size_t>(kMostTogether) * stored_, 0.0);
    block.normal.assign(static_cast<std::size_t>(kMostTogether) * space.noises(), 0.0);
  }
  options_.noise_steps = std::max(1, options_.noise_steps);
  parent_.resize(n);
  gathered_.resize(static_cast<std::size_t>(n) * stored_);
  gathered_weight_.resize(n);
  gathered_branch_.resize(n);
  aimed_.resize(n);
  origin_.resize(n);
  chosen_.resize(n);
  taken_.resize(n);
  for (auto& stage : stage_x_) stage.resize(static_cast<std::size_t>(n) * stored_);
  for (auto& stage : stage_weight_) stage.resize(n);
}

Result<std::unique_ptr<ParticleFilter>> ParticleFilter::create(const StateSpace& space, double t,
                                                               const std::vector<Particle>& start, int branches,
                                                               const ParticleOptions& options) {
  if (auto good = check(space, t, start, branches, options); !good) return good.failure();
  const int n = static_cast<int>(start.size());
  std::unique_ptr<ParticleFilter> filter(new ParticleFilter(space, options, n));
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return start[a].branch < start[b].branch; });
  Cloud& cloud = filter->cloud_;
  cloud.t = t;
  cloud.x.reserve(static_cast<std::size_t>(n) * space.stored());
  for (int i : order) {
    const Particle& p = start[i];
    cloud.x.insert(cloud.x.end(), p.x.begin(), p.x.end());
    cloud.branch.push_back(p.branch);
    cloud.log_weight.push_back(std::isnan(p.log_weight) ? -kInfinity : p.log_weight);
  }
  cloud.arrived = cloud.x;
  cloud.log_prior = cloud.log_weight;
  cloud.weight.resize(n);
  cloud.probability.resize(branches);
  cloud.readings.reserve(space.sensors().size());
  filter->normalise();
  const auto heaviest = std::max_element(cloud.weight.begin(), cloud.weight.end()) - cloud.weight.begin();
  filter->blocks_[0].space->choose(t, filter->x(static_cast<int>(heaviest)), filter->chart_);
  cloud.log_prior = cloud.log_weight;
  cloud.evidence = 0;
  return filter;
}

Result<std::monostate> ParticleFilter::push(const Measurement& measurement) {
  if (auto fault = filter::check(sensors(), measurement); !fault) return fault;
  if (measurement.t < cloud_.t - kSameTime * options_.step) {
    return Failure::no_answer(
        fmt::format("a reading of t = {:g} came after the estimate had reached t = {:g}", measurement.t, cloud_.t));
  }
  if (measurement.t > cloud_.t + kSameTime * options_.step) {
    if (auto fault = check_way(measurement.t); !fault) return fault;
    const Motion motion = begin(measurement.t);
    first_told_ = 0;
    cloud_.readings.push_back(measurement);
    return finish(&motion);
  }
  first_told_ = static_cast<int>(cloud_.readings.size());
  cloud_.readings.push_back(measurement);
  return finish(nullptr);
}

/// Whether several readings can be weighed at once and each be told: by lanes, which see what each of them says alone.
bool ParticleFilter::takes_together(const std::vector<Measurement>& readings) const {
  const Block& block = blocks_[0];
  if (readings.size() < 2 || options_.proposal != Proposal::optimal || block.space->noises() == 0) return false;
  const double tolerance = kSameTime * options_.step;
  return block.lanes && readings[0].t > cloud_.t + tolerance &&
         std::all_of(readings.begin(), readings.end(),
                     [&](const Measurement& m) {
                       return filter::check(sensors(), m) && std::abs(m.t - readings[0].t) <= tolerance;
                     }) &&
         block.lanes->reads(readings) && check_way(readings[0].t);
}

Result<std::monostate> ParticleFilter::push_together(const std::vector<Measurement>& readings) {
  if (!takes_together(readings)) return Estimator::push_together(readings);
  const Motion motion = begin(readings[0].t);
  first_told_ = 0;
  cloud_.readings = readings;
  if (auto finished = finish(&motion)) return finished;
  // One of them has no answer: which, they tell one by one.
  cloud_.readings.clear();
  run(nullptr, false);
  refine();
  normalise();
  return Estimator::push_together(readings);
}

Result<std::monostate> ParticleFilter::advance(double t) {
  if (!std::isfinite(t)) return Failure::bad_input("the time to move on to is not a number");
  if (t < cloud_.t - kSameTime * options_.step) {
    return Failure::no_answer(fmt::format("cannot go back to t = {:g} from t = {:g}", t, cloud_.t));
  }
  if (t <= cloud_.t + kSameTime * options_.step) return std::monostate();
  if (auto fault = check_way(t); !fault) return fault;
  const Motion motion = begin(t);
  return finish(&motion);
}

// Leaves the readings at the present time behind: from here on they count in the weights only.
Result<std::monostate> ParticleFilter::check_way(double t) const {
  if (t - cloud_.t <= kMostSteps * options_.step) return std::monostate();
  return Failure::no_answer(fmt::format("from t = {:g} s to {:g} s takes more than {:g} steps of {:g} s", cloud_.t, t,
                                        kMostSteps, options_.step));
}

ParticleFilter::Motion ParticleFilter::begin(double t) {
  {
    const StageTime stage(times_.resample);
    resample();
  }
  cloud_.log_prior = cloud_.log_weight;
  cloud_.evidence_before = cloud_.evidence;
  cloud_.unexplained_before = cloud_.unexplained;
  cloud_.readings.clear();

  Motion motion;
  const int at_once = options_.noise_steps;
  motion.from = cloud_.t;
  motion.steps = std::max(1, static_cast<int>(std::ceil((t - cloud_.t) / options_.step - kSameTime)));
  motion.h = (t - cloud_.t) / motion.steps;
  motion.first_span = (motion.steps - 1) % at_once + 1;
  motion.first_draw = cloud_.draw + 1;
  cloud_.draw += (motion.steps + at_once - 1) / at_once;
  cloud_.span = motion.h * std::min(motion.steps, at_once);
  cloud_.t = t;
  return motion;
}

Result<std::monostate> ParticleFilter::finish(const Motion* motion) {
  const bool told = on_innovation && !cloud_.readings.empty();
  belief_known_ = false;
  run(motion, told);
  if (motion && cloud_.readings.empty() && cloud_.log_weight == cloud_.log_prior) {
    return std::monostate();  // all have moved, none weighs more or less
  }
  {
    const StageTime stage(times_.resample);
    refine();
  }
  if (normalise()) {
    for (int r = first_told_; told && r < static_cast<int>(cloud_.readings.size()); ++r) tell(r);
    return std::monostate();
  }
  if (cloud_.readings.empty()) {
    return Failure::no_answer(fmt::format("t = {:g}: no particle could be moved to this time", cloud_.t));
  }
  // Without this reading the belief may still stand.
  const std::string& name = sensors()[cloud_.readings.back().sensor].name;
  cloud_.readings.pop_back();
  run(nullptr, false);
  refine();
  normalise();
  return Failure::no_answer(fmt::format("t = {:g}: no particle can say what sensor '{}' would read", cloud_.t, name));
}

const Belief& ParticleFilter::belief() const {
  if (belief_known_) return belief_;
  const auto& p = cloud_.probability;
  const int branch = static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin());
  const auto range = std::equal_range(cloud_.branch.begin(), cloud_.branch.end(), branch);
  const std::ptrdiff_t first = range.first - cloud_.branch.begin(), n = range.second - range.first;
  belief_.t = cloud_.t;
  belief_.branch = branch;
  belief_.chart = chart_;  // so that the belief depends on the particles alone, not on what was asked before
  const double* states = cloud_.x.data() + first * stored_;
  if (!moments_.compute(team_, spaces_, cloud_.t, states, cloud_.weight.data() + first, static_cast<int>(n), belief_)) {
    // Not even a chart: the most probable particle, and nothing known of its spread.
    const auto heaviest = std::max_element(cloud_.weight.begin() + first, cloud_.weight.begin() + first + n);
    const double* best = cloud_.x.data() + (heaviest - cloud_.weight.begin()) * stored_;
    belief_.x = Eigen::Map<const VectorXd>(best, stored_);
    const int d = blocks_[0].space->tangent();
    belief_.P = 1e12 * MatrixXd::Identity(d, d);
  }
  belief_known_ = true;
  return belief_;
}

std::unique_ptr<Snapshot> ParticleFilter::snapshot() const { return std::make_unique<Kept>(); }

void ParticleFilter::save(Snapshot& snapshot) const { static_cast<Kept&>(snapshot).cloud = cloud_; }

void ParticleFilter::restore(const Snapshot& snapshot) {
  cloud_ = static_cast<const Kept&>(snapshot).cloud;
  belief_known_ = false;
}

void ParticleFilter::visit(const std::function<void(const double*, double, int)>& see) const {
  for (int i = 0; i < particles(); ++i) {
    if (cloud_.weight[i] > 0) {
      see(cloud_.x.data() + static_cast<std::ptrdiff_t>(i) * stored_, cloud_.weight[i], cloud_.branch[i]);
    }
  }
}

}  // namespace kinegraph::filter
