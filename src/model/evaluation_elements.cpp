#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/evaluation.hpp"
#include "kinegraph/model/pins.hpp"

namespace kinegraph {
namespace {

using Type = RelativeCoordinate::Type;

struct TypeName {
  const char* name;
  Type type;
  std::size_t points;
};
constexpr std::array kTypes = {
    TypeName{"absolute_angle", Type::absolute_angle, 2}, TypeName{"relative_angle", Type::relative_angle, 4},
    TypeName{"relative_position", Type::relative_position, 3},
    TypeName{"RelativeAngleAbsoluteDOF", Type::absolute_angle, 2},  // as other programs spell it
};

const TypeName* find_type(const std::string& name) {
  for (const TypeName& type : kTypes) {
    if (name == type.name) return &type;
  }
  return nullptr;
}

}  // namespace

double drawn_value(Type type, std::span<const double> p) {
  const Vector2d a(p[2] - p[0], p[3] - p[1]);
  if (type == Type::absolute_angle) return std::atan2(a.y(), a.x());
  if (type == Type::relative_position) return a.dot(Vector2d(p[4] - p[0], p[5] - p[1])) / a.norm();
  const Vector2d b(p[6] - p[4], p[7] - p[5]);
  return std::atan2(a.x() * b.y() - a.y() * b.x(), a.dot(b));
}

void Evaluation::number(const std::string& name, const ElementSource& element, std::string_view key, double* target,
                        double fallback) {
  if (const Text* text = element.text(key)) {
    quantities_.formula({name, -1, true, quantity_of(key)}, *text, target);
  } else if (element.fields.contains(key)) {
    quantities_.faulty({name});
  } else {
    quantities_.number({name}, fallback, target);
  }
}

void Evaluation::law(const std::string& name, const ElementSource& element, std::string_view key, Law* target,
                     bool with_derivatives) {
  if (const Text* text = element.text(key)) {
    quantities_.law({name, -1, true, quantity_of(key)}, *text, target, with_derivatives);
  } else if (!element.fields.contains(key)) {
    static const Text zero{"0", {}, false};
    quantities_.law({name}, zero, target);
  }
}

void Evaluation::relative_coordinates() {
  const auto& elements = source_->of(Section::relative_coordinates);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    RelativeCoordinate& coordinate = model_.relative[i];
    const Text* written = elements[i].text("type");
    if (!written) continue;
    const TypeName* type = find_type(written->text);
    if (!type) {
      const std::string guess = did_you_mean(written->text, {kTypes[0].name, kTypes[1].name, kTypes[2].name});
      error(written->where,
            "unknown type " + quote(written->text) +
                (guess.empty() ? "; expected absolute_angle, relative_angle or relative_position" : guess));
      continue;
    }
    coordinate.type = type->type;
    const bool by_points = elements[i].fields.contains("points"), by_bodies = elements[i].fields.contains("bodies");
    if (by_bodies && (by_points || type->type != Type::relative_angle)) {
      error(elements[i].fields.find("bodies")->second.where,
            by_points ? "bodies: expected either points or bodies" : "bodies: only a relative_angle can have them");
    } else if (by_points) {
      coordinate.points = points_of(elements[i], "points", type->points, type->points);
    } else if (!by_bodies) {
      error(elements[i].where, fmt::format("relative coordinate {}: missing key 'points'", quote(coordinate.name)));
    } else if (const Field* pair = elements[i].find("bodies"); pair && pair->items.size() != 2) {
      error(pair->where, fmt::format("bodies: expected 2 bodies, found {}", pair->items.size()));
    } else if (pair) {
      for (const Text& name : pair->items) {
        const BodyIndex b = body(name);
        const bool sound = b.valid() && model_.bodies[b.value].points.size() >= 2;
        for (int k = 0; k < 2; ++k) {
          coordinate.points.push_back(sound ? model_.bodies[b.value].points[k] : PointIndex());
        }
      }
    }
  }
}

void Evaluation::sliders() {
  const auto& elements = source_->of(Section::sliders);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Slider& slider = model_.sliders[i];
    if (const Text* name = elements[i].text("point")) slider.point = point(*name);
    const std::vector<PointIndex> line = points_of(elements[i], "line", 2, 2);
    if (line.empty()) continue;
    slider.a = line[0];
    slider.b = line[1];
  }
}

