#include <algorithm>
#include <map>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/report/packed.hpp"
#include "kinegraph/report/scene.hpp"

namespace kinegraph::report::scene {
namespace {

using Json = nlohmann::ordered_json;
using screw::Transform;

constexpr std::size_t kMostPoses = 90'000;     ///< bodies times frames: 1.3 MB, as text 1.7 MB
constexpr std::size_t kMostCorners = 400'000;  ///< of all meshes together: 2.4 MB

const char* name_of(Shape::Type type) {
  switch (type) {
    case Shape::Type::box:
      return "box";
    case Shape::Type::sphere:
      return "sphere";
    case Shape::Type::cylinder:
      return "cylinder";
    case Shape::Type::capsule:
      return "capsule";
    case Shape::Type::ellipsoid:
      return "ellipsoid";
    case Shape::Type::mesh:
      return "mesh";
    case Shape::Type::plane:
      return "plane";
  }
  return "";
}

/// Writes the parts of a robot that do not change: links with their shapes, joints, lines from joint to joint.
class StructureWriter {
 public:
  StructureWriter(const screw::Tree& tree, const SceneOptions& options)
      : tree_(tree), robot_(tree.robot()), options_(options) {}

  Json write() {
    Json json{{"dimension", 3}, {"gravity", vector(robot_.gravity)}};
    json["bodies"] = Json::array();
    for (const screw::Body& body : tree_.bodies()) json["bodies"].push_back({{"name", body.name}});
    json["links"] = Json::array();
    for (std::size_t l = 0; l < robot_.links.size(); ++l) json["links"].push_back(link(l));
    for (const Obstacle& o : options_.obstacles) {
      json["links"].push_back({{"name", o.name}, {"body", -1}, {"pose", pose({})}, {"shapes", shapes({o.shape})}});
    }
    json["meshes"] = std::move(found_);
    json["joints"] = joints();
    json["lines"] = lines();
    json["tips"] = tips();
    return json;
  }

 private:
  Json link(std::size_t l) {
    const Link& link = robot_.links[l];
    const screw::LinkPlace& place = tree_.links()[l];
    Json json{{"name", link.name}, {"body", place.body}, {"pose", pose(place.X_BL)}};
    json["shapes"] = shapes(link.visuals.empty() ? link.collisions : link.visuals);
    if (link.inertia.mass > 0) json["com"] = vector(link.inertia.com);
    return json;
  }

  Json shapes(const std::vector<Shape>& list) {
    Json json = Json::array();
    for (const Shape& s : list) {
      Json one{{"type", name_of(s.type)}, {"size", vector(s.size)}, {"pose", pose(Transform<double>(s.X_LG))}};
      if (s.colored) one["color"] = {s.color[0], s.color[1], s.color[2], s.color[3]};
      if (s.type == Shape::Type::mesh) {
        const int index = mesh(s.mesh);
        if (index < 0) continue;
        one["mesh"] = index;
      }
      json.push_back(std::move(one));
    }
    return json;
  }

  /// The number of a mesh among those of the page; −1: it is not found, or too large beside the others.
  int mesh(const std::string& name) {
    if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
    int& number = numbers_[name];
    number = -1;
    const std::vector<float> corners = options_.meshes ? options_.meshes(name) : std::vector<float>{};
    if (corners.empty() || corners_ + corners.size() / 3 > kMostCorners) return number;
    corners_ += corners.size() / 3;
    found_.push_back(quantised(std::vector<double>(corners.begin(), corners.end())));
    return number = static_cast<int>(found_.size()) - 1;
  }

  Transform<double> on_body(LinkIndex link) const {
    return link.valid() ? tree_.links()[link.value].X_BL : Transform<double>();
  }
  int body_of(LinkIndex link) const { return link.valid() ? tree_.links()[link.value].body : -1; }

  Json joints() const {
    Json json = Json::array();
    for (const Joint& joint : robot_.joints) {
      if (joint.type == JointType::fixed) continue;
      const Transform<double> X = on_body(joint.child) * Transform<double>(joint.X_CM);
      json.push_back({{"name", joint.name},
                      {"type", to_string(joint.type)},
                      {"body", body_of(joint.child)},
                      {"at", vector(X.p)},
                      {"axis", vector(X.R * joint.axis)}});
    }
    return json;
  }

  /// On every body, from where it hangs to where others hang on it: what is drawn of links without a form.
  Json lines() const {
    Json json = Json::array();
    const auto line = [&](int body, const Eigen::Vector3d& from, const Eigen::Vector3d& to) {
      if ((to - from).norm() > 1e-9) json.push_back({{"body", body}, {"from", vector(from)}, {"to", vector(to)}});
    };
    for (const screw::Body& body : tree_.bodies()) {
      if (body.parent >= 0) line(body.parent, Eigen::Vector3d::Zero(), body.X_PF.p);
      if (body.parent < 0 && body.joint.type != JointType::floating) line(-1, Eigen::Vector3d::Zero(), body.X_PF.p);
    }
    for (const screw::Loop& loop : tree_.loops()) {
      if (loop.a >= 0) line(loop.a, Eigen::Vector3d::Zero(), loop.X_AF.p);
      if (loop.b >= 0) line(loop.b, Eigen::Vector3d::Zero(), loop.X_BM.p);
    }
    for (std::size_t b = 0; b < tree_.bodies().size(); ++b) {
      const screw::Body& body = tree_.bodies()[b];
      if (body.children.empty() && !closes(static_cast<int>(b))) {
        line(static_cast<int>(b), Eigen::Vector3d::Zero(), end_of(static_cast<int>(b)));
      }
    }
    return json;
  }

