#include "kinegraph/task/spatial_recorder.hpp"

#include <algorithm>

#include "kinegraph/model/joint_names.hpp"
#include "kinegraph/task/append_names.hpp"

namespace kinegraph::task {
SpatialRecorder::SpatialRecorder(const Model& model, std::shared_ptr<const screw::Tree> tree, const SpatialDrive& drive,
                                 const Options& options)
    : tree_(std::move(tree)), poses_(options.poses) {
  for (const screw::Coordinate& c : tree_->coordinates()) {
    append(names_, position_names(c.name, c.type));
    append(names_, velocity_names(c.name, c.type));
    append(names_, acceleration_names(c.name, c.type));
    driven_.push_back(std::any_of(drive.driven().begin(), drive.driven().end(),
                                  [&](int i) { return i >= c.v && i < c.v + c.freedoms; }));
    if (driven_.back()) append(names_, torque_names(c.name, c.type));
  }
  if (!model.spatial()) place_points(model);
  if (poses_) {
    for (const Link& link : tree_->robot().links) {
      for (const char* part : {".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"}) names_.push_back(link.name + part);
    }
  }
  if (options.reactions) append(names_, reactions_.emplace(tree_).names());
  row_.resize(names_.size());
}

/// Links of a planar model are its bodies, then its sliders (model/planar_robot.hpp).
void SpatialRecorder::place_points(const Model& model) {
  for (int p = 0; p < static_cast<int>(model.points.size()); ++p) {
    if (model.points[p].fixed) continue;
    int link = -1;
    Eigen::Vector3d local = Eigen::Vector3d::Zero();
    for (std::size_t b = 0; b < model.bodies.size() && link < 0; ++b) {
      const std::vector<PointIndex>& points = model.bodies[b].points;
      const auto found = std::find(points.begin(), points.end(), PointIndex(p));
      if (found == points.end()) continue;
      link = static_cast<int>(b);
      local.head<2>() = model.bodies[b].local[found - points.begin()];
    }
    if (link < 0) continue;
    points_.push_back({tree_->links()[link].body, tree_->links()[link].X_BL * local});
    for (const char* quantity : {".x", ".y", ".vx", ".vy", ".ax", ".ay"}) {
      names_.push_back(model.points[p].name + quantity);
    }
  }
}

const double* SpatialRecorder::row(const double* q, const double* v, const double* a, const SpatialField& field) {
  double* out = row_.data();
  for (std::size_t i = 0; i < tree_->coordinates().size(); ++i) {
    const screw::Coordinate& c = tree_->coordinates()[i];
    out = std::copy_n(q + c.q, c.stored, out);
    out = std::copy_n(v + c.v, c.freedoms, out);
    out = std::copy_n(a + c.v, c.freedoms, out);
    if (driven_[i]) out = std::copy_n(field.tau().data() + c.v, c.freedoms, out);
  }
  for (const PointPlace& point : points_) out = write_point(point, field, out);
  if (poses_) out = write_poses(field.poses(), out);
  if (reactions_) reactions_->write(field.dynamics(), field.poses(), out);
  return row_.data();
}

// x = p + R r,   ẋ = R (v + ω × r),   ẍ = R (v̇ + ω̇ × r + ω × (v + ω × r))
double* SpatialRecorder::write_point(const PointPlace& point, const SpatialField& field, double* out) const {
  Eigen::Vector3d x = point.at, velocity = Eigen::Vector3d::Zero(), acceleration = Eigen::Vector3d::Zero();
  if (point.body >= 0) {
    const screw::Transform<double>& X = field.poses()[point.body];
    const screw::Vector6d& V = field.dynamics().motion().body(point.body).V;
    const screw::Vector6d dV = field.dynamics().twist_acceleration(point.body);
    const Eigen::Vector3d omega = V.head<3>(), seen = V.tail<3>() + omega.cross(point.at);
    x = X * point.at;
    velocity = X.R * seen;
    acceleration = X.R * (dV.tail<3>() + dV.head<3>().cross(point.at) + omega.cross(seen));
  }
  for (const Eigen::Vector3d* value : {&x, &velocity, &acceleration}) out = std::copy_n(value->data(), 2, out);
  return out;
}

double* SpatialRecorder::write_poses(const screw::Poses& poses, double* out) const {
  for (std::size_t i = 0; i < tree_->links().size(); ++i) {
    const screw::Transform<double> X = screw::link_pose(*tree_, poses, static_cast<int>(i));
    out = std::copy_n(X.p.data(), 3, out);
    const SO3 rotation{Eigen::Quaterniond(X.R)};
    rotation.store(out);
    out += 4;
  }
  return out;
}

}  // namespace kinegraph::task
