#pragma once

#include <utility>
#include <vector>

#include "kinegraph/filter/state_space.hpp"
#include "kinegraph/filter/team.hpp"

namespace kinegraph::filter {

/// Normal kernels in place of particles, as wide as the particles around each of them say. The particles are parted
/// into clusters of neighbours; a cluster of weighted δᵢ, mean μ, covariance P, about one of its states, becomes the
/// mixture of
///
///     N(μ + a (δᵢ − μ), h² P),    a² + h² = 1
///
/// which has the same mean and covariance (Liu, West 2001); those of all clusters together too. As a cluster has
/// neighbours only, beliefs with several peaks keep them.
class ParticleKernels {
 public:
  struct Kernel {
    const Chart* chart = nullptr;
    const double* origin = nullptr;  ///< the state from which δ counts
    const MatrixXd* root = nullptr;  ///< h P^½
    const double* centre = nullptr;  ///< μ + a (δᵢ − μ)
  };

  /// Of n states x (stored() numbers each; they must stay where they are), weights w ≥ 0, Σ > 0. Width: h in units of
  /// what is best for a normal density. The offered chart is taken where it serves. Spaces: one per part of the team.
  void build(const Team& team, const std::vector<StateSpace*>& spaces, double t, const double* x, const double* w,
             int n, double width, const Chart& offered);
  /// Kernels wider than the particles say.
  void widen(double factor);
  /// Null: the particle has no kernel (no chart serves its whole cluster).
  const Kernel* of(int i) const { return kernel_[i].chart ? &kernel_[i] : nullptr; }

 private:
  using Keys = std::vector<std::pair<double, int>>;  // values and numbers of particles
  struct Cluster {
    int first = 0, last = 0;  // of order_
    int sorted = -1;          // by which number of x; −1: none
    Chart chart;
    MatrixXd P, root;
  };
  // What one part of the work has to itself.
  struct Work {
    std::vector<double> low, high;  // of each number of x
    Keys keys, heaped;
    std::vector<int> heaps;
    std::vector<Cluster> clusters;  // count in use
    int count = 0;
    VectorXd mean, sums;
    int first = 0, last = 0;  // particles of the part that weigh something, in order_
  };
  struct Given {  // the arguments of build()
    double t = 0;
    const double *x = nullptr, *w = nullptr;
    double width = 1;
    const Chart* offered = nullptr;
  };
  void find_scales(const Team& team);
  int part_evenly(const Team& team, int least);
  void part(Work& work, int roots, int first_root, int step, int least) const;
  void find_extent(const Cluster& cluster, Work& work) const;
  bool divide(Cluster& cluster, Cluster& other, int least, Work& work) const;
  void sort(Cluster& cluster, int by, Work& work) const;
  void fit(StateSpace& space, Cluster& cluster, Work& work);
  const double* row(int i) const { return given_.x + static_cast<std::ptrdiff_t>(i) * stored_; }

  int stored_ = 0;
  Given given_;
  mutable std::vector<int> order_;  // each part of the work has a range of it
  VectorXd mean_, scale_;           // of each number of x; scale 0: all the same
  std::vector<Cluster> roots_;      // what is parted further by one part of the work
  std::vector<Work> works_;
  std::vector<Kernel> kernel_;
  MatrixXd delta_;
};

}  // namespace kinegraph::filter
