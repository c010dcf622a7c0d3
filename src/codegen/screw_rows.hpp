#pragma once

#include <array>
#include <memory>
#include <vector>

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/codegen/elimination.hpp"
#include "kinegraph/codegen/joint_terms.hpp"
#include "kinegraph/codegen/minimal_tree.hpp"

namespace kinegraph::codegen {

/// What the equations are written in.
struct ScrewInputs {
  std::vector<Scalar> q, v;    ///< stored(), freedoms()
  std::vector<Scalar> a, tau;  ///< those that are known
  bool joint_forces = true;    ///< damping, friction and springs of the joints act
  bool loops = true;           ///< joints that close loops act; else only the spanning tree is there
};

/// The dynamics graph of one instant (001, eq. 5 to 7) as linear equations with symbolic coefficients.
///
/// Accelerations are those of points, not of twists: (α, a) with a = v̇ + ω × v of the frame's origin. The coefficients
/// are the same, and linear velocities are needed nowhere:
///
///     αᵢ = Rᵀ αₚ + ẇ + ωᵢ × w,      aᵢ = Rᵀ (aₚ + αₚ × p + ωₚ × (ωₚ × p)) + u̇ + (2 ωᵢ − w) × u,     (w, u) = S θ̇
///     n = I α + mc × a + ω × I ω,    f = m a + α × mc + ω × (ω × mc)
///
/// From parent to child the offset and the rotations of X = X_PF X_FM are applied one after the other, each with
/// unknowns of its own where numbers change: mostly the fixed rotation only permutes them.
class ScrewRows {
 public:
  ScrewRows(const build::ScrewProblem& problem, const ScrewInputs& inputs, SymbolicElimination& elimination);

  /// Scalar unknowns of a variable of the problem; none if it is known.
  const std::vector<int>& unknowns(int variable) const { return unknowns_[variable]; }

  /// Between a body and its parent: unknowns of one step of the way, outermost (at the child) first.
  struct Stage {
    std::vector<int> wrench, acceleration;
  };
  const std::vector<Stage>& stages(int body) const { return stages_[body]; }
  /// Unknowns between bodies and the joints that close loops.
  const std::vector<int>& loop_unknowns() const { return loop_unknowns_; }

 private:
  using Form6 = std::array<LinearForm, 6>;
  struct Place {
    Vector3s w = Vector3s::Zero();  ///< angular velocity
    Form6 acceleration;
  };

  void add_unknowns();
  void add_body(int i);
  void add_loop(int l);
  void add_balance(int i);
  void add_torque(int c);
  LinearForm variable(build::ScrewProblem::What what, int owner, int component) const;
  Scalar joint_force(const screw::Coordinate& coordinate, int k) const;

  Place through(const Place& from, const screw::Transform<double>& X, const JointTerms* joint,
                std::vector<Stage>* stages);
  void add_wrench(const Form6& wrench, const screw::Transform<double>& X, const JointTerms* joint,
                  std::vector<Stage>* stages, double sign, int body);
  void settle(Form6& forms, std::vector<int>& defined);

  const build::ScrewProblem& problem_;
  const ScrewInputs& inputs_;
  SymbolicElimination& elimination_;
  MinimalTree tree_;
  std::vector<std::vector<int>> unknowns_;
  std::vector<std::vector<Stage>> stages_;
  std::vector<int> loop_unknowns_;
  std::vector<Place> places_;
  std::vector<JointTerms> joints_, vias_;
  std::vector<Form6> balance_;  ///< per body: wrenches that it passes on, on the side of F
};

}  // namespace kinegraph::codegen
