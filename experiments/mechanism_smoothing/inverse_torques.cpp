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
                          const double (&paper)[3], const std::string& note = "") {
  double seconds = INFINITY;
  for (int run = 0; run < 3; ++run) {
    const double begin = bench::cpu_seconds();
    bench::require(task::inverse(model, motion, {}), "inverse");
    seconds = std::min(seconds, bench::cpu_seconds() - begin);
  }
  record.compare({"000 Table 3", name + ": generalised coordinates", "", paper[0],
                  static_cast<double>(bench::require(task::check(model), "check").coordinates), note});
  record.compare({"000 Table 3", name + ": data points", "", paper[1], static_cast<double>(motion.samples()),
                  motion.samples() > paper[1] ? "the published motion has its last point too" : ""});
  record.compare({"000 Table 3", name + ": CPU time", "s", paper[2], seconds, note});
  return bench::require(task::inverse(model, motion, {}), "inverse");
}

/// A curve less another at the same times.
report::Curve less(const std::string& label, const report::Curve& a, const report::Curve& b) {
  report::Curve difference{label, {}, {}};
  for (std::size_t k = 0; k < std::min(a.y.size(), b.y.size()); ++k) {
    difference.x.push_back(a.x[k]);
    difference.y.push_back(a.y[k] - b.y[k]);
  }
  return difference;
}

void fourbar(Record& record) {
  const Model model = bench::require(read_model(KINEGRAPH_SOURCE_DIR "/models/fourbar.yaml"), "model");
  Trajectory motion({"theta.q"});
  for (int k = 0; k < 2000; ++k) *motion.append(5e-3 * k) = 1.2 * (1 - std::cos(0.01 * k));
  const task::InverseResult found = timed(record, "four-bar", model, motion, {5, 2000, 5.3});
  const char* result = "000 Fig. 9";
  const report::Curve prescribed = curve("prescribed", motion, "theta.q", 1 / kDegree);
  const report::Curve angle = curve("found", found.trajectory, "theta.q", 1 / kDegree);
  report::Plot angles{"(a) Crank angle", "t in s", "°", {prescribed, angle}};
  report::Plot misses{"(c) Following error", "t in s", "°", {less("found less prescribed", angle, prescribed)}};
  double most = 0;
  for (const double e : misses.curves[0].y) most = std::max(most, std::abs(e));
  report::Plot torques{"(b) Torque at the crank", "t in s", "N m", {curve("ours", found.trajectory, "theta.tau")}};
  const std::string adams_file = shared_file("data/fourbar_inverse_adams.tab");
  const std::string exact_file = shared_file("data/fourbar_inverse_exact.csv");
  if (!adams_file.empty() && !exact_file.empty()) {
    const Trajectory adams = table(adams_file, {"t", "torque", "angle"});
    torques.curves.push_back(curve("Adams", adams, "torque", -1));
    angles.curves.push_back(curve("Adams", adams, "angle"));  // it is in degrees there
    angles.curves.back().dashed = true;
    misses.curves.push_back(less("Adams's less prescribed", angles.curves.back(), prescribed));
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
  } else {
    record.missing(result, "Adams's angles and torques and the exact ones: the reference data is not here");
  }
  record.draw(result, "inverse_fourbar_angle", angles);
  record.draw(result, "inverse_fourbar_torque", torques);
  record.draw(result, "inverse_fourbar_miss", misses);
  record.compare({result, "largest following error", "°", 1e-3, most, "", "< "});
}

/// Where an L turns: the sample farthest from the line between its ends.
std::size_t corner_of(const std::vector<double>& x, const std::vector<double>& y) {
  std::size_t corner = 0;
  double most = -1;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double away = std::abs((x.back() - x[0]) * (y[k] - y[0]) - (y.back() - y[0]) * (x[k] - x[0]));
    if (away > most) most = away, corner = k;
  }
  return corner;
}

/// (000, Figs. 10 and 11): the robot, and its tool led along an L. Near the corner means within a hundredth of the way.
void led_along(Record& record, const Model& model, const std::string& point, const Trajectory& path,
               const Trajectory& found, report::Plot plot, const std::string& note) {
  const auto column = [&](const Trajectory& t, const char* axis) { return t.column(t.find(point + axis)); };
  const std::vector<double> x = column(path, ".x"), y = column(path, ".y"), fx = column(found, ".x"),
                            fy = column(found, ".y");
  record.draw("000 Fig. 10", "pick_and_place", linkage_picture({linkage(model, found, 0)}, "The robot where it starts"),
              fmt::format("{} bodies, {} points; the motors are at the inner supports", model.bodies.size(),
                          model.points.size()));
  plot.curves.push_back({"an L, prescribed", x, y});
  plot.curves.push_back({"an L, found", fx, fy, true});
  record.draw("000 Fig. 11", "pick_and_place_path", plot);
  const std::size_t corner = corner_of(x, y);
  const double length =
      std::hypot(x[corner] - x[0], y[corner] - y[0]) + std::hypot(x.back() - x[corner], y.back() - y[corner]);
  report::Plot detail{
      "(b) The corner of the L", "x in mm from it", "y in mm", {{"prescribed", {}, {}}, {"found", {}, {}, true}}, true};
  double near = 0, all = 0;
  for (std::size_t k = 0; k < std::min(x.size(), fx.size()); ++k) {
    const double off = 1e3 * std::hypot(fx[k] - x[k], fy[k] - y[k]);
    all = std::max(all, off);
    if (std::hypot(x[k] - x[corner], y[k] - y[corner]) > 0.01 * length) continue;
    near = std::max(near, off);
    detail.curves[0].x.push_back(1e3 * (x[k] - x[corner])), detail.curves[0].y.push_back(1e3 * (y[k] - y[corner]));
    detail.curves[1].x.push_back(1e3 * (fx[k] - x[corner])), detail.curves[1].y.push_back(1e3 * (fy[k] - y[corner]));
  }
  record.draw("000 Fig. 11", "pick_and_place_corner", detail);
  record.compare(
      {"000 Fig. 11", "largest distance of the tool from its path near the corner", "mm", 0.02, near, note, "≈ "});
  record.compare({"000 Fig. 11", "largest distance everywhere", "mm", NAN, all});
}

