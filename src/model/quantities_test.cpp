#include "kinegraph/model/quantities.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kinegraph::quantities_test {
namespace {

/// Formulas by name, each in a line of its own.
struct Sheet {
  using Formulas = std::vector<std::pair<std::string, std::string>>;

  explicit Sheet(Formulas given, Settings set = {}) : formulas(std::move(given)), settings(std::move(set)) {}

  Formulas formulas;
  Settings settings;
  std::vector<Diagnostic> faults;
  std::vector<Text> texts;
  std::vector<double> values;

  void evaluate() {
    Quantities quantities(settings, faults);
    values.assign(formulas.size(), -1);
    for (const auto& [name, text] : formulas) {
      texts.push_back({text, {"f", static_cast<int>(texts.size()) + 1, 5}, true});
    }
    for (std::size_t i = 0; i < formulas.size(); ++i) quantities.formula({formulas[i].first}, texts[i], &values[i]);
    quantities.evaluate();
  }
  std::string report() const {
    std::string text;
    for (const Diagnostic& d : faults) text += to_string(d) + "\n";
    return text;
  }
};

TEST(Quantities, AnyOrder) {
  Sheet sheet({{"a", "b + 1"}, {"b", "2*c"}, {"c", "3"}});
  sheet.evaluate();
  EXPECT_EQ(sheet.values, (std::vector<double>{7, 6, 3}));
  EXPECT_EQ(sheet.report(), "");
}

TEST(Quantities, SettingsReplaceFormulas) {
  Sheet sheet({{"a", "b + 1"}, {"b", "2*c"}, {"c", "3"}}, {{"b", 10}});
  sheet.evaluate();
  EXPECT_EQ(sheet.values, (std::vector<double>{11, 10, 3}));
}

TEST(Quantities, CyclesAreNamedOnce) {
  Sheet sheet({{"d", "a"}, {"a", "b"}, {"b", "c + b0"}, {"c", "a"}, {"b0", "1"}});
  sheet.evaluate();
  EXPECT_EQ(sheet.report(), "f:2:5: error: parameters form a cycle: a -> b -> c -> a\n");
  EXPECT_TRUE(std::isnan(sheet.values[0]));
  EXPECT_EQ(sheet.values[4], 1);
}

TEST(Quantities, OneMistakeIsReportedOnce) {
  Sheet sheet({{"width", "sqrt(-1)"}, {"height", "2*width"}, {"area", "width*heigth"}});
  sheet.evaluate();
  EXPECT_EQ(sheet.report(),
            "f:3:11: error: unknown name 'heigth'; did you mean 'height'?\n"
            "f:1:5: error: width: 'sqrt(-1)' is not a number\n");
}

TEST(Quantities, LongChainsDoNotExhaustTheStack) {
  Sheet sheet({});
  const int length = 50'000;
  for (int i = 0; i < length; ++i) {
    sheet.formulas.emplace_back("p" + std::to_string(i), i + 1 < length ? "p" + std::to_string(i + 1) : "1");
  }
  sheet.evaluate();
  EXPECT_EQ(sheet.report(), "");
  EXPECT_EQ(sheet.values.front(), 1);
}

TEST(Quantities, AUnitThatIsAlsoAParameterIsRefused) {
  Sheet sheet({{"s", "2"}, {"rate", "30deg/s"}, {"quotient", "30deg / s"}});
  sheet.evaluate();
  EXPECT_EQ(
      sheet.report(),
      "f:2:5: error: '/s' is part of a unit here, but 's' is also a parameter; put spaces around '/' to divide by "
      "it\n");
}

}  // namespace
}  // namespace kinegraph::quantities_test
