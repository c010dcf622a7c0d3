#include "kinegraph/io/loops_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/number_text.hpp"
#include "kinegraph/io/text_file.hpp"
#include "kinegraph/io/urdf_reader.hpp"
#include "kinegraph/io/yaml_tree.hpp"

namespace kinegraph::io {
namespace {

using Kind = YamlNode::Kind;

class LoopsReader {
 public:
  LoopsReader(Robot& robot, Findings& findings) : robot_(robot), findings_(findings) {
    for (int i = 0; i < static_cast<int>(robot.links.size()); ++i) links_.emplace(robot.links[i].name, i);
    for (int i = 0; i < static_cast<int>(robot.joints.size()); ++i) joints_.emplace(robot.joints[i].name, i);
  }

  void read(const YamlNode& root) {
    if (root.kind == Kind::list) {
      for (const YamlNode* item : root.items) closure(*item);
    } else if (root.kind == Kind::map) {
      frame_pairs(root);
    } else {
      findings_.error(root.where, "expected a list of joints that close loops, found " + describe(root));
    }
  }

 private:
  using Keys = std::map<std::string, const YamlNode*>;

  /// {name, parent, child, type, …}: a joint.
  void closure(const YamlNode& item) {
    if (item.kind != Kind::map) {
      return findings_.error(item.where,
                             "expected a map such as {parent: …, child: …, type: …}, found " + describe(item));
    }
    static const std::vector<std::string> known = {"name",       "parent",     "child",     "type",
                                                   "parent_xyz", "parent_rpy", "child_xyz", "child_rpy",
                                                   "axis",       "axis2",      "pitch",     "passive"};
    const Keys keys = sound_keys(item, known);
    Joint joint;
    joint.where = item.where;
    joint.closes_loop = true;
    joint.name = keys.contains("name") ? fresh_name(*keys.at("name")) : default_name();
    joint.type = keys.contains("type") ? type(*keys.at("type")) : (missing(item, "type"), JointType::fixed);
    if (keys.contains("parent")) {
      joint.parent = link(*keys.at("parent"), true);
    } else {
      missing(item, "parent");
    }
    if (keys.contains("child")) {
      joint.child = link(*keys.at("child"), false);
    } else {
      missing(item, "child");
    }
    const auto vector = [&](const char* key, const Vector3d& fallback) {
      return keys.contains(key) ? triple(*keys.at(key), key, fallback) : fallback;
    };
    const Vector3d zero = Vector3d::Zero();
    joint.X_PF = pose(vector("parent_xyz", zero), vector("parent_rpy", zero));
    joint.X_CM = pose(vector("child_xyz", zero), vector("child_rpy", zero));
    joint.axis = unit(vector("axis", Vector3d::UnitX()), keys, "axis");
    joint.axis2 = unit(vector("axis2", joint.axis.unitOrthogonal()), keys, "axis2");
    if (joint.type == JointType::universal && joint.axis.cross(joint.axis2).norm() < 1e-6) {
      findings_.error(item.where, "the two axes of a universal joint must not be parallel");
    }
    if (keys.contains("pitch")) joint.pitch = number(*keys.at("pitch"), "pitch");
    if (joint.type == JointType::screw && !keys.contains("pitch")) missing(item, "pitch");
    if (keys.contains("passive")) joint.passive = truth(*keys.at("passive"), "passive");
    add(std::move(joint));
  }

