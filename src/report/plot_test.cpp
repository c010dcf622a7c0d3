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
