#include "kinegraph/ensemble/extract.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace kinegraph::ensemble::extract_test {
namespace {

const nlohmann::ordered_json kSummary = nlohmann::ordered_json::parse(R"({
  "steps": 100, "energy_drift": 1.5e-3, "converged": true, "method": "smoother", "undefined": null,
  "torque_peak": [3, 1, 2], "warnings": ["slow", "stiff"],
  "quantities": [{"name": "arm.mass", "value": 2.5}, {"name": "arm", "value": 7}],
  "limits": {"elbow.q": {"low": -1}}
})");

Trajectory trajectory() {
  Trajectory made({"theta.q", "P1.x"});
  for (int i = 0; i <= 100; ++i) {
    double* row = made.append(0.1 * i);
    row[0] = i == 50 ? std::nan("") : 100 - i;
    row[1] = i % 2 == 0 ? 3 : -4;
  }
  return made;
}

double number(const std::string& path) {
  const Extracted found = extract(kSummary, trajectory(), path);
  EXPECT_TRUE(found.found) << path << " " << found.why;
  EXPECT_EQ(found.cell.kind, Cell::Kind::number) << path;
  return found.cell.number;
}

TEST(Extract, FindsValuesByTheirPath) {
  EXPECT_EQ(number("steps"), 100);
  EXPECT_EQ(number("energy_drift"), 1.5e-3);
  EXPECT_EQ(number("converged"), 1);
  EXPECT_EQ(number("torque_peak.2"), 2);
  EXPECT_EQ(number("torque_peak.max"), 3);
  EXPECT_EQ(number("torque_peak.mean"), 2);
  EXPECT_EQ(number("warnings.count"), 2);
  EXPECT_EQ(number("quantities.arm.mass.value"), 2.5);
  EXPECT_EQ(number("quantities.arm.value"), 7);
  EXPECT_EQ(number("quantities.1.value"), 7);
  EXPECT_EQ(number("limits.elbow.q.low"), -1);
  EXPECT_EQ(extract(kSummary, {}, "method").cell, Cell::of(std::string("smoother")));
  const Extracted undefined = extract(kSummary, {}, "undefined");
  EXPECT_TRUE(undefined.found);
  EXPECT_EQ(undefined.cell, Cell{});
}

TEST(Extract, StatisticsOfColumnsLeaveOutWhatIsUndefined) {
  EXPECT_EQ(number("columns.theta.q.first"), 100);
  EXPECT_EQ(number("columns.theta.q.last"), 0);
  EXPECT_EQ(number("columns.theta.q.count"), 100);
  EXPECT_EQ(number("columns.theta.q.min"), 0);
  EXPECT_EQ(number("columns.theta.q.p0"), 0);
  EXPECT_EQ(number("columns.theta.q.p100"), 100);
  EXPECT_EQ(number("columns.theta.q.p50"), 50);  // between 49 and 51
  EXPECT_NEAR(number("columns.theta.q.p5"), 4.95, 1e-12);
  EXPECT_NEAR(number("columns.theta.q.p2.5"), 2.475, 1e-12);
  EXPECT_NEAR(number("columns.theta.q.p97.5"), 97.525, 1e-12);
  EXPECT_NEAR(number("torque_peak.p62.5"), 2.25, 1e-12);
  EXPECT_NEAR(number("columns.P1.x.rms"), std::sqrt((51 * 9 + 50 * 16) / 101.0), 1e-14);
  EXPECT_NEAR(number("columns.P1.x.mean"), (51 * 3 - 50 * 4) / 101.0, 1e-15);
  EXPECT_NEAR(number("columns.t.max"), 10, 1e-12);
  EXPECT_EQ(number("columns.t.first"), 0);
}

TEST(Extract, TellsWhatAPathMeets) {
  const auto why = [](const char* path) {
    const Extracted found = extract(kSummary, trajectory(), path);
    EXPECT_FALSE(found.found) << path;
    return found.why;
  };
  EXPECT_EQ(why("energy_drfit"), "");
  EXPECT_EQ(why("columns.phi.q.max"), "");
  EXPECT_EQ(why("steps.max"), "");
  EXPECT_EQ(why("columns.theta.q"),
            "is a column: name a statistic of it (.min, .max, .mean, .sd, .rms, .first, .last, "
            ".p95)");
  EXPECT_EQ(why("torque_peak"), "is a list: name an element (.0) or a statistic (.max, .count)");
  EXPECT_EQ(why("torque_peak.3"), "has 3 elements");
  EXPECT_EQ(why("limits"), "is a map: name one of its values");
  for (const char* no_percentile : {"p101", "p100.5", "p", "p-1", "p1e1", "p2.", "p.5", "p2.5.1", "pinf"}) {
    EXPECT_EQ(why((std::string("columns.theta.q.") + no_percentile).c_str()), "");
  }
}

TEST(Extract, EveryListedPathLeadsToAValue) {
  const std::vector<std::string> paths = paths_of(kSummary, trajectory());
  EXPECT_NE(std::find(paths.begin(), paths.end(), "quantities.arm.mass.value"), paths.end());
  EXPECT_NE(std::find(paths.begin(), paths.end(), "columns.P1.x.max"), paths.end());
  for (const std::string& path : paths) EXPECT_TRUE(extract(kSummary, trajectory(), path).found) << path;
}

}  // namespace
}  // namespace kinegraph::ensemble::extract_test
