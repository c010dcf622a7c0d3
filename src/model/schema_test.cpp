#include "kinegraph/model/schema.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "kinegraph/base/units.hpp"
#include "kinegraph/expr/function.hpp"
#include "test/shared.hpp"

namespace kinegraph {
namespace {

TEST(Schema, SectionsStandInTheirOrder) {
  for (int i = 0; i < kSections; ++i) EXPECT_EQ(static_cast<int>(sections()[i].section), i);
  EXPECT_EQ(schema(Section::torques).key, "torques");
}

TEST(Schema, EveryKeyFunctionAndUnitIsDocumented) {
  std::ifstream file(source_file("docs/formats.md"));
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string text = stream.str();
  const auto expect = [&](std::string_view word) {
    EXPECT_NE(text.find("`" + std::string(word) + "`"), std::string::npos) << word;
  };
  for (const KeySchema& key : file_keys()) expect(key.key);
  for (const SectionSchema& section : sections()) {
    // Each list has a heading; its keys are in the table below it.
    const std::size_t start = text.find("### `" + std::string(section.key) + "`");
    ASSERT_NE(start, std::string::npos) << section.key;
    const std::string part = text.substr(start, text.find("\n### ", start + 1) - start);
    for (const KeySchema& key : section.keys) {
      EXPECT_NE(part.find("`" + std::string(key.key) + "`"), std::string::npos) << section.key << "." << key.key;
    }
  }
  for (const Function& function : functions()) expect(function.name);
  for (const Unit& unit : units()) expect(unit.name);
}

}  // namespace
}  // namespace kinegraph
