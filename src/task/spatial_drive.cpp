#include "kinegraph/task/spatial_drive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <variant>

#include "kinegraph/task/spatial_columns.hpp"

namespace kinegraph::task {
namespace {

Law recording(const Trajectory& table, int series, double factor = 1) {
  if (series < 0) return Law(0);
  auto samples = std::make_shared<Recording>();
  samples->times = table.times();
  samples->values = table.column(series);
  for (double& value : samples->values) value *= factor;
  return Law(std::shared_ptr<const Recording>(std::move(samples)));
}

}  // namespace

Result<SpatialDrive> SpatialDrive::make(const Model& model, const screw::Tree& tree,
                                        const std::optional<Trajectory>& input, double time) {
  SpatialDrive drive(tree);
  for (const Motor& motor : model.motors) {
    if (motor.torque.is_constant() && motor.torque(0) == 0) continue;
    const std::string& joint = model.relative[motor.coordinate.value].name;
    const int coordinate = tree.find_coordinate(joint);
    if (coordinate < 0) return Failure::internal(fmt::format("motor '{}' has no joint", motor.name));
    drive.drive(tree.coordinates()[coordinate].v, motor.torque);
  }
  if (input) {
    if (auto done = drive.read(tree, *input, time); !done) return done.failure();
  }
  return drive;
}

void SpatialDrive::drive(int freedom, Law law) {
  const auto same = [&](const Torque& t) { return t.freedom == freedom; };
  std::erase_if(torques_, same);
  std::erase(driven_, freedom);
  torques_.push_back({freedom, std::move(law)});
  driven_.push_back(freedom);
}

Result<std::monostate> SpatialDrive::read(const screw::Tree& tree, const Trajectory& input, double time) {
  const Result<SpatialColumns> columns = find_spatial_columns(tree, input);
  if (!columns) return columns.failure();
  Failure faults{Failure::Kind::bad_input, {}};
  const auto fault = [&](Location where, std::string message) {
    faults.diagnostics.push_back({Severity::error, std::move(where), std::move(message)});
  };
  for (const screw::Coordinate& c : tree.coordinates()) {
    for (int i = c.v; i < c.v + c.freedoms; ++i) {
      const int torque = columns->tau[i], control = columns->u[i];
      if (torque >= 0) drive(i, recording(input, torque));
      if (control >= 0) drive(i, recording(input, control, c.dynamics[i - c.v].gain));
      if (torque >= 0 && control >= 0) {
        fault(header_of(input, control),
              fmt::format("'{}' and '{}' drive the same joint", input.names()[torque], input.names()[control]));
      }
    }
  }
  for (const SpatialColumns::Load& load : columns->loads) {
    const screw::LinkPlace& place = tree.links()[load.link];
    if (place.body < 0) continue;  // on the ground: moves nothing
    Load law{place.body, place.X_BL, {}};
    for (int k = 0; k < 6; ++k) law.wrench[k] = recording(input, load.wrench[k]);
    loads_.push_back(std::move(law));
  }

  if (columns->base.moves) {
    fault(header_of(input), "the motion of a fixed base is no input of simulate; give the robot a joint to the world");
  }
  if (columns->loads.empty() &&
      std::all_of(columns->tau.begin(), columns->tau.end(), [](int series) { return series < 0; }) &&
      std::all_of(columns->u.begin(), columns->u.end(), [](int series) { return series < 0; })) {
    const std::string joint = tree.torque_names().empty() ? "joint.tau" : tree.torque_names().front();
    fault(header_of(input), fmt::format("no column drives anything; expected torques ({}, …) or loads ({}.load.fx, …)",
                                        joint, tree.robot().links.back().name));
  }
  if (input.samples() == 0) {
    fault(header_of(input), "no samples");
  } else {
    if (input.times().front() > 0) {
      fault(row_of(input, 0),
            fmt::format("the recording starts at {:g} s, after the simulation's 0 s", input.times().front()));
    }
    if (input.times().back() < time * (1 - 1e-9)) {
      fault(row_of(input, input.samples() - 1),
            fmt::format("the recording ends at {:g} s, before the simulation's {:g} s", input.times().back(), time));
    }
  }
  if (!faults.diagnostics.empty()) return faults;
  return std::monostate{};
}

void SpatialDrive::torques(double t, double* tau) const {
  std::fill(tau, tau + freedoms_, 0.0);
  for (const Torque& torque : torques_) tau[torque.freedom] = torque.law(t);
}

// In the link's frame: (Rᵀ m, Rᵀ f) with R = R_WL; then Ad(X_BL)⁻ᵀ.
void SpatialDrive::loads(double t, const screw::Poses& poses, std::vector<screw::Vector6d>& wrenches) const {
  for (screw::Vector6d& wrench : wrenches) wrench.setZero();
  for (const Load& load : loads_) {
    const Eigen::Matrix3d R = poses[load.body].R * load.X_BL.R;
    screw::Vector6d wrench;
    for (int k = 0; k < 6; ++k) wrench[k] = load.wrench[k](t);
    wrench.head<3>() = (R.transpose() * wrench.head<3>()).eval();
    wrench.tail<3>() = (R.transpose() * wrench.tail<3>()).eval();
    wrenches[load.body] += load.X_BL.wrench(wrench);
  }
}

}  // namespace kinegraph::task
