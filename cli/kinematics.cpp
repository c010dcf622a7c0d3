#include "kinegraph/task/kinematics.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cmath>

#include "goal.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/task/spatial_kinematics.hpp"
#include "memory.hpp"
#include "move.hpp"
#include "outputs.hpp"
#include "progress_bar.hpp"

namespace kinegraph::cli {
namespace {

bool carries_unit(const std::string& number) {
  return !number.empty() && std::isalpha(static_cast<unsigned char>(number.back())) && !number.ends_with("pi");
}

std::vector<std::string> split_at_colons(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(':', begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return parts;
}

class Kinematics final : public Verb {
 public:
  std::string_view name() const override { return "kinematics"; }
  std::string_view purpose() const override {
    return "a consistent pose, all assembly branches, a coordinate moved, a tool at its goal";
  }
  std::string_view teaching() const override {
    return "Examples:\n"
           "  kinegraph kinematics fourbar.yaml                                  the pose nearest to the drawn one\n"
           "  kinegraph kinematics fourbar.yaml --set theta.q=30deg              … with the crank at 30 degrees\n"
           "  kinegraph kinematics fourbar.yaml --branches --out branches.csv    every way to assemble it\n"
           "  kinegraph kinematics fourbar.yaml --move theta.q=0:360deg --out turn.csv\n"
           "  kinegraph kinematics fourbar.yaml --move theta.q=0:360deg:73       a sample every 5 degrees\n"
           "  kinegraph kinematics arm.urdf --set elbow.q=90deg --out poses.csv  where every link is\n"
           "  kinegraph kinematics arm.urdf --goal 'hand: x=0.4 y=0.1 z=0.5 rpy=0,90deg,0'\n"
           "  kinegraph kinematics arm.urdf --goals goals.csv --out joints.csv   a row per goal\n\n"
           "--out has one row per pose: t (of --goals as in the table, else a count 0, 1, 2, …), then P1.x P1.y … of "
           "every\n"
           "point and theta.q of every angle; of a robot (URDF, SDF) elbow.q of every joint and hand.x .y .z .qw .qx "
           ".qy .qz\n"
           "of every link. --set and --move may leave a joint's limits: the summary tells where (limits_exceeded).\n\n"
           "A goal is a link's position, some of x y z, and a rotation if rpy (about the fixed axes x, y, z, as in "
           "URDF) or\n"
           "quat (w,x,y,z) is given; offset=x,y,z moves the point along the link's axes. Several --goal hold at once. "
           "Joints\n"
           "stay within their limits, loops closed. A table --goals has columns hand.x hand.y hand.z [hand.qw … "
           "hand.qz].\n"
           "A goal out of reach: the row is the nearest pose, the message tells what is left, and the exit status is "
           "1; the\n"
           "next goal of a table is then tried from the last pose that reached its own.\n";
  }
  void declare(CLI::App& app) override {
    app.add_flag("--branches", branches_, "find the assembly branches: all poses with the same free coordinates");
    app.add_option("--move", move_, "move a coordinate through a range, 361 samples unless told")
        ->type_name("NAME=FROM:TO[:N]");
    app.add_option("--goal", goals_, "bring a link to a place, joints within their limits; may be repeated")
        ->type_name("'LINK: x=… y=… z=… [rpy=…]'")
        ->allow_extra_args(false)
        ->take_all();
    app.add_option("--goals", table_, "a table of such places, one after the other; - is standard input")
        ->type_name("FILE.csv");
    common_.declare(app, true);
  }
  Done run() override;

 private:
  Done run_spatial(const Model& model, Outputs& outputs, const task::KinematicsOptions& options,
                   std::vector<task::FrameGoal> goals);

  std::string move_, table_;
  std::vector<std::string> goals_;
  bool branches_ = false;
};

Done Kinematics::run() {
  OptionReader reader;
  common_.read(reader);
  task::KinematicsOptions options;
  options.branches = branches_;
  options.seed = common_.seed_value;
  if (!move_.empty()) options.move = read_move(reader, move_);
  std::vector<task::FrameGoal> goals;
  for (const std::string& text : goals_) goals.push_back(read_goal(reader, text));
  std::string asked;
  for (const auto& [name, given] : {std::pair{"branches", branches_},
                                    {"move", !move_.empty()},
                                    {"goal", !goals_.empty()},
                                    {"goals", !table_.empty()}}) {
    if (given) asked += std::string(asked.empty() ? "" : ", ") + name;
  }
  if (asked.find(',') != std::string::npos) reader.fault(asked, "only one of them at a time");
  if (!reader.ok()) return reader.failure();

  Result<Outputs> outputs = Outputs::open(common_);
  if (!outputs) return outputs.failure();
  const Result<Model> model = common_.read_model();
  if (!model) return model.failure();
  ProgressBar bar("kinematics", common_);
  options.progress = bar.callback();
  if (ReportContent* report = outputs->show(*model, command)) {
    report->timed = !table_.empty();
    report->discrete = move_.empty();
    if (!table_.empty()) report->page.inputs.emplace_back("goals", table_);
  }
  if (model->spatial() || !goals.empty() || !table_.empty()) return run_spatial(*model, *outputs, options, goals);
  const Result<task::KinematicsResult> result = task::kinematics(*model, options);
  if (!result) return result.failure();

  const Trajectory& poses = result->trajectory;
  Summary summary("kinematics", common_.model);
  summary.add("degrees_of_freedom", result->degrees_of_freedom, "degrees of freedom")
      .add("independent", result->independent, "coordinates held")
      .add("poses", poses.samples(), branches_ ? "branches" : "poses")
      .add("constraint_max", result->constraint_max, "largest constraint left", "m²");
  if (options.move) {
    summary.add("moved", options.move->coordinate, "moved")
        .add("from", options.move->from, "from")
        .add("to", options.move->to, "to");
  } else {
    summary.add_text("\n" + position_table(poses, branches_ ? "branch" : "pose"));
  }
  return outputs->write(summary, &poses, bar.callback());
}

Done Kinematics::run_spatial(const Model& model, Outputs& outputs, const task::KinematicsOptions& options,
                             std::vector<task::FrameGoal> goals) {
  task::SpatialKinematicsOptions spatial;
  spatial.move = options.move;
  spatial.branches = options.branches;
  spatial.seed = options.seed;
  spatial.progress = options.progress;
  spatial.goals = std::move(goals);
  if (!table_.empty()) {
    Result<Trajectory> table = read_table(common_.embedding, table_);
    if (!table) return table.failure();
    spatial.table = std::move(*table);
  }
  const Result<task::SpatialKinematicsResult> result = task::spatial_kinematics(model, spatial);
  if (!result) return result.failure();

  const Trajectory& poses = result->trajectory;
  Summary summary("kinematics", common_.model);
  summary.add("degrees_of_freedom", result->freedoms, "degrees of freedom")
      .add("independent", result->independent,
           result->independent.size() > 12 ? ""
           : spatial.move || branches_     ? "joints held"
                                           : "free to choose")
      .add("loops", result->loops, "loops")
      .add("poses", poses.samples(), branches_ ? "branches" : "poses")
      .add("closure_max", result->closure_max, result->loops > 0 ? "largest gap left" : "", "m or rad");
  summary.add("limits_exceeded", result->limits_exceeded, "");
  for (const std::string& limit : result->limits_exceeded) summary.add_text("  limit passed   " + limit + "\n");
  if (branches_) summary.add("beyond_limits", result->beyond_limits, "left out: beyond limits");
  if (spatial.move) {
    summary.add("moved", spatial.move->coordinate, "moved")
        .add("from", spatial.move->from, "from")
        .add("to", spatial.move->to, "to");
  }
  if (result->goals > 0) {
    summary.add("goals", result->goals, "goals")
        .add("solved", result->solved, "reached")
        .add("distance_max", result->distance_max, "largest distance left", "m")
        .add("angle_max", result->angle_max, "largest angle left", "rad")
        .add("at_limits", result->at_limits, "limits that block")
        .add("iterations", result->iterations, "iterations")
        .add("starts", result->starts, "starts");
  }
  if (!spatial.move) summary.add_text("\n" + position_table(poses, branches_ ? "branch" : "pose"));
  const Done written = outputs.write(summary, &poses, options.progress);
  if (!written) return written;
  if (result->solved < result->goals) return Failure::no_answer(result->missed);
  return written;
}

}  // namespace

task::Move read_move(OptionReader& reader, const std::string& text) {
  task::Move move;
  const std::size_t equals = text.find('=');
  std::vector<std::string> parts;
  if (equals != std::string::npos && equals > 0) parts = split_at_colons(text.substr(equals + 1));
  if (parts.size() < 2 || parts.size() > 3) {
    reader.fault("move", fmt::format("expected name=from:to or name=from:to:samples, found {}", quote(text)));
    return move;
  }
  move.coordinate = text.substr(0, equals);
  move.from = reader.number("move from", parts[0]);
  move.to = reader.number("move to", parts[1]);
  if (parts.size() == 3) move.samples = static_cast<int>(reader.whole("move samples", parts[2], 2, 100'000'000));
  // "10:350deg" would be 10 rad to 350°: hardly what is meant.
  if (carries_unit(parts[0]) != carries_unit(parts[1]) && move.from != 0 && move.to != 0) {
    reader.fault("move", fmt::format("{} and {}: give both a unit, or none", quote(parts[0]), quote(parts[1])));
  }
  if (move.from == move.to) reader.fault("move", fmt::format("goes from {} to the same value", move.from));
  return move;
}

std::unique_ptr<Verb> make_kinematics() { return std::make_unique<Kinematics>(); }

}  // namespace kinegraph::cli
