#include "kinegraph/io/sdf_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/number_text.hpp"

namespace kinegraph::io {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

using Names = std::set<std::string_view>;

const Names* used_children(std::string_view parent) {
  static const Names kAxis{"xyz", "dynamics", "limit", "use_parent_model_frame"};
  static const Names kLook{"pose", "geometry", "material"};
  static const Names kRound{"radius", "length"};
  static const std::map<std::string_view, Names> kUsed{
      {"sdf", {"world", "model"}},
      {"world", {"gravity", "model", "frame"}},
      {"model", {"static", "pose", "link", "joint", "frame", "model"}},
      {"link", {"pose", "inertial", "visual", "collision"}},
      {"inertial", {"mass", "pose", "inertia"}},
      {"inertia", {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}},
      {"visual", kLook},
      {"collision", kLook},
      {"geometry", {"empty", "box", "sphere", "cylinder", "capsule", "ellipsoid", "mesh", "plane"}},
      {"box", {"size"}},
      {"sphere", kRound},
      {"cylinder", kRound},
      {"capsule", kRound},
      {"ellipsoid", {"radii"}},
      {"mesh", {"uri", "scale"}},
      {"plane", {"normal", "size"}},
      {"material", {"diffuse"}},
      {"frame", {"pose"}},
      {"joint",
       {"parent", "child", "gearbox_ratio", "gearbox_reference_body", "thread_pitch", "axis", "axis2", "pose"}},
      {"axis", kAxis},
      {"axis2", kAxis},
      {"dynamics", {"damping", "friction", "spring_reference", "spring_stiffness"}},
      {"limit", {"lower", "upper", "effort", "velocity"}}};
  const auto found = kUsed.find(parent);
  return found == kUsed.end() ? nullptr : &found->second;
}

bool attribute_is_used(std::string_view name) {
  static const Names kUsed{"name",         "type",        "canonical_link", "placement_frame", "relative_to", "frame",
                           "expressed_in", "attached_to", "degrees",        "rotation_format", "version"};
  return kUsed.contains(name);
}

/// One element per line: line ends become blanks.
std::string escaped(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return xml_escape(line);
}

class Copy {
 public:
  SdfCopy run(const XmlTree& tree) {
    element(tree.root());
    return std::move(copy_);
  }

 private:
  void element(pugi::xml_node node) {
    copy_.element_of_line.push_back(node);
    copy_.text += fmt::format("<{}", node.name());
    for (const pugi::xml_attribute a : node.attributes()) {
      if (attribute_is_used(a.name())) copy_.text += fmt::format(" {}=\"{}\"", a.name(), value(node, a));
    }
    copy_.text += fmt::format(">{}\n", text(node));
    for (const pugi::xml_node child : node.children()) {
      if (child.type() == pugi::node_element && sdf_element_is_used(node.name(), child.name()) && has_form(child) &&
          !is_inertia(child)) {
        element(child);
      }
    }
    // On the line of the last element in it, so that no line is without one.
    copy_.text.insert(copy_.text.size() - 1, fmt::format("</{}>", node.name()));
  }

  /// What is infinite is written so that libsdformat reads it: not as 1e400, nor as Infinity.
  static std::string text(pugi::xml_node node) {
    const std::string_view given = node.text().get();
    const std::size_t first = std::min(given.find_first_not_of(kBlanks), given.size());
    const std::string_view word = given.substr(first, given.find_last_not_of(kBlanks) + 1 - first);
    double value = 0;
    const bool infinite = sdf_is_limit(node) && read_bound(word, value) == NumberFault::none && std::isinf(value);
    return !infinite ? escaped(given) : value > 0 ? "inf" : "-inf";
  }

  /// Newer versions than libsdformat's add to what it knows: it reads them as its own.
  static std::string value(pugi::xml_node node, pugi::xml_attribute attribute) {
    const std::string given = attribute.value();
    const bool version = std::string_view(node.name()) == "sdf" && std::string_view(attribute.name()) == "version";
    return version && given.size() > 3 ? "1.9" : escaped(given);
  }

  /// Masses and inertias are read from the tree itself and judged by check_robot, with the same rules for all formats:
  /// libsdformat gives a whole world up for one that it dislikes.
  static bool is_inertia(pugi::xml_node node) {
    const std::string_view name = node.name();
    return std::string_view(node.parent().name()) == "inertial" && (name == "mass" || name == "inertia");
  }

  /// Pictures of forms that are not read (heightmaps, images) are left out.
  static bool has_form(pugi::xml_node node) {
    const std::string_view name = node.name();
    if (name != "visual" && name != "collision") return true;
    for (const pugi::xml_node form : node.child("geometry").children()) {
      if (form.type() == pugi::node_element && sdf_element_is_used("geometry", form.name())) return true;
    }
    return false;
  }

  SdfCopy copy_;
};

}  // namespace

bool sdf_is_limit(pugi::xml_node element) { return std::string_view(element.parent().name()) == "limit"; }

bool sdf_element_is_used(std::string_view parent, std::string_view element) {
  const Names* names = used_children(parent);
  return names && names->contains(element);
}

SdfCopy copy_for_libsdformat(const XmlTree& tree) { return Copy().run(tree); }

}  // namespace kinegraph::io
