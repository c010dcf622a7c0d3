#include "options.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "move.hpp"

namespace kinegraph::cli::options_test {
namespace {

std::string faults(const OptionReader& reader) { return reader.failure().to_string(); }

TEST(OptionReader, NumbersCarryUnits) {
  OptionReader reader;
  EXPECT_DOUBLE_EQ(reader.number("angle", "30deg"), std::numbers::pi / 6);
  EXPECT_DOUBLE_EQ(reader.number("step", "1ms"), 1e-3);
  EXPECT_DOUBLE_EQ(reader.number("angle", "-pi/4"), -std::numbers::pi / 4);
  EXPECT_TRUE(reader.ok());
}

TEST(OptionReader, TimesHaveNoOtherUnit) {
  OptionReader reader;
  EXPECT_DOUBLE_EQ(reader.seconds("time", "2 min"), 120);
  EXPECT_DOUBLE_EQ(reader.seconds("time", "1e-3"), 1e-3);
  EXPECT_DOUBLE_EQ(reader.seconds("time", "3*20ms"), 0.06);
  EXPECT_TRUE(reader.ok()) << faults(reader);
  reader.seconds("time", "5kg");
  reader.seconds("step", "1e-3 deg");
  EXPECT_EQ(faults(reader),
            "error: time: expected a time (s, ms, us, min, h), found the unit of a mass: '5kg'\n"
            "error: step: expected a time (s, ms, us, min, h), found the unit of an angle: '1e-3 deg'");
}

TEST(OptionReader, KeepsEveryFaultWithFieldAndRule) {
  OptionReader reader;
  reader.number("step", "abc");
  reader.whole("window", "2.5", 2, 100);
  reader.whole("window", "1", 2, 100);
  reader.whole("window", "99999999999999999999", 2, 100);
  reader.whole("window", "-99999999999999999999", 2, 100);
  reader.setting("set", "L");
  EXPECT_EQ(faults(reader),
            "error: step: expected a number, found the name 'abc'\n"
            "error: window: expected a whole number, found '2.5'\n"
            "error: window: must be >= 2, is 1\n"
            "error: window: must be <= 100, is 99999999999999999999\n"
            "error: window: must be >= 2, is -99999999999999999999\n"
            "error: set: expected name=value, found 'L'");
}

TEST(OptionReader, SettingsAreNamesWithValues) {
  OptionReader reader;
  const auto [name, value] = reader.setting("set", "theta.q=30deg");
  EXPECT_EQ(name, "theta.q");
  EXPECT_DOUBLE_EQ(value, std::numbers::pi / 6);
  EXPECT_TRUE(reader.ok());
}

TEST(OptionReader, MovesAreRanges) {
  OptionReader reader;
  const task::Move turn = read_move(reader, "crank.q=0:360deg");
  EXPECT_EQ(turn.coordinate, "crank.q");
  EXPECT_EQ(turn.from, 0);
  EXPECT_DOUBLE_EQ(turn.to, 2 * std::numbers::pi);
  EXPECT_EQ(turn.samples, 361);
  EXPECT_EQ(read_move(reader, "P1.x=0.5:-0.5:11").samples, 11);
  EXPECT_TRUE(reader.ok()) << faults(reader);

  read_move(reader, "crank.q");
  read_move(reader, "crank.q=1:2:1");
  read_move(reader, "crank.q=10:350deg");
  read_move(reader, "crank.q=2:2");
  EXPECT_EQ(faults(reader),
            "error: move: expected name=from:to or name=from:to:samples, found 'crank.q'\n"
            "error: move samples: must be >= 2, is 1\n"
            "error: move: '10' and '350deg': give both a unit, or none\n"
            "error: move: goes from 2 to the same value");
}

TEST(Options, ListsAreSplitAtCommas) {
  EXPECT_EQ(split_list("t, theta.q,-"), (std::vector<std::string>{"t", "theta.q", "-"}));
  EXPECT_TRUE(split_list("").empty());
}

}  // namespace
}  // namespace kinegraph::cli::options_test
