// (000, section 7.2): torques that make the four-bar and a pick-and-place robot follow a motion. Table 3: the time that
// takes; Figs. 9 to 12: angles, paths, torques beside Adams's (g = 9.80665, bars 0.1 m wide).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/measure.hpp"
#include "experiments/mechanism_smoothing/adams.hpp"
#include "experiments/pictures.hpp"
#include "experiments/record.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/check.hpp"
#include "kinegraph/task/inverse.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

namespace {

constexpr double kDegree = M_PI / 180;

Trajectory table(const std::string& path, const std::vector<std::string>& columns) {
  CsvOptions options;
  options.columns = columns;
  return bench::require(read_csv(path, options), path.c_str());
}

double rmse(const std::vector<double>& a, const std::vector<double>& b, double sign, std::size_t ends) {
  double squares = 0;
  const std::size_t n = std::min(a.size(), b.size());
  for (std::size_t k = ends; k + ends < n; ++k) squares += std::pow(a[k] - sign * b[k], 2);
  return std::sqrt(squares / static_cast<double>(n - 2 * ends));
}

/// Table 3: the least CPU time of three runs.
task::InverseResult timed(Record& record, const std::string& name, const Model& model, const Trajectory& motion,
                          const double (&paper)[3]) {
  double seconds = INFINITY;
  for (int run = 0; run < 3; ++run) {
    const double begin = bench::cpu_seconds();
    bench::require(task::inverse(model, motion, {}), "inverse");
    seconds = std::min(seconds, bench::cpu_seconds() - begin);
  }
  record.compare({"000 Table 3", name + ": generalised coordinates", "", paper[0],
                  static_cast<double>(bench::require(task::check(model), "check").coordinates)});
  record.compare({"000 Table 3", name + ": data points", "", paper[1], static_cast<double>(motion.samples()),
                  motion.samples() > paper[1] ? "the published motion has its last point too" : ""});
  record.compare({"000 Table 3", name + ": CPU time", "s", paper[2], seconds});
  return bench::require(task::inverse(model, motion, {}), "inverse");
}

void fourbar(Record& record) {
  const Model model = bench::require(read_model(KINEGRAPH_SOURCE_DIR "/models/fourbar.yaml"), "model");
  Trajectory motion({"theta.q"});
  for (int k = 0; k < 2000; ++k) *motion.append(5e-3 * k) = 1.2 * (1 - std::cos(0.01 * k));
  const task::InverseResult found = timed(record, "four-bar", model, motion, {5, 2000, 5.3});
  const char* result = "000 Fig. 9";
  report::Curve miss = curve("found less prescribed", found.trajectory, "theta.q", 1 / kDegree);
  for (std::size_t k = 0; k < miss.y.size(); ++k) miss.y[k] -= motion.at(static_cast<int>(k), 0) / kDegree;
  double most = 0;
  for (const double e : miss.y) most = std::max(most, std::abs(e));
  record.draw(result, "inverse_fourbar_angle",
              report::Plot{"(a) Crank angle",
                           "t in s",
                           "°",
                           {curve("prescribed", motion, "theta.q", 1 / kDegree),
                            curve("found", found.trajectory, "theta.q", 1 / kDegree)}});
  report::Plot torques{"(b) Torque at the crank", "t in s", "N m", {curve("ours", found.trajectory, "theta.tau")}};
  const std::string adams_file = shared_file("data/fourbar_inverse_adams.tab");
  const std::string exact_file = shared_file("data/fourbar_inverse_exact.csv");
  if (!adams_file.empty() && !exact_file.empty()) {
    const Trajectory adams = table(adams_file, {"t", "torque", "-"});
    torques.curves.push_back(curve("Adams", adams, "torque", -1));
    const auto boxes = bench::require(task::inverse(as_in_adams(model), motion, {}), "inverse").trajectory;
    const std::vector<double> theirs = adams.column(adams.find("torque"));
    record.compare({result, "torque: RMSE from Adams's", "N m", NAN,
                    rmse(found.trajectory.column(found.trajectory.find("theta.tau")), theirs, -1, 10)});
    record.compare({result, "torque: the same with Adams's gravity and links", "N m", NAN,
                    rmse(boxes.column(boxes.find("theta.tau")), theirs, -1, 10)});
    const Trajectory exact = table(exact_file, {});
    record.compare(
        {result, "torque: RMSE from the exact one", "N m", NAN,
         rmse(found.trajectory.column(found.trajectory.find("theta.tau")), exact.column(exact.find("torque")), 1, 10)});
  }
  record.draw(result, "inverse_fourbar_torque", torques);
  record.draw(result, "inverse_fourbar_miss", report::Plot{"(c) Following error", "t in s", "°", {miss}});
  record.compare({result, "largest following error", "°", 1e-3, most, "", "< "});
}

/// Prescribed by its motors as in the paper, then by an L of its point 6.
void robot(Record& record) {
  const std::string file = shared_file("models/planar/pick-and-place-robot.yaml");
  const std::string motion_file = shared_file("data/pick_and_place_inverse_motion.txt");
  const std::string adams_file = shared_file("data/pick_and_place_inverse_adams.tab");
  if (file.empty() || motion_file.empty() || adams_file.empty()) {
    for (const char* result : {"000 Fig. 10", "000 Fig. 11", "000 Fig. 12"})
      record.missing(result, "the robot is not here");
    return;
  }
  const Model model = bench::require(read_model(file), "robot");
  const Trajectory motion = table(motion_file, {"t", "angle0.q", "angle1.q"});
  const Trajectory found = timed(record, "pick-and-place robot", model, motion, {22, 1000, 15.9}).trajectory;
  record.draw("000 Fig. 10", "pick_and_place", linkage_picture({linkage(model, found, 0)}, "The robot where it starts"),
              "11 bodies, 14 points; the motors are at the inner supports");
  const Trajectory path =
      bench::require(read_csv(KINEGRAPH_SOURCE_DIR "/models/pick_and_place_path_point6.csv"), "path");
  const task::InverseResult led = bench::require(task::inverse(model, path, {}), "inverse");
  report::Plot plot{"(a) Path of point 6", "x in m", "y in m", {}, true};
  for (const auto& [label, source] : {std::pair("by the motors' angles", &found), std::pair("an L, prescribed", &path),
                                      std::pair("an L, found", &led.trajectory)}) {
    plot.curves.push_back({label, source->column(source->find("6.x")), source->column(source->find("6.y"))});
  }
  record.draw("000 Fig. 11", "pick_and_place_path", plot);
  record.draw("000 Fig. 11", "pick_and_place_angles",
              report::Plot{"(c) Angles of the motors",
                           "t in s",
                           "rad",
                           {curve("motor 1", found, "angle0.q"), curve("motor 2", found, "angle1.q")}});
  record.compare({"000 Fig. 11", "largest distance of point 6 from its path", "mm", 0.02,
                  1e3 * led.summary.following_error_max,
                  "the paper's near its corner, ours everywhere, on an L of our own", "≈ "});

  const Trajectory adams = table(adams_file, {"t", "angle0.tau", "angle1.tau"});
  const Trajectory boxes = bench::require(task::inverse(as_in_adams(model), motion, {}), "inverse").trajectory;
  for (const auto& [name, motor] : {std::pair("angle0.tau", "motor 1"), std::pair("angle1.tau", "motor 2")}) {
    const std::vector<double> theirs = adams.column(adams.find(name));
    record.draw("000 Fig. 12", fmt::format("pick_and_place_torque_{}", motor[6]),
                report::Plot{fmt::format("Torque of {}", motor),
                             "t in s",
                             "N m",
                             {curve("Adams", adams, name), curve("ours", found, name)}});
    record.compare({"000 Fig. 12", fmt::format("{}: RMSE from Adams's torque, with its gravity and links", motor),
                    "N m", NAN, rmse(boxes.column(boxes.find(name)), theirs, 1, 10),
                    "Adams's goes up and down from sample to sample"});
  }
}

}  // namespace

int main() {
  Record record("inverse_torques");
  fourbar(record);
  robot(record);
}
