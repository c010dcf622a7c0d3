#include "kinegraph/model/schema.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "kinegraph/base/units.hpp"
#include "kinegraph/expr/function.hpp"
#include "kinegraph/model/sensor.hpp"
#include "test/shared.hpp"

namespace kinegraph::schema_test {
namespace {

TEST(Schema, SectionsStandInTheirOrder) {
  for (int i = 0; i < kSections; ++i) EXPECT_EQ(static_cast<int>(sections()[i].section), i);
  EXPECT_EQ(schema(Section::torques).key, "torques");
}

TEST(Schema, SensorTypesStandInTheirOrderAndTheirKeysAreThoseOfTheSchema) {
  for (const bool spatial : {false, true}) {
    const auto& keys = (spatial ? robot_sections()[0] : schema(Section::sensors)).keys;
    std::set<std::string_view> of_schema, of_types;
    for (const KeySchema& key : keys) of_schema.insert(key.key);
    for (const SensorTypeInfo& type : sensor_types()) {
      EXPECT_EQ(&info(type.type), &type) << type.name;
      EXPECT_GE(type.units.size(), type.planar.size()) << type.name;
      EXPECT_GE(type.spatial_units.size(), type.spatial.size()) << type.name;
      for (const std::string_view key : sensor_keys(type, spatial)) of_types.insert(key);
    }
    EXPECT_EQ(of_schema, of_types);
  }
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
  const std::size_t robots = text.find("## Sensors of robots");
  ASSERT_NE(robots, std::string::npos);
  for (const SectionSchema& section : robot_sections()) {
    const std::string part = text.substr(robots, text.find("\n## ", robots + 1) - robots);
    for (const KeySchema& key : section.keys) {
      EXPECT_NE(part.find("`" + std::string(key.key) + "`"), std::string::npos) << section.key << "." << key.key;
    }
  }
  for (const SensorTypeInfo& type : sensor_types()) {
    expect(type.name);
    EXPECT_NE(text.find("| " + std::string(type.meaning)), std::string::npos) << type.meaning;
  }
  for (const Function& function : functions()) expect(function.name);
  for (const Unit& unit : units()) expect(unit.name);
}

}  // namespace
}  // namespace kinegraph::schema_test