void Evaluation::drivers() {
  const auto& elements = source_->of(Section::drivers);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Driver& driver = model_.drivers[i];
    driver.coordinate.index = -1;
    if (const Text* name = elements[i].text("coordinate")) {
      if (const auto found = coordinate(name->text)) {
        driver.coordinate = *found;
      } else if (diagnostics_.size() < kMostFaults) {
        error(name->where, model_.coordinate(name->text).failure().diagnostics.front().message);
      } else {
        error(name->where, "unknown coordinate " + quote(name->text));
      }
    }
    law(driver.name + ".law", elements[i], "law", &driver.law, true);
  }
}

void Evaluation::springs(Section section, int first) {
  const auto& elements = source_->of(section);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Spring& spring = model_.springs[first + i];
    const std::vector<PointIndex> ends = points_of(elements[i], "points", 2, 2);
    if (!ends.empty()) {
      spring.a = ends[0];
      spring.b = ends[1];
    }
    number(spring.name + ".stiffness", elements[i], "stiffness", &spring.stiffness);
    number(spring.name + ".damping", elements[i], "damping", &spring.damping);
    const Text* rest = elements[i].text("rest");
    if ((rest && rest->text == "auto") || !elements[i].fields.contains("rest")) {
      distance(spring.name + ".rest", spring.a, spring.b, &spring.rest, true);
    } else {
      number(spring.name + ".rest", elements[i], "rest", &spring.rest);
    }
  }
}

void Evaluation::coordinate_springs(Section section, int first) {
  const auto& elements = source_->of(section);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    CoordinateSpring& spring = model_.coordinate_springs[first + i];
    if (const Text* name = elements[i].text("coordinate")) spring.coordinate = relative(*name);
    number(spring.name + ".stiffness", elements[i], "stiffness", &spring.stiffness);
    number(spring.name + ".damping", elements[i], "damping", &spring.damping);
    const Text* rest = elements[i].text("rest");
    const std::string rest_name = spring.name + ".rest";
    if (elements[i].fields.contains("rest") && !(rest && rest->text == "auto")) {
      number(rest_name, elements[i], "rest", &spring.rest);
      continue;
    }
    std::vector<int> inputs;
    bool sound = spring.coordinate.valid() && !model_.relative[spring.coordinate.value].points.empty();
    if (sound) {
      for (const PointIndex p : model_.relative[spring.coordinate.value].points) {
        sound = sound && p.valid();
        if (sound) inputs.insert(inputs.end(), {x_[p.value], y_[p.value]});
      }
    }
    if (!sound) {
      quantities_.faulty({rest_name});
      continue;
    }
    const Type type = model_.relative[spring.coordinate.value].type;
    quantities_.computed(
        {rest_name}, inputs, [type](auto p) { return drawn_value(type, p); }, &spring.rest);
  }
}

void Evaluation::motors() {
  const auto& elements = source_->of(Section::motors);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Motor& motor = model_.motors[i];
    if (const Text* name = elements[i].text("coordinate")) motor.coordinate = relative(*name);
    law(motor.name + ".torque", elements[i], "torque", &motor.torque);
    number(motor.name + ".gain", elements[i], "gain", &motor.gain, 1);
    number(motor.name + ".inertia", elements[i], "inertia", &motor.inertia);
  }
}

void Evaluation::loads() {
  const auto& elements = source_->of(Section::loads);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    PointLoad& load = model_.loads[i];
    if (const Text* name = elements[i].text("point")) load.point = point(*name);
    law(load.name + ".x", elements[i], "x", &load.x);
    law(load.name + ".y", elements[i], "y", &load.y);
  }
}

void Evaluation::torques() {
  const auto& elements = source_->of(Section::torques);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    BodyTorque& torque = model_.torques[i];
    if (const Text* name = elements[i].text("body")) torque.body = body(*name);
    law(torque.name + ".torque", elements[i], "torque", &torque.torque);
  }
}

void Evaluation::joint_frictions() {
  const auto& elements = source_->of(Section::joint_friction);
  model_.frictions.resize(elements.size());
  if (elements.empty()) return;
  const std::vector<Pin> known = pins(model_);
  std::unordered_map<std::string, int> first;  // lines
  for (std::size_t i = 0; i < elements.size(); ++i) {
    JointFriction& friction = model_.frictions[i];
    friction.where = elements[i].where;
    const Text* name = elements[i].text("joint");
    if (!name) continue;
    friction.name = name->text;
    const auto pin = std::find_if(known.begin(), known.end(), [&](const Pin& p) { return p.name == name->text; });
    if (pin == known.end()) {
      unknown("joint", *name, known);
      continue;
    }
    friction.pin = static_cast<int>(pin - known.begin());
    if (const auto [line, fresh] = first.emplace(name->text, name->where.line); !fresh) {
      error(name->where,
            fmt::format("joint {} has two frictions; the first is in line {}", quote(name->text), line->second));
      continue;
    }
    const auto numbers = friction_numbers(friction.dynamics);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      number(fmt::format("{}.{}", friction.name, kFrictionKeys[k]), elements[i], kFrictionKeys[k], numbers[k],
             *numbers[k]);
    }
  }
}

