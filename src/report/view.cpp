#include <cmath>

#include "kinegraph/report/scene.hpp"

namespace kinegraph::report {
namespace {

using Json = nlohmann::ordered_json;

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

const char* type_of(RelativeCoordinate::Type type) {
  switch (type) {
    case RelativeCoordinate::Type::absolute_angle:
      return "absolute_angle";
    case RelativeCoordinate::Type::relative_angle:
      return "relative_angle";
    case RelativeCoordinate::Type::relative_position:
      return "relative_position";
  }
  return "";
}

/// Bodies, sliders and points are in the scene; here is what can be driven.
Json planar(const Model& model, const std::vector<std::string>& driven) {
  Json json{{"dimension", 2}};
  json["coordinates"] = Json::array();
  for (const std::string& name : driven) {
    const Result<CoordinateRef> found = model.coordinate(name);
    if (!found) continue;
    Json one{{"name", model.name_of(*found)}};
    if (found->what == CoordinateRef::What::relative) {
      const RelativeCoordinate& relative = model.relative[static_cast<std::size_t>(found->index)];
      Json points = Json::array();
      for (const PointIndex p : relative.points) points.push_back(p.value);
      one["type"] = type_of(relative.type);
      one["points"] = points;
    } else {
      one["type"] = found->what == CoordinateRef::What::point_x ? "x" : "y";
      one["points"] = {found->index};
    }
    json["coordinates"].push_back(std::move(one));
  }
  return json;
}

Json joint_json(const screw::ScrewJoint& joint) {
  return {{"type", to_string(joint.type)},
          {"q", joint.q},
          {"ratio", joint.ratio},
          {"offset", joint.offset},
          {"reversed", joint.reversed},
          {"pitch", joint.shape.pitch},
          {"axis2", scene::vector(joint.shape.axis2)}};
}

/// The tree with its joints turned so that their axis is z, as the page computes it.
Json spatial(const screw::Tree& tree, const std::vector<std::string>& driven, const Trajectory* pose) {
  Json json{{"dimension", 3}};
  json["bodies"] = Json::array();
  for (const screw::Body& body : tree.bodies()) {
    json["bodies"].push_back(
        {{"parent", body.parent}, {"frame", scene::pose(body.X_PF)}, {"joint", joint_json(body.joint)}});
  }
  json["loops"] = Json::array();
  for (const screw::Loop& loop : tree.loops()) {
    json["loops"].push_back({{"name", loop.name},
                             {"a", loop.a},
                             {"b", loop.b},
                             {"frame_a", scene::pose(loop.X_AF)},
                             {"frame_b", scene::pose(loop.X_BM)},
                             {"joint", joint_json(loop.via)}});
  }
  json["coordinates"] = Json::array();
  for (const screw::Coordinate& c : tree.coordinates()) {
    Json limits = Json::array();
    for (const JointLimits& limit : c.limits) limits.push_back({finite(limit.lower), finite(limit.upper)});
    json["coordinates"].push_back(
        {{"name", c.name}, {"type", to_string(c.type)}, {"q", c.q}, {"stored", c.stored}, {"limits", limits}});
  }
  Eigen::VectorXd start = tree.start_position();
  for (int i = 0; pose && pose->samples() > 0 && i < start.size(); ++i) {
    const int column = pose->find(tree.position_names()[i]);
    if (column >= 0) start[i] = pose->row(0)[column];
  }
  json["start"] = std::vector<double>(start.begin(), start.end());
  json["driven"] = driven;
  return json;
}

}  // namespace

Result<Json> view_section(const Model& model, const std::vector<std::string>& driven, const Trajectory* pose) {
  if (!model.spatial()) return planar(model, driven);
  const auto tree = screw::Tree::make(model.robot);
  if (!tree) return tree.failure();
  return spatial(**tree, driven, pose);
}

}  // namespace kinegraph::report
