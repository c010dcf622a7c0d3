#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::build {

/// What is known of a joint at an instant. `both`: neither is asked for (its torque and acceleration are given: one
/// equation too many, where a loop leaves one open). `neither`: both are asked for.
enum class Given : unsigned char { torque, acceleration, both, neither };

/// The dynamics graph of one instant (001, Fig. 3): which variables there are and which factors connect them, before
/// any numbers. Everything that draws, orders or solves such a graph starts from it.
struct ScrewProblem {
  enum class What { twist_acceleration, wrench, torque, acceleration };  // V̇, F, τ, θ̈
  struct Variable {
    What what = What::torque;
    int owner =
        0;  ///< V̇: a body, −1: the ground. F: a body (its joint to the parent) or bodies + loop. τ, θ̈: a coordinate
    int size = 0;
    bool known = false;
    int level = 0;      ///< 0: determined by the tree. Else left to the last group (BlockStructure::level)
    std::string name;   ///< "F3", "V3", "a2" (θ̈), "t1" (τ): numbered from 1 as in the paper; loops after the tree
    std::string label;  ///< the joint's or body's name, for messages
  };
  enum class Equation {
    acceleration,
    wrench,
    torque,
    loop_acceleration,
    planar
  };  // (5), (6), (7), (5) of a loop, Fig. 12
  struct Factor {
    Equation equation = Equation::torque;
    int owner = 0;  ///< acceleration, wrench: a body. torque: a coordinate. loop_acceleration, planar: a loop
    int rows = 0;
    std::vector<int> variables;  ///< all, known ones too
    std::string name;            ///< "wrench l2"
  };
  std::shared_ptr<const screw::Tree> tree;
  std::vector<Given> given;  ///< per coordinate
  std::vector<Variable> variables;
  std::vector<Factor> factors;

  int find(What what, int owner) const;  ///< index of a variable
  int find(const std::string& name) const;
  std::vector<int> unknown() const;
};

/// What the user asks: everything known of a kind.
std::vector<Given> given_inverse(const screw::Tree& tree);  ///< motors: acceleration; passive joints and loops: torque
std::vector<Given> given_forward(const screw::Tree& tree);  ///< all torques

/// A joint that mimics another shares its θ̈; its wrench then stands in the leader's torque factor.
/// `planar_loops`: loops closed by a turning joint get the paper's planar factor, which says that the wrench across the
/// plane normal to its axis is none. Without it what a loop leaves open is found by rank and has least norm.
ScrewProblem screw_problem(std::shared_ptr<const screw::Tree> tree, const std::vector<Given>& given,
                           bool planar_loops = false);

/// An elimination order: groups of unknown variables of a problem, each once. Loop wrenches and what else may be
/// undetermined always come last, in one group.
using ScrewOrder = std::vector<std::vector<int>>;

/// rnea, crba, aba (they know robots), colamd, amd, metis (linear/ordering.hpp on the blocks), natural (as listed), or
/// "custom" with the names of the unknowns in `custom` ("t1 a2 a3 F1 …"). Unknown names are refused.
Result<ScrewOrder> screw_order(const ScrewProblem& problem, const std::string& name,
                               const std::vector<std::string>& custom = {});
const std::vector<std::string>& screw_order_names();

}  // namespace kinegraph::build
