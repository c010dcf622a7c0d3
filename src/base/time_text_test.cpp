#include "kinegraph/base/time_text.hpp"

#include <gtest/gtest.h>

namespace kinegraph::time_text_test {
namespace {

TEST(TimeText, TellsTimesApart) {
  EXPECT_EQ(time_text(0.9), "0.9");
  EXPECT_EQ(time_text(1.0 / 3), "0.333333");
  EXPECT_EQ(time_text(12345.678), "12345.7");
  EXPECT_EQ(time_text(1.7e9), "1700000000");
  EXPECT_EQ(time_text(1700000000.01), "1700000000.01");
  EXPECT_EQ(time_text(-1700000000.25), "-1700000000.25");
  EXPECT_EQ(time_text(1e10), "10000000000");
  EXPECT_EQ(time_text(1e300), "1e+300");
}

}  // namespace
}  // namespace kinegraph::time_text_test
