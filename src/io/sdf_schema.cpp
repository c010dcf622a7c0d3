#include "kinegraph/io/sdf_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sdf/sdf.hh>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/number_text.hpp"
#include "kinegraph/io/sdf_copy.hpp"

namespace kinegraph::io {

struct SdfSchema::Description {
  sdf::SDFPtr sdf = std::make_shared<sdf::SDF>();
};

namespace {

/// Elements and attributes (@) of SDF versions other than the one described: before 1.7 and from 1.10 on.
bool of_another_version(std::string_view parent, std::string_view name) {
  static const std::pair<std::string_view, std::string_view> kOthers[] = {{"axis", "use_parent_model_frame"},
                                                                          {"axis2", "use_parent_model_frame"},
                                                                          {"pose", "@frame"},
                                                                          {"joint", "screw_thread_pitch"},
                                                                          {"axis", "mimic"},
                                                                          {"axis2", "mimic"},
                                                                          {"mimic", "@joint"},
                                                                          {"mimic", "@axis"},
                                                                          {"mimic", "multiplier"},
                                                                          {"mimic", "offset"},
                                                                          {"mimic", "reference"},
                                                                          {"link", "auto_inertia_params"},
                                                                          {"inertial", "@auto"},
                                                                          {"inertial", "density"},
                                                                          {"sdf", "@xmlns:xacro"}};
  return std::find(std::begin(kOthers), std::end(kOthers), std::pair(parent, name)) != std::end(kOthers);
}

constexpr std::string_view kSpace = " \t\r\n";

/// The words of a text, with the place where each begins.
std::vector<std::pair<std::string_view, std::size_t>> words(std::string_view text) {
  std::vector<std::pair<std::string_view, std::size_t>> found;
  for (std::size_t at = text.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    found.emplace_back(text.substr(at, end - at), at);
    at = text.find_first_not_of(kSpace, end);
  }
  return found;
}

class Check {
 public:
  Check(const XmlTree& tree, sdf::ElementPtr root, Findings& findings)
      : tree_(tree), root_(std::move(root)), findings_(findings) {}

  void run() { element(tree_.root(), root_, true); }

 private:
  /// `used`: what this reader uses, so that its values must be sound.
  void element(pugi::xml_node node, sdf::ElementPtr description, bool used) {
    description = resolved(description);
    attributes(node, *description);
    if (used) required(node, *description);
    if (const sdf::ParamPtr value = description->GetValue(); value && used) text(node, value->GetTypeName());
    // Plugins may hold anything.
    if (std::string_view(node.name()) == "plugin") return;
    for (const pugi::xml_node child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      const std::string name = child.name();
      if (name.find(':') != std::string::npos) continue;  // of another namespace: not SDF's
      if (description->HasElementDescription(name)) {
        element(child, description->GetElementDescription(name), used && sdf_element_is_used(node.name(), name));
      } else if (of_another_version(node.name(), name)) {
        foreign(child);
      } else {
        findings_.warning(
            "unknown element", tree_.where(child),
            fmt::format("unknown element {} in <{}>, ignored{}", quote(name), node.name(),
                        findings_.warned("unknown element") ? "" : did_you_mean(name, children(*description))),
            quote(name));
      }
    }
  }

  /// A description may stand for one above it: <model> in <model>.
  sdf::ElementPtr resolved(const sdf::ElementPtr& description) const {
    if (description->ReferenceSDF() != "model" || !root_->HasElementDescription("model")) return description;
    return root_->GetElementDescription("model");
  }

  void attributes(pugi::xml_node node, const sdf::Element& description) {
    for (const pugi::xml_attribute attribute : node.attributes()) {
      const std::string name = attribute.name();
      const bool known = description.GetAttribute(name) != nullptr || name.find(':') != std::string::npos ||
                         name == "xmlns" || of_another_version(node.name(), "@" + name);
      if (known) continue;
      std::vector<std::string> valid;
      if (!findings_.warned("unknown attribute")) {
        for (const sdf::ParamPtr& other : description.GetAttributes()) valid.push_back(other->GetKey());
      }
      findings_.warning(
          "unknown attribute", tree_.where(attribute),
          fmt::format("unknown attribute {} of <{}>, ignored{}", quote(name), node.name(), did_you_mean(name, valid)),
          quote(name));
    }
  }

  void required(pugi::xml_node node, const sdf::Element& description) {
    for (const sdf::ParamPtr& expected : description.GetAttributes()) {
      const pugi::xml_attribute given = node.attribute(expected->GetKey().c_str());
      if (given && expected->GetTypeName() == "bool" && !is_boolean(given.value())) {
        error(tree_.where_value(given),
              fmt::format("{}: expected true or false, found {}", expected->GetKey(), quote(given.value())));
      }
      if (!expected->GetRequired() || *given.value()) continue;
      error(given ? tree_.where(given) : tree_.where(node),
            fmt::format("<{}>: {} attribute {}", node.name(), given ? "empty" : "missing", quote(expected->GetKey())));
    }
  }

