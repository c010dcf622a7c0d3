#include "kinegraph/task/identify_motion.hpp"

#include <algorithm>

#include "kinegraph/identify/expected_reading.hpp"
#include "kinegraph/model/joint_names.hpp"
#include "kinegraph/task/spatial_start.hpp"

namespace kinegraph::task {
namespace {

using Eigen::VectorXd;

/// Poses and velocities of a run at its knots.
class Knots {
 public:
  Knots(const maximal::Mechanism& mechanism, const identify::Run& run, const std::vector<double>& poses)
      : bodies_(static_cast<int>(mechanism.bodies().size())), stored_(mechanism.stored()), run_(run), poses_(poses) {
    before.resize(mechanism.tangent());
    after.resize(mechanism.tangent());
  }

  const double* pose(int k) const { return poses_.data() + static_cast<std::size_t>(k + 1) * stored_; }
  double step(int k) const { return run_.step(std::clamp(k, 0, run_.knots() - 2)); }

  /// vₖ and vₖ₊₁; beyond the last knot velocities go on changing as they did.
  void at(int k) {
    velocity(k, before);
    const bool last = k + 1 >= run_.knots();
    velocity(last ? k - 1 : k + 1, after);
    if (last) after = 2 * before - after;
  }

  VectorXd before, after;

 private:
  void velocity(int k, VectorXd& v) const {
    maximal::local(bodies_, pose(k - 1), pose(k), v.data());
    v /= step(k - 1);
  }

  int bodies_, stored_;
  const identify::Run& run_;
  const std::vector<double>& poses_;
};

}  // namespace

Trajectory motion_table(const identify::MachinePoint& machine,
                        const std::shared_ptr<const maximal::Mechanism>& mechanism, const identify::Run& run,
                        const std::vector<double>& poses) {
  const screw::Tree& tree = mechanism->tree();
  std::vector<std::string> names;
  const auto append = [&](const std::vector<std::string>& more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  for (const screw::Coordinate& c : tree.coordinates()) {
    append(position_names(c.name, c.type));
    append(velocity_names(c.name, c.type));
    append(acceleration_names(c.name, c.type));
  }
  std::vector<identify::ChannelPlace> channels;  // a sensor of what is written anyway is not written twice
  for (const identify::ChannelPlace& place : identify::channel_places(machine.sensors)) {
    const std::string& name = machine.sensors[place.sensor].channels[place.row].name;
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    channels.push_back(place);
    names.push_back(name);
  }

  identify::ExpectedReading expected(machine, mechanism);
  expected.set_reference(run.input.front().reference);
  Knots knots(*mechanism, run, poses);
  Trajectory table(names);
  table.reserve(run.knots());
  for (int k = 0; k < run.knots(); ++k) {
    knots.at(k);
    const auto& joints = expected.joints(knots.pose(k), knots.before.data(), knots.after.data(), knots.step(k), 0);
    double* out = table.append(run.times[k]);
    for (const screw::Coordinate& c : tree.coordinates()) {
      out = std::copy_n(joints.q.data() + c.q, c.stored, out);
      out = std::copy_n(joints.v.data() + c.v, c.freedoms, out);
      out = std::copy_n(joints.a.data() + c.v, c.freedoms, out);
    }
    for (const identify::ChannelPlace& place : channels) {
      *out++ = expected.read(knots.pose(k), knots.before.data(), knots.after.data(), knots.step(k), 0,
                             place.sensor)[place.row];
    }
  }
  return table;
}

Settings start_values(const identify::MachinePoint& machine, const std::shared_ptr<const maximal::Mechanism>& mechanism,
                      const identify::Run& run, const std::vector<double>& poses, std::vector<std::string>& unnamed) {
  const screw::Tree& tree = mechanism->tree();
  identify::ExpectedReading expected(machine, mechanism);
  expected.set_reference(run.input.front().reference);
  Knots knots(*mechanism, run, poses);
  knots.at(0);
  const auto& joints = expected.joints(knots.pose(0), knots.before.data(), knots.after.data(), knots.step(0), 0);
  // Joints of a planar model can be set where a relative coordinate measures them.
  const Model& model = machine.model;
  const auto named = [&](const screw::Coordinate& c) {
    return model.spatial() || std::any_of(model.relative.begin(), model.relative.end(),
                                          [&](const RelativeCoordinate& r) { return r.name == c.name; });
  };
  std::vector<int> first;
  for (const screw::Coordinate& c : tree.coordinates()) {
    for (int k = 0; named(c) && k < c.freedoms; ++k) first.push_back(c.v + k);
  }
  const std::vector<int> independent = independent_freedoms(tree, joints.q, first);
  Settings out;
  for (const screw::Coordinate& c : tree.coordinates()) {
    const auto within = [&](int v) { return v >= c.v && v < c.v + c.freedoms; };
    if (std::none_of(independent.begin(), independent.end(), within)) continue;
    if (!named(c)) {
      unnamed.push_back(c.name);
      continue;
    }
    const std::vector<std::string> positions = position_names(c.name, c.type);
    const std::vector<std::string> velocities = velocity_names(c.name, c.type);
    for (int k = 0; k < c.stored; ++k) out[positions[k]] = joints.q[c.q + k];
    for (int k = 0; k < c.freedoms; ++k) out[velocities[k]] = joints.v[c.v + k];
  }
  return out;
}

}  // namespace kinegraph::task
