#include "kinegraph/io/xml_tree.hpp"

#include <gtest/gtest.h>

namespace kinegraph::io::xml_tree_test {
namespace {

std::string fault(const std::string& text) {
  const Result<XmlTree> tree = XmlTree::parse(text, "m.xml");
  return tree ? "none" : tree.failure().to_string();
}

std::string at(const Location& where) { return to_string(where); }

TEST(XmlTree, PlacesOfElementsAttributesAndValues) {
  const Result<XmlTree> tree = XmlTree::parse(
      "<?xml version=\"1.0\"?>\n"
      "<robot name=\"r\">\n"
      "  <link\n"
      "    name = 'a'/>\n"
      "  <mass> 2.5 </mass>\n"
      "</robot>",
      "m.xml");
  ASSERT_TRUE(tree.ok()) << tree.failure().to_string();
  EXPECT_TRUE(tree->warnings().empty());
  const pugi::xml_node root = tree->root(), link = root.child("link"), mass = root.child("mass");
  EXPECT_EQ(at(tree->where(root)), "m.xml:2:1");
  EXPECT_EQ(at(tree->where(root.attribute("name"))), "m.xml:2:8");
  EXPECT_EQ(at(tree->where_value(root.attribute("name"))), "m.xml:2:14");
  EXPECT_EQ(at(tree->where(link)), "m.xml:3:3");
  EXPECT_EQ(at(tree->where(link.attribute("name"))), "m.xml:4:5");
  EXPECT_EQ(at(tree->where_value(link.attribute("name"))), "m.xml:4:13");
  EXPECT_EQ(at(tree->where(mass)), "m.xml:5:3");
  EXPECT_EQ(at(tree->where_text(mass, 1)), "m.xml:5:10");
  EXPECT_EQ(at(tree->where_text(link)), "m.xml:3:3");
  EXPECT_STREQ(mass.text().get(), " 2.5 ");
}

TEST(XmlTree, PlacesDoNotDependOnByteOrderMarkLineEndsOrAlphabet) {
  const Result<XmlTree> tree = XmlTree::parse(
      "\xEF\xBB\xBF<?xml version=\"1.0\"?>\r\n"
      "<robot>\r\n"
      "  <link name=\"größe\" x=\"1\r\n2 3\"/>\r\n"
      "</robot>\r\n",
      "m.xml");
  ASSERT_TRUE(tree.ok()) << tree.failure().to_string();
  EXPECT_TRUE(tree->warnings().empty());
  const pugi::xml_node link = tree->root().child("link");
  EXPECT_EQ(at(tree->where(link)), "m.xml:3:3");
  EXPECT_EQ(at(tree->where(link.attribute("x"))), "m.xml:3:22");
  EXPECT_EQ(at(tree->where_value(link.attribute("x"), 3)), "m.xml:4:1");
}

TEST(XmlTree, OldMacLineEnds) {
  const Result<XmlTree> tree = XmlTree::parse("<a>\r <b/>\r</a>", "m.xml");
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(at(tree->where(tree->root().child("b"))), "m.xml:2:2");
}

TEST(XmlTree, EntitiesOfXmlAndCharactersByNumber) {
  const Result<XmlTree> tree =
      XmlTree::parse("<a b=\"&lt;&amp;&quot;&#65;&#x42;\">x &gt; y<![CDATA[<z>]]></a>", "m.xml");
  ASSERT_TRUE(tree.ok()) << tree.failure().to_string();
  EXPECT_STREQ(tree->root().attribute("b").value(), "<&\"AB");
  EXPECT_STREQ(tree->root().text().get(), "x > y");
}

TEST(XmlTree, Truncated) {
  EXPECT_EQ(fault("<a>\n <b c=\"1"), "m.xml:2:2: error: element 'b' is not complete: the file ends within its tag");
  EXPECT_EQ(fault("<a>\n <b"), "m.xml:2:2: error: element 'b' is not complete: the file ends within its tag");
  EXPECT_EQ(fault("<a>\n <b/"), "m.xml:2:2: error: element 'b' is not complete: the file ends within its tag");
  EXPECT_EQ(fault("<a>\n <b/>\n"), "m.xml:1:1: error: element 'a' is not closed: the file ends before its </a>");
  EXPECT_EQ(fault("<a>\n <b/>\n</a"), "m.xml:3:1: error: the file ends within an end tag");
  EXPECT_EQ(fault("<a>\n<"), "m.xml:2:1: error: the file ends within a tag");
  EXPECT_EQ(fault("<a><!-- b </a>"), "m.xml:1:4: error: a comment is not closed: no '-->' follows");
  EXPECT_EQ(fault("<?xml version"), "m.xml:1:1: error: a declaration <?… is not closed: no '?>' follows");
  EXPECT_EQ(fault(""), "m.xml:1:1: error: no element: not an XML file");
}

TEST(XmlTree, TagsThatDoNotMatch) {
  EXPECT_EQ(fault("<a>\n <b>\n</a>"), "m.xml:3:1: error: </a> does not match <b> of line 2");
  EXPECT_EQ(fault("<a/>\n</a>"), "m.xml:2:1: error: </a> closes nothing");
  EXPECT_EQ(fault("<a/><b/>"), "m.xml:1:5: error: a second outermost element 'b'; a file holds one");
  EXPECT_EQ(fault("<a></a >x"), "m.xml:1:9: error: text after the outermost element");
  EXPECT_EQ(fault("points: 1"), "m.xml:1:1: error: not an XML file: expected '<'");
}

TEST(XmlTree, Attributes) {
  EXPECT_EQ(fault("<a b=1/>"), "m.xml:1:6: error: the value of 'b' must be in quotes");
  EXPECT_EQ(fault("<a b/>"), "m.xml:1:4: error: attribute 'b' has no value: expected '='");
  EXPECT_EQ(fault("<a b=\"1\" b=\"2\"/>"), "m.xml:1:10: error: attribute 'b' is given twice");
  EXPECT_EQ(fault("<a b=\"1\"c=\"2\"/>"), "m.xml:1:9: error: element 'a': expected a blank before the next attribute");
  EXPECT_EQ(fault("<a b=\"1>\n<c d=\"2\"/></a>"),
            "m.xml:1:7: error: the value of 'b' is not closed, or holds a '<', which is written &lt;");
  EXPECT_EQ(fault("<a ?/>"), "m.xml:1:4: error: element 'a': expected an attribute, '>' or '/>', found '?'");
  EXPECT_EQ(fault("<a>1 < 2</a>"),
            "m.xml:1:6: error: '<' must be followed by a name, found ' '; a '<' in a text is written &lt;");
}

TEST(XmlTree, EntitiesAreNeverExpanded) {
  EXPECT_EQ(fault("<!DOCTYPE r [\n <!ENTITY a \"aaaa\">\n]><r b=\"&a;\"/>"),
            "m.xml:2:2: error: the DOCTYPE defines an entity: entities are not expanded");
  EXPECT_EQ(fault("<r b=\"x &a;\"/>"), "m.xml:1:9: error: unknown entity '&a;'; entities are not expanded");
  EXPECT_EQ(fault("<r>&#xD800;</r>"), "m.xml:1:4: error: '&#xD800;' is not a character");
  EXPECT_EQ(fault("<r>&#99999999999999999999;</r>"), "m.xml:1:4: error: '&#99999999999999999999;' is not a character");
  EXPECT_EQ(fault("<!DOCTYPE r SYSTEM \"http://example.org/r.dtd\"><r/>"), "none");
  EXPECT_EQ(fault("<!DOCTYPE r [ \n<r/>"), "m.xml:1:1: error: a DOCTYPE is not closed: no '>' follows");
}

TEST(XmlTree, NotQuiteWellFormedButClear) {
  const Result<XmlTree> tree = XmlTree::parse(
      "<!-- by hand -->\n"
      "<?xml version=\"1.0\"?>\n"
      "<robot xmlns:known=\"x\">\n"
      "  <known:a b:c=\"1\"/><xacro:d/><xacro:e/>\n"
      "  <f g=\"a & b\"/>\n"
      "</robot>",
      "m.xml");
  ASSERT_TRUE(tree.ok()) << tree.failure().to_string();
  std::string told;
  for (const Diagnostic& warning : tree->warnings()) told += to_string(warning) + "\n";
  EXPECT_EQ(told,
            "m.xml:2:1: warning: the <?xml … ?> declaration is not at the start of the file; white space or comments "
            "before it are not allowed\n"
            "m.xml:4:12: warning: the prefix of 'b:c' is not declared (xmlns:b)\n"
            "m.xml:4:21: warning: the prefix of 'xacro:d' is not declared (xmlns:xacro)\n"
            "m.xml:5:11: warning: a '&' that should be written &amp;\n");
  EXPECT_STREQ(tree->root().child("f").attribute("g").value(), "a & b");
  EXPECT_EQ(fault("<a/><?xml version=\"1.0\"?>"),
            "m.xml:1:5: error: an <?xml … ?> declaration in the middle of the file");
}

TEST(XmlTree, LimitsOfSizeAndDepth) {
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "<a>\n";
  EXPECT_EQ(fault(deep), "m.xml:101:1: error: nested too deeply: more than 100 levels");
  EXPECT_EQ(fault("<a>" + std::string(10'000'000, ' ') + "</a>"),
            "m.xml:1:1: error: the file is larger than 10000000 bytes");
  EXPECT_EQ(fault("<a b=\"\xFF\"/>"), "m.xml:1:7: error: not a text in UTF-8");
  EXPECT_EQ(fault(std::string("<a>\0</a>", 8)), "m.xml:1:4: error: not a text in UTF-8");
}

TEST(XmlTree, ManyElementsAndPrefixes) {
  std::string many = "<a>";
  for (int i = 0; i < 200'000; ++i) many += "<b/>";
  EXPECT_EQ(fault(many), "m.xml:1:800000: error: more than 200000 elements in one file");
  std::string prefixes = "<a";
  for (int i = 0; i < 100'000; ++i) prefixes += " xmlns:a" + std::to_string(i) + "='' a" + std::to_string(i) + ":b=''";
  EXPECT_EQ(fault(prefixes), "m.xml:1:1: error: element 'a' is not complete: the file ends within its tag");
  const Result<XmlTree> nested = XmlTree::parse("<a xmlns:p=''><b xmlns:p=''><p:c/></b><p:d/></a>", "m.xml");
  ASSERT_TRUE(nested.ok());
  EXPECT_TRUE(nested->warnings().empty()) << "the outer declaration holds behind the inner one";
}

TEST(XmlTree, PlacesSurviveAMove) {
  Result<XmlTree> parsed = XmlTree::parse("<a>\n <b c=\"1\"/></a>", "m.xml");
  ASSERT_TRUE(parsed.ok());
  const XmlTree tree = *std::move(parsed);
  EXPECT_EQ(at(tree.where_value(tree.root().child("b").attribute("c"))), "m.xml:2:8");
}

}  // namespace
}  // namespace kinegraph::io::xml_tree_test
