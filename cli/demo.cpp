#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <functional>

#include "demo_model.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/report/plot.hpp"
#include "options.hpp"
#include "progress_bar.hpp"
#include "verb.hpp"

namespace kinegraph::cli {
namespace {

namespace fs = std::filesystem;

/// models/five_bar_known.csv: of each motor its acceleration or its torque, in every row another choice.
constexpr char kKnown[] =
    R"(t,left_motor.q,left_motor.v,left_motor.a,left_motor.tau,right_motor.q,right_motor.v,right_motor.a,right_motor.tau
0,0,0,5,,0,0,-2.5,
0.1,0.0245,0.4794,4.3879,,-0.0122,-0.2397,,0.8036
0.2,0.0919,0.8415,,-0.8624,-0.046,-0.4207,-1.3508,
0.3,0.1859,0.9975,,-1.0605,-0.0929,-0.4987,,0.9745
)";

/// The tour: the commands that a user could type, on a four-bar and on robots, with their results in a folder.
class Demo final : public Verb {
 public:
  std::string_view name() const override { return "demo"; }
  std::string_view purpose() const override {
    return "the tour: every verb on a four-bar and on robots, results in a folder";
  }
  std::string_view teaching() const override {
    return "Example:\n"
           "  kinegraph demo --out tour        writes the models, tables (.csv), summaries (.json), pictures (.svg)\n"
           "                                   and pages to open with any browser (.html)\n\n"
           "Every command that it runs is printed: type it yourself, change it, change the model.\n";
  }
  bool takes_model() const override { return false; }
  void declare(CLI::App& app) override {
    app.add_option("--out", out_, "the folder for all that it writes, default out/demo")->type_name("DIR");
    app.add_flag("--quiet", quiet_, "no progress bar");
  }
  Done run() override;

 private:
  Done start();
  Done check();
  Done turn();
  Done simulate();
  Done inverse();
  Done estimate();
  Done identify();
  Done robot();
  Done robot_torques();
  Done elimination();
  Done closed_loop();
  Done hybrid();

  /// Writes a file of the tour and says so.
  Done file(const std::string& path, const std::string& text);
  /// Prints the command as typed, then runs it.
  Done command(const std::string& question, std::vector<std::string> words);
  /// Two series of a table that a verb wrote, against time or against each other.
  Done picture(const std::string& file, const std::string& table, report::Plot plot,
               const std::vector<std::string>& series, double scale = 1);
  std::string in_folder(const std::string& file) const { return (fs::path(out_) / file).string(); }

