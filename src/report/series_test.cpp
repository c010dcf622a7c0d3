#include "kinegraph/report/series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/report/packed.hpp"

namespace kinegraph::report::series_test {
namespace {

TEST(Series, ThinningKeepsEveryPeakInItsOrder) {
  std::vector<double> t, y;
  for (int i = 0; i < 10000; ++i) t.push_back(i), y.push_back(std::sin(0.01 * i));
  y[4321] = 50;
  y[8765] = -70;
  const Thinning thinning(y.size(), 1000);
  ASSERT_FALSE(thinning.all());
  const std::vector<std::size_t> kept = thinning.pick(y);
  EXPECT_EQ(kept.size(), 1000u);
  EXPECT_EQ(thinning.times(t).size(), 1000u);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_NE(std::find(kept.begin(), kept.end(), 4321u), kept.end());
  EXPECT_NE(std::find(kept.begin(), kept.end(), 8765u), kept.end());
  EXPECT_TRUE(Thinning(1000, 1000).all());
}

TEST(Series, ThinningPassesOverHoles) {
  std::vector<double> y(100, std::nan(""));
  y[30] = 1;
  y[60] = -2;
  const std::vector<std::size_t> kept = Thinning(y.size(), 2).pick(y);
  EXPECT_EQ(kept, (std::vector<std::size_t>{30, 60}));
}

TEST(Series, UnitsFollowTheKindOfJoint) {
  Model model;
  model.relative.push_back({"theta", RelativeCoordinate::Type::absolute_angle, {}, {}});
  model.relative.push_back({"slide", RelativeCoordinate::Type::relative_position, {}, {}});
  EXPECT_EQ(quantity_of(model, "theta.q").unit, "rad");
  EXPECT_EQ(quantity_of(model, "slide.v").unit, "m/s");
  EXPECT_EQ(quantity_of(model, "theta.tau").unit, "N m");
  EXPECT_EQ(quantity_of(model, "slide.tau").unit, "N");
  EXPECT_EQ(quantity_of(model, "P1.ax").unit, "m/s²");
  EXPECT_EQ(quantity_of(model, "elbow.reaction.mx").unit, "N m");
  EXPECT_EQ(quantity_of(model, "branch.0").unit, "");
}

TEST(Series, DeviationsAndReadingsStandWithTheirSeries) {
  Trajectory motion({"theta.q", "theta.q.sd", "lonely.sd"});
  for (int k = 0; k < 3; ++k) {
    double* row = motion.append(k);
    row[0] = k, row[1] = 0.1, row[2] = 7;
  }
  Trajectory log({"theta.q", "other.q"});
  for (int k = 0; k < 3; ++k) {
    double* row = log.append(0.5 * k);
    row[0] = k == 1 ? std::nan("") : 0.5 * k, row[1] = 0;
  }
  const auto dots = beside(motion, log, "measured", true);
  ASSERT_EQ(dots.size(), 1u);
  EXPECT_EQ(dots[0].times, (std::vector<double>{0, 1}));
  const auto json = series_section(Model{}, motion, dots);
  ASSERT_EQ(json["list"].size(), 2u);
  EXPECT_EQ(json["list"][0]["sd"], packed(std::vector<double>{0.1, 0.1, 0.1}));
  EXPECT_EQ(json["list"][0]["beside"][0]["label"], "measured");
  EXPECT_EQ(json["list"][1]["name"], "lonely.sd");
}

TEST(Series, LimitsOfTheModelStandBesideItsColumns) {
  Model model;
  Joint joint;
  joint.name = "elbow";
  joint.type = JointType::revolute;
  joint.limits = {{.lower = -1, .upper = 2, .velocity = 3}};
  model.robot.joints = {joint};
  const Ranges limits = limits_of(model);
  EXPECT_EQ(limits.at("elbow.q").low, -1);
  EXPECT_EQ(limits.at("elbow.v").high, 3);

  Trajectory table({"elbow.q", "elbow.tau", "other.q"});
  for (int k = 0; k < 3; ++k) std::fill_n(table.append(k), 3, 0.5 * k);
  const auto list = series_section(model, table, {}, limits)["list"];
  EXPECT_EQ(list[0]["limits"].dump(), "[-1.0,2.0]");
  EXPECT_EQ(list[1]["limits"].dump(), "[null,null]");  // no effort is given: infinite
  EXPECT_FALSE(list[2].contains("limits"));
}

TEST(Series, ContactsAreTimedByTheirForces) {
  Trajectory table({"foot.fx", "foot.fy", "foot.fz", "hand.fx"});
  const double fz[] = {0, 5, 6, 0, 0, 7};
  for (int k = 0; k < 6; ++k) {
    double* row = table.append(0.1 * k);
    row[0] = row[1] = row[3] = 0;
    row[2] = fz[k];
  }
  const auto timing = timing_section(table, {"foot", "hand", "unknown"});
  ASSERT_EQ(timing["rows"].size(), 1);  // a hand without fy and fz has none
  const auto& spans = timing["rows"][0]["spans"];
  ASSERT_EQ(spans.size(), 2);
  EXPECT_DOUBLE_EQ(spans[0][0], 0.1);
  EXPECT_DOUBLE_EQ(spans[0][1], 0.2);
  EXPECT_DOUBLE_EQ(spans[1][0], 0.5);
  EXPECT_TRUE(timing_section(table, {}).is_null());
}

}  // namespace
}  // namespace kinegraph::report::series_test
