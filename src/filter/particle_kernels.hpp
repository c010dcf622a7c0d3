#pragma once

#include <utility>
#include <vector>

#include "kinegraph/filter/state_space.hpp"

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
  /// what is best for a normal density. The offered chart is taken where it serves.
  void build(StateSpace& space, double t, const double* x, const double* w, int n, double width, const Chart& offered);
  /// Kernels wider than the particles say.
  void widen(double factor);
  /// Null: the particle has no kernel (no chart serves its whole cluster).
  const Kernel* of(int i) const { return kernel_[i].chart ? &kernel_[i] : nullptr; }

 private:
  struct Cluster {
    int first = 0, last = 0;  // of order_
    int sorted = -1;          // by which number of x; −1: none
    Chart chart;
    MatrixXd P, root;
  };
  void part(const double* x, const double* w, int n, int least);
  void find_extent(const Cluster& cluster);
  bool divide(Cluster& cluster, Cluster& other, int least);
  void fit(StateSpace& space, double t, const double* w, double width, const Chart& offered, Cluster& cluster);

  int stored_ = 0, count_ = 0;
  const double* x_ = nullptr;
  std::vector<int> order_;
  std::vector<double> low_, high_;            // of each number of x
  std::vector<std::pair<double, int>> keys_;  // of particles to be sorted
  std::vector<double> scale_;                 // of each number of x; 0: all the same
  std::vector<Cluster> clusters_;             // count_ in use
  std::vector<Kernel> kernel_;
  MatrixXd delta_;
  VectorXd mean_;
};

}  // namespace kinegraph::filter
