#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/task/continuation.hpp"

namespace kinegraph::task {

/// The connected components of a configuration space, by search.
///
/// No freedom: every position is one. One freedom: positions are found from random starts and the curve through each is
/// followed until it closes, so that each component is known as a whole; curves that cross are one component of several
/// arcs. More freedoms: positions from random starts are joined where one can be reached from the other; what is
/// found to be apart may still be joined by a way that was not found.
class BranchSearch {
 public:
  /// `coordinate`: of q, over which samples are spread; −1: along the curve. `angle`: it is one.
  struct Spread {
    int coordinate = -1;
    bool angle = false;
  };
  /// q: a closed position; it is in branch 0.
  BranchSearch(std::unique_ptr<ConfigurationSpace> space, const Eigen::VectorXd& q, std::uint64_t seed, Spread spread);

  int count() const { return count_; }
  int freedoms() const { return freedoms_; }
  bool certain() const { return certain_; }
  bool meeting() const { return arcs() > count_; }
  int arcs() const { return curves_.empty() ? count_ : static_cast<int>(curves_.size()); }

  /// What tells a branch from the others, or empty.
  std::vector<std::string> names();
  /// The branch of a closed position.
  int branch_of(const Eigen::VectorXd& q);
  /// n positions of each branch, spread evenly.
  struct Sample {
    Eigen::VectorXd q;
    int branch = 0, arc = 0;
  };
  std::vector<Sample> samples(int n);
  /// One freedom: where each curve has a coordinate at a value (an angle: but for full turns); roughly.
  std::vector<Sample> where(int coordinate, bool angle, double value);
  ConfigurationSpace& space() { return *space_; }

 private:
  void search_points(const Eigen::VectorXd& q);
  void search_curves(const Eigen::VectorXd& q);
  void search_pool(const Eigen::VectorXd& q);
  void rescue();
  int curve_of(const Eigen::VectorXd& q);
  void join_curves();
  bool join(int sample, int tries);
  void number();
  bool random_position(Eigen::VectorXd& q);
  int root(int i);
  /// The indices of `all` in the order of their distance from q.
  std::vector<int> by_distance(const std::vector<Eigen::VectorXd>& all, const Eigen::VectorXd& q);
  std::vector<double> measure(const ConfigurationCurve& curve);
  Eigen::VectorXd between(const ConfigurationCurve& curve, std::size_t i, double share);

  std::unique_ptr<ConfigurationSpace> space_;
  Continuation path_;
  Random random_;
  std::uint64_t seed_;
  Spread spread_;
  int freedoms_ = 0, count_ = 1;
  bool certain_ = true;
  std::vector<ConfigurationCurve> curves_;
  std::vector<Eigen::VectorXd> pool_;  // positions; of curves: none
  std::vector<int> root_, label_;      // of the curves, or of the pool
};

}  // namespace kinegraph::task
