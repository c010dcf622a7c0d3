#include "kinegraph/task/estimate_table.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "kinegraph/model/joint_names.hpp"

namespace kinegraph::task {

EstimateTable::EstimateTable(Machine& machine, const Options& options) : machine_(machine), options_(options) {
  machine_.system ? name_planar() : name_joints();
  first_extra_ = options_.deviations ? 0 : machine_.space->extras() - machine_.plant().forces();
  for (int i = first_extra_; i < machine_.space->extras(); ++i) add(machine_.space->extra_name(i));
  if (options_.sensors) name_sensors();
  for (int i = 0; options_.branches > 1 && i < options_.branches; ++i) names_.push_back("branch." + std::to_string(i));
}

void EstimateTable::add(const std::string& name) {
  names_.push_back(name);
  if (options_.deviations) names_.push_back(name + ".sd");
}

void EstimateTable::name_planar() {
  const Model& model = machine_.model;
  int at = 0;
  for (const Point& point : model.points) {
    if (point.fixed) continue;
    for (const auto& [of, x, y] : {std::tuple{Of::position, ".x", ".y"}, std::tuple{Of::velocity, ".vx", ".vy"},
                                   std::tuple{Of::acceleration, ".ax", ".ay"}}) {
      series_.push_back({of, at, at});
      add(point.name + x);
      series_.push_back({of, at + 1, at + 1});
      add(point.name + y);
    }
    at += 2;
  }
  for (const RelativeCoordinate& relative : model.relative) {
    for (const auto& [of, quantity] :
         {std::pair{Of::position, ".q"}, std::pair{Of::velocity, ".v"}, std::pair{Of::acceleration, ".a"}}) {
      series_.push_back({of, at, at});
      add(relative.name + quantity);
    }
    ++at;
  }
}

void EstimateTable::name_joints() {
  for (const screw::Coordinate& c : machine_.tree->coordinates()) {
    const std::vector<std::string> positions = position_names(c.name, c.type);
    const bool turns = c.type == JointType::ball || c.type == JointType::floating;
    for (int k = 0; k < c.stored; ++k) {
      const Of of = !turns ? Of::position : k < 4 ? Of::rotation : Of::translation;
      series_.push_back({of, c.q + k, !turns ? c.v + k : k < 4 ? c.v : c.v + 3, c.q});
      add(positions[k]);
    }
    const std::vector<std::string> velocities = velocity_names(c.name, c.type);
    const std::vector<std::string> accelerations = acceleration_names(c.name, c.type);
    for (int k = 0; k < c.freedoms; ++k) {
      series_.push_back({Of::velocity, c.v + k});
      add(velocities[k]);
    }
    for (int k = 0; k < c.freedoms; ++k) {
      series_.push_back({Of::acceleration, c.v + k});
      add(accelerations[k]);
    }
  }
}

/// A sensor of what is written anyway (an encoder may be called like its joint) is not written twice.
void EstimateTable::name_sensors() {
  const sensor::Observer& observer = *machine_.observer;
  for (int s = 0; s < observer.sensors(); ++s) {
    for (int row = 0; row < observer.rows(s); ++row) {
      const std::string& name = observer.sensor(s).channels[row].name;
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
      channels_.push_back({s, row});
      add(name);
    }
  }
}

// How one number changes along the directions. Of a rotation r and a translation p of X_FM, moved to X_FM exp(δ):
//
//     dr = ½ r (0, δω)        dp = R(r) δp
Eigen::RowVectorXd EstimateTable::direction(const Series& s) const {
  if (s.of == Of::velocity) return instant_.dv.row(s.index);
  if (s.of == Of::acceleration) return instant_.da.row(s.index);
  const auto moves = instant_.dq.middleRows(s.column, s.of == Of::position ? 1 : 3);
  if (s.of == Of::position) return moves;
  const double* r = instant_.q.data() + s.first;
  if (s.of == Of::translation) {
    const Eigen::Matrix3d R = Eigen::Quaterniond(r[0], r[1], r[2], r[3]).toRotationMatrix();
    return R.row(s.index - s.first - 4) * moves;
  }
  const double w = r[0], x = r[1], y = r[2], z = r[3];
  const std::array<Eigen::RowVector3d, 4> half = {Eigen::RowVector3d(-x, -y, -z), Eigen::RowVector3d(w, -z, y),
                                                  Eigen::RowVector3d(z, w, -x), Eigen::RowVector3d(-y, x, w)};
  return 0.5 * half[s.index - s.first] * moves;
}

bool EstimateTable::row(const filter::Belief& belief, const std::vector<double>& branches, double* out) {
  filter::MachineSpace& space = *machine_.space;
  if (!space.instant(belief.t, belief.x.data(), belief.chart, true, instant_)) return false;
  const int f2 = space.plant().tangent(), forces = space.plant().forces(), n = space.tangent();
  const int stored = space.plant().stored();
  // Offsets move nothing: of P the rows and columns of the machine and of the unknown forces are left.
  if (options_.deviations) {
    moving_.resize(f2 + forces, f2 + forces);
    moving_.topLeftCorner(f2, f2) = belief.P.topLeftCorner(f2, f2);
    moving_.topRightCorner(f2, forces) = belief.P.block(0, n - forces, f2, forces);
    moving_.bottomLeftCorner(forces, f2) = belief.P.block(n - forces, 0, forces, f2);
    moving_.bottomRightCorner(forces, forces) = belief.P.bottomRightCorner(forces, forces);
  }
  const auto deviation = [](double variance) { return std::sqrt(std::max(variance, 0.0)); };
  for (const Series& series : series_) {
    const Eigen::VectorXd& numbers = series.of == Of::velocity       ? instant_.v
                                     : series.of == Of::acceleration ? instant_.a
                                                                     : instant_.q;
    *out++ = numbers[series.index];
    if (!options_.deviations) continue;
    const Eigen::RowVectorXd g = direction(series);
    const Eigen::Index k = std::min<Eigen::Index>(g.size(), moving_.cols());
    *out++ = deviation(g.head(k) * moving_.topLeftCorner(k, k) * g.head(k).transpose());
  }
  for (int i = first_extra_; i < space.extras(); ++i) {
    *out++ = belief.x[stored + i];
    if (options_.deviations) *out++ = deviation(belief.P(f2 + i, f2 + i));
  }
  std::array<double, filter::kMostRows> y = {};
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const Channel& c = channels_[i];
    const bool same = i > 0 && channels_[i - 1].sensor == c.sensor;
    if (!same && !space.predict(belief.t, belief.x.data(), belief.chart, c.sensor, y.data(), H_)) return false;
    *out++ = y[c.row];
    if (options_.deviations) *out++ = deviation(H_.row(c.row) * belief.P * H_.row(c.row).transpose());
  }
  for (int i = 0; options_.branches > 1 && i < options_.branches; ++i) {
    *out++ = i < static_cast<int>(branches.size()) ? branches[i] : 0;
  }
  return true;
}

}  // namespace kinegraph::task
