#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kinegraph/task/graph.hpp"
#include "options.hpp"
#include "verb.hpp"

namespace kinegraph::cli {

extern const std::string_view kGraphTeaching;

/// What `graph` is asked: texts as given, and what they mean after read().
struct GraphOptions {
  std::string problem = "inverse", ordering, order, known_text, show, after, format, out, formulation, integrator,
              knots;
  bool compare = false, hide_known = false, planar_loops = false;

  std::vector<std::string> custom, known;
  long after_value = 0, knots_value = 3;

  void declare(CLI::App& app);
  void read(OptionReader& reader);
  /// What only the model decides: the formulation of a motion.
  Done check_trajectory(bool spatial);
};

/// The same options without --out: only the summary for machines is written.
CommonOptions json_only(const CommonOptions& options);

std::string compare_text(const std::vector<task::OrderingCost>& costs);
nlohmann::ordered_json compare_json(const std::vector<task::OrderingCost>& costs);
nlohmann::ordered_json compare_table(const std::vector<task::OrderingCost>& costs);  ///< for the report

}  // namespace kinegraph::cli
