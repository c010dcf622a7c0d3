#include "kinegraph/io/sdf_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "kinegraph/base/names.hpp"

namespace kinegraph::io {
namespace {

using Node = pugi::xml_node;

const std::vector<std::string> kSdfJointTypes = {"revolute", "continuous", "prismatic", "screw",  "universal",
                                                 "ball",     "fixed",      "revolute2", "gearbox"};

constexpr int kMostFrames = 1000;  // libsdformat's time and memory grow with their square: a second, 0.3 GB for so many

bool is(Node node, const char* name) { return std::string_view(node.name()) == name; }
bool names_a_frame(Node node) {
  return is(node, "link") || is(node, "joint") || is(node, "frame") || is(node, "model");
}
std::string name_of(Node node) { return node.attribute("name").value(); }

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin));
}

class NameCheck {
 public:
  NameCheck(const XmlTree& tree, Findings& findings) : tree_(tree), findings_(findings) {}

  void run() {
    // First of all: what follows takes its time for each.
    if (const int frames = count(tree_.root()); frames > kMostFrames) {
      findings_.error(
          tree_.where(tree_.root()),
          fmt::format("{} links, joints and frames are too many for libsdformat (more than {}); URDF has no "
                      "such limit",
                      frames, kMostFrames));
      return;
    }
    for (const Node child : tree_.root().children()) {
      if (is(child, "world")) scope(child);
      if (is(child, "model")) model(child);
      if (is(child, "include")) include(child);
    }
  }

 private:
  /// The frames of all worlds and models below an element.
  static int count(Node scope) {
    int frames = 0;
    for (const Node child : scope.children()) {
      frames += names_a_frame(child) && !is(scope, "sdf");
      if (is(child, "world") || is(child, "model")) frames += count(child);
    }
    return frames;
  }

  void model(Node model) {
    for (const char* key : {"canonical_link", "placement_frame"}) {
      if (const auto a = model.attribute(key); a && *a.value()) reference(model, a.value(), tree_.where_value(a), key);
    }
    if (!model.child("link") && !model.child("model") && !model.child("include")) {
      findings_.error(tree_.where(model), fmt::format("model {} has no link", quote(name_of(model))));
    }
    scope(model);
  }

  void scope(Node scope) {
    std::map<std::pair<std::string, std::string>, Node> seen;
    for (const Node child : scope.children()) {
      if (is(child, "include")) include(child);
      if (!names_a_frame(child)) continue;
      const auto [first, fresh] = seen.try_emplace({child.name(), name_of(child)}, child);
      if (!fresh && !name_of(child).empty()) {
        findings_.error(tree_.where(child), fmt::format("{} {} is defined twice; first in line {}", child.name(),
                                                        quote(name_of(child)), tree_.where(first->second).line));
      }
      if (is(child, "joint")) joint(scope, child);
      if (is(child, "model")) model(child);
      frames(scope, child, 0);
    }
  }

  void include(Node include) {
    const std::string uri = trimmed(include.child("uri").text().get());
    const std::string message = fmt::format("<include> of {}: other files are not read", quote(uri));
    // In a world it is mostly the ground or the sun; in a model a part of it would be missing.
    if (is(include.parent(), "world")) {
      findings_.warning("include", tree_.where(include), message, quote(uri));
    } else {
      findings_.error(tree_.where(include), message + "; put the model into this file");
    }
  }

