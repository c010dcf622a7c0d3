#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/linear/block_plan.hpp"
#include "kinegraph/mechanics/screw/motion.hpp"

namespace kinegraph::build {

using linear::BlockElimination;
using linear::BlockPlan;
using linear::BlockStructure;

/// Inverse, forward and hybrid dynamics of one robot by elimination of one graph (001): the plan is made once for what
/// is known and an order, the numbers follow without allocation.
class Dynamics {
 public:
  /// `order` as from screw_order(); empty: the best for what is known (RNEA where all accelerations are, ABA else).
  Dynamics(std::shared_ptr<const screw::Tree> tree, const std::vector<Given>& given, ScrewOrder order = {});
  /// The same for a problem as it is written, with its planar factors if it has any.
  explicit Dynamics(ScrewProblem problem, ScrewOrder order = {});
  ~Dynamics();
  Dynamics(Dynamics&&) noexcept;

  struct Outcome {
    bool ok = true;
    std::string message;       ///< not ok: which variable has no answer, and why
    int undetermined = 0;      ///< directions of loop wrenches (or torques) that were chosen by least norm
    double inconsistency = 0;  ///< of redundant equations, relative
    std::string worst;         ///< the equation of that
  };
  /// From (q, v, what is known) to the rest. `a` and `tau` (freedoms() numbers each): known numbers are read, unknown
  /// ones written.
  Outcome solve(const double* q, const double* v, double* a, double* tau, const screw::Surroundings& surroundings);

  /// Why there can be no answer whatever the numbers; empty if there can. Then there is no plan either, and nothing
  /// below may be asked for.
  const std::string& refusal() const;

  /// After solve(): V̇ of a body; the wrench through the joint of a body, or of loop l at bodies + l (on the child, in
  /// its frame; of a loop in its frame M).
  screw::Vector6d twist_acceleration(int body) const;
  screw::Vector6d wrench(int joint) const;

  /// M(q) of the tree's freedoms: CRBA's last block. Needs the order "crba" and all torques given.
  Eigen::MatrixXd mass_matrix(const double* q);

  const ScrewProblem& problem() const;
  const ScrewOrder& order() const;
  const BlockPlan& plan() const;
  BlockElimination& elimination();  ///< for a look at intermediate blocks
  const screw::Motion& motion() const;
  /// Writes the numbers of (q, v, what is known) without running: for elimination().run_until().
  void write(const double* q, const double* v, const double* a, const double* tau, const screw::Surroundings&);
  int row_of(ScrewProblem::Equation equation, int owner) const;  ///< row block of the plan
  int column_of(ScrewProblem::What what, int owner) const;       ///< column block of the plan, −1 if known

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace kinegraph::build
