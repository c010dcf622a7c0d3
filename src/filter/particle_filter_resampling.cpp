#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/filter/particle_filter.hpp"
#include "kinegraph/filter/particle_resampling.hpp"

namespace kinegraph::filter {
namespace {

constexpr std::uint64_t kPoints = 0x7265736d706c6531;  // key of random numbers that are not process noise

}  // namespace

double ParticleFilter::effective_particles() const { return effective_size(cloud_.weight.data(), particles()); }

/// counts_: how many particles each branch gets. True: not as many as it has. Branches that are given up have none.
bool ParticleFilter::choose_counts(const std::vector<int>& size) {
  const int branches = static_cast<int>(size.size()), n = particles();
  const double most = *std::max_element(cloud_.probability.begin(), cloud_.probability.end());
  bool given_up = false;
  double squares = 0, sum = 0;
  for (int b = 0; b < branches; ++b) {
    double& p = cloud_.probability[b];
    if (size[b] == 0 || (p < options_.dead_branch && p < most)) {
      given_up = given_up || size[b] > 0;
      p = 0;
    }
    sum += p;
  }
  int living = 0;
  for (int b = 0; b < branches; ++b) {
    double& p = cloud_.probability[b];
    p /= sum;
    if (p > 0) squares += p * p / size[b], ++living;
  }
  counts_ = size;
  if (!given_up && squares * options_.resample * n <= 1) return false;
  const int least = std::max(1, static_cast<int>(options_.branch_share * n / living));
  allocate(cloud_.probability, n, least, counts_);
  return counts_ != size;
}

/// Before a step: branches whose weights have become too uneven are resampled, each by itself; all of them, with new
/// numbers of particles, where the branches have become too uneven or one is given up.
void ParticleFilter::resample() {
  const auto lives = [](double w) { return std::isfinite(w); };
  if (std::none_of(cloud_.log_weight.begin(), cloud_.log_weight.end(), lives)) return;
  const int groups = options_.stratified ? static_cast<int>(cloud_.probability.size()) : 1;
  size_.assign(groups, 0);
  for (int g = 0, first = 0; g < groups; first += size_[g++]) {
    const auto end = std::upper_bound(cloud_.branch.begin() + first, cloud_.branch.end(), g);
    size_[g] = options_.stratified ? static_cast<int>(end - cloud_.branch.begin()) - first : particles();
  }
  counts_ = size_;
  const bool moved = options_.stratified && choose_counts(size_);

  const auto is_anew = [&](int g, int first) {
    const double p = options_.stratified ? cloud_.probability[g] : 1;
    if (counts_[g] == 0 || !(p > 0)) return false;
    if (moved || options_.resample >= 1) return true;
    sum_up(cloud_.weight.data() + first, size_[g]);
    return evenness() < options_.resample * size_[g];
  };
  bool any = false;
  for (int g = 0, first = 0; g < groups; first += size_[g++]) any = any || is_anew(g, first);
  if (!any) return;
  for (int g = 0, first = 0, to = 0; g < groups; first += size_[g], to += counts_[g], ++g) {
    const double* w = cloud_.weight.data() + first;
    const double p = options_.stratified ? cloud_.probability[g] : 1;
    const bool anew = is_anew(g, first);
    if (anew && spread_copies(first, size_[g], to, counts_[g], std::log(p))) continue;
    if (anew) {
      const double u = Random(options_.seed ^ kPoints, cloud_.draw, static_cast<std::uint32_t>(g)).uniform();
      systematic(w, size_[g], u, counts_[g], parent_.data() + to);
    }
    for (int k = to; k < to + counts_[g]; ++k) {
      const int parent = anew ? first + parent_[k] : k;
      std::copy_n(x(parent), stored_, gathered_.data() + static_cast<std::ptrdiff_t>(k) * stored_);
      gathered_weight_[k] = anew ? std::log(p / counts_[g]) : cloud_.log_weight[k];
      gathered_branch_[k] = cloud_.branch[parent];
    }
  }
  ++cloud_.resamplings;
  cloud_.x.swap(gathered_);
  cloud_.branch.swap(gathered_branch_);
  cloud_.log_weight.swap(gathered_weight_);
  for (int i = 0; i < particles(); ++i) cloud_.weight[i] = std::exp(cloud_.log_weight[i]);
}

}  // namespace kinegraph::filter
