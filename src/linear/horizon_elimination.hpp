#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "kinegraph/linear/horizon_front.hpp"
#include "kinegraph/linear/horizon_plan.hpp"
#include "kinegraph/linear/workers.hpp"

namespace kinegraph::linear {

/// The numeric elimination of a HorizonPlan: K + diag(d) = L D Lᵀ, pivots chosen as it goes (horizon_front.hpp). An
/// unknown that finds no stable pivot in its node is passed on to the parent.
///
/// factor() and solve() allocate nothing once they have run (unless more pivots are passed on than ever before). The
/// partition of the work is the plan's, so the bits do not depend on the number of threads.
class HorizonElimination {
 public:
  explicit HorizonElimination(const HorizonPlan& plan);  ///< which must outlive it and stay at its address
  ~HorizonElimination();

  void set_threads(int threads);
  /// u of horizon_front.hpp: small where every pivot exists anyway (all of H and C positive), for then passing on is a
  /// waste.
  void set_threshold(double u) { threshold_ = u; }

  /// K ← D K D with powers of two, so that no entry is much above 1.
  void equilibrate(std::vector<double>& values, Eigen::VectorXd& D) const;

  /// `values`: one per entry of the plan; `diagonal`: added to the diagonal, one per unknown; both must stay until the
  /// last solve(), which is refined against them. It is a minimum under constraints, determined in all unknowns, if
  /// there are as many negative pivots as hard rows and none is zero.
  const HorizonInertia& factor(std::span<const double> values, std::span<const double> diagonal);
  bool is_minimum() const { return inertia_.finite && inertia_.zero == 0 && inertia_.negative == plan_->hard_rows(); }

  static constexpr double kThreshold = 0.01;

  /// In place, with at most `refinements` steps against what factor() was given. Returns the largest residual, relative
  /// to the terms of its rows.
  double solve(Eigen::VectorXd& x, int refinements = 2);

  const HorizonInertia& inertia() const { return inertia_; }
  int passed_on() const;      ///< unknowns eliminated later than planned
  double operations() const;  ///< multiplications of the last factor()

 private:
  struct Node {
    int candidates = 0, eliminated = 0, size = 0, passed = 0;
    std::vector<int> id;  // candidates in the order of elimination, then border
    // L below its diagonal, column after column without gaps: memory is what a solution waits for. D. The Schur
    // complement, lower, column-major.
    std::vector<double> panel, diagonal, off, update;
    std::vector<double> rest;  // right-hand side of the border
    HorizonInertia inertia;
    bool lends = false;  // its update is taken in by the thread that made it, which uses the memory again
  };
  struct Scratch;

  void run(const std::function<void(int node, Scratch&)>& work, bool upward);
  bool joined() const;
  void assemble(int node, Scratch& scratch);
  void add_child(const HorizonNode& plan, const HorizonNode& child, const Node& node, int first,
                 Scratch& scratch) const;
  void eliminate(int node, Scratch& scratch);
  void reserve_update(Node& node, std::size_t size, Scratch& scratch);
  void forward(int node, Scratch& scratch);
  void backward(int node, Scratch& scratch);
  void substitute(Eigen::VectorXd& x);
  void find_scale();
  template <class Work>
  void over_entries(const Work& work) const;
  void subtract_product(const Eigen::VectorXd& x, Eigen::VectorXd& r) const;

  const HorizonPlan* plan_;
  std::span<const double> values_, diagonal_;
  std::vector<Node> nodes_;
  std::vector<double> scale_;
  std::size_t largest_update_ = 0;
  HorizonInertia inertia_;
  Eigen::VectorXd right_, residual_, best_;
  double* x_ = nullptr;
  double threshold_ = kThreshold;

  Workers workers_;
  std::vector<Scratch> scratch_;
};

}  // namespace kinegraph::linear
