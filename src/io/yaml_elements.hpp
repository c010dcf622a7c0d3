#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kinegraph/io/yaml_tree.hpp"
#include "kinegraph/model/source.hpp"

namespace kinegraph::io {

/// Reads lists of elements from a YAML tree into a ModelSource by the tables of model/schema.hpp: knows which keys
/// exist and how their values are written, not what they mean.
class YamlElements {
 public:
  YamlElements(ModelSource& source, std::vector<Diagnostic>& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  void read(const SectionSchema& section, const YamlNode& value);
  Field field(const YamlNode& value, const std::string& key, ValueShape shape);  ///< a text or a list
  /// The keys of a map without those that are not texts or come twice, which are reported.
  std::vector<std::pair<const YamlNode*, const YamlNode*>> sound_keys(const YamlNode& map);
  void unknown_key(const YamlNode& key, const std::vector<std::string>& known);
  void error(const Location& where, std::string message);

  /// More values than any file has: aliases multiply them. Reading stops then.
  bool too_many() const { return values_ > YamlTree::kMostValues; }
  static Failure refuse_too_many(const YamlNode& root);

  static Text text(const YamlNode& node) { return {node.text, node.where, node.verbatim}; }

 private:
  void element(const SectionSchema& section, const YamlNode& item, ElementSource& into);
  void drawing(const std::string& key, const YamlNode& value);
  void place(const std::string& key, const YamlNode& value, ElementSource& into);

  ModelSource& source_;
  std::vector<Diagnostic>& diagnostics_;
  int values_ = 0;
};

}  // namespace kinegraph::io