  bool closes(int body) const {
    return std::any_of(tree_.loops().begin(), tree_.loops().end(),
                       [&](const screw::Loop& loop) { return loop.a == body || loop.b == body; });
  }

  /// The far end of a body at the end of a chain: its farthest link's origin (a tool), else twice its centre of mass.
  Eigen::Vector3d end_of(int body) const {
    Eigen::Vector3d end = 2 * tree_.bodies()[body].com;
    double far = 1e-6;
    for (const screw::LinkPlace& place : tree_.links()) {
      if (place.body == body && place.X_BL.p.norm() > far) far = place.X_BL.p.norm(), end = place.X_BL.p;
    }
    return end;
  }

  /// Points whose paths are drawn: the ends of chains.
  Json tips() const {
    Json json = Json::array();
    for (std::size_t b = 0; b < tree_.bodies().size(); ++b) {
      const screw::Body& body = tree_.bodies()[b];
      if (body.children.empty()) {
        json.push_back({{"name", body.name}, {"body", b}, {"at", vector(end_of(static_cast<int>(b)))}});
      }
    }
    return json;
  }

  const screw::Tree& tree_;
  const Robot& robot_;
  const SceneOptions& options_;
  std::map<std::string, int> numbers_;
  Json found_ = Json::array();
  std::size_t corners_ = 0;
};

/// Writes forces as arrows, where the table has them: three columns, in the world's axes.
class ArrowWriter {
 public:
  ArrowWriter(const screw::Tree& tree, const Trajectory& trajectory, const std::vector<int>& frames)
      : tree_(tree), trajectory_(trajectory), frames_(frames) {}

  /// Through joints on their children, and on points.
  Json write(const std::vector<ForcePoint>& contacts) {
    for (const Joint& joint : tree_.robot().joints) {
      if (joint.child.valid()) add(joint.name, ".reaction", joint.child, joint.X_CM.position());
    }
    for (const ForcePoint& contact : contacts) {
      if (const int link = tree_.robot().find_link(contact.link); link >= 0) {
        add(contact.name, "", LinkIndex(link), contact.at);
      }
    }
    return std::move(json_);
  }

 private:
  void add(const std::string& name, const std::string& kind, LinkIndex link, const Eigen::Vector3d& at) {
    std::vector<int> columns;
    for (const char* axis : {".fx", ".fy", ".fz"}) columns.push_back(trajectory_.find(name + kind + axis));
    if (std::count(columns.begin(), columns.end(), -1) > 0) return;
    const screw::LinkPlace& place = tree_.links()[link.value];
    std::vector<double> force;
    for (const int k : frames_) {
      for (const int c : columns) force.push_back(trajectory_.at(k, c));
    }
    json_.push_back({{"name", name},
                     {"body", place.body},
                     {"at", vector(place.X_BL * at)},
                     {"kind", kind.empty() ? "contact" : "reaction"},
                     {"f", packed(force)}});
  }

  const screw::Tree& tree_;
  const Trajectory& trajectory_;
  const std::vector<int>& frames_;
  Json json_ = Json::array();
};

}  // namespace

Result<Json> spatial(const Model& model, const Trajectory& trajectory, const SceneOptions& options) {
  const auto made = screw::Tree::make(model.robot);
  if (!made) return made.failure();
  const screw::Tree& tree = **made;
  Json json = StructureWriter(tree, options).write();
  const std::size_t bodies = tree.bodies().size();
  const std::size_t most = std::min(options.most_frames, kMostPoses / std::max<std::size_t>(1, bodies));
  const std::vector<int> chosen = frames(trajectory.times(), most);
  json["discrete"] = options.discrete;
  json["t"] = packed_times(times_of(trajectory, chosen));
  PositionReader reader(tree, trajectory);
  screw::Poses poses(bodies);
  std::vector<double> places, turns;
  for (const int k : chosen) {
    screw::body_poses(tree, reader.at(k).data(), poses);
    for (const Transform<double>& X : poses) {
      const Eigen::Quaterniond q(X.R);
      places.insert(places.end(), {X.p[0], X.p[1], X.p[2]});
      turns.insert(turns.end(), {q.w(), q.x(), q.y(), q.z()});
    }
  }
  json["places"] = quantised(places);
  json["turns"] = quantised(turns);
  json["arrows"] = ArrowWriter(tree, trajectory, chosen).write(options.contacts);
  return json;
}

}  // namespace kinegraph::report::scene
