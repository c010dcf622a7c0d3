#include "kinegraph/io/xml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/number_text.hpp"

namespace kinegraph::io {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

struct Token {
  std::string_view text;
  std::size_t offset;
};

std::vector<Token> split(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t at = text.find_first_not_of(kSpaces); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpaces, at), text.size());
    tokens.push_back({text.substr(at, end - at), at});
    at = text.find_first_not_of(kSpaces, end);
  }
  return tokens;
}

std::vector<std::string> names(std::string_view list) {
  std::vector<std::string> names;
  for (const Token& token : split(list)) names.emplace_back(token.text);
  return names;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "link 'a': mass value", for messages.
std::string subject(const std::string& owner, pugi::xml_node element, const char* attribute) {
  return fmt::format("{}: {} {}", owner, element.name(), attribute);
}

bool has_prefix(std::string_view name) { return name.find(':') != std::string_view::npos; }

}  // namespace

void XmlReader::missing(pugi::xml_node element, const char* attribute, const std::string& owner) {
  findings_.error(tree_.where(element),
                  fmt::format("{}: {} has no attribute '{}'", owner, quote(element.name()), attribute));
}

std::string XmlReader::text(pugi::xml_node element, const char* attribute, const std::string& owner) {
  const pugi::xml_attribute found = element.attribute(attribute);
  if (!found) {
    missing(element, attribute, owner);
  } else if (split(found.value()).empty()) {
    findings_.error(tree_.where(found), fmt::format("{}: attribute '{}' is empty", owner, attribute));
    return "";
  }
  return found.value();
}

std::optional<double> XmlReader::parse(std::string_view text, const Location& where, const std::string& what,
                                       bool infinite) {
  double value = 0;
  const NumberFault fault = infinite ? read_bound(text, value) : read_number(text, value);
  if (fault == NumberFault::none) return value;
  findings_.error(where, fmt::format("{}: {} is not a {}", what, quote(text), expected_number(fault)));
  return std::nullopt;
}

double XmlReader::number(pugi::xml_node element, const char* attribute, const std::string& owner,
                         std::optional<double> fallback) {
  double value = fallback.value_or(0);
  numbers(element, attribute, owner, {&value, 1}, !fallback);
  return value;
}

double XmlReader::bound(pugi::xml_node element, const char* attribute, const std::string& owner, double fallback) {
  const pugi::xml_attribute found = element.attribute(attribute);
  if (!found) return fallback;
  constexpr double kFaulty = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Token> tokens = split(found.value());
  if (tokens.size() != 1) return number(element, attribute, owner, kFaulty);
  return parse(tokens[0].text, tree_.where_value(found, tokens[0].offset), subject(owner, element, attribute), true)
      .value_or(kFaulty);
}

bool XmlReader::numbers(pugi::xml_node element, const char* attribute, const std::string& owner,
                        std::span<double> values, bool required) {
  const pugi::xml_attribute found = element.attribute(attribute);
  if (!found) {
    if (required) missing(element, attribute, owner);
    return !required;
  }
  const std::vector<Token> tokens = split(found.value());
  if (tokens.size() != values.size()) {
    findings_.error(tree_.where_value(found),
                    fmt::format("{}: expected {} number{}, found {}", subject(owner, element, attribute), values.size(),
                                values.size() == 1 ? "" : "s", tokens.empty() ? "none" : quote(found.value())));
    return false;
  }
  bool sound = true;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::optional<double> value =
        parse(tokens[i].text, tree_.where_value(found, tokens[i].offset), subject(owner, element, attribute));
    sound = sound && value;
    if (value) values[i] = *value;
  }
  return sound;
}

Eigen::Vector3d XmlReader::vector(pugi::xml_node element, const char* attribute, const std::string& owner,
                                  std::optional<Eigen::Vector3d> fallback) {
  Eigen::Vector3d value = fallback.value_or(Eigen::Vector3d::Zero());
  numbers(element, attribute, owner, {value.data(), 3}, !fallback);
  return value;
}

void XmlReader::check_known(pugi::xml_node element, const std::string& owner, std::span<const XmlSchema> schema,
                            std::string_view owners) {
  const auto is = [](const char* name) {
    return [name](const XmlSchema& s) { return std::string_view(s.element) == name; };
  };
  const auto rules = std::find_if(schema.begin(), schema.end(), is(element.name()));
  if (rules == schema.end()) return;
  unknown_attributes(element, owner, *rules);
  std::vector<std::string> known = names(rules->children), repeated;
  for (std::string& name : known) {
    if (name.back() != '*') continue;
    name.pop_back();
    repeated.push_back(name);
  }
  const std::vector<std::string> ignored = names(rules->ignored), own_name = names(owners);
  std::set<std::string_view> seen;
  for (const pugi::xml_node child : element.children()) {
    const std::string_view name = child.name();
    if (child.type() != pugi::node_element) {
      findings_.warning(
          "text", tree_.where(child),
          fmt::format("{}: the text {} in {} is ignored", owner, quote(child.value()), quote(element.name())));
    } else if (contains(known, name)) {
      if (!contains(repeated, name) && !seen.insert(name).second) {
        findings_.doubt("second", tree_.where(child),
                        fmt::format("{}: a second {} in {} is ignored", owner, quote(name), quote(element.name())),
                        quote(name));
        continue;
      }
      const pugi::xml_attribute own = child.attribute("name");
      const bool owns = contains(own_name, name) && own;
      check_known(child, owns ? fmt::format("{} {}", name, quote(own.value())) : owner, schema, owners);
    } else if (!contains(ignored, name)) {
      unknown_child(child, owner, known);
    }
  }
}

void XmlReader::unknown_attributes(pugi::xml_node element, const std::string& owner, const XmlSchema& schema) {
  const std::vector<std::string> known = names(schema.attributes);
  for (const pugi::xml_attribute attribute : element.attributes()) {
    const std::string name = attribute.name();
    if (has_prefix(name) || name == "xmlns" || contains(known, name)) continue;
    findings_.warning("unknown attribute", tree_.where(attribute),
                      fmt::format("{}: unknown attribute {} of {}{}", owner, quote(name), quote(element.name()),
                                  findings_.warned("unknown attribute") ? "" : did_you_mean(name, known)),
                      quote(name));
  }
}

void XmlReader::unknown_child(pugi::xml_node child, const std::string& owner, const std::vector<std::string>& known) {
  const std::string name = child.name();
  if (name.starts_with("xacro:")) {
    findings_.warning("xacro", tree_.where(child),
                      fmt::format("{}: {} is ignored: the file was not expanded by xacro", owner, quote(name)),
                      quote(name));
  } else if (!has_prefix(name) || contains(known, name.substr(name.rfind(':') + 1))) {
    // Elements of other namespaces are somebody's extensions and of no effect, but a joint or link must not get lost.
    findings_.warning("unknown element", tree_.where(child),
                      fmt::format("{}: unknown element {}{}", owner, quote(name),
                                  findings_.warned("unknown element") ? "" : did_you_mean(name, known)),
                      quote(name));
  }
}

}  // namespace kinegraph::io
