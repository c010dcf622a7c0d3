#include "kinegraph/model/model.hpp"

#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/robot_sensors.hpp"
#include "kinegraph/model/robot_settings.hpp"
#include "kinegraph/model/source.hpp"

namespace kinegraph {

Result<Model> Model::with(const Settings& changes) const {
  if (spatial()) {
    const Result<Settings> renamed = by_setting_names(changes);
    if (!renamed) return renamed.failure();
    const std::vector<std::string> of_sensors = sensor_setting_names(*this);
    Settings of_robot = *renamed;
    for (const std::string& name : of_sensors) of_robot.erase(name);
    Result<Robot> changed = with_settings(robot, of_robot, of_sensors);
    if (!changed) return std::move(changed).failure();
    Model model = *this;
    model.robot = *std::move(changed);
    model.settings = *renamed;
    model.settings.insert(settings.begin(), settings.end());
    return source ? with_sensors(std::move(model), source) : Result<Model>(std::move(model));
  }
  if (!source) return Failure::bad_input("the model was not read from a file: nothing can be set");
  Settings all = changes;
  all.insert(settings.begin(), settings.end());
  return evaluate(source, all);
}

Settings Model::values() const {
  if (!spatial()) return source ? values_of(source, settings) : Settings{};
  Settings values = setting_values(robot);
  values.merge(sensor_setting_values(*this));
  return values;
}

Result<CoordinateRef> Model::coordinate(const std::string& wanted) const {
  const auto find = [](const auto& list, const std::string& element) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& e) { return e.name == element; });
    return found == list.end() ? -1 : static_cast<int>(found - list.begin());
  };
  const std::size_t dot = wanted.rfind('.');
  const std::string element = wanted.substr(0, dot);
  const std::string quantity = dot == std::string::npos ? "" : wanted.substr(dot + 1);
  if (quantity.empty() || quantity == "q") {
    if (const int r = find(relative, element); r >= 0) return CoordinateRef{CoordinateRef::What::relative, r};
  }
  if (quantity == "x" || quantity == "y") {
    const auto what = quantity == "x" ? CoordinateRef::What::point_x : CoordinateRef::What::point_y;
    int p = find(points, element);
    for (std::size_t i = 0; p < 0 && i < points.size(); ++i) {
      if (element == std::to_string(i)) p = static_cast<int>(i);
    }
    if (p >= 0) return CoordinateRef{what, p};
  }
  std::vector<std::string> names;
  for (const RelativeCoordinate& r : relative) names.push_back(r.name);
  for (const Point& p : points) names.insert(names.end(), {p.name + ".x", p.name + ".y"});
  return Failure::bad_input("unknown coordinate " + quote(wanted) + did_you_mean(wanted, names));
}

std::string Model::name_of(const CoordinateRef& coordinate) const {
  if (coordinate.what == CoordinateRef::What::relative) return relative[coordinate.index].name;
  return points[coordinate.index].name + (coordinate.what == CoordinateRef::What::point_x ? ".x" : ".y");
}

}  // namespace kinegraph
