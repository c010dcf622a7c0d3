#pragma once

#include <Eigen/Core>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kinegraph/graph/difference_curvature.hpp"
#include "kinegraph/graph/graph.hpp"
#include "kinegraph/linear/horizon_plan.hpp"
#include "kinegraph/linear/workers.hpp"

namespace kinegraph {

/// Costs, hard rows and inequalities of a graph at a point.
struct HorizonPoint {
  double cost = 0;                       ///< ½ Σ ρ(‖W r‖²), hinges included
  Eigen::VectorXd equality, inequality;  ///< c, g
  int bad_factor = -1;                   ///< the first with a number that is not finite

  bool finite() const { return bad_factor < 0; }
};

/// The factors of a graph over time, evaluated knot by knot and in parallel, and its Newton matrix
///
///     K = [ H  Jᵀ ]     H = Σ ρ' (W E)ᵀ (W E)  +  Gᵀ Σ G  +  Σ y ∇²c − Σ z ∇²g
///         [ J  0  ]
///
/// by the entries of a HorizonPlan. Unknowns: the columns of the graph's Structure, then its hard rows. Everything
/// structural is found when it is made; after that nothing allocates.
class HorizonProblem {
 public:
  /// Fails (bad_input) where a factor touches steps that are not neighbours.
  static Result<std::unique_ptr<HorizonProblem>> make(const Graph& graph, const Values& values);

  void set_threads(int threads);
  /// Inequalities become costs ½ ‖W min(0, g)‖².
  void set_hinges(bool hinges) { hinges_ = hinges; }
  bool hinges() const { return hinges_; }
  /// Costs count this much: 0 where only constraints matter.
  void set_cost_weight(double weight) { cost_weight_ = weight; }

  const Graph& graph() const { return *graph_; }
  const Structure& structure() const { return structure_; }
  const linear::HorizonPlan& plan() const { return *plan_; }
  int unknowns() const { return structure_.unknowns; }
  int hard_rows() const { return structure_.hard_rows; }
  int inequality_rows() const { return structure_.inequality_rows; }
  Values& values() { return values_; }  ///< the point; its variables must stay
  const Values& values() const { return values_; }

  void evaluate(HorizonPoint& point);   ///< residuals only
  void linearize(HorizonPoint& point);  ///< and Jacobians, and the gradient of the cost
  const Eigen::VectorXd& gradient() const { return gradient_; }
  const Eigen::VectorXd& column_norms() const { return column_norm_; }  ///< squares: diagonal of the cost's H

  // At the last linearisation.
  void add_transposed(const Eigen::VectorXd& y, const Eigen::VectorXd& z, Eigen::VectorXd& out) const;  ///< Jᵀy − Gᵀz
  /// Σ over rows: wᵢ Jᵢⱼ² + vᵢ Gᵢⱼ²
  void add_squared_columns(const Eigen::VectorXd& w, const Eigen::VectorXd& v, Eigen::VectorXd& out) const;
  void multiply_inequality(const Eigen::VectorXd& dx, Eigen::VectorXd& out) const;  ///< G dx
  /// The values of K. `y`, `z`: multipliers for the curvature, empty for none; `sigma`: Σ per inequality row.
  void assemble(const Eigen::VectorXd& y, const Eigen::VectorXd& z, const Eigen::VectorXd& sigma,
                std::vector<double>& matrix);

 private:
  struct Pair {
    int a, b, place;  // local columns and their entry of the matrix
  };
  struct Bend {  // a second derivative
    int from, place;
    double times;  // two where both slots are one variable
  };
  struct Term {
    const BoundFactor* bound = nullptr;
    int factor = 0, first_row = 0, group = 0;
    int slots = 0, raw = 0;                            // first in slots_ and raw_
    std::vector<int> columns;                          // local → unknown
    std::vector<int> local;                            // per Jacobian entry: local column, −1 if known
    std::vector<int> places;                           // per Jacobian entry of a hard row: entry of the matrix
    std::vector<Pair> pairs;                           // of squares
    std::vector<Bend> bends;                           // of curvature: from the factor's own dense matrix
    const DifferenceCurvature* differences = nullptr;  // null: its Jacobian is constant, or a cost's
    bool exact = false;                                // has add_curvature
    double cost = 0;
    bool finite = true, linearized = false;
  };
  struct Group {                         // factors that start at the same knot
    int first = 0, end = 0;              // terms
    int first_value = 0, end_value = 0;  // entries of the matrix
    std::vector<int> columns;            // unknowns that it touches
    std::vector<std::vector<int>> at;    // per term: local column → place in columns
    std::vector<double> gradient, norm;
  };
  struct Scratch {
    std::vector<double> dense, hessian, weight, residual, stacked;
    DifferenceCurvature::Work differences;
  };

  HorizonProblem() = default;
  std::optional<Failure> find_places();
  void add_terms();
  void find_curvature(Term& term);
  static int local_of(const Term& term, int column);
  static void add_square_pairs(Term& term);
  void make_plan();
  void run(const std::function<void(Group&, Scratch&)>& work);
  template <class Work>
  void over_terms(const Work& work) const;
  void evaluate_group(Group& group, Scratch& scratch, HorizonPoint& point, bool jacobian);
  void add_gradient(Group& group, int term, const double* residual, Scratch& scratch);
  void gather(HorizonPoint& point);
  void dense_jacobian(const Term& term, Scratch& scratch) const;
  void assemble_term(int term, const Eigen::VectorXd& y, const Eigen::VectorXd& z, const Eigen::VectorXd& sigma,
                     std::vector<double>& matrix, Scratch& scratch) const;
  void add_squares(const Term& term, Scratch& scratch) const;
  void add_curvature(const Term& term, std::vector<double>& matrix, Scratch& scratch) const;
  double hinge(const Term& term, int row, double g) const;

  const Graph* graph_ = nullptr;
  Values values_;
  Structure structure_;
  bool hinges_ = false;
  double cost_weight_ = 1;
  bool has_border_ = false;  // variables of no time
  int knots_ = 0;
  std::vector<int> knot_of_;  // per variable of Values; −1: border
  std::vector<linear::HorizonPlace> place_;
  std::vector<Term> terms_;  // by group
  std::vector<Group> groups_;
  std::vector<const double*> slots_;
  std::vector<double> raw_;
  std::vector<double> loss_weight_;  // per term: ρ'
  std::map<const Factor*, std::unique_ptr<DifferenceCurvature>> differences_;
  std::unique_ptr<linear::HorizonPlan> plan_;
  Eigen::VectorXd gradient_, column_norm_;
  linear::Workers workers_;
  std::vector<Scratch> scratch_;
};

}  // namespace kinegraph
