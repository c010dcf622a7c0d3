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

struct Golden {
  std::shared_ptr<const screw::Tree> tree;  ///< null if the model is absent
  std::vector<GoldenState> states;
};

/// test/golden/<name>.json and its model, joined by the names of columns. Throws if columns differ.
Golden read_golden(const std::string& name);

/// A robot of this repository: models/<name>.urdf.
std::shared_ptr<const screw::Tree> own_tree(const std::string& name, Robot::Base base = Robot::Base::fixed);

}  // namespace kinegraph::acceptance
