// Motions of a closed loop and of chains beside Simbody (Debian's): the processor's time for the same error. Ours runs
// with steps of fixed length, Simbody with its error control, as its manual recommends; both over a range of settings.
// The error is that of the crank, or the largest of all joints of a chain, at ten times over 5 s against our own motion
// at steps of 0.1 ms.
// Our time counts what a run checks and records besides (energy, constraints). No line has a target.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "bench/bodies_peer.hpp"
#include "bench/clock.hpp"
#include "bench/table.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/simulate.hpp"

namespace kinegraph::bench {
namespace {

constexpr double kTime = 5;  // s
constexpr int kReports = 10;
constexpr double kAsked[] = {1e-4, 1e-6, 1e-8};  // rad

struct Setting {
  std::string name;
  std::function<BodiesRun()> run;
};
struct Way {
  std::string name;
  std::vector<Setting> settings;  // from rough to fine
};
struct Point {
  double seconds, error;
};

std::vector<double> times() {
  std::vector<double> t;
  for (int i = 1; i <= kReports; ++i) t.push_back(kTime * i / kReports);
  return t;
}

/// The bars as links and hinges of ours.
Model model_of(const Bars& bars) {
  Model model;
  model.name = "bars";
  Robot& robot = model.robot;
  robot.gravity = Vector3d(bars.gravity[0], bars.gravity[1], 0);
  for (std::size_t i = 0; i < bars.length.size(); ++i) {
    Link link;
    link.name = fmt::format("l{}", i + 1);
    link.has_inertia = true;
    const double length = bars.length[i], across = bars.mass[i] * length * length / 12;
    link.inertia = {bars.mass[i], Vector3d(length / 2, 0, 0), Vector3d(0, across, across).asDiagonal()};
    robot.links.push_back(link);
    Joint joint;
    joint.name = fmt::format("j{}", i + 1);
    joint.type = JointType::continuous;
    if (i > 0) joint.parent = LinkIndex(static_cast<int>(i) - 1);
    joint.child = LinkIndex(static_cast<int>(i));
    joint.X_PF = SE3(SO3::exp(Vector3d(0, 0, bars.angle[i])), Vector3d(i > 0 ? bars.length[i - 1] : 0, 0, 0));
    joint.axis = Vector3d::UnitZ();
    robot.joints.push_back(joint);
  }
  return model;
}

/// Angles of the rows that are kept, by these columns; `offset` is added.
BodiesRun ours(const Model& model, const task::SimulateOptions& settings, const std::vector<std::string>& columns,
               const std::vector<double>& offset) {
  task::SimulateOptions options = settings;
  const long steps = std::lround(kTime / options.step);
  options.time = kTime;
  options.every = static_cast<int>(steps / kReports);
  options.keep = false;
  std::vector<int> place;
  BodiesRun run;
  double begun = 0;
  options.begin = [&](const std::vector<std::string>& names) {
    for (const std::string& column : columns) {
      const auto found = std::find(names.begin(), names.end(), column);
      if (found == names.end()) std::abort();
      place.push_back(static_cast<int>(found - names.begin()));
    }
    begun = cpu_seconds();
  };
  options.sample = [&](double t, const double* row) {
    if (t == 0) return;
    for (std::size_t i = 0; i < place.size(); ++i) run.angles.push_back(row[place[i]] + offset[i]);
  };
  run.steps = require(task::simulate(model, options), "simulate").summary.steps;
  run.seconds = cpu_seconds() - begun;
  return run;
}

double difference(const BodiesRun& a, const BodiesRun& b, int joints, int compared) {
  double worst = 0;
  for (int i = 0; i < kReports; ++i) {
    for (int j = 0; j < compared; ++j) {
      const std::size_t mine = static_cast<std::size_t>(i) * (a.angles.size() / kReports) + j;
      worst = std::max(worst, std::abs(a.angles[mine] - b.angles[static_cast<std::size_t>(i) * joints + j]));
    }
  }
  return worst;
}

/// Seconds for an error, between the two settings around it, both taken by their logarithms; 0: not reached.
double seconds_for(const std::vector<Point>& points, double error) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].error > error) continue;
    if (i == 0) return points[0].seconds;
    const Point &a = points[i - 1], &b = points[i];
    const double share = std::log(a.error / error) / std::log(a.error / b.error);
    return a.seconds * std::pow(b.seconds / a.seconds, share);
  }
  return 0;
}

