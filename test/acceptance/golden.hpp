#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::acceptance {

/// Reference numbers of one state (test/golden/make_goldens.py), in the order of the tree's columns.
struct GoldenState {
  Eigen::VectorXd q, v, a, tau;              // given
  Eigen::VectorXd rnea, aba, bias, gravity;  // found
  Eigen::MatrixXd M;                         // of small robots
  std::vector<Eigen::VectorXd> x, Mx;        // of large ones: M times some vectors
};

/// Derivatives at one of them, of torques at (q, v, a) and of accelerations at (q, v, tau).
struct GoldenDerivatives {
  Eigen::MatrixXd tau_q, tau_v, a_q, a_v, a_tau;
};

struct Golden {
  std::shared_ptr<const screw::Tree> tree;  ///< null if the model is absent
  std::vector<GoldenState> states;
  std::vector<GoldenDerivatives> derivatives;  ///< of the first states; of some robots none
};

/// test/golden/<name>.json and its model, joined by the names of columns. Throws if columns differ.
Golden read_golden(const std::string& name);

/// A robot of this repository: models/<name>.urdf.
std::shared_ptr<const screw::Tree> own_tree(const std::string& name, Robot::Base base = Robot::Base::fixed);

}  // namespace kinegraph::acceptance
