#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/factor/common/select.hpp"
#include "kinegraph/graph/chain.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::build {

enum class Formulation { natural, independent };
enum class Integrator { euler, trapezoidal, hermite_simpson };

/// What is known of a motion: the only difference between simulating it and asking for its torques.
struct GivenMotion {
  bool inputs = true;             ///< the motors' torques are given
  std::vector<int> known_inputs;  ///< with inputs unknown: motors that keep their law all the same
  std::vector<int> prescribed;    ///< coordinates whose position, velocity and acceleration are given
};

/// The covariances of 000, Table 2, each with a factor of the user's.
struct SoftWeights {
  double integrator = 1e-3, dynamics = 1e-3, constraint = 1e-3, equality = 1e2;
};

struct NaturalOptions {
  Formulation formulation = Formulation::natural;
  Integrator integrator = Integrator::hermite_simpson;
  double step = 1e-3;
  GivenMotion given;
  std::vector<int> independent;  ///< indices of z in q (independent formulation)
  std::vector<int> redundant;    ///< rows of Φ that follow from the others
  bool soft = false;             ///< every factor a cost, as in the paper
  SoftWeights weights;
};

/// The graph of a planar mechanism moving in natural coordinates (000, Figs. 2 to 4), with its variables by name.
struct NaturalChain {
  std::shared_ptr<const natural::System> system;
  std::shared_ptr<const Chain> chain;
  int t = -1, u = -1, law = -1, q = -1, v = -1, a = -1, lambda = -1, z = -1, zd = -1, zdd = -1;
  int target = -1, target_rate = -1, target_acceleration = -1;  ///< the prescribed motion
  int free_a = -1;  ///< in the soft graph: the acceleration that the dynamics give
  int mid_t = -1, mid_u = -1, mid_q = -1, mid_v = -1, mid_a = -1, mid_lambda = -1, mid_z = -1, mid_zd = -1,
      mid_zdd = -1;
  std::vector<std::shared_ptr<Select>> selectors;  ///< which coordinates are independent; may be changed, see below
  std::vector<int> redundant_rows;                 ///< hard rows of a knot to leave out
  std::vector<int> redundant_middle_rows;          ///< the same for the middle of an interval
};

NaturalChain natural_chain(std::shared_ptr<const natural::System> system, const NaturalOptions& options);

}  // namespace kinegraph::build
