#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/particle_filter.hpp"
#include "kinegraph/filter/stage_time.hpp"

namespace kinegraph::filter {

/// w = exp(log w − most); returns most + log Σ, −∞ if there is nothing. sum_ and squares_ are of w.
double ParticleFilter::weigh(const double* log_weight, int n, double* w) {
  team_.share(n, [&](int part, int first, int last) {
    most_[part] = first < last ? *std::max_element(log_weight + first, log_weight + last) : -kInfinity;
  });
  const double most = *std::max_element(most_.begin(), most_.end());
  if (!(most > -kInfinity)) return -kInfinity;
  team_.share(n, [&](int part, int first, int last) {
    double sum = 0, squares = 0;
    for (int i = first; i < last; ++i) {
      const double weight = std::exp(log_weight[i] - most);
      sum += weight, squares += weight * weight;
      w[i] = weight;
    }
    sum_[part] = sum, squares_[part] = squares;
  });
  return most + std::log(std::accumulate(sum_.begin(), sum_.end(), 0.0));
}

void ParticleFilter::sum_up(const double* w, int n) {
  team_.share(n, [&](int part, int first, int last) {
    double sum = 0, squares = 0;
    for (int i = first; i < last; ++i) sum += w[i], squares += w[i] * w[i];
    sum_[part] = sum, squares_[part] = squares;
  });
}

/// (Σ w)² / Σ w² of what was weighed or summed up last: effective_size().
double ParticleFilter::evenness() const {
  const double sum = std::accumulate(sum_.begin(), sum_.end(), 0.0);
  const double squares = std::accumulate(squares_.begin(), squares_.end(), 0.0);
  return squares > 0 ? sum * sum / squares : 0;
}

/// Weights that sum to one, the branches' probabilities, what the readings say for the model as a whole.
bool ParticleFilter::normalise() {
  const StageTime stage(times_.normalise);
  const int n = particles();
  const double log_sum = weighed_ ? *weighed_ : weigh(cloud_.log_weight.data(), n, cloud_.weight.data());
  if (log_sum == -kInfinity) return false;
  const double share = 1 / std::accumulate(sum_.begin(), sum_.end(), 0.0);
  const std::size_t branches = cloud_.probability.size();
  part_probability_.assign(team_.parts() * branches, 0.0);
  team_.share(n, [&](int part, int first, int last) {
    double* probability = part_probability_.data() + part * branches;
    for (int i = first; i < last;) {  // particles of a branch stand together
      const int branch = cloud_.branch[i];
      double sum = 0;
      for (; i < last && cloud_.branch[i] == branch; ++i) {
        cloud_.log_weight[i] -= log_sum;
        sum += cloud_.weight[i] *= share;
      }
      probability[branch] += sum;
    }
  });
  std::fill(cloud_.probability.begin(), cloud_.probability.end(), 0.0);
  for (std::size_t k = 0; k < part_probability_.size(); ++k) cloud_.probability[k % branches] += part_probability_[k];
  double all = 0;
  for (double p : cloud_.probability) all += p;
  for (double& p : cloud_.probability) p /= all;
  cloud_.evidence = cloud_.evidence_before + log_sum;
  for (const Measurement& m : cloud_.readings) {
    const auto& channels = sensors()[m.sensor].channels;
    for (std::size_t row = 0; row < channels.size(); ++row) {
      if (std::isnan(m.y[row])) continue;
      cloud_.evidence -= std::log(options_.noise_factor * channels[row].noise * std::sqrt(2 * M_PI));
    }
  }
  return true;
}

// e and S = E[e eᵀ] − ē ēᵀ + R over the particles before the reading.
void ParticleFilter::tell(int number) {
  const Measurement& reading = cloud_.readings[number];
  const auto& channels = sensors()[reading.sensor].channels;
  InnovationSums sums;
  for (const Block& block : blocks_) sums.add(block.sums[number - first_told_]);
  if (!(sums.weight > 0)) return;
  Innovation told;
  told.t = reading.t;
  told.sensor = reading.sensor;
  told.e.fill(std::numeric_limits<double>::quiet_NaN());
  told.sd = told.e;
  Eigen::Matrix<double, kMostRows, kMostRows> S;
  Eigen::Matrix<double, kMostRows, 1> e;
  S.setIdentity();
  e.setZero();
  for (std::size_t r = 0; r < channels.size(); ++r) {
    if (std::isnan(reading.y[r])) continue;
    e[r] = told.e[r] = sums.e[r] / sums.weight;
    for (std::size_t c = 0; c < channels.size(); ++c) {
      if (std::isnan(reading.y[c])) continue;
      S(r, c) = sums.square[r * kMostRows + c] / sums.weight - e[r] * sums.e[c] / sums.weight;
    }
    const double sd = options_.noise_factor * channels[r].noise;
    S(r, r) += sd * sd;
    told.sd[r] = std::sqrt(S(r, r));
    ++told.rows;
  }
  told.nis = e.dot(S.llt().solve(e));
  on_innovation(told);
}

}  // namespace kinegraph::filter
