#include <cmath>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/model/pins.hpp"
#include "kinegraph/model/planar_robot.hpp"
#include "kinegraph/report/packed.hpp"
#include "kinegraph/report/scene.hpp"

namespace kinegraph::report::scene {
namespace {

using Json = nlohmann::ordered_json;

/// Where the points are in a sample: from their own columns, else by the joints of the model as a robot.
class PointReader {
 public:
  static Result<PointReader> make(const Model& model, const Trajectory& trajectory) {
    PointReader reader(model, trajectory);
    if (reader.complete_) return reader;
    const Result<Robot> robot = robot_of(model, PlanarForces::kept);
    if (!robot) return reader;  // points without columns stay where they are drawn
    const auto tree = screw::Tree::make(*robot);
    if (!tree) return reader;
    reader.tree_ = *tree;
    reader.joints_ = std::make_unique<PositionReader>(*reader.tree_, trajectory);
    reader.poses_.resize(reader.tree_->bodies().size());
    return reader;
  }

  void read(int sample, double* xy) {
    for (std::size_t p = 0; p < model_.points.size(); ++p) {
      for (int axis = 0; axis < 2; ++axis) {
        const int column = columns_[2 * p + axis];
        xy[2 * p + axis] = column >= 0 ? trajectory_.at(sample, column) : model_.points[p].position[axis];
      }
    }
    if (!tree_) return;
    screw::body_poses(*tree_, joints_->at(sample).data(), poses_);
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
      const int link = tree_->robot().find_link(model_.bodies[b].name);
      if (link < 0) continue;
      const screw::Transform<double> X = screw::link_pose(*tree_, poses_, link);
      for (std::size_t k = 0; k < model_.bodies[b].points.size(); ++k) {
        const auto p = static_cast<std::size_t>(model_.bodies[b].points[k].value);
        if (columns_[2 * p] >= 0 || model_.points[p].fixed) continue;
        const Vector2d& local = model_.bodies[b].local[k];
        const Eigen::Vector3d at = X * Eigen::Vector3d(local[0], local[1], 0);
        xy[2 * p] = at[0], xy[2 * p + 1] = at[1];
      }
    }
  }

 private:
  PointReader(const Model& model, const Trajectory& trajectory) : model_(model), trajectory_(trajectory) {
    for (const Point& point : model.points) {
      for (const char* axis : {".x", ".y"}) {
        columns_.push_back(trajectory.find(point.name + axis));
        complete_ = complete_ && (columns_.back() >= 0 || point.fixed);
      }
    }
  }
  const Model& model_;
  const Trajectory& trajectory_;
  std::vector<int> columns_;
  bool complete_ = true;
  std::shared_ptr<const screw::Tree> tree_;
  std::unique_ptr<PositionReader> joints_;
  screw::Poses poses_;
};

Json structure(const Model& model) {
  Json json{{"dimension", 2}, {"gravity", {model.gravity[0], model.gravity[1]}}};
  json["points"] = Json::array();
  for (const Point& p : model.points) json["points"].push_back({{"name", p.name}, {"fixed", p.fixed}});
  json["bodies"] = Json::array();
  for (const PlanarBody& body : model.bodies) {
    Json points = Json::array(), local = Json::array();
    for (const PointIndex p : body.points) points.push_back(p.value);
    for (const Vector2d& p : body.local) local.push_back({p[0], p[1]});
    json["bodies"].push_back({{"name", body.name},
                              {"points", points},
                              {"local", local},
                              {"cog", {body.cog[0], body.cog[1]}},
                              {"length", body.length},
                              {"mass", body.mass}});
  }
  json["sliders"] = Json::array();
  for (const Slider& s : model.sliders) {
    json["sliders"].push_back({{"name", s.name}, {"point", s.point.value}, {"a", s.a.value}, {"b", s.b.value}});
  }
  json["springs"] = Json::array();
  for (const Spring& s : model.springs) {
    json["springs"].push_back({{"name", s.name}, {"a", s.a.value}, {"b", s.b.value}});
  }
  json["sensors"] = Json::array();
  for (const Sensor& s : model.sensors) {
    if (s.on.body < 0) continue;
    json["sensors"].push_back({{"name", s.name}, {"body", s.on.body}, {"at", {s.on.at[0], s.on.at[1]}}});
  }
  return json;
}

/// Two columns side by side, in the frames; nothing where one is missing.
std::vector<double> pair(const Trajectory& trajectory, const std::vector<int>& frames, const std::string& x,
                         const std::string& y) {
  const int i = trajectory.find(x), j = trajectory.find(y);
  std::vector<double> values;
  if (i < 0 || j < 0) return values;
  for (const int k : frames) values.insert(values.end(), {trajectory.at(k, i), trajectory.at(k, j)});
  return values;
}

/// Forces through pins and of loads, where the table has them.
Json arrows(const Model& model, const Trajectory& trajectory, const std::vector<int>& frames) {
  Json json = Json::array();
  const auto add = [&](const std::string& name, int point, const char* kind) {
    const std::vector<double> xy = pair(trajectory, frames, name + ".fx", name + ".fy");
    if (!xy.empty()) json.push_back({{"name", name}, {"point", point}, {"kind", kind}, {"xy", packed(xy)}});
  };
  for (const Pin& pin : pins(model)) add(pin.name, pin.point.value, "reaction");
  for (const PointLoad& load : model.loads) add(load.name, load.point.value, "load");
  return json;
}

/// Standard deviations of points: σx, σy and their correlation. It is not in the table; of one freedom it is ±1, for a
/// point can only be off along its path, and else it is taken as 0.
Json ellipses(const Model& model, const Trajectory& trajectory, const std::vector<int>& frames, int freedoms) {
  Json json = Json::array();
  for (std::size_t p = 0; p < model.points.size(); ++p) {
    const std::string& name = model.points[p].name;
    const std::vector<double> sd = pair(trajectory, frames, name + ".x.sd", name + ".y.sd");
    const std::vector<double> v = pair(trajectory, frames, name + ".vx", name + ".vy");
    if (sd.empty()) continue;
    std::vector<double> numbers;
    for (std::size_t k = 0; k < frames.size(); ++k) {
      const double along = freedoms == 1 && !v.empty() ? v[2 * k] * v[2 * k + 1] : 0;
      numbers.insert(numbers.end(), {sd[2 * k], sd[2 * k + 1], along > 0 ? 1.0 : along < 0 ? -1.0 : 0.0});
    }
    json.push_back({{"point", p}, {"sd", packed(numbers)}});
  }
  return json;
}

}  // namespace

Result<Json> planar(const Model& model, const Trajectory& trajectory, const SceneOptions& options) {
  Json json = structure(model);
  const std::vector<int> chosen = frames(trajectory.times(), options.most_frames);
  json["discrete"] = options.discrete;
  json["t"] = packed_times(times_of(trajectory, chosen));
  Result<PointReader> reader = PointReader::make(model, trajectory);
  if (!reader) return reader.failure();
  const std::size_t width = 2 * model.points.size();
  std::vector<double> xy(width * chosen.size());
  for (std::size_t k = 0; k < chosen.size(); ++k) reader->read(chosen[k], xy.data() + k * width);
  json["xy"] = packed(xy);
  json["arrows"] = arrows(model, trajectory, chosen);
  json["ellipses"] = ellipses(model, trajectory, chosen, options.degrees_of_freedom);
  return json;
}

}  // namespace kinegraph::report::scene
