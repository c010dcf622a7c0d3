#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kinegraph/report/sketch.hpp"

namespace kinegraph::report {

/// One page that anyone can open: all data of a run and the program that shows them, in one file. Sections that are
/// null are not shown. What each holds is written in docs/report.md; section writers are beside this file.
struct Page {
  enum class Status { good, warning, bad };
  std::string verb, model, file, version, command;
  std::string verdict;  ///< one sentence: what was found
  Status status = Status::good;
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, std::string>> facts;   ///< a label and its value, as the terminal shows them
  std::vector<std::pair<std::string, std::string>> inputs;  ///< what a file was for, and its name
  std::string time_name = "t", time_unit = "s";             ///< the axis of plots; without a unit: a count of poses
  nlohmann::ordered_json scene, view, series, timing, branches, parameters;
  std::vector<nlohmann::ordered_json> graphs;  ///< of graph_section()
  std::vector<nlohmann::ordered_json> tables;  ///< of table()
};

/// A table with its heads; cells are text or numbers, in `time` columns numbers that one can go to.
///
///     {"title": "Residuals", "note": "…", "heads": ["factor", "count", …], "times": [4], "rows": [["loop A", 200, …]]}
nlohmann::ordered_json table(const std::string& title, const std::string& note, const std::vector<std::string>& heads,
                             const std::vector<int>& time_columns, nlohmann::ordered_json rows);

/// A drawing of a graph. `times`: of the knots of a motion, none else; `half_step`: how far apart they are drawn.
nlohmann::ordered_json graph_section(const Sketch& sketch);

/// The whole file.
std::string html(const Page& page);

/// The page without data, as the viewer's sources make it (viewer/).
std::string_view page_template();

}  // namespace kinegraph::report
