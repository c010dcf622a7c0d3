#pragma once

#include <string>
#include <vector>

#include "kinegraph/mechanics/natural/lists.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::natural {

/// What a System is made of. Filled by the assembly, then read only.
struct System::Implementation {
  int n = 0;
  std::vector<std::string> coordinate_names, constraint_names;
  std::vector<int> point_index;  ///< of x of each point of the model in q; −1: fixed
  int first_relative = 0;        ///< the index in q of the first relative coordinate
  double typical_length = 1;
  Eigen::VectorXd guess;

  Constraints constraints;
  Forces forces;
  std::vector<double> constant_force;  ///< n: gravity and constant loads
  std::vector<double> weight;          ///< n: gravity alone, which has a potential
  double fixed_potential = 0;          ///< of the weight that fixed points carry

  std::vector<Entry> jacobian, hessian, mass, force, stiffness;
  std::vector<double> mass_values;

  std::vector<int> motor_coordinate;
  std::vector<Law> motor_law;
};

/// Reads a model into the lists and patterns of a system.
std::shared_ptr<const System::Implementation> assemble(const Model& model);

}  // namespace kinegraph::natural
