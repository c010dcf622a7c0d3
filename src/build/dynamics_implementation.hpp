#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/build/dynamics.hpp"

namespace kinegraph::build {

/// The rows of the plan are the factors of the problem, its columns the unknowns.
struct Dynamics::Implementation {
  ScrewProblem problem;
  ScrewOrder order;
  std::shared_ptr<const BlockPlan> plan;
  std::unique_ptr<BlockElimination> elimination;
  std::unique_ptr<screw::Motion> motion;
  std::string refusal;  ///< there can be no answer, whatever the numbers

  std::vector<int> column;       ///< per variable, −1 if known
  std::vector<int> variable;     ///< per column
  std::vector<int> solution_at;  ///< per variable: offset, −1 if known

  /// Where the numbers of a body's equations go: offsets into the storage, −1 if there is no such place.
  struct BodyPlaces {
    int X = -1, XT = -1, S = -1, ST = -1, G = -1, right_V = -1, right_F = -1;
    bool acceleration_known = false;
    bool varies = false;  ///< S depends on q and has a place
    int only = -1;        ///< S is sign · e(only)
    double sign = 1;
    int freedoms = 0, v = 0;
  };
  struct CoordinatePlaces {
    int armature = -1, right_T = -1, v = 0, freedoms = 0;
    int a_at = -1, tau_at = -1;  ///< solutions
    bool torque_known = false, acceleration_known = false;
  };
  struct LoopPlaces {
    int Xa = -1, Xb = -1, XaT = -1, XbT = -1, S = -1, ST = -1, right_A = -1;
    bool acceleration_known = false;
    int freedoms = 0, v = 0;
  };
  std::vector<BodyPlaces> body;
  std::vector<CoordinatePlaces> coordinate;
  std::vector<LoopPlaces> loop;

  const screw::Tree& tree() const { return *problem.tree; }
  int row(ScrewProblem::Equation equation, int owner) const;

  void check();
  void compile();
  BlockStructure structure() const;
  void add_subspace(BlockStructure& s, const screw::ScrewJoint& joint, int twist_row, int wrench) const;
  void find_places();
  void write_constants();
  void write(const double* q, const double* v, const double* a, const double* tau, const screw::Surroundings&);
  void write_body(int i, double* x, const double* a, const screw::Surroundings& surroundings);
  void write_loop(int l, double* x, const double* a, const screw::Surroundings& surroundings);
  std::string label(int v) const;
};

/// From column to column of a block of six rows.
inline constexpr int kStride = 8;

}  // namespace kinegraph::build
