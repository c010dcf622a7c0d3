#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "kinegraph/filter/particle_proposal.hpp"
#include "kinegraph/filter/state_lanes.hpp"

namespace kinegraph::filter {

/// InnovationSums of eight particles side by side.
struct LaneSums {
  std::array<double, kLanes> weight = {};
  std::array<double, kLanes* kMostRows> e = {};
  std::array<double, kLanes* kMostRows* kMostRows> square = {};
  void add_to(InnovationSums& sums) const;
};

/// What ParticleProposal does, for eight particles side by side (StateLanes), from the same equations. Where good[s] is
/// false at the end, particle s has to be drawn by itself.
class LaneProposal {
 public:
  LaneProposal(StateSpace& space, StateLanes& lanes, Proposal kind, double noise_factor);

  bool reads(const std::vector<Measurement>& readings) const;

  struct Group {
    double* x = nullptr;             ///< in: what the motion alone gave at t; out: with the noise
    const double* zeta = nullptr;    ///< of N(0, 1), as many as the noises
    const double* weight = nullptr;  ///< by which innovations are added to `sums`
    LaneSums* sums = nullptr;        ///< of the readings from `first_told` on; null: not wanted
    int first_told = 0;              ///< unless it is the last one, with the optimal proposal alone
    int* told = nullptr;             ///< with sums: how many readings of each have been added; they stay so
    double* log_weight = nullptr;
    bool* good = nullptr;
  };
  void draw(double t, double span, const std::vector<Measurement>& readings, const Group& group);

  /// All with kernels in a chart that the lanes have. `kept`: as ParticleProposal keeps it, of each.
  struct Aims {
    const ParticleOrigin* const* origin = nullptr;
    double* const* kept = nullptr;
    double* log_weight = nullptr;
    bool* good = nullptr;
  };
  void aim(double t, const std::vector<Measurement>& readings, double power, const Aims& aims);
  struct Draws {
    const ParticleOrigin* const* origin = nullptr;
    const double* const* kept = nullptr;
    const double* zeta = nullptr;  ///< noises, then the kernel's
    double* x = nullptr;
    double* log_weight = nullptr;
    bool* good = nullptr;
  };
  void draw(double t, const std::vector<Measurement>& readings, double power, const Draws& draws);
  /// Numbers of N(0, 1) that a particle takes.
  int draws(double span, bool kernel) const { return (span > 0 ? noises_ : 0) + (kernel ? tangent_ : 0); }

 private:
  double* at(std::vector<double>& list, int k) const { return list.data() + std::ptrdiff_t{kLanes} * k; }
  double* A(int r, int c) { return A_.data() + std::ptrdiff_t{kLanes} * (std::ptrdiff_t{c} * most_ + r); }
  void innovation(const Measurement& reading, const double* predicted, double* e) const;
  void begin(int drawn);
  void answer(const Measurement& reading, double power);
  void factor(bool* good);
  void solve(const double* zeta);
  void density_ratio(const double* zeta, double* ratio) const;
  void weigh(const std::vector<Measurement>& readings, double power, const double* x, double* weighed, bool* good);
  void tell(const Measurement& reading, bool answers, const Group& group, LaneSums& sums) const;
  void start(double t, const ParticleOrigin* const* origin, const double* delta, double* out, bool* good);
  void keep(double* const* kept, bool guided, const bool* good);
  void recall(const double* const* kept, bool* good);

  StateSpace& space_;
  StateLanes& lanes_;
  Proposal kind_;
  int noises_, tangent_, most_;
  std::vector<double> information_;   // 1 / σ² of each sensor's rows
  int drawn_ = 0;                     // numbers in use: process noise, then the kernel's
  std::vector<double> A_, mean_, n_;  // as in ParticleProposal, side by side
  std::vector<double> y_, all_, H_, delta_, from_, state_;
  std::array<double, kLanes> misfit_, log_size_, guided_;
  std::array<double, kLanes * kMostRows> e_;
};

}  // namespace kinegraph::filter