  /// {closed_loop: [[a, b], …], type: […], name_mot: […]}
  void frame_pairs(const YamlNode& root) {
    const Keys keys = sound_keys(root, {"closed_loop", "type", "name_mot"}, true);
    if (!keys.contains("closed_loop")) return missing(root, "closed_loop");
    const YamlNode& pairs = *keys.at("closed_loop");
    const std::vector<const YamlNode*> types = keys.contains("type") ? items(*keys.at("type")) : items({});
    if (pairs.kind != Kind::list) {
      return findings_.error(pairs.where, "closed_loop: expected a list of pairs of frames, found " + describe(pairs));
    }
    for (std::size_t i = 0; i < pairs.items.size(); ++i) {
      const YamlNode& pair = *pairs.items[i];
      if (pair.kind != Kind::list || pair.items.size() != 2) {
        findings_.error(pair.where, "closed_loop: expected a pair of frames, found " + describe(pair));
        continue;
      }
      Joint joint;
      joint.where = pair.where;
      joint.closes_loop = joint.passive = true;
      joint.name = default_name();
      const YamlNode* given = types.size() == 1 ? types[0] : i < types.size() ? types[i] : nullptr;
      if (given && given->text == "3d") joint.type = JointType::ball;
      if (given && given->text != "3d" && given->text != "6d") {
        findings_.error(given->where, fmt::format("type: expected '6d' or '3d', found {}", describe(*given)));
      }
      frame(*pair.items[0], joint.parent, joint.X_PF);
      frame(*pair.items[1], joint.child, joint.X_CM);
      add(std::move(joint));
    }
    if (keys.contains("name_mot")) motors(*keys.at("name_mot"));
  }

  void motors(const YamlNode& names) {
    for (Joint& joint : robot_.joints) joint.passive = true;
    for (const YamlNode* name : items(names)) {
      if (const auto found = joints_.find(name->text); found != joints_.end()) {
        robot_.joints[found->second].passive = false;
      } else {
        unknown("joint", *name, [this] { return names_of(joints_); });
      }
    }
  }

  void add(Joint joint) {
    if (joint.child.valid() && joint.parent == joint.child) {
      findings_.error(joint.where, fmt::format("joint {}: parent and child are the same link", quote(joint.name)));
    }
    joints_.emplace(joint.name, static_cast<int>(robot_.joints.size()));
    robot_.joints.push_back(std::move(joint));
  }

  /// The keys of a map that are known; others are reported.
  Keys sound_keys(const YamlNode& map, const std::vector<std::string>& known, bool tolerant = false) {
    Keys keys;
    for (const auto& [key, value] : map.keys) {
      if (std::find(known.begin(), known.end(), key->text) == known.end()) {
        const std::string message = key->kind == Kind::text ? "unknown key " + quote(key->text)
                                                            : "expected a text as key, found " + describe(*key);
        const bool many = findings_.many() || findings_.warned("loops key");
        const std::string guess = many ? "" : did_you_mean(key->text, known);
        if (tolerant) findings_.warning("loops key", key->where, message + guess, quote(key->text));
        if (!tolerant) findings_.error(key->where, message + guess);
      } else if (!keys.emplace(key->text, value).second) {
        findings_.error(key->where, "duplicate key " + quote(key->text));
      }
    }
    return keys;
  }

  static std::vector<const YamlNode*> items(const YamlNode& node) {
    if (node.kind == Kind::list) return node.items;
    return node.kind == Kind::text ? std::vector<const YamlNode*>{&node} : std::vector<const YamlNode*>{};
  }

  void missing(const YamlNode& item, const char* key) {
    findings_.error(item.where, fmt::format("missing key '{}'", key));
  }
  void unknown(const char* kind, const YamlNode& name, const std::function<std::vector<std::string>()>& candidates) {
    const std::string found = name.kind == Kind::text ? quote(name.text) : describe(name);
    findings_.error(name.where, fmt::format("unknown {} {}{}", kind, found,
                                            findings_.many() ? "" : did_you_mean(name.text, candidates())));
  }

  LinkIndex link(const YamlNode& name, bool or_world) {
    if (const auto found = links_.find(name.text); found != links_.end()) return LinkIndex(found->second);
    if (!or_world || name.text != "world") unknown("link", name, [this] { return names_of(links_); });
    return LinkIndex();
  }

