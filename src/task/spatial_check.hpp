#pragma once

#include <map>
#include <string>
#include <vector>

#include "kinegraph/model/model.hpp"

namespace kinegraph::task {

struct SpatialCheckResult {
  int links = 0;
  int bodies = 0;                          ///< that move: links tied by fixed joints are one
  std::map<std::string, int> joints;       ///< by type
  int mimic = 0, limited = 0, motors = 0;  ///< joints that follow others, have limits, have a motor
  std::string base;                        ///< "fixed" or "floating"
  int joint_freedoms = 0;                  ///< of all joints
  int loops = 0, closure_equations = 0, rank = 0, freedoms = 0;  ///< freedoms: of the mechanism
  std::vector<std::string> independent;                          ///< joints that may be chosen
  std::vector<std::string> redundant;                            ///< "loop j5: 3 of 5 equations"
  bool singular_here = false;                                    ///< rank drops at the start only
  double closure_max = 0;                                        ///< after assembly, m or rad
  double mass = 0;                                               ///< of what moves
  std::vector<std::string> massless;                             ///< moving bodies without mass
  std::vector<std::string> undetermined;  ///< joints whose acceleration no mass decides: forward dynamics has no answer
  std::vector<Diagnostic> warnings;
};

/// Fails with no_answer if the loops cannot be closed: which, and by how much.
Result<SpatialCheckResult> spatial_check(const Model& model);

}  // namespace kinegraph::task
