#include "kinegraph/report/plot.hpp"

#include <gtest/gtest.h>

namespace kinegraph::report::plot_test {
namespace {

TEST(Plot, TicksAreRoundAndInside) {
  EXPECT_EQ(ticks(0, 5, 5), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  const std::vector<double> fine = ticks(-0.013, 0.021, 6);
  ASSERT_EQ(fine.size(), 7u);
  EXPECT_NEAR(fine.front(), -0.01, 1e-15);
  EXPECT_NEAR(fine.back(), 0.02, 1e-15);
  EXPECT_EQ(ticks(2, 2, 5), (std::vector<double>{2}));
}

TEST(Plot, PictureHasTitleLabelsLegendAndCurves) {
  const Plot plot{"A < B & C", "t in s", "q in m", {{"one", {0, 1, 2}, {0, -1, 4}}, {"two", {0, 2}, {3, 3}}}, false};
  const std::string picture = svg(plot);
  EXPECT_TRUE(picture.starts_with("<svg ")) << picture;
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  for (const char* part : {"A &lt; B &amp; C", ">t in s<", ">q in m<", ">one<", ">two<", ">−1<", ">4<"}) {
    EXPECT_NE(picture.find(part), std::string::npos) << part;
  }
  std::size_t curves = 0;
  for (std::size_t at = picture.find("<polyline"); at != std::string::npos; at = picture.find("<polyline", at + 1))
    ++curves;
  EXPECT_EQ(curves, 2u);
  EXPECT_EQ(picture.find("nan"), std::string::npos);
}

TEST(Plot, LogarithmicAxesLeaveOutWhatTheyCannotShow) {
  Plot plot{"log", "x", "y", {{"c", {0, 0.01, 1, 100}, {1, 2, -1, 4}}}};
  plot.log_x = plot.log_y = true;
  plot.bands = {{{0.01, 100}, {1, 3}, {3, 5}}};
  const std::string picture = svg(plot);
  for (const char* part : {">0.01<", ">100<", "<polygon"}) EXPECT_NE(picture.find(part), std::string::npos) << part;
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_EQ(picture.find("inf"), std::string::npos);
}

/// Where the text of an element that holds `part` begins, from the left.
double place_of(const std::string& picture, const std::string& part, const char* attribute) {
  const std::size_t line = picture.rfind('\n', picture.find(part));
  const std::size_t at = picture.find(std::string(attribute) + "=\"", line);
  return std::stod(picture.substr(at + std::string(attribute).size() + 2));
}

TEST(Plot, TicksOfLogarithmicAxesAreNeverFewAndPowersAreTypeset) {
  Plot plot{"log", "x", "y", {{"c", {1e-7, 1e7}, {0.0011, 0.0019}}}};
  plot.log_x = plot.log_y = true;
  const std::string picture = svg(plot);
  for (const char* part : {">10⁻⁷<", ">0.01<", ">1000<", ">10⁶<", ">0.0012<", ">0.0018<"}) {
    EXPECT_NE(picture.find(part), std::string::npos) << part;
  }
  plot = {"linear", "x", "y", {{"c", {0, 1}, {-2e-9, 2e-9}}}};
  EXPECT_NE(svg(plot).find(">−2·10⁻⁹<"), std::string::npos);
  plot = {"fine", "x", "y", {{"c", {0, 1}, {0.12345670, 0.12345690}}}};  // ticks that differ look different
  for (const char* part : {">0.1234567<", ">0.1234568<"}) EXPECT_NE(svg(plot).find(part), std::string::npos) << part;
}

TEST(Plot, LongTicksMoveTheAxisAndLongLegendsTakeMoreLines) {
  Plot plot{"many", "x", "y", {{"c", {0, 1}, {123456.01, 123456.09}}}};
  const double right = place_of(svg(plot), ">123456.02<", "x");
  EXPECT_GT(right - 7.5 * 9, 34);  // the label of the axis is left of that
  EXPECT_LT(place_of(svg({"few", "x", "y", {{"c", {0, 1}, {1, 2}}}}), ">1.2<", "x"), right);
  plot.curves.clear();
  for (int i = 0; i < 8; ++i) plot.curves.push_back({"a curve number " + std::to_string(i), {0, 1}, {0, 1}, i == 3});
  const std::string picture = svg(plot);
  EXPECT_GT(place_of(picture, "number 7<", "y"), place_of(picture, "number 0<", "y"));
  EXPECT_LT(place_of(picture, "number 7<", "x"), 700);
  EXPECT_NE(picture.find("stroke-dasharray"), std::string::npos);
}

TEST(Plot, FlatAndEmptyCurvesStillDraw) {
  for (const Plot& plot :
       {Plot{"flat", "", "", {{"c", {0, 1}, {2, 2}}}, true}, Plot{"empty", "", "", {{"c", {}, {}}}, false}}) {
    const std::string picture = svg(plot);
    EXPECT_EQ(picture.find("nan"), std::string::npos) << plot.title;
    EXPECT_EQ(picture.find("inf"), std::string::npos) << plot.title;
  }
}

}  // namespace
}  // namespace kinegraph::report::plot_test
