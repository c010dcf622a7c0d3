#include "kinegraph/task/identify_compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kinegraph/base/names.hpp"
#include "kinegraph/identify/machine_numbers.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/model/planar_robot.hpp"
#include "kinegraph/model/schema.hpp"

namespace kinegraph::task {
namespace {

/// Terms by their names for users, and the numbers of a joint that they free.
struct Term {
  const char* name;
  std::vector<std::string> keys;
};
const std::vector<Term>& terms() {
  static const std::vector<Term> all = {{"none", {}},
                                        {"viscous", {"viscous"}},
                                        {"dry", {"dry"}},
                                        {"quadratic", {"quadratic"}},
                                        {"stribeck", {"dry", "stribeck", "stribeck_speed"}},
                                        {"load", {"load_friction"}}};
  return all;
}

constexpr double kSmall = 1e-3;    // friction at the start, over the machine's weight and size
constexpr double kSlowest = 1e-4;  // rad/s, m/s: a Stribeck speed below this is none
constexpr double kStribeckShare = 0.3;

struct FrictionName {
  std::string joint, key, number;  ///< number: of joints with several freedoms
};

/// "elbow.viscous", "elbow.damping", "base.dry2"
std::optional<FrictionName> friction_name(const std::string& setting) {
  const std::size_t dot = setting.rfind('.');
  if (dot == std::string::npos) return {};
  std::string key = setting.substr(dot + 1);
  const std::size_t digits = key.find_last_not_of("0123456789") + 1;
  const std::string number = key.substr(digits);
  key.resize(digits);
  if (key == "damping") key = "viscous";
  if (key == "friction") key = "dry";
  if (std::find(kFrictionKeys.begin(), kFrictionKeys.end(), key) == kFrictionKeys.end()) return {};
  return FrictionName{setting.substr(0, dot), key, number};
}

/// A freedom with friction, and what that is in the model.
struct FrictionPlace {
  std::string joint, number;
  JointDynamics dynamics;

  std::string setting(std::string_view key) const { return fmt::format("{}.{}{}", joint, key, number); }
  double value(std::string_view key) {
    const auto at = std::find(kFrictionKeys.begin(), kFrictionKeys.end(), key) - kFrictionKeys.begin();
    return *friction_numbers(dynamics)[at];
  }
};

std::vector<FrictionPlace> friction_places(const Model& model) {
  std::vector<FrictionPlace> places;
  for (const JointFriction& friction : model.frictions) places.push_back({friction.name, "", friction.dynamics});
  for (const Joint& joint : model.robot.joints) {
    const int count = joint.type == JointType::floating || joint.mimic ? 0 : freedoms(joint.type);
    for (int i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      places.push_back({joint.name, count > 1 ? std::to_string(i + 1) : "",
                        k < joint.dynamics.size() ? joint.dynamics[k] : JointDynamics{}});
    }
  }
  return places;
}

/// Of torques that weight makes.
double torque_scale(const Robot& robot) {
  const identify::MachineSize size(robot);
  const double gravity = robot.gravity.norm();
  return size.mass * size.length * (gravity > 0 ? gravity : 1.0);
}

double start_of(std::string_view key, const Robot& robot) {
  if (key == "stribeck_speed") return 1;
  if (key == "load_friction") return kSmall * identify::MachineSize(robot).length;
  return kSmall * torque_scale(robot) * (key == "stribeck" ? kStribeckShare : 1.0);
}

}  // namespace

Result<FrictionChoice> read_friction_choice(const std::string& name) {
  FrictionChoice choice{name, {}};
  std::vector<std::string> valid;
  for (const Term& term : terms()) valid.emplace_back(term.name);
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = name.find('+', begin);
    const std::string word = name.substr(begin, end == std::string::npos ? end : end - begin);
    const auto found = std::find(valid.begin(), valid.end(), word);
    if (found == valid.end()) {
      return Failure::bad_input(fmt::format("compare: must be made of {}, joined by +, is {}{}", fmt::join(valid, ", "),
                                            quote(word), did_you_mean(word, valid)));
    }
    for (const std::string& key : terms()[found - valid.begin()].keys) {
      if (std::find(choice.keys.begin(), choice.keys.end(), key) == choice.keys.end()) choice.keys.push_back(key);
    }
  }
  return choice;
}

Result<FrictionVariant> friction_variant(const Model& model, const std::vector<identify::FreeParameter>& free,
                                         const FrictionChoice& choice) {
  FrictionVariant variant;
  std::vector<FrictionPlace> places = friction_places(model);
  const auto of_friction = [&](const identify::FreeParameter& parameter) -> FrictionPlace* {
    const auto name = friction_name(parameter.name);
    if (!name) return nullptr;
    const auto same = [&](const FrictionPlace& p) { return p.joint == name->joint && p.number == name->number; };
    const auto found = std::find_if(places.begin(), places.end(), same);
    return found == places.end() ? nullptr : &*found;
  };
  std::vector<const FrictionPlace*> named;
  for (const identify::FreeParameter& parameter : free) {
    if (const FrictionPlace* place = of_friction(parameter)) {
      named.push_back(place);
    } else {
      variant.free.push_back(parameter);
    }
  }
  const Result<Robot> robot = robot_of(model, PlanarForces::kept);
  if (!robot) return robot.failure();
  Settings changes;
  for (FrictionPlace& place : places) {
    if (!named.empty() && std::find(named.begin(), named.end(), &place) == named.end()) continue;
    for (const std::string_view key : kFrictionKeys) {
      const std::string setting = place.setting(key);
      if (std::find(choice.keys.begin(), choice.keys.end(), key) == choice.keys.end()) {
        if (key != "stribeck_speed" && place.value(key) != 0) changes[setting] = 0;
        continue;
      }
      const auto given = std::find_if(free.begin(), free.end(), [&](const identify::FreeParameter& parameter) {
        const auto name = friction_name(parameter.name);
        return name && name->joint == place.joint && name->key == key && name->number == place.number;
      });
      identify::FreeParameter parameter;
      if (given != free.end()) parameter = *given;
      parameter.name = setting;
      parameter.lower = std::max(parameter.lower, key == "stribeck_speed" ? kSlowest : 0.0);
      if (!(place.value(key) > 0)) {
        changes[setting] =
            std::clamp(start_of(key, *robot), parameter.lower, std::max(parameter.lower, parameter.upper));
      }
      variant.free.push_back(parameter);
    }
  }
  if (places.empty()) {
    return Failure::bad_input(
        "compare: no joint of the model has friction; a section joint_friction gives it some "
        "(docs/formats.md)");
  }
  variant.model = model;
  if (!changes.empty()) {
    Result<Model> changed = model.with(changes);
    if (!changed) return changed.failure();
    variant.model = *std::move(changed);
    variant.model.sensors = model.sensors;  // those that stand for columns too
  }
  return variant;
}

