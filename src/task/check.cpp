#include "kinegraph/task/check.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/task/start.hpp"

namespace kinegraph::task {

Result<CheckResult> check(const Model& model) {
  auto start = make_start(model);
  if (!start) return start.failure();
  const natural::System& system = *start->system;
  const Mobility& mobility = start->mobility;

  CheckResult result;
  result.points = static_cast<int>(model.points.size());
  result.fixed_points =
      static_cast<int>(std::count_if(model.points.begin(), model.points.end(), [](const Point& p) { return p.fixed; }));
  result.bodies = static_cast<int>(model.bodies.size());
  result.coordinates = mobility.coordinates;
  result.constraints = mobility.constraints;
  result.rank = mobility.rank;
  result.degrees_of_freedom = mobility.degrees_of_freedom;
  result.assembled = true;
  result.singular_here = mobility.singular_here;
  for (int c : mobility.independent) result.independent.push_back(system.coordinate_name(c));
  for (int r : mobility.redundant) result.redundant.push_back(system.constraint_name(r));
  for (const PlanarBody& b : model.bodies) result.mass += b.mass;
  result.warnings = model.warnings;

  std::vector<double> phi(system.constraints());
  system.position(start->q.data(), 0, phi.data(), nullptr);
  for (double p : phi) result.constraint_max = std::max(result.constraint_max, std::abs(p));
  return result;
}

}  // namespace kinegraph::task