  void joint(Node scope, Node joint) {
    const std::string name = "joint " + quote(name_of(joint));
    if (const auto type = joint.attribute("type")) {
      const bool known = std::find(kSdfJointTypes.begin(), kSdfJointTypes.end(), type.value()) != kSdfJointTypes.end();
      if (!known) {
        findings_.error(tree_.where_value(type), fmt::format("{}: unknown type {}{}", name, quote(type.value()),
                                                             did_you_mean(type.value(), kSdfJointTypes)));
      }
    }
    std::string ends[2];
    for (const int end : {0, 1}) {
      const char* key = end == 0 ? "parent" : "child";
      const Node node = joint.child(key);
      ends[end] = trimmed(node.text().get());
      if (!node || ends[end].empty()) {
        findings_.error(tree_.where(node ? node : joint), fmt::format("{}: no <{}>", name, key));
      } else if (end == 1 && ends[end] == "world") {
        findings_.error(tree_.where_text(node), name + ": the child cannot be the world; make it the parent");
      } else if (ends[end] != "world") {
        reference(scope, ends[end], tree_.where_text(node), name + ": " + key);
      }
    }
    if (!ends[0].empty() && ends[0] == ends[1]) {
      findings_.error(tree_.where(joint), fmt::format("{}: parent and child are both {}", name, quote(ends[0])));
    }
    for (const char* key : {"axis", "axis2"}) {
      if (const Node mimic = joint.child(key).child("mimic")) leader(scope, mimic, name);
    }
  }

  void leader(Node scope, Node mimic, const std::string& name) {
    const auto a = mimic.attribute("joint");
    std::vector<std::string> joints;
    for (const Node other : scope.children("joint")) {
      joints.push_back(name_of(other));
      if (a && joints.back() == a.value()) return;
    }
    if (!a) return;
    findings_.error(tree_.where_value(a), fmt::format("{}: mimics unknown joint {}{}", name, quote(a.value()),
                                                      did_you_mean(a.value(), joints)));
  }

  /// Frames that poses and axes below the element refer to; of nested models only their own pose stands in this scope.
  void frames(Node scope, Node node, int depth) {
    for (const char* key : {"relative_to", "frame", "expressed_in", "attached_to"}) {
      const auto a = node.attribute(key);
      if (!a || !*a.value() || (std::string_view(key) == "frame" && !is(node, "pose"))) continue;
      reference(scope, a.value(), tree_.where_value(a), fmt::format("<{}> {}", node.name(), key));
    }
    if (depth == 0 && is(node, "model")) {
      if (const Node pose = node.child("pose")) frames(scope, pose, 1);
      return;
    }
    for (const Node child : node.children()) {
      if (child.type() == pugi::node_element && !is(child, "plugin") && !is(child, "sensor")) {
        frames(scope, child, depth + 1);
      }
    }
  }

  /// Link "arm::hand" of a model: that of its nested model arm.
  bool exists(Node scope, const std::string& name) {
    if (name == "__model__" || (name == "world" && is(scope, "world"))) return true;
    const auto [cached, fresh] = of_scope_.try_emplace(scope.internal_object());
    if (fresh) {
      for (const Node child : scope.children()) {
        if (names_a_frame(child)) cached->second.emplace(name_of(child), child);
      }
    }
    const std::size_t colons = name.find("::");
    const auto [begin, end] = cached->second.equal_range(name.substr(0, colons));
    for (auto found = begin; found != end; ++found) {
      if (colons == std::string::npos) return true;
      if (is(found->second, "model")) return exists(found->second, name.substr(colons + 2));
    }
    return false;
  }

  void reference(Node scope, const std::string& name, const Location& where, const std::string& what) {
    if (exists(scope, name)) return;
    std::vector<std::string> names{is(scope, "world") ? "world" : "__model__"};
    if (!findings_.many()) {
      for (const Node child : scope.children()) {
        if (names_a_frame(child)) names.push_back(name_of(child));
      }
    }
    findings_.error(where, fmt::format("{}: unknown link or frame {}{}", what, quote(name), did_you_mean(name, names)));
  }

  const XmlTree& tree_;
  Findings& findings_;
  std::map<const void*, std::unordered_multimap<std::string, Node>> of_scope_;  // models and worlds: what is in them
};

}  // namespace

void check_sdf_names(const XmlTree& tree, Findings& findings) { NameCheck(tree, findings).run(); }

}  // namespace kinegraph::io
