#include "kinegraph/report/residuals.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/mechanics/natural/system.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/report/page.hpp"
#include "kinegraph/report/scene.hpp"
#include "kinegraph/report/series.hpp"

namespace kinegraph::report {
namespace {

constexpr int kMostSamples = 2000;

/// The columns of a planar machine's coordinates and of their rates; −1 where there is none.
struct Columns {
  std::vector<int> position, rate;
  bool positions = true, rates = true;

  Columns(const natural::System& system, const Trajectory& trajectory) {
    for (int i = 0; i < system.coordinates(); ++i) {
      const std::string& name = system.coordinate_name(i);
      const std::size_t dot = name.rfind('.');
      const bool point = trajectory.find(name) >= 0 && dot != std::string::npos;
      position.push_back(trajectory.find(point ? name : name + ".q"));
      rate.push_back(trajectory.find(point ? name.substr(0, dot) + ".v" + name.substr(dot + 1) : name + ".v"));
      positions = positions && position.back() >= 0;
      rates = rates && rate.back() >= 0;
    }
  }
};

void planar_constraints(const Model& model, const Trajectory& trajectory, Residuals& out) {
  const natural::System system(model);
  const Columns columns(system, trajectory);
  if (!columns.positions) return;
  const auto m = static_cast<std::size_t>(system.constraints());
  const std::size_t first = out.list.size();
  const double area = system.typical_length() * system.typical_length();
  for (std::size_t i = 0; i < m; ++i) {
    out.list.push_back({system.constraint_name(static_cast<int>(i)), "position constraint", "m², m", area, {}});
  }
  for (std::size_t i = 0; i < m && columns.rates; ++i) {
    out.list.push_back(
        {"rate of " + system.constraint_name(static_cast<int>(i)), "velocity constraint", "m²/s, m/s", area, {}});
  }
  Eigen::VectorXd q(system.coordinates()), v(system.coordinates()), phi(system.constraints()),
      rate(system.constraints());
  for (const int k : out.samples) {
    for (Eigen::Index i = 0; i < q.size(); ++i) {
      q[i] = trajectory.at(k, columns.position[static_cast<std::size_t>(i)]);
      v[i] = columns.rates ? trajectory.at(k, columns.rate[static_cast<std::size_t>(i)]) : 0;
    }
    system.closure(q.data(), v.data(), trajectory.times()[k], phi.data(), rate.data());
    for (std::size_t i = 0; i < m; ++i) {
      out.list[first + i].values.push_back(std::abs(phi[static_cast<Eigen::Index>(i)]));
      if (columns.rates) out.list[first + m + i].values.push_back(std::abs(rate[static_cast<Eigen::Index>(i)]));
    }
  }
}

void loop_closures(const Model& model, const Trajectory& trajectory, Residuals& out) {
  const auto made = screw::Tree::make(model.robot);
  if (!made || (*made)->loops().empty()) return;
  const screw::Tree& tree = **made;
  scene::PositionReader reader(tree, trajectory);
  if (!reader.complete()) return;
  const std::size_t first = out.list.size(), loops = tree.loops().size();
  for (const screw::Loop& loop : tree.loops()) {
    out.list.push_back({"loop " + loop.name + ", turned", "position constraint", "rad", 1, {}});
    out.list.push_back({"loop " + loop.name + ", apart", "position constraint", "m", 1, {}});
  }
  screw::Poses poses(tree.bodies().size());
  std::vector<double> open(6 * loops);
  for (const int k : out.samples) {
    const Eigen::VectorXd& q = reader.at(k);
    screw::body_poses(tree, q.data(), poses);
    screw::closure(tree, q.data(), poses, open.data());
    for (std::size_t l = 0; l < loops; ++l) {
      out.list[first + 2 * l].values.push_back(std::hypot(open[6 * l], open[6 * l + 1], open[6 * l + 2]));
      out.list[first + 2 * l + 1].values.push_back(std::hypot(open[6 * l + 3], open[6 * l + 4], open[6 * l + 5]));
    }
  }
}

/// x.q with x.v, and x.v with x.a.
void trapezoids(const Model& model, const Trajectory& trajectory, Residuals& out) {
  constexpr std::size_t kMost = 60;
  for (int i = 0; i < trajectory.series() && out.list.size() < kMost; ++i) {
    const std::string& name = trajectory.names()[i];
    const bool position = name.ends_with(".q"), velocity = name.ends_with(".v");
    if (!position && !velocity) continue;
    const int rate = trajectory.find(name.substr(0, name.size() - 1) + (position ? "v" : "a"));
    if (rate < 0) continue;
    Residual residual{"trapezoidal " + name, "trapezoidal", quantity_of(model, name).unit, 0, {}};
    double low = 0, high = 0;
    for (const int k : out.samples) {
      const double x = trajectory.at(k, i);
      low = std::min(low, x), high = std::max(high, x);
      if (k + 1 >= trajectory.samples()) continue;
      const double h = trajectory.times()[k + 1] - trajectory.times()[k];
      residual.values.push_back(
          std::abs(trajectory.at(k + 1, i) - x - h / 2 * (trajectory.at(k, rate) + trajectory.at(k + 1, rate))));
    }
    residual.scale = high > low ? high - low : 1;
    if (!residual.values.empty()) out.list.push_back(std::move(residual));
  }
}

}  // namespace

double Residual::max() const {
  double largest = 0;
  for (const double v : values) {
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  return largest;
}

double Residual::rms() const {
  double sum = 0;
  long count = 0;
  for (const double v : values) {
    if (std::isfinite(v)) sum += v * v, ++count;
  }
  return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

std::size_t Residual::worst() const {
  const auto less = [](double a, double b) { return !(a >= b) && std::isfinite(b); };
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end(), less) - values.begin());
}

double Residuals::share(const std::string& kind, double t, const Trajectory& trajectory) const {
  const auto after = std::lower_bound(samples.begin(), samples.end(), t,
                                      [&](int k, double moment) { return trajectory.times()[k] < moment; });
  const auto place = static_cast<std::size_t>(after - samples.begin());
  double largest = -1;
  for (const Residual& r : list) {
    if (r.kind != kind || r.values.empty()) continue;
    const double value = r.values[std::min(place, r.values.size() - 1)];
    if (std::isfinite(value)) largest = std::max(largest, value / r.scale);
  }
  return largest;
}

nlohmann::ordered_json Residuals::table(const Trajectory& trajectory) const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Residual& r : list) {
    if (r.values.empty()) continue;
    rows.push_back({r.factor, r.unit, r.values.size(), r.max(), r.rms(), trajectory.times()[samples[r.worst()]]});
  }
  return report::table(
      "Residuals",
      "Equations of the machine, evaluated anew on the numbers of this page. The trapezoidal rule is a "
      "yardstick for the step: what it leaves falls with its third power.",
      {"factor", "unit", "count", "max", "RMS", "worst t"}, {5}, std::move(rows));
}

Residuals residuals(const Model& model, const Trajectory& trajectory, bool timed) {
  Residuals out;
  const int n = trajectory.samples(), count = std::min(n, kMostSamples);
  for (int k = 0; k < count; ++k) {
    out.samples.push_back(static_cast<int>(count == 1 ? 0 : static_cast<long>(k) * (n - 1) / (count - 1)));
  }
  if (count == 0) return out;
  if (model.spatial()) {
    loop_closures(model, trajectory, out);
  } else {
    planar_constraints(model, trajectory, out);
  }
  if (timed) trapezoids(model, trajectory, out);
  return out;
}

}  // namespace kinegraph::report