  std::string out_ = "out/demo", model_, arm_, five_bar_;
  bool quiet_ = false;
  int questions_ = 0;
};

Done Demo::start() {
  std::error_code error;
  fs::create_directories(out_, error);
  if (error) return Failure::bad_input(fmt::format("cannot make the folder '{}': {}", out_, error.message()));
  model_ = in_folder("fourbar.yaml");
  if (Done done = write_file(model_, kDemoFourbar); !done) return done;
  return print(
      fmt::format("A tour of kinegraph on a four-bar linkage: a crank, a coupler and a rocker, described in {} lines.\n"
                  "  wrote {}\n",
                  std::count(kDemoFourbar, kDemoFourbar + sizeof(kDemoFourbar) - 1, '\n'), model_));
}

Done Demo::file(const std::string& path, const std::string& text) {
  if (Done done = write_file(path, text); !done) return done;
  return print(fmt::format("\n  wrote {}\n", path));
}

Done Demo::command(const std::string& question, std::vector<std::string> words) {
  std::string typed = program;
  for (const std::string& word : words) typed += word.find(' ') == std::string::npos ? " " + word : " '" + word + "'";
  if (Done done = print(fmt::format("\n{}. {}\n\n$ {}\n", ++questions_, question, typed)); !done) return done;
  if (quiet_) words.emplace_back("--quiet");
  switch (run_command(program, words)) {
    case 0:
      return std::monostate{};
    case 1:
      return Failure::no_answer("the tour ends here: the command above has no answer");
    case 2:  // no fault of a command of ours: its output could not be written
      return Failure::bad_input("the tour ends here: the command above failed");
    case 130:
      return Failure::interrupted();
    default:
      return Failure::internal("the command above failed");
  }
}

Done Demo::picture(const std::string& file, const std::string& table, report::Plot plot,
                   const std::vector<std::string>& series, double scale) {
  const Result<Trajectory> read = read_csv(in_folder(table));
  if (!read) return read.failure();
  const auto column = [&](const std::string& name) {
    const int i = read->find(name);
    return i < 0 ? std::vector<double>{} : read->column(i);
  };
  for (const std::string& name : series) {
    if (plot.equal_scales) {  // the path of a point
      plot.curves.push_back({name, column(name + ".x"), column(name + ".y")});
    } else {
      plot.curves.push_back({name, read->times(), column(name)});
      for (double& value : plot.curves.back().y) value *= scale;
    }
    if (plot.curves.back().y.empty()) return Failure::internal(fmt::format("{} has no series {}", table, name));
  }
  if (Done done = write_file(in_folder(file), report::svg(plot)); !done) return done;
  return print(fmt::format("  wrote {}: {}\n", in_folder(file), plot.title));
}

Done Demo::check() { return command("What is in the model, and how freely does it move?", {"check", model_}); }

Done Demo::turn() {
  if (Done done = command("In how many ways can it be assembled with the crank where it is?",
                          {"kinematics", model_, "--branches", "--out", in_folder("branches.csv")});
      !done) {
    return done;
  }
  if (Done done = command("What do its points do when the crank turns once?",
                          {"kinematics", model_, "--move", "theta.q=0:360deg", "--out", in_folder("turn.csv"),
                           "--report", in_folder("turn.html")});
      !done) {
    return done;
  }
  return picture("turn.svg", "turn.csv", {"Paths of P1 and P2, one turn of the crank", "x in m", "y in m", {}, true},
                 {"P1", "P2"});
}

Done Demo::simulate() {
  if (Done done =
          command("How does it fall under gravity?",
                  {"simulate", model_, "--time", "5", "--step", "1ms", "--reactions", "--out", in_folder("motion.csv"),
                   "--json", in_folder("motion.json"), "--report", in_folder("motion.html")});
      !done) {
    return done;
  }
  return picture("motion.svg", "motion.csv", {"Free fall: the crank angle", "t in s", "θ in degrees", {}, false},
                 {"theta.q"}, 180 / M_PI);
}

Done Demo::inverse() {
  // θ(t) = 1.2 (1 − cos 2t): to and fro, at rest at the start
  constexpr int kSamples = 2000;
  constexpr double kStep = 5e-3;
  Trajectory wanted({"theta.q"});
  wanted.reserve(kSamples);
  for (int i = 0; i < kSamples; ++i) *wanted.append(i * kStep) = 1.2 * (1 - std::cos(2 * i * kStep));
  if (Done done = write_csv(in_folder("wanted.csv"), wanted); !done) return done;
  if (Done done = print(fmt::format("\n  wrote {}: a motion of our own\n", in_folder("wanted.csv"))); !done)
    return done;

  if (Done done =
          command("Which torque makes the crank swing as θ(t) = 1.2 (1 − cos 2t), given in wanted.csv?",
                  {"inverse", model_, "--motion", in_folder("wanted.csv"), "--reactions", "--out",
                   in_folder("torque.csv"), "--json", in_folder("torque.json"), "--report", in_folder("torque.html")});
      !done) {
    return done;
  }
  return picture("torque.svg", "torque.csv", {"The torque that swings the crank", "t in s", "torque in N m", {}, false},
                 {"theta.tau"});
}

Done Demo::estimate() {
  const std::string model = in_folder("fourbar_gyro.yaml"), log = in_folder("gyro.csv");
  if (Done done = file(model, kDemoGyro); !done) return done;
  if (Done done = command(
          "What do a gyroscope on its longest bar and an encoder read while it falls?",
          {"simulate", model, "--time", "2", "--sensors", in_folder("readings.csv"), "--out", in_folder("truth.csv")});
      !done) {
    return done;
  }
  CsvOptions all;
  all.may_be_empty = [](const std::string&) { return true; };
  const Result<Trajectory> read = read_csv(in_folder("readings.csv"), all);
  if (!read) return read.failure();
  const int gyroscope = read->find("gyro.w");
  if (gyroscope < 0) return Failure::internal("readings.csv has no column gyro.w");
  Trajectory alone({"gyro.w"});
  for (int k = 0; k < read->samples(); ++k) {
    if (!std::isnan(read->at(k, gyroscope))) *alone.append(read->times()[k]) = read->at(k, gyroscope);
  }
  if (Done done = write_csv(log, alone); !done) return done;
  if (Done done = print(fmt::format("\n  wrote {}: the gyroscope alone\n", log)); !done) return done;
  if (Done done = command("Where is the crank, and how is it assembled? Nothing is known but the gyroscope",
                          {"estimate", model, "--log", log, "--filter", "particle", "--start", "unknown", "--out",
                           in_folder("estimate.csv"), "--json", in_folder("estimate.json"), "--report",
                           in_folder("estimate.html"), "--beside", in_folder("truth.csv")});
      !done) {
    return done;
  }
  return picture("estimate.svg", "estimate.csv",
                 {"Probability of each assembly, from the gyroscope alone", "t in s", "P", {}, false},
                 {"branch.0", "branch.1"});
}

Done Demo::identify() {
  const std::string model = in_folder("rubbing_pendulum.yaml");
  if (Done done = file(model, kDemoRubbing); !done) return done;
  if (Done done = command(
          "What does the encoder of a pendulum read whose bearing rubs?",
          {"simulate", model, "--formulation", "maximal", "--time", "6", "--sensors", in_folder("rubbing.csv")});
      !done) {
    return done;
  }
  if (Done done = command("How large are its friction and its inertia? Wrong ones are where the search starts",
                          {"identify", model,
                           "--log",    in_folder("rubbing.csv"),
                           "--set",    "O.viscous=0.001",
                           "--set",    "O.dry=0.005",
                           "--set",    "bar.I0=0.04",
                           "--free",   "O.viscous,O.dry,bar.I0",
                           "--step",   "5ms",
                           "--save",   in_folder("fitted.set"),
                           "--out",    in_folder("identify.csv"),
                           "--json",   in_folder("identify.json"),
                           "--report", in_folder("identify.html")});
      !done) {
    return done;
  }
  return picture("identify.svg", "identify.csv", {"The motion that was found", "t in s", "θ in degrees", {}, false},
                 {"theta.q"}, 180 / M_PI);
}

Done Demo::robot() {
  arm_ = in_folder("arm7.urdf");
  if (Done done = write_file(arm_, kDemoArm); !done) return done;
  if (Done done = print(fmt::format("\nNow a robot: an arm with seven joints.\n  wrote {}\n", arm_)); !done)
    return done;
  if (Done done = command("What is in the file, and is it sound?", {"check", arm_}); !done) return done;
  if (Done done = command("What does it look like? A page with a slider for every joint",
                          {"view", arm_, "--report", in_folder("arm7.html")});
      !done) {
    return done;
  }
  return command("Which joint angles bring its tool to a place?",
                 {"kinematics", arm_, "--goal", "tool: x=0.4 y=0.1 z=0.6", "--out", in_folder("reach.csv")});
}

Done Demo::robot_torques() {
  // All joints swing, at rest at the start: q = 0.3 (1 − cos 2t), each a little less
  constexpr int kJoints = 7, kSamples = 400;
  std::vector<std::string> names, torques;
  for (int j = 1; j <= kJoints; ++j) names.push_back(fmt::format("joint{}.q", j));
  for (int j = 1; j <= 4; ++j) torques.push_back(fmt::format("joint{}.tau", j));
  Trajectory swing(names);
  for (int i = 0; i < kSamples; ++i) {
    const double t = 0.01 * i;
    double* row = swing.append(t);
    for (int j = 0; j < kJoints; ++j) row[j] = 0.3 / (1 + j) * (1 - std::cos(2 * t));
  }
  if (Done done = write_csv(in_folder("swing.csv"), swing); !done) return done;
  if (Done done = print(fmt::format("\n  wrote {}: a motion of the arm\n", in_folder("swing.csv"))); !done) return done;
  if (Done done = command("Which torques make all joints swing as in swing.csv?",
                          {"inverse", arm_, "--motion", in_folder("swing.csv"), "--out", in_folder("arm_torque.csv"),
                           "--report", in_folder("arm_torque.html")});
      !done) {
    return done;
  }
  return picture("arm_torque.svg", "arm_torque.csv", {"Torques of the arm", "t in s", "torque in N m", {}, false},
                 torques);
}

Done Demo::elimination() {
  const std::string model = in_folder("three_r.urdf");
  if (Done done = file(model, kDemoThreeR); !done) return done;
  if (Done done =
          command("Inverse dynamics of an arm with three joints as an elimination: what is computed, in which order?",
                  {"graph", model, "--problem", "inverse", "--ordering", "rnea", "--format", "text"});
      !done) {
    return done;
  }
  if (Done done = command("The same as a picture", {"graph", model, "--problem", "inverse", "--ordering", "rnea",
                                                    "--show", "dag", "--out", in_folder("rnea.svg")});
      !done) {
    return done;
  }
  return command("What do other orders of elimination cost, for forward dynamics?",
                 {"graph", model, "--problem", "forward", "--compare"});
}

Done Demo::closed_loop() {
  five_bar_ = in_folder("five_bar.sdf");
  if (Done done = file(five_bar_, kDemoFiveBar); !done) return done;
  return command("How does a five-bar with a closed loop fall, its motors off?",
                 {"simulate", five_bar_, "--time", "2", "--out", in_folder("five_bar.csv"), "--report",
                  in_folder("five_bar.html")});
}

Done Demo::hybrid() {
  if (Done done = file(in_folder("known.csv"), kKnown); !done) return done;
  return command(
      "Of each motor its acceleration or its torque is known, in every row of known.csv another: the others?",
      {"hybrid", five_bar_, "--known", in_folder("known.csv"), "--out", in_folder("hybrid.csv")});
}

Done Demo::run() {
  for (Done (Demo::*const part)() :
       {&Demo::start, &Demo::check, &Demo::turn, &Demo::simulate, &Demo::inverse, &Demo::estimate, &Demo::identify,
        &Demo::robot, &Demo::robot_torques, &Demo::elimination, &Demo::closed_loop, &Demo::hybrid}) {
    if (Done done = (this->*part)(); !done) return done;
  }
  return print(fmt::format("\nAll of it is in {}. Change {} and ask again; '{} VERB --help' shows more.\n", out_,
                           model_, program));
}

}  // namespace

std::unique_ptr<Verb> make_demo() { return std::make_unique<Demo>(); }

}  // namespace kinegraph::cli
