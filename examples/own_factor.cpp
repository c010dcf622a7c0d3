// A factor of your own in a graph: the tip of a pendulum was measured, but it must lie on its circle. Where is it?

#include <cmath>
#include <cstdio>
#include <memory>

#include "kinegraph/graph/check_jacobians.hpp"
#include "kinegraph/graph/function_factor.hpp"
#include "kinegraph/graph/graph.hpp"
#include "kinegraph/solve/optimizer.hpp"

namespace {

/// A point stays at distance L from the origin.     Φ = x² + y² − L²
class OnCircle final : public kinegraph::Factor {
 public:
  explicit OnCircle(double radius) : Factor("circle", 1, {2}, {{0, 0, 0}, {0, 0, 1}}), radius_(radius) {}

  void evaluate(kinegraph::Slots x, double* residual, double* jacobian) const override {
    const double* p = x[0];
    residual[0] = p[0] * p[0] + p[1] * p[1] - radius_ * radius_;
    if (jacobian == nullptr) return;
    jacobian[0] = 2 * p[0];
    jacobian[1] = 2 * p[1];
  }

 private:
  double radius_;
};

/// e = p − (2, 3): what the sensor said. One-off relations need no class.
void measured(kinegraph::Slots x, double* residual, double* jacobian) {
  residual[0] = x[0][0] - 2;
  residual[1] = x[0][1] - 3;
  if (jacobian == nullptr) return;
  jacobian[0] = jacobian[3] = 1;
  jacobian[1] = jacobian[2] = 0;
}

}  // namespace

int main() {
  const auto circle = std::make_shared<OnCircle>(5.0);
  const auto jacobians = kinegraph::check_jacobians(*circle, {{2.0, 3.0}});
  if (!jacobians.ok()) {
    std::fprintf(stderr, "%s\n", jacobians.message.c_str());
    return 1;
  }

  const kinegraph::Key tip{kinegraph::Kind::user};
  kinegraph::Values values;
  values.insert(tip, Eigen::Vector2d(2, 3));
  kinegraph::Graph graph;
  graph.add(circle, {tip}, kinegraph::Role::equality);
  graph.add(std::make_shared<kinegraph::FunctionFactor>("measured", 2, std::vector{2}, measured), {tip});

  const auto report = kinegraph::optimize(graph, values);
  if (!report) {
    std::fprintf(stderr, "%s\n", report.failure().to_string().c_str());
    return 1;
  }
  const auto p = values.vector(tip);
  std::printf("tip at (%.6f, %.6f): %s\n", p[0], p[1], report->message.c_str());
  // The nearest point of the circle lies on the ray through the measured one: 5 (2, 3) / √13.
  const double s = 5 / std::sqrt(13.0);
  return report->converged() && std::hypot(p[0] - 2 * s, p[1] - 3 * s) < 1e-6 ? 0 : 1;
}
