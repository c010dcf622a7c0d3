#include "kinegraph/io/settings_file.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace kinegraph::settings_file_test {
namespace {

TEST(SettingsFile, ReadsNamesWithValues) {
  const auto read =
      parse_settings("# fitted\narm.mass = 0.25\n\n  theta.q=30deg   # the start\r\nA.dry = 1e-3/2\n", "f.set");
  ASSERT_TRUE(read) << read.failure().to_string();
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)[0].name, "arm.mass");
  EXPECT_EQ((*read)[0].value, 0.25);
  EXPECT_EQ((*read)[1].name, "theta.q");
  EXPECT_DOUBLE_EQ((*read)[1].value, std::numbers::pi / 6);
  EXPECT_EQ((*read)[1].where.line, 4);
  EXPECT_EQ((*read)[1].where.column, 3);
  EXPECT_EQ((*read)[2].value, 5e-4);
}

TEST(SettingsFile, TellsEveryFaultWithItsPlace) {
  const auto read = parse_settings("arm.mass\nA.dry = \n = 3\nB.dry = lots\nC.dry = 1\nC.dry = 2\n", "f.set");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.failure().to_string(),
            "f.set:1:1: error: expected name = value, found 'arm.mass'\n"
            "f.set:2:7: error: expected a value after =\n"
            "f.set:3:2: error: expected name = value, found '= 3'\n"
            "f.set:4:9: error: expected a number, found the name 'lots'\n"
            "f.set:6:1: error: 'C.dry' is given twice, first in line 5");
}

TEST(SettingsFile, ReadsWhatItWrites) {
  const double third = 1.0 / 3;
  const std::string text = settings_text({{"arm.mass", third, {}, "± 0.01"}, {"theta.q", -1e-300, {}, ""}}, "one\ntwo");
  EXPECT_EQ(text, "# one\n# two\narm.mass = 0.3333333333333333  # ± 0.01\ntheta.q  = -1e-300\n");
  const auto read = parse_settings(text, "f.set");
  ASSERT_TRUE(read) << read.failure().to_string();
  EXPECT_EQ((*read)[0].value, third);
  EXPECT_EQ((*read)[1].value, -1e-300);
}

}  // namespace
}  // namespace kinegraph::settings_file_test
