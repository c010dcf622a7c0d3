#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kinegraph/io/findings.hpp"
#include "kinegraph/io/xml_tree.hpp"

namespace kinegraph::io {

/// What an element may hold: names with blanks between them.
struct XmlSchema {
  const char* element;
  const char* attributes;
  const char* children;  ///< "visual*": any number of them, else one
  const char* ignored;   ///< children that are known and of no effect here, whatever they hold
};

/// Reads attributes strictly, and tells the findings what it cannot read. `owner` is whom a message is about:
/// "link 'base'".
class XmlReader {
 public:
  XmlReader(const XmlTree& tree, Findings& findings) : tree_(tree), findings_(findings) {}

  Location where(pugi::xml_node element) const { return tree_.where(element); }

  /// A text that must be there and not empty; else "".
  std::string text(pugi::xml_node element, const char* attribute, const std::string& owner);

  /// A number; what must be there has no fallback. A faulty one is reported and taken as the fallback, or 0.
  double number(pugi::xml_node element, const char* attribute, const std::string& owner,
                std::optional<double> fallback = std::nullopt);

  /// The same, infinite where it is "inf" or larger than kLargest; a faulty one is not a number.
  double bound(pugi::xml_node element, const char* attribute, const std::string& owner, double fallback);

  /// As many numbers as `values` has room for; whether they could be read. If the attribute is missing they stay as
  /// they are, and it is a fault if `required`.
  bool numbers(pugi::xml_node element, const char* attribute, const std::string& owner, std::span<double> values,
               bool required);
  Eigen::Vector3d vector(pugi::xml_node element, const char* attribute, const std::string& owner,
                         std::optional<Eigen::Vector3d> fallback = std::nullopt);

  /// A number at some place of the file, or nothing and a fault.
  std::optional<double> parse(std::string_view text, const Location& where, const std::string& what,
                              bool infinite = false);

  /// Warns of attributes, children and texts of an element that the schema does not know; children included, with
  /// themselves as owner where they have a name and are in `owners` ("link joint").
  void check_known(pugi::xml_node element, const std::string& owner, std::span<const XmlSchema> schema,
                   std::string_view owners);

 private:
  void missing(pugi::xml_node element, const char* attribute, const std::string& owner);
  void unknown_attributes(pugi::xml_node element, const std::string& owner, const XmlSchema& schema);
  void unknown_child(pugi::xml_node child, const std::string& owner, const std::vector<std::string>& known);

  const XmlTree& tree_;
  Findings& findings_;
};

}  // namespace kinegraph::io
