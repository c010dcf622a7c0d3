#pragma once

#include <array>
#include <vector>

#include "kinegraph/base/random.hpp"
#include "kinegraph/filter/estimator.hpp"
#include "kinegraph/filter/particle_kernels.hpp"

namespace kinegraph::filter {

inline constexpr int kMostTogether = 32;  ///< particles that are moved at once

/// How a particle draws the noise of a step that ends with readings.
enum class Proposal {
  prior,   ///< as the motion says; the readings only weigh (004, algorithm 1)
  optimal  ///< with the readings in sight, as far as they answer linearly to the noise
};

/// Sums over particles of what a reading said against what each of them expected.
struct InnovationSums {
  double weight = 0;
  std::array<double, kMostRows> e = {};
  std::array<double, kMostRows* kMostRows> square = {};  ///< Σ w (e eᵀ + B Bᵀ)
  void add(const InnovationSums& other);
};

/// Where a particle comes from: the motion alone, and what is drawn on top of it.
struct ParticleOrigin {
  const double* x = nullptr;                        ///< what the motion alone gave
  double span = 0;                                  ///< seconds of process noise; 0: none
  const ParticleKernels::Kernel* kernel = nullptr;  ///< in place of x; null: none
};

/// Draws the noise of one particle and weighs it. The readings y(n) ≈ y + B n answer to the noise n ~ N(0, 1), so that
///
///     A = 1 + Bᵀ R⁻¹ B = L Lᵀ,    n = A⁻¹ Bᵀ R⁻¹ e + L⁻ᵀ ζ,    ζ ~ N(0, 1)
///
/// has the density q(n) = p(n | e) of the linear readings. The weight is exact for any readings:
///
///     p(y | x') p(n) / q(n),    log = −½ |y − h(x')|²_R − ½ |n|² + ½ |ζ|² − log |L|     (less a constant of R)
///
/// For readings that are linear it is N(e; 0, B Bᵀ + R) whatever ζ. A kernel in place of the particle is more of the
/// same noise, to which the readings answer by H S. Readings may count by a power of their likelihood: R / power.
class ParticleProposal {
 public:
  ParticleProposal(StateSpace& space, Proposal kind, double noise_factor);

  /// Of several particles at once. `span`: the seconds of noise that are drawn (0: none).
  struct Group {
    int count = 0;                   ///< up to kMostTogether
    double* x = nullptr;             ///< in: what the motion alone gave at t; out: with the noise
    const Random* random = nullptr;  ///< one each
    const double* weight = nullptr;  ///< by which the innovations of the last reading are added to `sums`
    InnovationSums* sums = nullptr;  ///< null: not wanted
    double* log_weight = nullptr;    ///< that the readings give each of them; −∞: no answer
  };
  void draw(double t, double span, const std::vector<Measurement>& readings, const Group& group);

  /// In two steps, with the readings in sight whatever the kind: log of the weight as far as the readings are linear
  /// (−∞: no answer), then as many draws as wanted, each of which returns the log of the exact weight.
  double aim(double t, const ParticleOrigin& origin, const std::vector<Measurement>& readings, double power);
  double draw(double t, const ParticleOrigin& origin, const std::vector<Measurement>& readings, double power,
              Random random, double* x);
  /// What the last aim() has found, for draws that come later: kept() numbers.
  int kept() const;
  void keep(double* to) const;
  void recall(const double* from);

 private:
  /// What several particles say of one reading.
  struct Responses {
    int sensor = 0;
    std::array<double, kMostTogether * kMostRows> y;
    std::array<bool, kMostTogether> good;
    std::vector<MatrixXd> B;
  };

  Responses& responses(const std::vector<Measurement>& readings, int reading);
  bool guide(double t, const ParticleOrigin& origin, const double* x, const std::vector<Measurement>& readings,
             double power, int of_group = -1);
  const MatrixXd* respond(double t, const ParticleOrigin& origin, const double* x, int sensor, const Responses* known,
                          int of_group, double* y);
  void answer(const Measurement& reading, const MatrixXd& B, const double* e, double power);
  bool factor();
  void solve();
  double log_density_ratio() const;
  double weigh(double t, const double* x, const std::vector<Measurement>& readings, double power, double* e);
  void tell(const Measurement& reading, const double* e, const MatrixXd* B, double weight, InnovationSums& sums) const;
  double variance(const Measurement& reading, int row) const;

  StateSpace& space_;
  Proposal kind_;
  double noise_factor_;
  int noises_;
  int drawn_ = 0;             // numbers in use: process noise, then the kernel's
  bool guided_ = false;       // else they are drawn blindly
  VectorXd zeta_, n_, mean_;  // mean_: Bᵀ R⁻¹ e, then L⁻¹ of it
  VectorXd delta_, centre_;
  MatrixXd A_;                         // its lower half, then L
  double misfit_ = 0;                  // ½ |e|²_R before the draw
  std::vector<MatrixXd> B_, H_, all_;  // of each sensor; all: B and H S side by side
  std::vector<Responses> responses_;   // of a group
  std::vector<int> answer_;            // which of them is that of a reading
  std::vector<double> normals_;
  std::array<double, kMostTogether> ratio_;
  std::array<bool, kMostTogether> told_, good_;
  InnovationSums* sums_ = nullptr;
  double weight_ = 0;
};

}  // namespace kinegraph::filter
