#include "kinegraph/base/result.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/units.hpp"

namespace kinegraph::result_test {
namespace {

TEST(Diagnostic, IsOneLineWithItsPlace) {
  EXPECT_EQ(to_string(Diagnostic{Severity::error, {"crank.yaml", 12, 9}, "unknown point 'P7'"}),
            "crank.yaml:12:9: error: unknown point 'P7'");
  EXPECT_EQ(to_string(Diagnostic{Severity::warning, {"crank.yaml", 12, 0}, "odd"}), "crank.yaml:12: warning: odd");
  EXPECT_EQ(to_string(Diagnostic{Severity::error, {"crank.yaml", 0, 0}, "gone"}), "crank.yaml: error: gone");
  EXPECT_EQ(to_string(Diagnostic{Severity::error, {}, "step: must be > 0, is -1"}), "error: step: must be > 0, is -1");
}

TEST(Failure, KindDecidesTheExitStatus) {
  EXPECT_EQ(Failure::bad_input("x").exit_status(), 2);
  EXPECT_EQ(Failure::no_answer("x").exit_status(), 1);
  EXPECT_EQ(Failure::internal("x").exit_status(), 3);
  EXPECT_EQ(Failure::interrupted().exit_status(), 130);
}

TEST(Failure, PrintsOneLinePerFault) {
  Failure failure = Failure::bad_input({"a.yaml", 1, 2}, "first");
  failure.diagnostics.push_back({Severity::warning, {"a.yaml", 3, 4}, "second"});
  EXPECT_EQ(failure.to_string(), "a.yaml:1:2: error: first\na.yaml:3:4: warning: second");
}

TEST(DidYouMean, FindsTheNearestNameOrNone) {
  EXPECT_EQ(did_you_mean("P7", {"A", "P1", "P2"}), "; did you mean 'P1'?");
  EXPECT_EQ(did_you_mean("masss", {"length", "mass", "I0"}), "; did you mean 'mass'?");
  EXPECT_EQ(did_you_mean("fxied", {"name", "x", "fixed"}), "; did you mean 'fixed'?");
  EXPECT_EQ(did_you_mean("i0", {"mass", "I0"}), "; did you mean 'I0'?");
  EXPECT_EQ(did_you_mean("colour", {"length", "mass"}), "");
  EXPECT_EQ(did_you_mean("y", {"x"}), "");
  EXPECT_EQ(did_you_mean("", {"x"}), "");
  EXPECT_EQ(did_you_mean(std::string(100'000, 'a'), {std::string(99'999, 'a')}), "");
}

TEST(EditDistance, CountsInsertionsDeletionsReplacementsSwaps) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("ab", "ba"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("Mass", "mass"), 0);
}

TEST(Quote, KeepsMessagesOnOneShortLine) {
  EXPECT_EQ(quote("a\nb\tc"), "'a b c'");
  const std::string most(59, 'a');
  EXPECT_EQ(quote(fmt::format("{}θ and so on", most)), fmt::format("'{}…'", most));
  EXPECT_EQ(characters("θ=1"), 3);
}

TEST(Units, TheLongestWholeWordIsTaken) {
  EXPECT_EQ(unit_at("deg/s*t")->name, "deg/s");
  EXPECT_EQ(unit_at("m/s^2")->name, "m/s^2");
  EXPECT_EQ(unit_at("m*2")->name, "m");
  EXPECT_EQ(unit_at("degree"), nullptr);
  EXPECT_EQ(unit_at("m2"), nullptr);
  EXPECT_EQ(unit_at(""), nullptr);
  EXPECT_DOUBLE_EQ(unit_at("km/h")->si * 3.6, 1);
  EXPECT_DOUBLE_EQ(unit_at("rpm")->si * 60, unit_at("rev")->si);
}

}  // namespace
}  // namespace kinegraph::result_test
