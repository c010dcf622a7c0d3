#include "graph_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "kinegraph/base/names.hpp"
#include "kinegraph/report/page.hpp"

namespace kinegraph::cli {

const std::string_view kGraphTeaching =
    "Examples:\n"
    "  kinegraph graph arm.urdf --show factors                    the factor graph of inverse dynamics\n"
    "  kinegraph graph arm.urdf --ordering rnea --out dag.svg     what is computed from what: the recursion of\n"
    "                                                             Newton and Euler\n"
    "  kinegraph graph arm.urdf --ordering rnea --format text     the same as equations\n"
    "  kinegraph graph arm.urdf --problem forward --ordering aba --after 4    the graph after four eliminations\n"
    "  kinegraph graph arm.urdf --problem forward --compare       what each ordering costs\n"
    "  kinegraph graph arm.urdf --problem hybrid --known j1.a --show tree --order \"t1 a2 a3 F1 V1 V3 F3 V2 F2\"\n"
    "  kinegraph graph fourbar.yaml --problem trajectory --formulation independent --show bayes\n\n"
    "Problems: inverse (accelerations known), forward (torques known), hybrid (--known names what is: joint.a or\n"
    "joint.tau; of joints not named the torque), trajectory (three knots of a motion).\n"
    "Variables: V3 twist acceleration of body 3, F3 wrench through its joint, a3 acceleration of joint 3, t3 its "
    "torque.\n"
    "Orderings: rnea, crba, aba, colamd, amd, metis, natural; --order gives your own. Unknowns that a loop may leave\n"
    "open always come last. Of a trajectory: time (back in time), colamd, amd, metis, natural.\n"
    "Without --out, svg is written to MODEL_PROBLEM_ORDERING_SHOW.svg in this folder; dot, json and text are printed.\n"
    "How to read the pictures: docs/graph.md.\n";

void GraphOptions::declare(CLI::App& app) {
  app.add_option("--problem", problem, "what is asked")
      ->type_name("inverse|forward|hybrid|trajectory")
      ->capture_default_str();
  app.add_option("--ordering", ordering, "order of elimination; default rnea for inverse, aba for forward and hybrid")
      ->type_name("NAME");
  app.add_option("--order", order, "your own order: all unknowns by name, between blanks")->type_name("\"t1 F1 ...\"");
  app.add_option("--known", known_text, "what is known in a hybrid problem")->type_name("j1.a,j2.tau,...");
  app.add_flag("--compare", compare, "a table over all orderings instead of a picture");
  app.add_option("--show", show, "default dag; of a trajectory factors")->type_name("factors|dag|tree|bayes");
  app.add_option("--after", after, "the graph after so many steps of the elimination")->type_name("N");
  app.add_option("--format", format,
                 "default: as the name of --out ends (.svg .dot .json .txt), else svg; text: the back-substitution as "
                 "equations")
      ->type_name("svg|dot|json|text");
  app.add_option("--out", out, "where to; - is standard output")->type_name("FILE");
  app.add_flag("--planar-loops", planar_loops, "with the planar factor at joints that close loops");
  app.add_flag("--hide-known", hide_known, "factor graphs without the known variables");
  app.add_option("--formulation", formulation, "of a trajectory; default natural for planar machines, screw for robots")
      ->type_name("natural|independent|screw");
  app.add_option("--integrator", integrator,
                 "of a trajectory: euler, trapezoidal or hermite-simpson; default trapezoidal")
      ->type_name("NAME");
  app.add_option("--knots", knots, "of a trajectory; default 3")->type_name("N");
}

namespace {

/// What the end of a file's name says of its format; empty: nothing.
std::string format_of(const std::string& extension) {
  if (extension == ".txt") return "text";
  if (extension == ".gv") return "dot";
  return extension == ".svg" || extension == ".dot" || extension == ".json" ? extension.substr(1) : "";
}

/// The format of a file called `out`, as given or as its name says; a name that says something else is refused.
std::string choose_format(OptionReader& reader, const std::string& out, const std::string& given) {
  std::string extension = std::filesystem::path(out).extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  const std::string named = format_of(extension);
  constexpr const char* kFormats = "expected .svg, .dot, .json or .txt";
  for (const char* other : {".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".pdf", ".ps", ".eps", ".csv"}) {
    if (extension == other) reader.fault("out", fmt::format("cannot write {} files; {}", extension, kFormats));
    if (extension == other) return given.empty() ? "svg" : given;
  }
  if (!given.empty() && !named.empty() && named != given) {
    reader.fault("out", fmt::format("{} is the name of a {} file, --format says {}", quote(out), named, given));
  }
  if (given.empty() && named.empty() && extension.size() > 1) {
    reader.fault("out", fmt::format("{} does not say which format: {}, or give --format", quote(out), kFormats));
  }
  return !given.empty() ? given : !named.empty() ? named : "svg";
}

}  // namespace

void GraphOptions::read(OptionReader& reader) {
  const bool integrator_given = !integrator.empty(), knots_given = !knots.empty();
  if (!integrator_given) integrator = "trapezoidal";
  if (!knots_given) knots = "3";
  reader.choice("problem", problem, {"inverse", "forward", "hybrid", "trajectory"});
  if (!format.empty()) reader.choice("format", format, {"svg", "dot", "json", "text"});
  format = choose_format(reader, out, format);
  const bool motion = problem == "trajectory";
  const bool show_given = !show.empty();
  if (show.empty()) show = motion ? "factors" : "dag";
  reader.choice("show", show, {"factors", "dag", "tree", "bayes"});
  reader.choice("integrator", integrator, {"euler", "trapezoidal", "hermite-simpson"});
  if (!formulation.empty()) reader.choice("formulation", formulation, {"natural", "independent", "screw"});
  knots_value = reader.whole("knots", knots, 2, 12);
  if (!after.empty()) {
    after_value = reader.whole("after", after, 0, 1000000);
    if (show_given && show != "dag") reader.fault("after", "shows the graph half eliminated: leave --show out");
    show = "dag";
  }

  std::istringstream words(order);
  for (std::string word; words >> word;) custom.push_back(word);
  if (!custom.empty() && ordering.empty()) ordering = "custom";
  std::vector<std::string> names = build::screw_order_names();
  if (motion) {
    if (ordering.empty()) ordering = "time";
    names = {"time", "colamd", "amd", "metis", "natural"};
  }
  if (!ordering.empty()) reader.choice("ordering", ordering, names);
  if (ordering == "custom" && custom.empty())
    reader.fault("order", "is missing: --order \"t1 F1 ...\" goes with custom");
  if (ordering != "custom" && !custom.empty() && !compare)
    reader.fault("order", "goes with --ordering custom, or without it");

  known = split_list(known_text);
  if (!known.empty() && problem != "hybrid") reader.fault("known", "goes with --problem hybrid");
  if (known.empty() && problem == "hybrid") {
    reader.fault("known", "is missing: --known j1.a,j2.tau says what is known of each joint");
  }
  if (!motion && show == "bayes") reader.fault("show", "bayes is for --problem trajectory; of one instant it is dag");
  if (motion && format == "text") reader.fault("format", "text is for the problems of one instant");
  if (motion && compare) reader.fault("compare", "is for the problems of one instant");
  if (compare && !out.empty()) reader.fault("out", "--compare prints a table; --json FILE writes it for machines");
  if (!motion && !formulation.empty()) reader.fault("formulation", "goes with --problem trajectory");
  if (!motion && integrator_given) reader.fault("integrator", "goes with --problem trajectory");
  if (!motion && knots_given) reader.fault("knots", "goes with --problem trajectory");
}

Done GraphOptions::check_trajectory(bool spatial) {
  if (formulation.empty()) formulation = spatial ? "screw" : "natural";
  if (spatial && formulation != "screw") {
    return Failure::bad_input(
        fmt::format("formulation: a robot in space has no {} coordinates: leave it out, or say screw", formulation));
  }
  return std::monostate{};
}

CommonOptions json_only(const CommonOptions& options) {
  CommonOptions only = options;
  only.out.clear();
  return only;
}

std::string compare_text(const std::vector<task::OrderingCost>& costs) {
  std::string text = fmt::format("\n  {:<10}{:>7}{:>7}{:>13}{:>22}{:>13}{:>11}\n", "ordering", "edges", "fill",
                                 "dense flops", "tree width (numbers)", "plan flops", "plan fill");
  for (const task::OrderingCost& c : costs) {
    const auto or_dash = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string("-"); };
    text += fmt::format("  {:<10}{:>7}{:>7}{:>13.0f}{:>22}{:>13}{:>11}{}\n", c.name, c.edges, c.fill, c.flops,
                        fmt::format("{} ({})", c.width, c.width_in_numbers), or_dash(c.plan_flops),
                        or_dash(c.plan_fill), c.same_as.empty() ? "" : fmt::format("  as {}", c.same_as));
  }
  return text +
         "\n  edges: of the DAG; fill: those between variables that no equation joined; dense flops: every step as one "
         "full\n  front; plan: as compiled, blocks of zeros and ones known, pivots as in docs/graph.md\n";
}

nlohmann::ordered_json compare_json(const std::vector<task::OrderingCost>& costs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const task::OrderingCost& c : costs) {
    nlohmann::ordered_json row{{"ordering", c.name},    {"edges", c.edges},
                               {"fill", c.fill},        {"dense_flops", c.flops},
                               {"tree_width", c.width}, {"tree_width_numbers", c.width_in_numbers}};
    row["plan_flops"] = c.plan_flops ? nlohmann::ordered_json(*c.plan_flops) : nlohmann::ordered_json(nullptr);
    row["plan_fill"] = c.plan_fill ? nlohmann::ordered_json(*c.plan_fill) : nlohmann::ordered_json(nullptr);
    list.push_back(std::move(row));
  }
  return list;
}

nlohmann::ordered_json compare_table(const std::vector<task::OrderingCost>& costs) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const nlohmann::ordered_json& cost : compare_json(costs)) {
    nlohmann::ordered_json row = nlohmann::ordered_json::array();
    for (const auto& value : cost) row.push_back(value);
    rows.push_back(std::move(row));
  }
  return report::table(
      "Orderings", "What each order of elimination costs (docs/graph.md).",
      {"ordering", "edges", "fill", "dense flops", "tree width", "… in numbers", "plan flops", "plan fill"}, {},
      std::move(rows));
}

}  // namespace kinegraph::cli
