#include <gtest/gtest.h>

#include "kinegraph/filter/fixed_lag_smoother.hpp"
#include "kinegraph/filter/smoother_cases_test.hpp"

// Charts that change along the motion must change nothing but the numbers of δ.
namespace kinegraph::filter::smoother_charts_test {
namespace {

using namespace smoother_cases;

/// A pendulum that counts δ in charts of its own: δ = c (θ, ω) with c = 3 for θ > 0, else 1. A chart serves up to 0.1
/// beyond.
class ScaledPendulum final : public StateSpace {
 public:
  Pendulum pendulum;

  static double scale(const Chart& chart) { return chart.rows(0, 0); }
  std::unique_ptr<StateSpace> clone() const override { return std::make_unique<ScaledPendulum>(*this); }
  int stored() const override { return 2; }
  int tangent() const override { return 2; }
  std::string tangent_name(const Chart& chart, int i) const override { return pendulum.tangent_name(chart, i); }
  bool choose(double, const double* x, Chart& chart) override {
    const bool serves = chart.rows.size() > 0 && (scale(chart) == 3 ? x[0] > -0.1 : x[0] < 0.1);
    if (!serves) chart.rows.setConstant(1, 1, x[0] > 0 ? 3 : 1);
    return true;
  }
  bool retract(double, const double* x, const Chart& chart, const double* d, double* out) override {
    for (int i = 0; i < 2; ++i) out[i] = x[i] + d[i] / scale(chart);
    return true;
  }
  void local(const double* x, const Chart& chart, const double* other, double* d) override {
    for (int i = 0; i < 2; ++i) d[i] = scale(chart) * (other[i] - x[i]);
  }
  bool transition(double, const double*, const Chart& from, const Chart& to, MatrixXd& T) override {
    T = scale(to) / scale(from) * MatrixXd::Identity(2, 2);
    return true;
  }
  bool advance(double t, double h, const double* x, double* next) override { return pendulum.advance(t, h, x, next); }
  bool advance(double t, double h, const double* x, const Chart& chart, double* next, Chart& next_chart, MatrixXd& F,
               MatrixXd& Q) override {
    Chart plain;
    if (!pendulum.advance(t, h, x, plain, next, plain, F, Q)) return false;
    choose(t + h, next, next_chart);
    F *= scale(next_chart) / scale(chart);
    Q *= scale(next_chart) * scale(next_chart);
    return true;
  }
  int noises() const override { return 2; }
  bool disturb(double t, double h, double* x, const double* n) override { return pendulum.disturb(t, h, x, n); }
  const std::vector<SensorInfo>& sensors() const override { return pendulum.sensors(); }
  bool predict(double t, const double* x, int sensor, double* y) override { return pendulum.predict(t, x, sensor, y); }
  bool predict(double t, const double* x, const Chart& chart, int sensor, double* y, MatrixXd& H) override {
    if (!pendulum.predict(t, x, chart, sensor, y, H)) return false;
    H /= scale(chart);
    return true;
  }
  bool response(double t, double h, const double* x, int sensor, double* y, MatrixXd& B) override {
    return pendulum.response(t, h, x, sensor, y, B);
  }
};

struct Case {
  ScaledPendulum scaled;
  Log log;
  Belief prior;  // in the chart of the start, with c = 3

  explicit Case(int seed) : log(simulate(scaled.pendulum, seed)), prior(log.prior) {
    prior.chart = {};
    scaled.choose(0, prior.x.data(), prior.chart);
    prior.P *= 9;
  }
};

TEST(Smoother, ChangingChartsChangeNothing) {
  Case c(4);
  const SmootherOptions options{.step = 0.01, .tolerance = 1e-8};
  const auto plain = smooth(c.scaled.pendulum, c.log.prior, c.log.measurements, options);
  const auto scaled = smooth(c.scaled, c.prior, c.log.measurements, options);
  ASSERT_TRUE(plain && scaled);
  EXPECT_TRUE(scaled->converged) << scaled->why_not;
  int changes = 0;
  for (std::size_t k = 0; k < plain->knots.size(); ++k) {
    const Belief &a = plain->knots[k], &b = scaled->knots[k];
    const double s = ScaledPendulum::scale(b.chart);
    EXPECT_LT((a.x - b.x).norm(), 1e-9) << k;
    EXPECT_LT((s * s * a.P - b.P).norm(), 1e-8 * b.P.norm()) << k;
    changes += k > 0 && !(b.chart == scaled->knots[k - 1].chart);
  }
  EXPECT_GE(changes, 2);
  EXPECT_NEAR(plain->log_evidence, scaled->log_evidence, 1e-6);
}

TEST(FixedLagSmoother, ChangingChartsChangeNothing) {
  Case c(4);
  const FixedLagSmootherOptions options{.window = 5, .step = 0.01, .relinearise = 0};
  auto plain = FixedLagSmoother::make(c.scaled.pendulum.clone(), c.log.prior, options);
  auto scaled = FixedLagSmoother::make(c.scaled.clone(), c.prior, options);
  ASSERT_TRUE(plain && scaled);
  for (const Measurement& m : c.log.measurements) {
    ASSERT_TRUE((*plain)->push(m) && (*scaled)->push(m));
    const Belief &a = (*plain)->belief(), &b = (*scaled)->belief();
    const double s = ScaledPendulum::scale(b.chart);
    EXPECT_LT((a.x - b.x).norm(), 1e-9) << m.t;
    EXPECT_LT((s * s * a.P - b.P).norm(), 1e-8 * b.P.norm()) << m.t;
  }
}

}  // namespace
}  // namespace kinegraph::filter::smoother_charts_test
