#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph::io {

/// One value of a YAML file with its place. A value that an alias (*name) repeats is the same node again.
struct YamlNode {
  enum class Kind { nothing, text, list, map };

  Kind kind = Kind::nothing;
  Location where;
  std::string text;
  bool verbatim = false;  ///< the characters of `text` stand in the file one after the other, from `where` on
  std::vector<const YamlNode*> items;                             ///< of a list
  std::vector<std::pair<const YamlNode*, const YamlNode*>> keys;  ///< of a map, in the order of the file
};

/// A parsed file. Owns its nodes.
class YamlTree {
 public:
  static constexpr std::size_t kLargestFile = 10'000'000;  ///< bytes
  static constexpr std::size_t kLongestLine = 2'000'000;   ///< bytes
  static constexpr int kDeepest = 64;                      ///< lists and maps within each other
  static constexpr int kMostValues = 300'000;              ///< keys, texts, lists and maps

  /// `text` in UTF-8; refuses what is not one YAML document, with the place of the fault.
  static Result<YamlTree> parse(const std::string& text, const std::string& file_name);

  const YamlNode& root() const { return *root_; }

 private:
  friend class YamlTreeBuilder;
  std::deque<YamlNode> nodes_;  // a deque: nodes stay where they are
  const YamlNode* root_ = nullptr;
};

/// "a list", "a text", for messages.
std::string describe(const YamlNode& node);
/// A key as messages show it, without quotes: one of ours as it is, one of the user's shortened.
std::string shown(const std::string& key);
/// A number as the file writes it, unless that is very long.
std::string written(const YamlNode& node);

}  // namespace kinegraph::io
