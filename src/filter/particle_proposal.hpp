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
    const double* weight = nullptr;  ///< by which innovations are added to `sums`
    InnovationSums* sums = nullptr;  ///< one for each of the readings from `first_told` on; null: not wanted
    int first_told = 0;
    double* log_weight = nullptr;  ///< that the readings give each of them; −∞: no answer
  };
  void draw(double t, double span, const std::vector<Measurement>& readings, const Group& group);

  /// In two steps, with the readings in sight whatever the kind: log of the weight as far as the readings are linear
  /// (−∞: no answer), then as many draws as wanted, each of which returns the log of the exact weight.
  /// Of several at once, up to kMostTogether; all with the same span. `kept`: what is found of each, for draws that
  /// come later, kept() numbers.
  struct Aims {
    int count = 0;
    ParticleOrigin* const* origin = nullptr;  ///< a kernel that is too wide for the machine is given up
    double* const* kept = nullptr;
    double* log_weight = nullptr;
  };
  void aim(double t, const std::vector<Measurement>& readings, double power, const Aims& aims);
  struct Draws {
    int count = 0;
    const ParticleOrigin* const* origin = nullptr;
    const double* const* kept = nullptr;
    const Random* random = nullptr;
    double* x = nullptr;           ///< one after the other
    double* log_weight = nullptr;  ///< −∞: no answer, and x is nothing
  };
  void draw(double t, const std::vector<Measurement>& readings, double power, const Draws& draws);
  int kept() const;

 private:
  /// What several particles say of one reading.
  struct Responses {
    int sensor = 0;
    std::array<double, kMostTogether * kMostRows> y;
    std::array<bool, kMostTogether> good;
    std::vector<MatrixXd> B, H;  ///< H: along the kernel's chart, where there is one
  };

  Responses& responses(const std::vector<Measurement>& readings, int reading);
  void ask(double t, double span, int count, const double* x, const std::vector<Measurement>& readings);
  void aim_as_points(double t, const std::vector<Measurement>& readings, double power, const Aims& aims);
  void aim_at_kernels(double t, const std::vector<Measurement>& readings, double power, const Aims& aims);
  double linear_weight(double t, const ParticleOrigin& origin, const double* x,
                       const std::vector<Measurement>& readings, double power, int of_group);
  double* misses(int reading, int of_group) {
    return misses_.data() + (static_cast<std::ptrdiff_t>(reading) * kMostTogether + of_group) * kMostRows;
  }
  void weigh_many(double t, int count, const double* x, const std::vector<Measurement>& readings, double power);
  void keep(double* to) const;
  void recall(const double* from);
  bool guide(const ParticleOrigin& origin, const std::vector<Measurement>& readings, double power, int of_group);
  void answer(const Measurement& reading, const MatrixXd& B, const double* e, double power);
  bool factor();
  void solve(double* n) const;
  double log_density_ratio(const double* n) const;
  void tell(const Measurement& reading, const double* e, const MatrixXd* B, double weight, InnovationSums& sums) const;
  const double* information_of(const Measurement& reading) const {
    return information_.data() + static_cast<std::ptrdiff_t>(reading.sensor) * kMostRows;
  }

  StateSpace& space_;
  Proposal kind_;
  int noises_;
  int drawn_ = 0;             // numbers in use: process noise, then the kernel's
  bool guided_ = false;       // else they are drawn blindly
  VectorXd zeta_, n_, mean_;  // mean_: Bᵀ R⁻¹ e, then L⁻¹ of it
  std::vector<double> deltas_, states_, read_;
  MatrixXd A_;                                 // its lower half, then L with 1/Lᵢᵢ on the diagonal
  double log_size_ = 0;                        // log |L|
  double misfit_ = 0;                          // ½ |e|²_R before the draw
  std::vector<double> information_;            // 1 / σ² of each sensor's rows
  std::vector<MatrixXd> B_, H_, all_;          // of each sensor; all: B and H S side by side
  std::array<double, kMostTogether> weighed_;  // log of the likelihood
  std::vector<double> misses_;                 // e of each reading, kMostTogether × kMostRows
  std::array<StateSpace::Retraction, kMostTogether> retractions_;
  std::array<const Chart*, kMostTogether> charts_;
  std::vector<Responses> responses_;  // of a group
  std::vector<int> answer_;           // which of them is that of a reading
  std::vector<double> normals_;
  std::array<double, kMostTogether> ratio_;
  std::array<bool, kMostTogether> good_;
  // of the particle at hand: where its innovations go, and the next reading to tell; nothing is told twice
  InnovationSums* sums_ = nullptr;
  int first_told_ = 0, to_tell_ = 0;
  double weight_ = 0;
  std::array<int, kMostTogether> left_to_tell_;  // the first reading that each has not told
};

}  // namespace kinegraph::filter
