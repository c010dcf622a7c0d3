#include "kinegraph/report/scene.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/report/packed.hpp"

namespace kinegraph::report {
namespace scene {

std::vector<int> frames(const std::vector<double>& times, std::size_t most) {
  constexpr double kRate = 60;
  std::vector<int> chosen;
  const std::size_t n = times.size();
  if (n == 0) return chosen;
  const double length = times.back() - times.front();
  const auto wanted = static_cast<std::size_t>(std::ceil(std::min(kRate * std::max(length, 1.0), 1e9))) + 1;
  const std::size_t count = std::min({n, std::max<std::size_t>(wanted, 400), std::max<std::size_t>(most, 2)});
  chosen.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    chosen.push_back(static_cast<int>(count == 1 ? 0 : k * (n - 1) / (count - 1)));
  }
  return chosen;
}

std::vector<double> times_of(const Trajectory& trajectory, const std::vector<int>& frames) {
  std::vector<double> times;
  times.reserve(frames.size());
  for (const int k : frames) times.push_back(trajectory.times()[k]);
  return times;
}

nlohmann::ordered_json vector(const Eigen::Vector3d& v) { return {v[0], v[1], v[2]}; }

nlohmann::ordered_json pose(const screw::Transform<double>& X) {
  const Eigen::Quaterniond q(X.R);
  return {X.p[0], X.p[1], X.p[2], q.w(), q.x(), q.y(), q.z()};
}

PositionReader::PositionReader(const screw::Tree& tree, const Trajectory& trajectory)
    : trajectory_(trajectory), q_(tree.start_position()) {
  for (const std::string& name : tree.position_names()) {
    columns_.push_back(trajectory.find(name));
    complete_ = complete_ && columns_.back() >= 0;
  }
}

const Eigen::VectorXd& PositionReader::at(int sample) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] < 0) continue;
    const double value = trajectory_.at(sample, columns_[i]);
    if (std::isfinite(value)) q_[static_cast<Eigen::Index>(i)] = value;
  }
  return q_;
}

}  // namespace scene

Result<nlohmann::ordered_json> scene_section(const Model& model, const Trajectory& trajectory,
                                             const SceneOptions& options) {
  if (trajectory.samples() > 0) {
    return model.spatial() ? scene::spatial(model, trajectory, options) : scene::planar(model, trajectory, options);
  }
  const Result<Trajectory> drawn = as_drawn(model);
  if (!drawn) return drawn.failure();
  return scene_section(model, *drawn, options);
}

Result<Trajectory> as_drawn(const Model& model) {
  if (!model.spatial()) {
    std::vector<std::string> names;
    for (const Point& p : model.points) names.insert(names.end(), {p.name + ".x", p.name + ".y"});
    Trajectory drawn(names);
    double* row = drawn.append(0);
    for (const Point& p : model.points) *row++ = p.position[0], *row++ = p.position[1];
    return drawn;
  }
  const auto tree = screw::Tree::make(model.robot);
  if (!tree) return tree.failure();
  Trajectory drawn((*tree)->position_names());
  const Eigen::VectorXd q = (*tree)->start_position();
  std::copy(q.begin(), q.end(), drawn.append(0));
  return drawn;
}

}  // namespace kinegraph::report
