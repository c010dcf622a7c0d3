#include "kinegraph/task/differentiate.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace kinegraph::task {
namespace {

constexpr int kState = 4;
constexpr double kWeakest = 1e-6, kStrongest = 1e6;  // range of ρ
constexpr int kBisections = 10;

using Block = Eigen::Matrix<double, kState, kState>;
using State = Eigen::Matrix<double, kState, 1>;

// With time in samples:  Φᵢⱼ = 1/(j−i)!,   Qᵢⱼ = 1 / ((p−i)! (p−j)! (2p−i−j+1)),   p = kState − 1.
double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

Block transition() {
  Block phi = Block::Zero();
  for (int i = 0; i < kState; ++i)
    for (int j = i; j < kState; ++j) phi(i, j) = 1 / factorial(j - i);
  return phi;
}

Block noise_inverse() {
  Block q;
  const int p = kState - 1;
  for (int i = 0; i < kState; ++i)
    for (int j = 0; j < kState; ++j) q(i, j) = 1 / (factorial(p - i) * factorial(p - j) * (2 * p - i - j + 1));
  return q.llt().solve(Block::Identity());
}

/// The chain of states, solved again and again with other ρ: block tridiagonal, Cholesky forward in time, substitution
/// back.
class Spline {
 public:
  explicit Spline(const std::vector<double>& samples)
      : samples_(samples),
        to_to_(noise_inverse()),
        diagonal_(samples.size()),
        coupling_(samples.size()),
        x_(samples.size()) {
    const Block phi = transition();
    from_to_ = -phi.transpose() * to_to_;
    from_from_ = phi.transpose() * to_to_ * phi;
  }

  void solve(double rho) {
    const std::size_t n = samples_.size();
    diagonal_[0].setZero();
    x_[0].setZero();
    for (std::size_t k = 0; k < n; ++k) {
      diagonal_[k](0, 0) += 1;
      x_[k][0] += samples_[k] - samples_[0];
      const bool last = k + 1 == n;
      if (!last) diagonal_[k] += rho * from_from_;
      Eigen::LLT<Eigen::Ref<Block>> factor(diagonal_[k]);
      factor.matrixL().solveInPlace(x_[k]);
      if (last) break;
      coupling_[k] = rho * from_to_;
      factor.matrixL().solveInPlace(coupling_[k]);
      diagonal_[k + 1].noalias() = rho * to_to_ - coupling_[k].transpose().lazyProduct(coupling_[k]);
      x_[k + 1].noalias() = -coupling_[k].transpose().lazyProduct(x_[k]);
    }
    for (std::size_t k = n; k-- > 0;) {
      if (k + 1 < n) x_[k] -= coupling_[k].lazyProduct(x_[k + 1]);
      diagonal_[k].triangularView<Eigen::Lower>().transpose().solveInPlace(x_[k]);
    }
  }

  double residual(int k) const { return x_[k][0] + samples_[0] - samples_[k]; }
  double state(int k, int i) const { return x_[k][i]; }

 private:
  const std::vector<double>& samples_;
  Block to_to_, from_to_, from_from_;
  std::vector<Block> diagonal_, coupling_;
  std::vector<State> x_;
};

/// As few samples as a polynomial of their number has coefficients.
SmoothMotion through_all(const std::vector<double>& samples, double step) {
  const int n = static_cast<int>(samples.size());
  Eigen::MatrixXd powers(n, n);
  for (int k = 0; k < n; ++k)
    for (int p = 0; p < n; ++p) powers(k, p) = std::pow(k, p);
  const Eigen::VectorXd c = powers.fullPivLu().solve(Eigen::VectorXd::Map(samples.data(), n));
  SmoothMotion motion;
  motion.value = samples;
  for (int k = 0; k < n; ++k) {
    double rate = 0, acceleration = 0;
    for (int p = 1; p < n; ++p) rate += p * std::pow(k, p - 1) * c[p];
    for (int p = 2; p < n; ++p) acceleration += p * (p - 1) * std::pow(k, p - 2) * c[p];
    motion.rate.push_back(rate / step);
    motion.acceleration.push_back(acceleration / (step * step));
  }
  return motion;
}

}  // namespace

SmoothMotion differentiate(const std::vector<double>& samples, double step, double resolution, double noise) {
  const int n = static_cast<int>(samples.size());
  if (n <= kState) return through_all(samples, step);
  SmoothMotion motion;
  double largest = 0;
  for (double s : samples) largest = std::max(largest, std::abs(s));
  const double sigma = std::max({resolution / std::sqrt(3.0), noise, 2e-16 * largest});

  const double limit = noise > resolution ? 4 * noise : 1.3 * std::sqrt(3.0) * sigma;  // every printed digit
  Spline spline(samples);
  const auto explained = [&](double rho) {
    spline.solve(rho);
    double square = 0, most = 0;
    for (int k = 0; k < n; ++k) {
      square += spline.residual(k) * spline.residual(k);
      most = std::max(most, std::abs(spline.residual(k)));
    }
    return square <= n * sigma * sigma && most <= limit;
  };
  double low = std::log(kWeakest), high = std::log(kStrongest);
  for (int i = 0; i < kBisections; ++i) {
    const double middle = 0.5 * (low + high);
    (explained(std::exp(middle)) ? low : high) = middle;
  }
  spline.solve(std::exp(low));

  motion.value.resize(n), motion.rate.resize(n), motion.acceleration.resize(n);
  for (int k = 0; k < n; ++k) {
    motion.value[k] = spline.state(k, 0) + samples[0];
    motion.rate[k] = spline.state(k, 1) / step;
    motion.acceleration[k] = spline.state(k, 2) / (step * step);
    motion.residual_max = std::max(motion.residual_max, std::abs(spline.residual(k)));
  }
  return motion;
}

constexpr double kTurn = 2 * std::numbers::pi;

void unwrap(std::vector<double>& angle) {
  for (std::size_t k = 1; k < angle.size(); ++k) angle[k] -= kTurn * std::round((angle[k] - angle[k - 1]) / kTurn);
}

bool within_one_turn(const std::vector<double>& angle) {
  constexpr double kRounded = 1e-3;  // few digits may be given
  const auto [low, high] = std::minmax_element(angle.begin(), angle.end());
  return angle.empty() || *high - *low <= kTurn + kRounded;
}

}  // namespace kinegraph::task