void draw_angles(Record& record, const Trajectory& found, const char* const (&motors)[2]) {
  report::Plot plot{"(c) Angles of the motors", "t in s", "rad", {}};
  for (int i = 0; i < 2; ++i) {
    plot.curves.push_back(curve(fmt::format("motor {}", i + 1), found, fmt::format("{}.q", motors[i])));
  }
  record.draw("000 Fig. 11", "pick_and_place_angles", plot);
}

/// A robot of the same kind, where the paper's is not there.
void own_robot(Record& record) {
  const char* const kMotors[] = {"theta1", "theta2"};
  const char* const note = "a robot of our own of the same kind: the paper's is not here";
  const Model model = bench::require(read_model(KINEGRAPH_SOURCE_DIR "/models/pick_and_place.yaml"), "robot");
  const Trajectory path = bench::require(read_csv(KINEGRAPH_SOURCE_DIR "/models/pick_and_place_path.csv"), "path");
  const Trajectory found = timed(record, "pick-and-place robot", model, path, {22, 1000, 15.9}, note).trajectory;
  led_along(record, model, "tool", path, found, {"(a) Path of the tool", "x in m", "y in m", {}, true}, note);
  draw_angles(record, found, kMotors);
  for (int i = 0; i < 2; ++i) {
    record.draw("000 Fig. 12", fmt::format("pick_and_place_torque_{}", i + 1),
                report::Plot{fmt::format("Torque of motor {}", i + 1),
                             "t in s",
                             "N m",
                             {curve("ours", found, fmt::format("{}.tau", kMotors[i]))}});
  }
  for (const char* result : {"000 Fig. 10", "000 Fig. 11", "000 Fig. 12"}) {
    record.missing(result,
                   "the paper's robot, which is in the reference data; shown is one of our own of the same kind");
  }
}

/// Prescribed by its motors as in the reference data, then by the L of its point 6, as in the paper.
void robot(Record& record) {
  const char* const kMotors[] = {"angle0", "angle1"};
  const std::string file = shared_file("models/planar/pick-and-place-robot.yaml");
  const std::string motion_file = shared_file("data/pick_and_place_inverse_motion.txt");
  const std::string adams_file = shared_file("data/pick_and_place_inverse_adams.tab");
  if (file.empty() || motion_file.empty() || adams_file.empty()) return own_robot(record);
  const Model model = bench::require(read_model(file), "robot");
  const Trajectory motion = table(motion_file, {"t", "angle0.q", "angle1.q"});
  const Trajectory found = timed(record, "pick-and-place robot", model, motion, {22, 1000, 15.9}).trajectory;
  // The motors' angles draw an L, as the paper says; that L itself, in the same time, is what point 6 is led along.
  const std::vector<double> x = found.column(found.find("6.x")), y = found.column(found.find("6.y"));
  const std::size_t corner = corner_of(x, y);
  Trajectory path({"6.x", "6.y"});
  double off = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const bool up = k <= corner;
    double* row = path.append(found.times()[k]);
    row[0] = up ? x[0] : x[k], row[1] = up ? y[k] : y.back();
    off = std::max(off, std::hypot(row[0] - x[k], row[1] - y[k]));
  }
  report::Plot plot{"(a) Path of point 6", "x in m", "y in m", {}, true};
  led_along(record, model, "6", path, bench::require(task::inverse(model, path, {}), "inverse").trajectory, plot, "");
  record.compare({"000 Fig. 11", "the same, moved by the angles of the reference data", "mm", NAN, 1e3 * off});
  draw_angles(record, found, kMotors);

  const Trajectory adams = table(adams_file, {"t", "angle0.tau", "angle1.tau"});
  const Trajectory boxes = bench::require(task::inverse(as_in_adams(model), motion, {}), "inverse").trajectory;
  for (int i = 0; i < 2; ++i) {
    const std::string name = fmt::format("{}.tau", kMotors[i]), motor = fmt::format("motor {}", i + 1);
    const std::vector<double> theirs = adams.column(adams.find(name));
    record.draw("000 Fig. 12", fmt::format("pick_and_place_torque_{}", i + 1),
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
