#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/codegen/program.hpp"

namespace kinegraph::codegen {

/// What is asked of a robot.
struct Request {
  Problem problem = Problem::inverse;
  std::vector<build::Given> given;       ///< per coordinate; empty: as inverse or forward dynamics have it
  std::string ordering = "best";         ///< as build::screw_order(), or "best": the fewest operations of many
  std::vector<std::string> custom = {};  ///< with ordering "custom"
  TraceOptions options = {};
  Progress progress = {};  ///< asked before each order that is traced
};

struct Generated {
  Program program;
  std::string ordering;  ///< the one taken, by name
  std::string order;     ///< its unknowns, "F3 V3 a3 …"; empty where there is nothing to order
  struct Tried {
    std::string ordering;
    static constexpr int kNoCode = -1, kGivenUp = -2;
    int flops = 0;  ///< without derivatives, or one of these: given up where it takes far more than the best
  };
  std::vector<Tried> tried;     ///< orderings with a name, each with its operations
  int searched = 0;             ///< orders that were traced
  int without_derivatives = 0;  ///< operations of the one taken, without derivatives as those of `tried`
};

/// Traces the equations, eliminates, simplifies. Fails where what is asked is not determined for all positions.
Result<Generated> generate(const std::shared_ptr<const screw::Tree>& tree, const Request& request);

}  // namespace kinegraph::codegen
