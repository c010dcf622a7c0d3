#include <algorithm>
#include <cmath>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/particle_filter.hpp"
#include "kinegraph/filter/particle_resampling.hpp"

namespace kinegraph::filter {
namespace {

constexpr std::uint64_t kParents = 0x706172656e743031, kKernel = 0x6b65726e656c3031;  // keys of random numbers
constexpr int kMostStages = 30;
constexpr double kFewer = 0.25;  // from a power that asks too much to the next
constexpr double kLeastPower = 1e-8;
constexpr double kUnexplained = -20;  // log-likelihood, less the constant of R: more than six standard deviations off
constexpr int kMostDoublings = 16;
constexpr int kFewest = 64;  // particles of a branch: what is around one of fewer, they do not tell

}  // namespace

/// Weighted particles from which others are drawn.
struct ParticleFilter::Source {
  const double* x = nullptr;
  const double* log_weight = nullptr;
  int n = 0;
  double span = 0;   // seconds of process noise that they do not have yet
  double power = 0;  // of the likelihood of the readings, by which they have not been weighed yet
  std::uint64_t stage = 0;
  const double* at(int i, int stored) const { return x + static_cast<std::ptrdiff_t>(i) * stored; }
};

/// aimed_, origin_ and aim_ of parents first … last − 1.
void ParticleFilter::aim(Block& block, const Source& source, int first, int last) {
  const int kept = block.proposal->kept(), most = block.lanes ? kLanes : kMostTogether;
  std::array<ParticleOrigin*, kMostTogether> origin;
  std::array<double*, kMostTogether> found;
  std::array<int, kMostTogether> which;
  std::array<double, kMostTogether> log_weight;
  std::array<bool, kMostTogether> good;
  for (; first < last; first += most) {
    int count = 0;
    for (int i = first; i < std::min(last, first + most); ++i) {
      aimed_[i] = -kInfinity;
      if (!(source.log_weight[i] > -kInfinity)) continue;
      origin_[i] = {source.at(i, stored_), source.span, kernels_.of(i)};
      origin[count] = &origin_[i];
      found[count] = aim_.data() + static_cast<std::ptrdiff_t>(i) * kept;
      which[count++] = i;
    }
    if (count == 0) continue;
    if (block.lanes) {
      good.fill(false);
      if (has_lanes(block, origin.data(), count)) {
        std::fill(origin.begin() + count, origin.begin() + kLanes, origin[count - 1]);
        std::fill_n(good.begin(), count, true);
        block.lanes->aim(cloud_.t, cloud_.readings, source.power,
                         {origin.data(), found.data(), log_weight.data(), good.data()});
      }
      int left = 0;
      for (int k = 0; k < count; ++k) {
        if (good[k]) {
          aimed_[which[k]] = log_weight[k];
        } else {
          origin[left] = origin[k], found[left] = found[k], which[left++] = which[k];
        }
      }
      count = left;
    }
    if (count == 0) continue;
    block.proposal->aim(cloud_.t, cloud_.readings, source.power,
                        {count, origin.data(), found.data(), log_weight.data()});
    for (int k = 0; k < count; ++k) aimed_[which[k]] = log_weight[k];
  }
}

/// Whether all of some have kernels that lanes serve.
bool ParticleFilter::has_lanes(const Block& block, const ParticleOrigin* const* origin, int count) const {
  if (!block.lanes || !block.lanes->reads(cloud_.readings)) return false;
  const StateLanes& lanes = *block.space->lanes();
  return std::all_of(origin, origin + count,
                     [&](const ParticleOrigin* o) { return o->kernel && lanes.charts(*o->kernel->chart); });
}

/// Children first … last − 1 of the parents in taken_.
void ParticleFilter::draw(Block& block, const Source& source, int first, int last, double share, double* x,
                          double* log_weight) {
  const int kept = block.proposal->kept(), most = block.lanes ? kLanes : kMostTogether;
  const std::uint64_t seed = options_.seed ^ (kKernel + source.stage);
  std::array<const ParticleOrigin*, kMostTogether> origin;
  std::array<const double*, kMostTogether> found;
  const auto draw_alone = [&](int from, int count, int k) {
    for (int j = 0; j < count; ++j) block.random[j] = Random(seed, cloud_.draw, static_cast<std::uint32_t>(from + j));
    block.proposal->draw(cloud_.t, cloud_.readings, source.power,
                         {count, origin.data() + k, found.data() + k, block.random.data(),
                          x + static_cast<std::ptrdiff_t>(from) * stored_, log_weight + from});
  };
  for (; first < last; first += most) {
    const int count = std::min(most, last - first);
    for (int k = 0; k < count; ++k) {
      const int parent = taken_[first + k];
      origin[k] = &origin_[parent];
      found[k] = aim_.data() + static_cast<std::ptrdiff_t>(parent) * kept;
    }
    double* to = x + static_cast<std::ptrdiff_t>(first) * stored_;
    if (has_lanes(block, origin.data(), count)) {
      bool good[kLanes] = {};
      double weight[kLanes];
      std::fill_n(good, count, true);
      std::fill(origin.begin() + count, origin.begin() + kLanes, origin[count - 1]);
      std::fill(found.begin() + count, found.begin() + kLanes, found[count - 1]);
      draw_normals(seed, cloud_.draw, first, block.lanes->draws(source.span, true), block.lane_normal.data());
      block.lanes->draw(cloud_.t, cloud_.readings, source.power,
                        {origin.data(), found.data(), block.lane_normal.data(), block.lane_x.data(), weight, good});
      for (int k = 0; k < count; ++k) {
        log_weight[first + k] = weight[k];
        for (int j = 0; j < stored_; ++j)
          to[static_cast<std::ptrdiff_t>(k) * stored_ + j] = block.lane_x[kLanes * j + k];
        if (!good[k]) draw_alone(first + k, 1, k);
      }
    } else {
      draw_alone(first, count, 0);
    }
    for (int k = 0; k < count; ++k) {
      double& drawn = log_weight[first + k];
      if (drawn > -kInfinity) {
        drawn += share - aimed_[taken_[first + k]];
      } else {
        std::copy_n(origin[k]->x, stored_, to + static_cast<std::ptrdiff_t>(k) * stored_);
      }
    }
  }
}

/// Draws `count` particles from the kernels of others: which kernel, by what the readings say of it as far as they are
/// linear, λ; where in it, with the readings in sight. The rest is weighed,
///
///     parent i by wᵢ λᵢ,    child k:   w = Σ wᵢ λᵢ / count · p(y | x) p(n) / q(n) / λ
bool ParticleFilter::spread(const Source& source, int count, double* x, double* log_weight) {
  aim_.resize(static_cast<std::size_t>(particles()) * blocks_[0].proposal->kept());
  team_.share(source.n, [&](int part, int first, int last) {
    aim(blocks_[part], source, first, last);
    for (int i = first; i < last; ++i)
      chosen_[i] = aimed_[i] > -kInfinity ? source.log_weight[i] + aimed_[i] : -kInfinity;
  });
  const double sum = weigh(chosen_.data(), source.n, chosen_.data());
  if (!(sum > -kInfinity)) return false;
  const double u = Random(options_.seed ^ kParents, cloud_.draw, static_cast<std::uint32_t>(source.stage)).uniform();
  systematic(team_, chosen_.data(), source.n, u, count, taken_.data(), point_);
  const double share = sum - std::log(count);
  team_.share(count,
              [&](int part, int first, int last) { draw(blocks_[part], source, first, last, share, x, log_weight); });
  return std::any_of(log_weight, log_weight + count, [](double w) { return w > -kInfinity; });
}

/// Whether the particles explain none of the last readings, in no branch: they are all at a wrong place. One such
/// reading may be an outlier.
bool ParticleFilter::is_lost() {
  team_.share(particles(), [&](int part, int first, int last) {
    double most = -kInfinity;
    for (int i = first; i < last; ++i) {
      if (cloud_.log_prior[i] > -kInfinity) most = std::max(most, cloud_.log_weight[i] - cloud_.log_prior[i]);
    }
    most_[part] = most;
  });
  const double best = *std::max_element(most_.begin(), most_.end());
  cloud_.unexplained = best < kUnexplained ? cloud_.unexplained_before + 1 : 0;
  return options_.recover > 0 && cloud_.unexplained >= options_.recover;
}

/// Makes the kernels so much wider that one of them at least explains the readings.
void ParticleFilter::widen(const Source& source) {
  for (int doublings = 0; doublings < kMostDoublings; ++doublings) {
    aim_.resize(static_cast<std::size_t>(particles()) * blocks_[0].proposal->kept());
    team_.share(source.n, [&](int part, int first, int last) { aim(blocks_[part], source, first, last); });
    if (*std::max_element(aimed_.begin(), aimed_.begin() + source.n) > kUnexplained) return;
    kernels_.widen(2);
  }
}

/// After readings: branches whose weights have become too uneven are drawn anew. That is done here and not after the
/// fact, as the few particles that are left then do not tell any more what there was around them.
void ParticleFilter::refine() {
  weighed_.reset();
  if (!(options_.kernel > 0) || cloud_.readings.empty()) return;
  const bool lost = is_lost();
  for (int first = 0, n = 0; first < particles(); first += n) {
    const int branch = cloud_.branch[first];
    n = static_cast<int>(std::upper_bound(cloud_.branch.begin() + first, cloud_.branch.end(), branch) -
                         cloud_.branch.begin()) -
        first;
    const bool alone = n == particles();  // then its weights are those of all
    const double before = alone ? 0 : weigh(cloud_.log_prior.data() + first, n, chosen_.data());
    double* weight = alone ? cloud_.weight.data() : chosen_.data();
    const double after = weigh(cloud_.log_weight.data() + first, n, weight);
    if (alone) weighed_ = after;
    if (n < kFewest || before < std::log(options_.dead_branch) || !(after > -kInfinity)) continue;
    const bool even = evenness() >= std::min(0.5, options_.resample) * n;
    if (even && !lost) continue;
    weighed_.reset();
    if (refine_branch(first, n, lost)) ++cloud_.resamplings;
  }
}

/// The readings are taken in by powers of their likelihood that sum to one, each so large that the weights do not
/// become too uneven.
bool ParticleFilter::refine_branch(int first, int n, bool lost) {
  const double goal = std::min(0.5, options_.resample) * n;
  Source source{arrived(first),
                cloud_.log_prior.data() + first,
                n,
                cloud_.span,
                1,
                static_cast<std::uint64_t>(first) << 12};  // random numbers of its own for every branch
  double left = 1;
  int to = 0;
  for (int stages = 0; left > 0 && stages < kMostStages; ++stages) {
    weigh(source.log_weight, n, chosen_.data());
    kernels_.build(team_, spaces_, cloud_.t, source.x, chosen_.data(), n, options_.kernel, chart_);
    if (lost && stages == 0) widen(source);
    for (;; source.power *= kFewer) {
      ++source.stage;
      const bool drawn = spread(source, n, stage_x_[to].data(), stage_weight_[to].data());
      if (drawn) {
        weigh(stage_weight_[to].data(), n, chosen_.data());
        if (evenness() >= goal) break;
      }
      if (source.power < kLeastPower) {
        if (!drawn) return false;
        break;
      }
    }
    left -= source.power;
    source.power = std::min(left, source.power / kFewer);
    source.x = stage_x_[to].data();
    source.log_weight = stage_weight_[to].data();
    source.span = 0;
    to = 1 - to;
  }
  if (left > 0) return false;
  if (n == particles()) {
    cloud_.x.swap(stage_x_[1 - to]);
  } else {
    std::copy_n(source.x, static_cast<std::ptrdiff_t>(n) * stored_, x(first));
  }
  std::copy_n(source.log_weight, n, cloud_.log_weight.data() + first);
  return true;
}

/// More or fewer particles of a branch, n from `first` on: `count` to `to` of what is gathered.
bool ParticleFilter::spread_copies(int first, int n, int to, int count, double log_probability) {
  if (!(options_.kernel > 0) || !options_.stratified || n < kFewest) return false;
  const Source source{x(first), cloud_.log_weight.data() + first, n, 0, 0, static_cast<std::uint64_t>(first) << 12};
  kernels_.build(team_, spaces_, cloud_.t, source.x, cloud_.weight.data() + first, n, options_.kernel, chart_);
  if (!spread(source, count, gathered_.data() + static_cast<std::ptrdiff_t>(to) * stored_,
              gathered_weight_.data() + to)) {
    return false;
  }
  const auto drawn = std::count_if(gathered_weight_.begin() + to, gathered_weight_.begin() + to + count,
                                   [](double w) { return w > -kInfinity; });
  for (int k = to; k < to + count; ++k) {
    if (gathered_weight_[k] > -kInfinity) gathered_weight_[k] = log_probability - std::log(static_cast<double>(drawn));
    gathered_branch_[k] = cloud_.branch[first];
  }
  return true;
}

}  // namespace kinegraph::filter