/// Every way over its settings, then the time for the errors asked for. The last setting of the first way is the
/// reference, and not measured.
void work_and_error(const std::string& title, const std::vector<Way>& ways, int compared) {
  section(title + ", 5 s from rest");
  const BodiesRun reference = ways.front().settings.back().run();
  const int joints = static_cast<int>(reference.angles.size()) / kReports;
  const MarkdownTable table(
      {"way                                  ", "setting        ", "steps", "    ms", "error, rad"}, 2);
  std::vector<std::vector<Point>> points(ways.size());
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const std::size_t measured = ways[w].settings.size() - (w == 0 ? 1 : 0);
    for (std::size_t i = 0; i < measured; ++i) {
      BodiesRun best;
      for (int k = 0; k < (quick() ? 2 : 5); ++k) {
        BodiesRun run = ways[w].settings[i].run();
        if (k == 0 || run.seconds < best.seconds) best = std::move(run);
      }
      const double error = difference(best, reference, joints, compared);
      points[w].push_back({best.seconds, error});
      table.row({i == 0 ? ways[w].name : "", ways[w].settings[i].name, fmt::format("{}", best.steps),
                 cell(1e3 * best.seconds), fmt::format("{:.1e}", error)});
    }
  }
  fmt::print("\nms for an error of (between the settings around it, by logarithms):\n\n");
  std::vector<std::string> head = {"way                                  "};
  for (const double e : kAsked) head.push_back(fmt::format("{:.0e} rad", e));
  const MarkdownTable answer(head);
  for (std::size_t w = 0; w < ways.size(); ++w) {
    std::vector<std::string> row = {ways[w].name};
    for (const double e : kAsked) {
      const double s = seconds_for(points[w], e);
      const bool better = points[w].front().error <= e;  // already the roughest setting
      row.push_back(s == 0 ? "not reached" : (better ? "≤ " : "") + cell(1e3 * s));
    }
    answer.row(row);
  }
}

#ifdef KINEGRAPH_WITH_SIMBODY
void add_simbody(std::vector<Way>& ways, const Bars& bars) {
  Way way{"Simbody, Runge-Kutta-Merson", {}};
  for (const double accuracy : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}) {
    way.settings.push_back(
        {fmt::format("accuracy {:.0e}", accuracy), [=] { return simbody(bars, accuracy, times()); }});
  }
  ways.push_back(std::move(way));
}
#else
void add_simbody(std::vector<Way>&, const Bars&) {}
#endif

Way steps_of(const std::string& name, const Model& model, const task::SimulateOptions& base,
             const std::vector<std::string>& columns, const std::vector<double>& offset, std::vector<double> steps) {
  Way way{name, {}};
  for (const double step : steps) {
    task::SimulateOptions options = base;
    options.step = step;
    way.settings.push_back(
        {fmt::format("step {:g} ms", 1e3 * step), [=] { return ours(model, options, columns, offset); }});
  }
  return way;
}

void fourbar() {
  const Model model = require(read_model(KINEGRAPH_SOURCE_DIR "/models/fourbar.yaml"), "models/fourbar.yaml");
  Bars bars;
  bars.length = {1, 2, std::sqrt(13)};
  bars.mass = {1, 2, 4};
  const double rocker = std::atan2(-2, 3);
  bars.angle = {0, M_PI / 2, rocker - M_PI / 2};
  bars.gravity[1] = -kGravity;
  bars.closed = true;
  bars.ground[0] = 4;
  task::SimulateOptions step, smoother;
  step.method = "step";
  std::vector<Way> ways;
  ways.push_back(
      steps_of("ours, step by step, RK4", model, step, {"theta.q"}, {0}, {2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 1e-4}));
  ways.push_back(
      steps_of("ours, Hermite-Simpson, window 2", model, smoother, {"theta.q"}, {0}, {1e-2, 5e-3, 2e-3, 1e-3, 5e-4}));
  add_simbody(ways, bars);
  work_and_error("four-bar: `models/fourbar.yaml`, angle of the crank", ways, 1);
}

/// A straight chain, 0.3 rad from where it would hang.
void chain(int links) {
  Bars bars;
  bars.length.assign(links, 0.2);
  bars.mass.assign(links, 0.5);
  bars.angle.assign(links, 0);
  bars.gravity[0] = kGravity * std::cos(0.3);
  bars.gravity[1] = -kGravity * std::sin(0.3);
  const Model model = model_of(bars);
  std::vector<std::string> columns;
  for (int i = 0; i < links; ++i) columns.push_back(fmt::format("j{}.q", i + 1));
  std::vector<Way> ways;
  ways.push_back(steps_of("ours, RK4", model, {}, columns, bars.angle, {1e-2, 5e-3, 2.5e-3, 1e-3, 5e-4, 2.5e-4, 1e-4}));
  add_simbody(ways, bars);
  work_and_error(fmt::format("chain of {} links: all angles", links), ways, links);
}

}  // namespace
}  // namespace kinegraph::bench

int main() {
  using namespace kinegraph::bench;
#ifndef KINEGRAPH_WITH_SIMBODY
  fmt::print("Simbody was not there when this was built: ours alone.\n");
#endif
  fourbar();
  for (const int links : quick() ? std::vector{2, 10} : std::vector{2, 10, 50}) chain(links);
  return 0;
}