double bayes_criterion(double cost, long numbers, int parameters) {
  const double n = static_cast<double>(std::max(numbers, 1L));
  return n * std::log(std::max(cost, std::numeric_limits<double>::min()) / n) + parameters * std::log(n);
}

// ---- starts of Stribeck's friction

namespace {

constexpr double kShares[] = {0.1, 0.3};  // of the fastest motion
constexpr double kOfDry = 0.5;

/// A setting "JOINT.KEY" or, of one freedom of several, "JOINT.KEY2".
struct NumberedName {
  std::string joint, key, number;

  explicit NumberedName(const std::string& setting) {
    const std::size_t dot = setting.rfind('.');
    if (dot == std::string::npos) return;
    joint = setting.substr(0, dot);
    key = setting.substr(dot + 1);
    while (!key.empty() && key.back() >= '1' && key.back() <= '6') number.insert(0, 1, key.back()), key.pop_back();
  }
};

/// The largest rates of all freedoms of the tree.
Eigen::VectorXd fastest(const maximal::Mechanism& mechanism, const Eigen::VectorXd& numbers,
                        const std::vector<identify::Run>& runs, const std::vector<std::vector<double>>& poses) {
  Eigen::VectorXd most = Eigen::VectorXd::Zero(mechanism.tree().freedoms()), rates = most, twist(mechanism.tangent());
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (int k = 1; k < runs[r].knots(); ++k) {
      const double* q = poses[r].data() + static_cast<std::size_t>(k + 1) * mechanism.stored();
      maximal::local(static_cast<int>(mechanism.bodies().size()), q - mechanism.stored(), q, twist.data());
      twist /= runs[r].step(k - 1);
      maximal::rates_of(mechanism, numbers, q, twist.data(), rates.data());
      if (rates.allFinite()) most = most.cwiseMax(rates.cwiseAbs());
    }
  }
  return most;
}

}  // namespace

std::vector<bool> stribeck_coordinates(const identify::Parameters& parameters) {
  std::vector<bool> out;
  for (const std::string& name : parameters.names()) {
    const std::string key = NumberedName(name).key;
    out.push_back(key == "stribeck" || key == "stribeck_speed");
  }
  return out;
}

std::vector<Eigen::VectorXd> stribeck_starts(const identify::Parameters& parameters, const Eigen::VectorXd& x,
                                             const identify::MachinePoint& machine,
                                             const std::vector<identify::Run>& runs,
                                             const std::vector<std::vector<double>>& poses) {
  const maximal::Mechanism& mechanism = parameters.mechanism();
  const Eigen::VectorXd most = fastest(mechanism, machine.numbers, runs, poses);
  // friction of planar joints is called like their point, not like the coordinate: then the fastest of all counts
  const auto rate_of = [&](const NumberedName& name) {
    double rate = 0, any = 0;
    for (const maximal::Freedom& freedom : mechanism.freedoms()) {
      const bool same = name.number.empty() || name.number == std::to_string(freedom.index + 1);
      any = std::max(any, most[freedom.velocity]);
      if (same && mechanism.joints()[freedom.joint].name == name.joint) rate = std::max(rate, most[freedom.velocity]);
    }
    return rate > 0 ? rate : any;
  };
  const Settings values = machine.model.values();
  const std::vector<identify::Quantity> quantities = parameters.quantities(x);
  std::vector<Eigen::VectorXd> starts;
  for (const double share : kShares) {
    Eigen::VectorXd start = x;
    const auto set = [&](int coordinate, double value) {
      for (const identify::Quantity& quantity : quantities) {
        if (quantity.name != parameters.names()[coordinate] || quantity.slope[coordinate] == 0) continue;
        const double moved = x[coordinate] + (value - quantity.value) / quantity.slope[coordinate];
        start[coordinate] = std::clamp(moved, parameters.lower()[coordinate], parameters.upper()[coordinate]);
      }
    };
    for (int i = 0; i < parameters.size(); ++i) {
      const NumberedName name(parameters.names()[i]);
      const auto dry = values.find(name.joint + ".dry" + name.number);
      if (name.key == "stribeck" && dry != values.end() && dry->second > 0) set(i, kOfDry * dry->second);
      if (const double rate = rate_of(name); name.key == "stribeck_speed" && rate > 0) set(i, share * rate);
    }
    if (start != x) starts.push_back(std::move(start));
  }
  return starts;
}

}  // namespace kinegraph::task