  void frame(const YamlNode& name, LinkIndex& link, SE3& X) {
    if (const auto found = links_.find(name.text); found != links_.end()) {
      link = LinkIndex(found->second);
    } else if (const auto joint = joints_.find(name.text); joint != joints_.end()) {
      link = robot_.joints[joint->second].child;
      X = robot_.joints[joint->second].X_CM;
    } else {
      unknown("link or joint", name, [this] {
        std::vector<std::string> candidates = names_of(links_);
        for (std::string& other : names_of(joints_)) candidates.push_back(std::move(other));
        return candidates;
      });
    }
  }

  using Indices = std::map<std::string, int>;
  static std::vector<std::string> names_of(const Indices& indices) {
    std::vector<std::string> names;
    for (const auto& [name, index] : indices) names.push_back(name);
    return names;
  }

  std::string fresh_name(const YamlNode& name) {
    if (name.kind != Kind::text || name.text.empty()) {
      findings_.error(name.where, "name: expected a text, found " + describe(name));
    } else if (joints_.contains(name.text)) {
      findings_.error(name.where, "duplicate joint " + quote(name.text));
    }
    return name.text;
  }
  std::string default_name() {
    std::string name;
    do name = fmt::format("loop{}", loops_++);
    while (joints_.contains(name));
    return name;
  }

  JointType type(const YamlNode& node) {
    std::vector<std::string> known;
    for (const JointType type : kJointTypes) {
      if (node.text == to_string(type) || (type == JointType::ball && node.text == "spherical")) return type;
      known.emplace_back(to_string(type));
    }
    unknown("type", node, [&] { return known; });
    return JointType::fixed;
  }

  double number(const YamlNode& node, const char* key) {
    double value = 0;
    const NumberFault fault = node.kind == Kind::text ? read_number(node.text, value) : NumberFault::not_a_number;
    if (fault == NumberFault::none) return value;
    findings_.error(node.where, fmt::format("{}: expected a {}, found {}", key, expected_number(fault), describe(node)));
    return 0;
  }
  Vector3d triple(const YamlNode& node, const char* key, const Vector3d& fallback) {
    if (node.kind != Kind::list || node.items.size() != 3) {
      findings_.error(node.where, fmt::format("{}: expected [x, y, z], found {}", key,
                                              node.kind == Kind::list ? fmt::format("{} values", node.items.size())
                                                                      : describe(node)));
      return fallback;
    }
    Vector3d value;
    for (int i = 0; i < 3; ++i) value[i] = number(*node.items[i], key);
    return value;
  }
  Vector3d unit(const Vector3d& axis, const Keys& keys, const char* key) {
    const double largest = axis.cwiseAbs().maxCoeff();
    if (largest > 1e-12) return (axis / largest).normalized();
    findings_.error(keys.at(key)->where, fmt::format("{}: must not be zero", key));
    return Vector3d::UnitX();
  }
  bool truth(const YamlNode& node, const char* key) {
    if (node.text != "true" && node.text != "false") {
      findings_.error(node.where, fmt::format("{}: expected true or false, found {}", key, describe(node)));
    }
    return node.text == "true";
  }

  Robot& robot_;
  Findings& findings_;
  Indices links_, joints_;  // by name
  int loops_ = 0;
};

}  // namespace

void parse_loops(const std::string& text, const std::string& file_name, Robot& robot, Findings& findings) {
  const Result<YamlTree> tree = YamlTree::parse(text, file_name);
  if (tree) return LoopsReader(robot, findings).read(tree->root());
  for (const Diagnostic& fault : tree.failure().diagnostics) findings.error(fault.where, fault.message);
}

void read_loops(const std::filesystem::path& path, Robot& robot, Findings& findings) {
  const Result<std::string> text = read_text_file(path, YamlTree::kLargestFile);
  if (text) return parse_loops(*text, path.string(), robot, findings);
  for (const Diagnostic& fault : text.failure().diagnostics) findings.error(fault.where, fault.message);
}

}  // namespace kinegraph::io
