#include "kinegraph/model/pins.hpp"

#include <algorithm>

namespace kinegraph {
namespace {

/// A line on which nothing can move holds nothing.
bool moves(const Model& model, const Slider& slider) {
  const auto free = [&](PointIndex p) { return p.valid() && !model.points[p.value].fixed; };
  return free(slider.point) || free(slider.a) || free(slider.b);
}

void add_pins_at(const Model& model, PointIndex p, std::vector<Pin>& into) {
  const Point& point = model.points[p.value];
  std::vector<int> held, lines;
  for (int b = 0; b < static_cast<int>(model.bodies.size()); ++b) {
    const std::vector<PointIndex>& points = model.bodies[b].points;
    if (std::find(points.begin(), points.end(), p) != points.end()) held.push_back(b);
  }
  for (int i = 0; i < static_cast<int>(model.sliders.size()); ++i) {
    if (model.sliders[i].point == p && moves(model, model.sliders[i])) lines.push_back(i);
  }
  const std::size_t first = point.fixed ? 0 : 1;
  const bool alone = lines.empty() && held.size() == first + 1;
  for (std::size_t i = first; i < held.size(); ++i) {
    into.push_back({alone ? point.name : point.name + "." + model.bodies[held[i]].name, p, BodyIndex(held[i]), -1});
  }
  for (const int i : lines) {
    into.push_back({lines.size() == 1 ? point.name : point.name + "." + model.sliders[i].name, p, BodyIndex(), i});
  }
}

}  // namespace

std::vector<Pin> pins(const Model& model) {
  std::vector<Pin> all;
  for (int p = 0; p < static_cast<int>(model.points.size()); ++p) add_pins_at(model, PointIndex(p), all);
  return all;
}

}  // namespace kinegraph
