#include "kinegraph/io/yaml_tree.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kinegraph/io/model_file.hpp"

namespace kinegraph::io::yaml_tree_test {
namespace {

std::string fault(const std::string& text) {
  const Result<Model> model = parse_planar_yaml(text, "m.yaml");
  return model ? "none" : model.failure().to_string();
}

std::string repeated(int times, const std::string& text) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(YamlTree, KeepsPlacesOrderAndSpelling) {
  const Result<YamlTree> tree = YamlTree::parse("ä: 1\nb:\n  - 'two'\n  - [x, ~]\nb: 3\n", "f");
  ASSERT_TRUE(tree.ok());
  const YamlNode& root = tree->root();
  ASSERT_EQ(root.keys.size(), 3u);  // both b
  EXPECT_EQ(to_string(root.keys[0].second->where), "f:1:4");
  const YamlNode& list = *root.keys[1].second;
  EXPECT_EQ(list.items[0]->text, "two");
  EXPECT_EQ(to_string(list.items[0]->where), "f:3:6");  // after the quote
  EXPECT_TRUE(list.items[0]->verbatim);
  EXPECT_EQ(list.items[1]->items[1]->kind, YamlNode::Kind::nothing);
}

TEST(YamlTree, RefusesWhatIsNotOneDocument) {
  EXPECT_EQ(fault(""), "m.yaml:1:1: error: the file is empty");
  EXPECT_EQ(fault("# nothing\n"), "m.yaml:1:1: error: the file is empty");
  EXPECT_EQ(fault("a: 1\n---\nb: 2\n"), "m.yaml:3:1: error: a second document; a model file holds one");
  EXPECT_EQ(fault("- 1"), "m.yaml:1:1: error: expected a map with the keys of a model, such as points, found a list");
  EXPECT_EQ(fault("hello"), "m.yaml:1:1: error: expected a map with the keys of a model, such as points, found a text");
}

TEST(YamlTree, SyntaxFaultsHaveAPlace) {
  EXPECT_EQ(fault("points:\n\t- {x: 0}\n"), "m.yaml:2:1: error: not YAML: a tab in the indentation; expected spaces");
  EXPECT_EQ(fault("points: [{x: 1\n"), "m.yaml:2:1: error: not YAML: end of map flow not found");
  EXPECT_EQ(fault("a: b: c\n"), "m.yaml:1:5: error: not YAML: illegal map value");
  EXPECT_EQ(fault("points: *nope\n"), "m.yaml:1:9: error: not YAML: the referenced anchor is not defined");
  EXPECT_EQ(fault("points: []\npoints: []\n"), "m.yaml:2:1: error: duplicate key 'points'; first given in line 1");
  EXPECT_EQ(fault("[a]: 1\npoints: []\n"), "m.yaml:1:1: error: expected a text as key, found a list");
}

TEST(YamlTree, RefusesOtherEncodings) {
  EXPECT_EQ(fault("a: \xE9\n"), "m.yaml:1:4: error: not a text in UTF-8");
  EXPECT_EQ(fault("# ä\nb: \xC3"), "m.yaml:2:4: error: not a text in UTF-8");
  EXPECT_EQ(fault(std::string("a: \0b", 5)), "m.yaml:1:4: error: not a text in UTF-8");
  EXPECT_EQ(fault(std::string("\xFF\xFEp\0", 4)), "m.yaml:1:1: error: not a text in UTF-8");
}

TEST(YamlTree, HostileFilesAreRefusedSoon) {
  EXPECT_EQ(fault(std::string(10'000'001, '#')), "m.yaml:1:1: error: the file is larger than 10000000 bytes");
  EXPECT_EQ(fault("a: 1\n" + repeated(700'000, "*a ")), "m.yaml:2:1: error: the line is longer than 2000000 bytes");
  EXPECT_EQ(fault(repeated(65, "[") + repeated(65, "]")), "m.yaml:1:65: error: nested too deeply: more than 64 levels");
  EXPECT_EQ(fault(std::string(5'000'000, '{')), "m.yaml:1:1025: error: nested too deeply: more than 64 levels");
  EXPECT_EQ(fault(repeated(100'000, "- ")), "m.yaml:1:129: error: nested too deeply: more than 64 levels");
  EXPECT_EQ(fault(repeated(100'000, "? ")), "m.yaml:1:129: error: nested too deeply: more than 64 levels");
  EXPECT_EQ(fault("points: &a [*a]"), "m.yaml:1:13: error: an alias within what it names");
}

TEST(YamlTree, AliasesCannotMultiplyWithoutEnd) {
  std::string bomb = "a: &a0 [x]\n";
  for (int i = 1; i < 20; ++i) {
    bomb += fmt::format("{0}: &a{1} [{2}]\n", static_cast<char>('a' + i), i, repeated(9, fmt::format("*a{}, ", i - 1)));
  }
  EXPECT_EQ(fault(bomb), "m.yaml:7:14: error: more than 300000 values: aliases multiply them");
  const std::string many = "points: [{x: 0, y: 0}]\nplanar_bodies:\n  - &b {points: [" + repeated(2'000, "0, ") +
                           "0]}\n" + repeated(2'000, "  - *b\n");
  EXPECT_EQ(fault(many), "m.yaml:152:5: error: more than 300000 values: aliases multiply them");
}

TEST(YamlTree, ManyFaultsAreCounted) {
  std::string text = "points: [{x: 0, y: 0}]\n";
  for (int i = 0; i < 1'000; ++i) text += fmt::format("k{}: 1\n", i);
  const std::string report = fault(text);
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 100);
  EXPECT_TRUE(report.ends_with("\nm.yaml: error: … and 900 more faults")) << report.substr(report.size() - 60);
}

}  // namespace
}  // namespace kinegraph::io::yaml_tree_test