std::optional<Evaluation::InitialKey> Evaluation::initial_key(const std::string& name, std::string& message) const {
  const std::size_t dot = name.rfind('.');
  const std::string element = name.substr(0, dot);
  const std::string quantity = dot == std::string::npos ? "" : name.substr(dot + 1);
  if (const auto found = relative_by_name_.find(element); found != relative_by_name_.end()) {
    if (quantity == "q" || quantity == "v")
      return InitialKey{{CoordinateRef::What::relative, found->second}, quantity == "v"};
    message = fmt::format("unknown initial value {}; expected '{}.q' or '{}.v'", quote(name), element, element);
    return std::nullopt;
  }
  if (const int p = find_point(element); p >= 0) {
    const bool rate = quantity.starts_with('v');
    const std::string axis = rate ? quantity.substr(1) : quantity;
    if (axis == "x") return InitialKey{{CoordinateRef::What::point_x, p}, rate};
    if (axis == "y") return InitialKey{{CoordinateRef::What::point_y, p}, rate};
    message = fmt::format("unknown initial value {}; expected '{}.x', '{}.y', '{}.vx' or '{}.vy'", quote(name), element,
                          element, element, element);
    return std::nullopt;
  }
  std::vector<std::string> names;
  if (diagnostics_.size() < kMostFaults) {
    for (const RelativeCoordinate& r : model_.relative) names.insert(names.end(), {r.name + ".q", r.name + ".v"});
    for (const Point& p : model_.points) {
      for (const char* axis : {".x", ".y", ".vx", ".vy"}) names.push_back(p.name + axis);
    }
  }
  message = "unknown initial value " + quote(name) + did_you_mean(name, names);
  return std::nullopt;
}

void Evaluation::initial() {
  for (const RelativeCoordinate& r : model_.relative) other_settable_.insert({r.name + ".q", r.name + ".v"});
  for (const Point& p : model_.points) {
    if (p.fixed) continue;
    for (const char* axis : {".x", ".y", ".vx", ".vy"}) other_settable_.insert(p.name + axis);
  }
  std::vector<const Text*> texts;
  std::set<std::string> in_file;
  std::string message;
  for (const NamedText& given : source_->initial) {
    const auto key = initial_key(given.name.text, message);
    if (!key) error(given.name.where, message);
    if (!key || given.faulty) continue;
    const std::string name = initial_name(*key);
    if (!in_file.insert(name).second) error(given.name.where, "initial value " + quote(name) + " is given twice");
    const auto set = model_.settings.find(name);
    const bool by_user = set != model_.settings.end();
    model_.initial.push_back({key->coordinate, key->rate, by_user ? set->second : 0, given.name.where});
    texts.push_back(by_user ? nullptr : &given.value);
  }
  for (const auto& [name, value] : model_.settings) {
    if (!other_settable_.contains(name) || in_file.contains(name)) continue;
    const auto key = initial_key(name, message);
    if (!key) continue;
    model_.initial.push_back({key->coordinate, key->rate, value, {}});
    texts.push_back(nullptr);
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    InitialValue& value = model_.initial[i];
    const std::string name = "initial " + initial_name({value.coordinate, value.rate});
    const bool turns = value.coordinate.what == CoordinateRef::What::relative &&
                       model_.relative[value.coordinate.index].type != Type::relative_position;
    const std::string_view quantity = value.rate ? turns ? "angular velocity" : "velocity" : turns ? "angle" : "length";
    if (texts[i]) quantities_.formula({name, -1, false, quantity}, *texts[i], &value.value);
  }
}

std::string Evaluation::initial_name(const InitialKey& key) const {
  const int i = key.coordinate.index;
  if (key.coordinate.what == CoordinateRef::What::relative) return model_.relative[i].name + (key.rate ? ".v" : ".q");
  const char* axis = key.coordinate.what == CoordinateRef::What::point_x ? "x" : "y";
  return fmt::format("{}.{}{}", model_.points[i].name, key.rate ? "v" : "", axis);
}

void Evaluation::finish_initial() {
  for (const InitialValue& value : model_.initial) {
    if (!value.rate || value.coordinate.what == CoordinateRef::What::relative) continue;
    const int axis = value.coordinate.what == CoordinateRef::What::point_x ? 0 : 1;
    model_.points[value.coordinate.index].velocity[axis] = value.value;
  }
}

}  // namespace kinegraph
