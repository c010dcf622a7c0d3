#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/particle_filter.hpp"
#include "kinegraph/filter/stage_time.hpp"

namespace kinegraph::filter {
namespace {

constexpr int kTellNone = std::numeric_limits<int>::max();

}  // namespace

void ParticleFilter::run(const Motion* motion, bool told) {
  const StageTime stage(times_.move);
  team_.run(team_.parts(), [&](int b) { run_block(blocks_[b], motion, told); });
}

void ParticleFilter::run_block(Block& block, const Motion* motion, bool told) {
  const std::size_t tells = told ? cloud_.readings.size() - first_told_ : 0;
  block.sums.assign(tells, {});
  block.lane_sums.assign(tells, {});
  const bool by_eight = block.lanes && block.lanes->reads(cloud_.readings);
  const int most = by_eight ? kLanes : kMostTogether;
  for (int first = block.first; first < block.last; first += most) {
    const int last = std::min(first + most, block.last);
    if (by_eight) {
      run_eight(block, first, last, motion, told ? block.lane_sums.data() : nullptr);
    } else {
      run_some(block, first, last, motion, told ? first_told_ : kTellNone);
    }
  }
  for (std::size_t r = 0; r < tells; ++r) block.lane_sums[r].add_to(block.sums[r]);
}

/// Particles first … last − 1, up to kMostTogether, which tell of the readings from `tell_from` on.
void ParticleFilter::run_some(Block& block, int first, int last, const Motion* motion, int tell_from) {
  const auto collect = [&] {
    block.count = 0;
    for (int i = first; i < last; ++i) {
      if (cloud_.log_prior[i] > -kInfinity) block.particle[block.count++] = i;
    }
  };
  collect();
  if (motion) {
    move(block, *motion);
    collect();
  }
  std::fill(cloud_.log_weight.begin() + first, cloud_.log_weight.begin() + last, -kInfinity);
  draw(block, tell_from);
}

/// States of eight particles, number by number; those beyond the last one repeat it.
void ParticleFilter::load(const std::vector<double>& all, int first, int last, double* x) const {
  const double* from[kLanes];
  for (int s = 0; s < kLanes; ++s) {
    from[s] = all.data() + static_cast<std::ptrdiff_t>(std::min(first + s, last - 1)) * stored_;
  }
  for (int k = 0; k < stored_; ++k) {
    for (int s = 0; s < kLanes; ++s) x[kLanes * k + s] = from[s][k];
  }
}
void ParticleFilter::store(const double* x, int first, int last, const bool* good, std::vector<double>& all) const {
  for (int s = 0; s < last - first; ++s) {
    if (!good[s]) continue;
    double* to = all.data() + static_cast<std::ptrdiff_t>(first + s) * stored_;
    for (int k = 0; k < stored_; ++k) to[k] = x[kLanes * k + s];
  }
}
void ParticleFilter::draw_normals(std::uint64_t seed, std::uint64_t stream, int first, int count, double* out) {
  double one[kMostTogether];
  for (int s = 0; s < kLanes; ++s) {
    Random random(seed, stream, static_cast<std::uint32_t>(first + s));
    for (int k = 0; k < count; k += kMostTogether) {
      const int some = std::min(kMostTogether, count - k);
      random.normal(one, some);
      for (int j = 0; j < some; ++j) out[kLanes * (k + j) + s] = one[j];
    }
  }
}

/// Eight particles side by side, from the motion to the weight. What that has no answer for is done one by one.
void ParticleFilter::run_eight(Block& block, int first, int last, const Motion* motion, LaneSums* sums) {
  StateLanes& lanes = *block.space->lanes();
  const int noises = block.space->noises();
  double *normal = block.lane_normal.data(), weight[kLanes] = {}, log_weight[kLanes];
  bool good[kLanes], lives[kLanes];
  int told[kLanes] = {};
  for (int s = 0; s < kLanes; ++s) {
    good[s] = lives[s] = first + s < last && cloud_.log_prior[first + s] > -kInfinity;
    if (!sums || !good[s]) continue;
    weight[s] = motion ? cloud_.weight[first + s] : std::exp(cloud_.log_prior[first + s]);  // not weighed since
  }
  load(motion ? cloud_.x : cloud_.arrived, first, last, block.lane_x.data());
  if (motion) {
    std::uint64_t stream = motion->first_draw;
    int left = motion->first_span, taken = motion->first_span;
    for (int step = 0; step < motion->steps; ++step) {
      const double t = motion->from + step * motion->h;
      lanes.advance(t, motion->h, block.lane_x.data(), block.lane_next.data(), good);
      block.lane_x.swap(block.lane_next);
      if (--left > 0 || step + 1 == motion->steps) continue;
      draw_normals(options_.seed, stream++, first, noises, normal);
      lanes.find_directions(block.lane_x.data(), good);
      lanes.disturb(t + motion->h, taken * motion->h, block.lane_x.data(), normal, good);
      left = taken = options_.noise_steps;
    }
    store(block.lane_x.data(), first, last, good, cloud_.arrived);
  }
  if (cloud_.span > 0) draw_normals(options_.seed, cloud_.draw, first, noises, normal);
  block.lanes->draw(cloud_.t, cloud_.span, cloud_.readings,
                    {block.lane_x.data(), normal, weight, sums, first_told_, told, log_weight, good});
  store(block.lane_x.data(), first, last, good, cloud_.x);
  for (int s = 0; s < last - first; ++s) {
    const int i = first + s;
    cloud_.log_weight[i] = good[s] ? cloud_.log_prior[i] + log_weight[s] : -kInfinity;
    if (lives[s] && !good[s]) run_some(block, i, i + 1, motion, sums ? first_told_ + told[s] : kTellNone);
  }
}

// The motion to the time of the readings, with the noise of all spans but the last. Who does not get there is given up.
void ParticleFilter::move(Block& block, const Motion& motion) {
  const int count = block.count;
  const auto of = [&](std::vector<double>& list, int k) {
    return list.data() + static_cast<std::ptrdiff_t>(k) * stored_;
  };
  const auto give_up = [&] {
    for (int k = 0; k < count; ++k) {
      if (!block.good[k]) cloud_.log_prior[block.particle[k]] = -kInfinity;
    }
  };
  gather(block, cloud_.x);
  std::uint64_t draw = motion.first_draw;
  int left = motion.first_span, taken = motion.first_span;
  for (int step = 0; step < motion.steps; ++step) {
    const double t = motion.from + step * motion.h;
    block.space->advance_many(t, motion.h, count, block.here.data(), block.next.data(), block.good.data());
    give_up();
    for (int k = 0; k < count; ++k) {  // goes on from where it was, to be thrown away
      if (!block.good[k]) std::copy_n(of(block.here, k), stored_, of(block.next, k));
    }
    block.here.swap(block.next);
    if (--left > 0 || step + 1 == motion.steps) continue;
    const int noises = block.space->noises();
    for (int k = 0; k < count; ++k) {
      Random(options_.seed, draw, static_cast<std::uint32_t>(block.particle[k]))
          .normal(block.normal.data() + static_cast<std::ptrdiff_t>(k) * noises, noises);
    }
    ++draw;
    block.space->disturb_many(t + motion.h, taken * motion.h, count, block.here.data(), block.normal.data(),
                              block.good.data());
    give_up();
    left = taken = options_.noise_steps;
  }
  for (int k = 0; k < count; ++k) {
    const double* end = of(block.here, k);
    block.good[k] = std::all_of(end, end + stored_, [](double value) { return std::isfinite(value); });
  }
  scatter(block, cloud_.arrived);
  give_up();
}

/// States of a block's particles, one after the other: from `all`.
void ParticleFilter::gather(Block& block, const std::vector<double>& all) const {
  const auto at = [&](int particle) { return all.data() + static_cast<std::ptrdiff_t>(particle) * stored_; };
  const int count = block.count;
  if (count == 0) return;
  if (block.particle[count - 1] - block.particle[0] + 1 == count) {  // none is missing
    std::copy_n(at(block.particle[0]), static_cast<std::ptrdiff_t>(count) * stored_, block.here.data());
    return;
  }
  for (int k = 0; k < count; ++k) {
    std::copy_n(at(block.particle[k]), stored_, block.here.data() + static_cast<std::ptrdiff_t>(k) * stored_);
  }
}

/// Those that are good, back to `all`.
void ParticleFilter::scatter(const Block& block, std::vector<double>& all) const {
  const auto at = [&](int particle) { return all.data() + static_cast<std::ptrdiff_t>(particle) * stored_; };
  const int count = block.count;
  if (count == 0) return;
  const bool every = std::all_of(block.good.begin(), block.good.begin() + count, [](bool good) { return good; });
  if (every && block.particle[count - 1] - block.particle[0] + 1 == count) {
    std::copy_n(block.here.data(), static_cast<std::ptrdiff_t>(count) * stored_, at(block.particle[0]));
    return;
  }
  for (int k = 0; k < count; ++k) {
    const double* from = block.here.data() + static_cast<std::ptrdiff_t>(k) * stored_;
    if (block.good[k]) std::copy_n(from, stored_, at(block.particle[k]));
  }
}

void ParticleFilter::draw(Block& block, int tell_from) {
  const int count = block.count;
  const bool told = tell_from < static_cast<int>(cloud_.readings.size());
  gather(block, cloud_.arrived);
  for (int k = 0; k < count; ++k) {
    const int i = block.particle[k];
    block.random[k] = Random(options_.seed, cloud_.draw, static_cast<std::uint32_t>(i));
    block.weight[k] = told ? std::exp(cloud_.log_prior[i]) : 0;
  }
  block.proposal->draw(cloud_.t, cloud_.span, cloud_.readings,
                       {count, block.here.data(), block.random.data(), block.weight.data(),
                        told ? &block.sums[tell_from - first_told_] : nullptr, tell_from, block.log_weight.data()});
  for (int k = 0; k < count; ++k) {
    const int i = block.particle[k];
    cloud_.log_weight[i] = cloud_.log_prior[i] + block.log_weight[k];
    block.good[k] = cloud_.log_weight[i] > -kInfinity;
    if (!block.good[k]) std::copy_n(arrived(i), stored_, x(i));
  }
  scatter(block, cloud_.x);
}

}  // namespace kinegraph::filter