  void text(pugi::xml_node node, const std::string& type) {
    const std::string_view given = node.text().get();
    if (type == "pose") {
      const pugi::xml_attribute format = node.attribute("rotation_format");
      const bool quaternion = std::string_view(format.value()) == "quat_xyzw";
      if (format && !quaternion && std::string_view(format.value()) != "euler_rpy") {
        error(tree_.where_value(format),
              fmt::format("rotation_format: expected euler_rpy or quat_xyzw, found {}", quote(format.value())));
      }
      numbers(node, given, quaternion ? 7 : 6, true);
      if (quaternion) turned(node, given);
    } else if (type == "vector3") {
      numbers(node, given, 3, false);
    } else if (type == "vector2d") {
      numbers(node, given, 2, false);
    } else if (type == "double" || type == "float") {
      numbers(node, given, 1, false);
    } else if (type == "color") {
      const std::size_t given_numbers = words(given).size();
      numbers(node, given, given_numbers == 3 ? 3 : 4, false);
    } else if (type == "bool" && !is_boolean(given)) {
      error(tree_.where_text(node), fmt::format("<{}>: expected true or false, found {}", node.name(), quote(given)));
    }
  }

  void numbers(pugi::xml_node node, std::string_view text, std::size_t expected, bool may_be_empty) {
    const auto found = words(text);
    if (found.empty() && may_be_empty) return;
    if (found.size() != expected) {
      return error(tree_.where_text(node), fmt::format("<{}>: expected {} number{}, found {}", node.name(), expected,
                                                       expected == 1 ? "" : "s", found.size()));
    }
    double size = 0;
    for (const auto& [word, at] : found) {
      double value = 0;
      const NumberFault fault = sdf_is_limit(node) ? read_bound(word, value) : read_number(word, value);
      size += std::abs(value);
      if (fault == NumberFault::none) continue;
      size = 1;
      error(tree_.where_text(node, at),
            fmt::format("<{}>: {} is not a {}", node.name(), quote(word), expected_number(fault)));
    }
    const bool axis = std::string_view(node.name()) == "xyz";
    if (axis && size == 0) error(tree_.where_text(node), "<xyz>: an axis cannot be zero");
  }

  /// A quaternion of no length says nothing. Faults of its numbers are told already.
  void turned(pugi::xml_node node, std::string_view text) {
    constexpr double kLeastLength = 1e-6;
    const auto found = words(text);
    if (found.size() != 7) return;
    double square = 0;
    for (std::size_t i = 3; i < 7; ++i) {
      double value = 0;
      if (read_number(found[i].first, value) != NumberFault::none) return;
      square += value * value;
    }
    if (square > kLeastLength * kLeastLength) return;
    error(tree_.where_text(node, found[3].second), fmt::format("<{}>: a quaternion cannot be zero", node.name()));
  }

  static bool is_boolean(std::string_view text) {
    const auto found = words(text);
    const std::string_view word = found.size() == 1 ? found[0].first : std::string_view();
    constexpr std::string_view kValid[] = {"true", "false", "1", "0", "True", "False", "TRUE", "FALSE"};
    return std::find(std::begin(kValid), std::end(kValid), word) != std::end(kValid);
  }

  /// What libsdformat does not know but this reader does.
  void foreign(pugi::xml_node node) {
    const std::string_view name = node.name();
    if (name == "screw_thread_pitch") numbers(node, node.text().get(), 1, false);
    if (name != "mimic") return;
    if (!node.attribute("joint")) error(tree_.where(node), "<mimic>: missing attribute 'joint'");
    for (const pugi::xml_node child : node.children()) {
      if (child.type() == pugi::node_element) numbers(child, child.text().get(), 1, false);
    }
  }

  static std::vector<std::string> children(const sdf::Element& description) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < description.GetElementDescriptionCount(); ++i) {
      names.push_back(description.GetElementDescription(i)->GetName());
    }
    return names;
  }

  void error(const Location& where, std::string message) { findings_.error(where, std::move(message)); }

  const XmlTree& tree_;
  const sdf::ElementPtr root_;
  Findings& findings_;
};

}  // namespace

SdfSchema::SdfSchema() : description_(std::make_unique<Description>()) { sdf::init(description_->sdf); }
SdfSchema::~SdfSchema() = default;

void SdfSchema::check(const XmlTree& tree, Findings& findings) const {
  Check(tree, description_->sdf->Root(), findings).run();
}

}  // namespace kinegraph::io
