#include "kinegraph/task/planar_drawing.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/task/start.hpp"

namespace kinegraph::task {

Drawing assembled_drawing(const Model& model) {
  constexpr double kDrawn = 1e-6;  // of its size: open by less is how files are rounded
  const auto system = std::make_shared<const natural::System>(model);
  const double length = system->typical_length(), scale = std::max(length, length * length);
  const Eigen::VectorXd guess = system->guess();
  std::vector<double> phi(system->constraints());
  system->position(guess.data(), 0, phi.data(), nullptr);
  if (std::all_of(phi.begin(), phi.end(), [&](double p) { return std::abs(p) <= kDrawn * scale; })) return {};

  std::vector<Held> given;
  for (const InitialValue& i : model.initial) {
    const int c = system->index_of(i.coordinate);
    if (c >= 0 && !i.rate) given.push_back({c, i.value});
  }
  const Result<Eigen::VectorXd> q = assemble_drawing(system, given);
  // what is given is no fault of the drawing
  const Result<Eigen::VectorXd> loose = given.empty() ? q : assemble_drawing(system, {});
  if (!q || !loose) return {};
  Drawing drawing{model, 0};
  for (int p = 0; p < static_cast<int>(model.points.size()); ++p) {
    const int x = system->index_of({CoordinateRef::What::point_x, p});
    if (x < 0) continue;
    drawing.moved = std::max(drawing.moved, (loose->segment<2>(x) - guess.segment<2>(x)).norm());
    drawing.model->points[p].position = q->segment<2>(x);
  }
  return drawing;
}

}  // namespace kinegraph::task
