#include <fmt/format.h>

#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/evaluation.hpp"

namespace kinegraph {
namespace {

constexpr int kMostInNames = 9;  // "length19": one digit per point

double distance_between(std::span<const double> p) { return std::hypot(p[2] - p[0], p[3] - p[1]); }

/// "x1", "y12": the coordinates of points by index; "length12": distances within a body.
bool is_prefix_and_digits(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

/// Why a parameter cannot have this name, or nothing.
std::string reserved(const std::string& name) {
  if (!is_identifier(name)) return "expected letters, digits and '_', not starting with a digit";
  if (name == "t") return "is reserved for the time";
  if (name == "mass" || name == "length" || is_prefix_and_digits(name, "length")) {
    return "is reserved for the " + std::string(name == "mass" ? "mass" : "lengths") + " of a body";
  }
  if (is_prefix_and_digits(name, "x") || is_prefix_and_digits(name, "y")) {
    return fmt::format("is reserved for the {} of point {}", name.front(), name.substr(1));
  }
  if (name == "gravity" || name == "auto") return "is a reserved word";
  if (find_function(name)) return "is the name of a function";
  for (const NamedConstant& constant : constants()) {
    if (name == constant.name) return "is the name of a constant";
  }
  return "";
}

}  // namespace

void Evaluation::parameters() {
  const auto& given = source_->parameters;
  model_.parameters.resize(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    Parameter& parameter = model_.parameters[i];
    parameter.name = given[i].name.text;
    parameter.where = given[i].value.where;
    if (const std::string why = reserved(parameter.name); !why.empty()) {
      error(given[i].name.where, fmt::format("parameter name {} {}", quote(parameter.name), why));
      continue;
    }
    if (given[i].faulty) {
      quantities_.faulty({parameter.name});
    } else {
      quantities_.formula({parameter.name}, given[i].value, &parameter.value);
    }
  }
}

void Evaluation::gravity() {
  const auto& given = source_->gravity;
  const bool set = model_.settings.contains("gravity");
  other_settable_.insert("gravity");
  if (given && given->faulty) return;
  if (given && given->list && given->items.size() != 2) {
    error(given->where, fmt::format("gravity: expected a number or [x, y], found {} values", given->items.size()));
    return;
  }
  double* x = &model_.gravity.x();
  double* y = &model_.gravity.y();
  if (given && given->list && !set) {
    quantities_.formula({"gravity.x", -1, true, "acceleration"}, given->items[0], x);
    quantities_.formula({"gravity.y", -1, true, "acceleration"}, given->items[1], y);
    return;
  }
  const bool written = given && !given->list;
  const int down = written ? quantities_.formula({"gravity", -1, true, "acceleration"}, given->items[0], &gravity_down_)
                           : quantities_.number({"gravity"}, kGravity, &gravity_down_);
  quantities_.number({"gravity.x"}, 0, x);
  quantities_.computed(
      {"gravity.y"}, {down}, [](std::span<const double> g) { return -g[0]; }, y);
}

void Evaluation::points() {
  const auto& elements = source_->of(Section::points);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Point& point = model_.points[i];
    if (const Text* fixed = elements[i].text("fixed")) {
      const std::string& value = fixed->text;
      point.fixed = value == "true" || value == "yes";
      if (!point.fixed && value != "false" && value != "no") {
        error(fixed->where, "fixed: expected true or false, found " + quote(value));
      }
    }
    const auto add = [&](const char* axis, double* target) {
      // A setting moves a fixed point; of a moving one it is an initial value, and lengths stay as drawn.
      const Quantities::Spec spec{point.name + "." + axis, -1, point.fixed, "length"};
      const Text* text = elements[i].text(axis);
      const int quantity = text ? quantities_.formula(spec, *text, target) : quantities_.faulty(spec);
      quantities_.alias(fmt::format("{}{}", axis, i), quantity);
      return quantity;
    };
    point.position.setConstant(std::nan(""));
    x_.push_back(add("x", &point.position.x()));
    y_.push_back(add("y", &point.position.y()));
  }
}

int Evaluation::distance(const std::string& name, PointIndex a, PointIndex b, double* target, bool settable) {
  const Quantities::Spec spec{name, -1, settable};
  if (!a.valid() || !b.valid()) return quantities_.faulty(spec);
  return quantities_.computed(spec, {x_[a.value], y_[a.value], x_[b.value], y_[b.value]}, distance_between, target);
}

void Evaluation::bodies() {
  const auto& elements = source_->of(Section::planar_bodies);
  declared_length_.assign(elements.size(), std::nan(""));
  for (int i = 0; i < static_cast<int>(elements.size()); ++i) {
    PlanarBody& body = model_.bodies[i];
    body.length = body.mass = body.inertia = std::nan("");
    body.cog.setConstant(std::nan(""));
    body.points = points_of(elements[i], "points", 2, std::string::npos);
    body_length(i, elements[i]);
    body_local_names(i);
    body_mass(i, elements[i]);
  }
}

void Evaluation::body_length(int index, const ElementSource& element) {
  PlanarBody& body = model_.bodies[index];
  const std::string name = body.name + ".length";
  const auto given = element.fields.find("length");
  const Text* text = element.text("length");
  const bool automatic = given == element.fields.end() || (text && text->text == "auto");
  if ((!automatic && !text) || body.points.size() < 2) {
    length_.push_back(quantities_.faulty({name}));
  } else if (!automatic && body.points.size() == 2) {
    length_.push_back(quantities_.formula({name, -1, true, "length"}, *text, &body.length));
  } else {
    // A body of three or more points has the shape that is drawn.
    const bool bar = body.points.size() == 2;
    length_.push_back(distance(name, body.points[0], body.points[1], &body.length, bar));
    if (!automatic) quantities_.formula({name + " as given", -1, false, "length"}, *text, &declared_length_[index]);
  }
}

void Evaluation::body_local_names(int index) {
  const PlanarBody& body = model_.bodies[index];
  quantities_.local(index, "length", length_[index]);
  quantities_.local(index, "length12", length_[index]);
  const int named = std::min(static_cast<int>(body.points.size()), kMostInNames);
  for (int j = 1; j <= named; ++j) {
    for (int k = std::max(j + 1, 3); k <= named; ++k) {
      const std::string name = fmt::format("length{}{}", j, k);
      const int quantity = distance(body.name + "." + name, body.points[j - 1], body.points[k - 1], nullptr, false);
      quantities_.local(index, name, quantity);
    }
  }
}

void Evaluation::body_mass(int index, const ElementSource& element) {
  PlanarBody& body = model_.bodies[index];
  const auto given = [&](const char* key) { return element.fields.contains(key); };
  const Text* mass = element.text("mass");
  const Quantities::Spec mass_name{body.name + ".mass", -1, true, "mass"};
  const int m = mass            ? quantities_.formula(mass_name, *mass, &body.mass)
                : given("mass") ? quantities_.faulty(mass_name)
                                : quantities_.number(mass_name, 0, &body.mass);
  quantities_.local(index, "mass", m);

  const bool bar = body.points.size() <= 2;
  for (const char* key : {"I0", "cog"}) {
    if (!bar && given("mass") && !given(key)) {
      error(element.where, fmt::format("body {}: missing key '{}'; a body of three or more points with a mass needs it",
                                       quote(body.name), key));
    }
  }
  const int length = length_[index];
  const Quantities::Spec inertia_name{body.name + ".I0", index, true, "moment of inertia"};
  if (const Text* inertia = element.text("I0")) {
    quantities_.formula(inertia_name, *inertia, &body.inertia);
  } else if (!given("I0") && bar) {
    // A slender bar about its end:   I₀ = m L² / 3
    quantities_.computed(
        inertia_name, {m, length}, [](auto v) { return v[0] * v[1] * v[1] / 3; }, &body.inertia);
  } else if (!given("I0") && !given("mass")) {
    quantities_.number(inertia_name, 0, &body.inertia);
  }

  const Quantities::Spec x_name{body.name + ".cog_x", index, true, "length"},
      y_name{body.name + ".cog_y", index, true, "length"};
  const Field* cog = element.find("cog");
  if (cog && cog->items.size() != 2) {
    error(cog->where, fmt::format("cog: expected [x, y], found {} values", cog->items.size()));
  } else if (cog) {
    quantities_.formula(x_name, cog->items[0], &body.cog.x());
    quantities_.formula(y_name, cog->items[1], &body.cog.y());
  } else if (!given("cog") && (bar || !given("mass"))) {
    quantities_.computed(
        x_name, {length}, [bar](auto v) { return bar ? v[0] / 2 : 0; }, &body.cog.x());
    quantities_.number(y_name, 0, &body.cog.y());
  }
}

void Evaluation::finish_bodies() {
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    PlanarBody& body = model_.bodies[i];
    if (body.points.size() < 2 || !body.points[0].valid() || !body.points[1].valid()) continue;
    const Vector2d origin = model_.points[body.points[0].value].position;
    const Vector2d x = (model_.points[body.points[1].value].position - origin) / body.length;
    body.local = {Vector2d::Zero(), Vector2d(body.length, 0)};
    for (std::size_t k = 2; k < body.points.size(); ++k) {
      const PointIndex p = body.points[k];
      const Vector2d d = p.valid() ? Vector2d(model_.points[p.value].position - origin) : origin * std::nan("");
      body.local.emplace_back(x.dot(d), x.x() * d.y() - x.y() * d.x());
    }
    if (std::abs(declared_length_[i] - body.length) > 1e-9 * body.length) {
      warning(source_->of(Section::planar_bodies)[i].find("length")->where,
              fmt::format("{}.length: {} is ignored; a body of three or more points is as drawn, {}", body.name,
                          declared_length_[i], body.length));
    }
  }
}

}  // namespace kinegraph
