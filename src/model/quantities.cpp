#include "kinegraph/model/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/base/largest.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/base/units.hpp"

namespace kinegraph {
namespace {

constexpr int kTime = -1;        // the input of a law that is not a quantity
constexpr int kNoSuchName = -2;  // no such name
constexpr int kCycleShown = 12;

Location place_of(const Text& text, const Location& inside) { return text.verbatim ? inside : text.where; }

constexpr std::pair<std::string_view, std::string_view> kQuantities[] = {
    {"stiffness", "stiffness"},
    {"damping", "damping"},
    {"inertia", "moment of inertia"},
    {"torque", "torque or force"},
    {"x", "force"},
    {"y", "force"},
    {"viscous", "damping"},
    {"dry", "torque or force"},
    {"stribeck", "torque or force"},
    {"stribeck_speed", "angular velocity or velocity"},
    {"rate", "frequency"},
    {"delay", "time"},
    {"angle", "angle"},
    {"gyro_noise", "angular velocity"},
    {"gyro_quantum", "angular velocity"},
    {"gyro_bias", "angular velocity"},
    {"gyro_bias_sd", "angular velocity"},
    {"accel_noise", "acceleration"},
    {"accel_quantum", "acceleration"},
    {"accel_bias", "acceleration"},
    {"accel_bias_sd", "acceleration"},
};

std::string non_finite(double value) {
  if (std::isnan(value)) return "is not a number";
  return std::isinf(value) ? "is infinite" : "is not " + usable_range();
}

}  // namespace

std::string_view quantity_of(std::string_view key) {
  const auto known =
      std::find_if(std::begin(kQuantities), std::end(kQuantities), [&](const auto& q) { return q.first == key; });
  return known == std::end(kQuantities) ? std::string_view() : known->second;
}

int Quantities::add(Quantity quantity) {
  const int index = static_cast<int>(all_.size());
  if (const auto set = settings_.find(quantity.spec.name); quantity.spec.settable && set != settings_.end()) {
    quantity.text = nullptr;
    quantity.inputs.clear();
    quantity.function = [value = set->second](std::span<const double>) { return value; };
  }
  global_.emplace(quantity.spec.name, index);
  all_.push_back(std::move(quantity));
  return index;
}

int Quantities::formula(Spec spec, const Text& text, double* target) {
  Quantity quantity;
  quantity.spec = std::move(spec);
  quantity.text = &text;
  quantity.target = target;
  return add(std::move(quantity));
}

int Quantities::number(Spec spec, double value, double* target) {
  return computed(
      std::move(spec), {}, [value](std::span<const double>) { return value; }, target);
}

int Quantities::computed(Spec spec, std::vector<int> inputs, Function function, double* target) {
  Quantity quantity;
  quantity.spec = std::move(spec);
  quantity.function = std::move(function);
  quantity.inputs = std::move(inputs);
  quantity.target = target;
  return add(std::move(quantity));
}

int Quantities::law(Spec spec, const Text& text, Law* target, bool with_derivatives) {
  Quantity quantity;
  quantity.spec = std::move(spec);
  quantity.text = &text;
  quantity.law = target;
  quantity.with_derivatives = with_derivatives;
  return add(std::move(quantity));
}

int Quantities::faulty(Spec spec) {
  Quantity quantity;
  quantity.spec = std::move(spec);
  quantity.state = State::failed;
  return add(std::move(quantity));
}

void Quantities::evaluate() {
  for (Quantity& quantity : all_) {
    if (quantity.text && quantity.state == State::fresh) parse(quantity);
  }
  for (Quantity& quantity : all_) {
    if (quantity.expression) resolve(quantity);
  }
  for (int i = 0; i < static_cast<int>(all_.size()); ++i) {
    if (all_[i].state == State::fresh) visit(i);
  }
  for (Quantity& quantity : all_) {
    const bool failed = quantity.state != State::done;
    if (quantity.target) *quantity.target = failed ? std::numeric_limits<double>::quiet_NaN() : quantity.value;
  }
}

void Quantities::parse(Quantity& quantity) {
  Result<Expression> expression = Expression::parse(quantity.text->text, quantity.text->where);
  if (!expression) {
    for (const Diagnostic& fault : expression.failure().diagnostics) {
      error(place_of(*quantity.text, fault.where), fault.message);
    }
    quantity.state = State::failed;
    return;
  }
  if (const std::string wrong = wrong_unit(quantity.text->text, quantity.spec.quantity); !wrong.empty()) {
    error(quantity.text->where, fmt::format("{}: {}", quantity.spec.name, wrong));
    quantity.state = State::failed;
    return;
  }
  quantity.expression = std::make_shared<Expression>(*std::move(expression));
}

void Quantities::resolve(Quantity& quantity) {
  warn_of_unit(quantity);
  const auto& names = quantity.expression->variables();
  for (int i = 0; i < static_cast<int>(names.size()); ++i) {
    int input = find(names[i], quantity.spec.scope);
    if (input == kNoSuchName && names[i] == "t") input = kTime;
    quantity.inputs.push_back(input);
    if (input >= 0 || (input == kTime && quantity.law)) continue;
    quantity.state = State::failed;
    const Location where = place_of(*quantity.text, quantity.expression->where_of(i));
    if (input == kTime) {
      error(where, quote(quantity.spec.name) + " cannot depend on the time t; only laws, torques and loads can");
    } else {
      // Beyond some faults a suggestion, which looks at all names, costs more than it helps.
      const bool suggest = diagnostics_.size() < kMostFaults && diagnostics_.size() * all_.size() < 1'000'000;
      error(where, "unknown name " + quote(names[i]) +
                       (suggest ? did_you_mean(names[i], names_in_reach(quantity.spec.scope)) : ""));
    }
  }
}

int Quantities::find(const std::string& name, int scope) const {
  if (scope >= 0) {
    if (const auto own = local_.find({scope, name}); own != local_.end()) return own->second;
  }
  const auto found = global_.find(name);
  return found == global_.end() || all_[found->second].law ? kNoSuchName : found->second;
}

void Quantities::warn_of_unit(const Quantity& quantity) {
  for (const std::string& unit : quantity.expression->divisor_units()) {
    if (find(unit, quantity.spec.scope) == kNoSuchName) continue;
    error(quantity.text->where, fmt::format("'/{}' is part of a unit here, but {} is also a parameter; put spaces "
                                            "around '/' to divide by it",
                                            unit, quote(unit)));
  }
}

void Quantities::visit(int root) {
  struct Frame {
    int quantity;
    std::size_t next;
  };
  std::vector<Frame> path{{root, 0}};
  all_[root].state = State::active;
  while (!path.empty()) {
    Frame& frame = path.back();
    Quantity& quantity = all_[frame.quantity];
    if (frame.next == quantity.inputs.size()) {
      if (quantity.state == State::active) compute(quantity);
      path.pop_back();
      continue;
    }
    const int input = quantity.inputs[frame.next++];
    if (input < 0) continue;
    if (all_[input].state == State::fresh) {
      all_[input].state = State::active;
      path.push_back({input, 0});
    } else if (all_[input].state == State::active) {
      std::vector<int> cycle;
      auto member = path.rbegin();
      while (member->quantity != input) cycle.push_back((member++)->quantity);
      cycle.push_back(input);
      std::reverse(cycle.begin(), cycle.end());
      for (const int i : cycle) all_[i].state = State::failed;
      report_cycle(std::move(cycle));
    }
  }
}

void Quantities::compute(Quantity& quantity) {
  std::vector<double> inputs;
  for (const int input : quantity.inputs) {
    if (input != kTime && all_[input].state != State::done) {
      quantity.state = State::failed;
      return;
    }
    inputs.push_back(input == kTime ? 0 : all_[input].value);
  }
  quantity.state = State::done;
  if (quantity.law && quantity.expression) return finish_law(quantity, inputs);
  quantity.value = quantity.expression ? quantity.expression->evaluate(inputs) : quantity.function(inputs);
  if (quantity.law) *quantity.law = Law(quantity.value);
  if (is_usable(quantity.value)) return;
  quantity.state = State::failed;
  // Computed values are not usable only if the user's settings are not.
  const Location where = quantity.text ? quantity.text->where : Location{};
  const std::string formula = quantity.text ? quote(quantity.text->text) + " " : "";
  error(where, fmt::format("{}: {}{}", quantity.spec.name, formula, non_finite(quantity.value)));
}

void Quantities::finish_law(Quantity& quantity, const std::vector<double>& inputs) {
  const auto& names = quantity.expression->variables();
  const Expression bound = quantity.expression->bind([&](const std::string& name) -> std::optional<double> {
    const std::size_t i = std::find(names.begin(), names.end(), name) - names.begin();
    return quantity.inputs[i] == kTime ? std::nullopt : std::optional(inputs[i]);
  });
  *quantity.law = Law(std::make_shared<const Expression>(bound));
  const Taylor2 start = quantity.law->taylor(0);
  const bool sound =
      is_usable(start.x) && (!quantity.with_derivatives || (std::isfinite(start.d) && std::isfinite(start.dd)));
  if (sound) return;
  quantity.state = State::failed;
  const std::string what = is_usable(start.x) ? "has no finite derivative" : non_finite(start.x);
  error(quantity.text->where, fmt::format("{}: {} {} at t = 0", quantity.spec.name, quote(quantity.text->text), what));
}

void Quantities::report_cycle(std::vector<int> cycle) {
  // From the quantity that stands first in the file.
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  bool parameters = true;
  for (const int i : cycle) parameters = parameters && all_[i].spec.name.find('.') == std::string::npos;
  std::string chain;
  for (std::size_t i = 0; i < std::min<std::size_t>(cycle.size(), kCycleShown); ++i) {
    chain += all_[cycle[i]].spec.name + " -> ";
  }
  if (cycle.size() > kCycleShown) chain += "… -> ";
  const Text* text = all_[cycle.front()].text;
  error(text ? text->where : Location{}, fmt::format("{} form a cycle: {}{}", parameters ? "parameters" : "quantities",
                                                     chain, all_[cycle.front()].spec.name));
}

void Quantities::error(const Location& where, std::string message) {
  diagnostics_.push_back({Severity::error, where, std::move(message)});
}

bool Quantities::settable(const std::string& name) const {
  const auto found = global_.find(name);
  return found != global_.end() && all_[found->second].spec.settable && all_[found->second].spec.name == name;
}

std::vector<std::string> Quantities::settable_names() const {
  std::vector<std::string> names;
  for (const Quantity& quantity : all_) {
    if (quantity.spec.settable) names.push_back(quantity.spec.name);
  }
  return names;
}

Settings Quantities::settable_values() const {
  Settings values;
  for (const Quantity& quantity : all_) {
    const bool number = quantity.spec.settable && !quantity.law && quantity.state == State::done;
    if (number && settable(quantity.spec.name)) values.emplace(quantity.spec.name, quantity.value);
  }
  return values;
}

std::vector<std::string> Quantities::names_in_reach(int scope) const {
  std::vector<std::string> names;
  for (auto own = local_.lower_bound({scope, ""}); own != local_.end() && own->first.first == scope; ++own) {
    names.push_back(own->first.second);
  }
  for (const Quantity& quantity : all_) {
    if (!quantity.law && (quantity.spec.settable || quantity.text)) names.push_back(quantity.spec.name);
  }
  for (const NamedConstant& constant : constants()) names.emplace_back(constant.name);
  return names;
}

}  // namespace kinegraph
