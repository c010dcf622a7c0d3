#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kinegraph/base/names.hpp"
#include "kinegraph/identify/parameters.hpp"
#include "kinegraph/model/planar_robot.hpp"
#include "kinegraph/model/robot_settings.hpp"

namespace kinegraph::identify {

/// From names to coordinates. Faults are collected; one mistake is reported once.
class ParameterMaker {
 public:
  ParameterMaker(const Model& model, const Robot& robot)
      : model_(model), robot_(robot), size_(robot), values_(model.values()) {
    for (const Sensor& sensor : MachineNumbers::added_sensors(model)) {
      if (sensor.channels.empty()) continue;
      values_.emplace(sensor.name + ".bias", sensor.channels.front().bias);
      values_.emplace(sensor.name + ".scale", sensor.channels.front().scale);
    }
  }

  Result<Parameters> run(const std::vector<FreeParameter>& free) {
    for (const FreeParameter& one : free) add(one);
    if (!faults_.empty()) return failure();
    if (Result<bool> found = start(); !found) return found.failure();
    check_effects();
    find_touched_links();
    if (!faults_.empty()) return failure();
    return std::move(made_);
  }

 private:
  // ---- names ------------------------------------------------------------------------------------------------

  void add(const FreeParameter& one) {
    const bool is_number = values_.contains(canonical(one.name));
    const int link = one.name.ends_with(".inertia") ? find_link(one.name.substr(0, one.name.size() - 8)) : -1;
    if (link >= 0 && is_number) {
      return error(fmt::format("{}: both a motor and a body have this name; rename one of them", quote(one.name)));
    }
    if (one.name == "gravity.direction") {
      if (group_bounds(one)) direction(one);
    } else if (link >= 0) {
      if (group_bounds(one)) solid(one, link);
    } else if (is_number) {
      number(one);
    } else if (model_.with({{one.name, 0.0}})) {
      error(moves_nothing(one.name));  // an initial value
    } else {
      error(fmt::format("no such parameter: {}{}", quote(one.name), did_you_mean(one.name, candidates())));
    }
  }

  std::vector<std::string> candidates() const {
    std::vector<std::string> names = {"gravity.direction"};
    for (const auto& [name, value] : values_) names.push_back(name);
    for (int i = 0; i < solids(); ++i) names.push_back(robot_.links[i].name + ".inertia");
    return names;
  }

  /// Links of a planar mechanism beyond its bodies are of sliders.
  int solids() const { return static_cast<int>(model_.spatial() ? robot_.links.size() : model_.bodies.size()); }
  int find_link(const std::string& name) const {
    const int found = robot_.find_link(name);
    return found < solids() ? found : -1;
  }

  static std::string moves_nothing(const std::string& name) {
    return fmt::format("{}: it moves nothing in the equations of motion, and is no offset or scale of a sensor",
                       quote(name));
  }

  /// Numbers of robots have two names.
  std::string canonical(std::string name) const {
    if (!model_.spatial()) return name;
    if (name.starts_with("gravity_")) name[7] = '.';
    return setting_name(name);
  }

  /// False, and a fault, if the setting is free by another name already.
  bool claim(const std::string& setting, const std::string& owner) {
    const auto [found, fresh] = owners_.emplace(canonical(setting), owner);
    if (fresh) return true;
    error(found->second == owner ? fmt::format("{} is given twice", quote(owner))
                                 : fmt::format("{} and {} are the same number", quote(found->second), quote(owner)));
    return false;
  }

  // ---- coordinates ------------------------------------------------------------------------------------------

  void number(const FreeParameter& one) {
    if (!claim(one.name, one.name)) return;
    const double value = values_.at(canonical(one.name));
    if (!std::isfinite(value)) return error(moves_nothing(one.name));
    const SettingKind kind = kind_of(canonical(one.name), size_.mass, size_.length);
    double lower = one.lower;
    if (lower == -std::numeric_limits<double>::infinity() && value >= kind.lower && one.upper > kind.lower) {
      lower = kind.lower;
    }
    if (!(lower <= one.upper)) {
      return error(
          fmt::format("{}: the lower bound {:.6g} is above the upper one, {:.6g}", one.name, lower, one.upper));
    }
    if (!(value >= lower && value <= one.upper)) {
      return error(fmt::format("{}: the model's value {:.6g} is not between {:.6g} and {:.6g}", one.name, value, lower,
                               one.upper));
    }
    if (!sound_prior(one)) return;
    ScaledNumber shape{std::max(std::abs(value), kind.typical)};
    const double scale = shape.scale;
    block(one, {{one.name, value, scale}}, 1, shape);
    start_.back() = value / scale, lower_.back() = lower / scale, upper_.back() = one.upper / scale;
    if (one.prior) prior_.back() = *one.prior / scale;
  }

  void direction(const FreeParameter& one) {
    Eigen::VectorXd g = robot_.gravity;
    if (!model_.spatial()) g = model_.gravity;
    if (g.norm() == 0) return error("gravity.direction: there is no gravity");
    std::vector<FreeSetting> settings;
    bool sound = claim("gravity", one.name);
    for (int i = 0; i < g.size(); ++i) {
      settings.push_back({std::string("gravity.") + "xyz"[i], g[i], g.norm()});
      sound = sound && claim(settings.back().name, one.name);
    }
    if (sound) block(one, settings, static_cast<int>(g.size()) - 1, Direction(g));
  }

  void solid(const FreeParameter& one, int link) {
    const std::string& name = robot_.links[link].name;
    std::vector<FreeSetting> settings;
    const double moment = 0.01 * size_.mass * size_.length * size_.length;
    const auto setting = [&](const std::string& quantity, double value, double typical) {
      settings.push_back({name + "." + quantity, value, std::max(std::abs(value), typical)});
      return claim(settings.back().name, one.name);
    };
    if (model_.spatial()) {
      Inertia inertia = robot_.links[link].inertia;
      if (!Solid::possible(inertia)) inertia = Solid::nearest(inertia, size_.mass, size_.length), moved(link);
      bool sound = setting("mass", inertia.mass, 0.01 * size_.mass);
      for (int i = 0; i < 3; ++i) {
        sound = sound && setting(std::string("com_") + "xyz"[i], inertia.com[i], 0.1 * size_.length);
      }
      for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) {
          const std::string entry = {'i', "xyz"[i], "xyz"[j]};
          sound = sound && setting(entry, inertia.about_com(i, j), std::min(moment, inertia.about_com.trace()));
        }
      }
      if (sound) block(one, settings, Solid::kSize, Solid(inertia));
      return;
    }
    FlatSolid::Numbers numbers = FlatSolid::numbers(model_.bodies[link]);
    if (!FlatSolid::possible(numbers)) numbers = FlatSolid::nearest(numbers, size_.mass, size_.length), moved(link);
    const bool sound = setting("mass", numbers[0], 0.01 * size_.mass) &&
                       setting("cog_x", numbers[1], 0.1 * size_.length) &&
                       setting("cog_y", numbers[2], 0.1 * size_.length) && setting("I0", numbers[3], moment);
    if (sound) block(one, settings, FlatSolid::kSize, FlatSolid(numbers));
  }

  void block(const FreeParameter& one, const std::vector<FreeSetting>& settings, int coordinates,
             decltype(ParameterGroup::shape) shape) {
    ParameterGroup group;
    group.name = one.name;
    group.coordinate = static_cast<int>(start_.size()), group.coordinates = coordinates;
    group.setting = static_cast<int>(made_.settings_.size()), group.settings = static_cast<int>(settings.size());
    group.shape = std::move(shape);
    made_.settings_.insert(made_.settings_.end(), settings.begin(), settings.end());
    for (std::string& name : group.coordinate_names()) made_.names_.push_back(std::move(name));
    start_.resize(start_.size() + coordinates, 0.0);
    lower_.resize(start_.size(), -std::numeric_limits<double>::infinity());
    upper_.resize(start_.size(), std::numeric_limits<double>::infinity());
    prior_.resize(start_.size(), one.prior.value_or(std::numeric_limits<double>::infinity()));
    made_.groups_.push_back(std::move(group));
  }

  bool sound_prior(const FreeParameter& one) {
    if (!one.prior || (*one.prior > 0 && std::isfinite(*one.prior))) return true;
    error(fmt::format("{}: the prior's standard deviation must be above 0, is {:.6g}", one.name, *one.prior));
    return false;
  }

  bool group_bounds(const FreeParameter& one) {
    if (std::isfinite(one.lower) || std::isfinite(one.upper) || std::isnan(one.lower) || std::isnan(one.upper)) {
      error(fmt::format("{}: several numbers at once have no bounds; free them one by one to bound them", one.name));
      return false;
    }
    return sound_prior(one);
  }

  // ---- the machine ------------------------------------------------------------------------------------------

  void moved(int link) {
    const Link& it = robot_.links[link];
    adjusted_ = true;
    made_.warnings_.push_back(
        {Severity::warning, it.inertia_where.line > 0 ? it.inertia_where : it.where,
         fmt::format(
             "{} {}: no solid body has its mass and inertia; the search starts from the nearest that one can have",
             model_.spatial() ? "link" : "body", quote(it.name))});
  }

  /// A point mass on a planar body: its I0 is free, but may not go below what the mass has there.
  void lift_flat_moments() {
    for (std::size_t b = 0; !model_.spatial() && b < model_.bodies.size(); ++b) {
      const FlatSolid::Numbers numbers = FlatSolid::numbers(model_.bodies[b]);
      if (FlatSolid::possible(numbers) || !(numbers[0] > 0)) continue;
      for (ParameterGroup& group : made_.groups_) {
        if (group.name != model_.bodies[b].name + ".I0") continue;
        const double lifted = FlatSolid::nearest(numbers, size_.mass, size_.length)[3];
        const double scale = std::get<ScaledNumber>(group.shape).scale;
        if (lifted > upper_[group.coordinate] * scale) continue;
        made_.settings_[group.setting].start = lifted;
        start_[group.coordinate] = lifted / scale;
        moved(static_cast<int>(b));
      }
    }
  }

  /// A link of which single moments are free, and are too large or too small beside the others.
  void mend_moments() {
    for (std::size_t i = 0; model_.spatial() && i < robot_.links.size(); ++i) {
      const Link& link = robot_.links[i];
      if (!(link.inertia.mass > 0) || Solid::possible(link.inertia)) continue;
      ParameterGroup* groups[3] = {nullptr, nullptr, nullptr};
      for (ParameterGroup& group : made_.groups_) {
        for (int k = 0; k < 3; ++k) {
          if (group.name == link.name + kMoments[k]) groups[k] = &group;
        }
      }
      const auto mended =
          Solid::mended(link.inertia.about_com, {groups[0] != nullptr, groups[1] != nullptr, groups[2] != nullptr});
      if (!mended) continue;
      for (int k = 0; k < 3; ++k) {
        const double value = (*mended)(k, k);
        if (!groups[k] || value == link.inertia.about_com(k, k)) continue;
        const double scale = std::get<ScaledNumber>(groups[k]->shape).scale;
        made_.settings_[groups[k]->setting].start = value;
        start_[groups[k]->coordinate] =
            std::clamp(value / scale, lower_[groups[k]->coordinate], upper_[groups[k]->coordinate]);
      }
      moved(static_cast<int>(i));
    }
  }

  Result<bool> start() {
    lift_flat_moments();
    mend_moments();
    made_.model_ = model_;
    if (adjusted_) {
      Settings settings;
      for (const FreeSetting& one : made_.settings_) {
        if (one.start != values_.at(canonical(one.name))) settings[one.name] = one.start;
      }
      Result<Model> changed = model_.with(settings);
      if (!changed) return changed.failure();
      made_.model_ = *std::move(changed);
      made_.model_.sensors = model_.sensors;
    }
    const Result<Robot> robot = robot_of(made_.model_, PlanarForces::kept);
    if (!robot) return robot.failure();
    Result<std::shared_ptr<const maximal::Mechanism>> mechanism = maximal::Mechanism::make(*robot);
    if (!mechanism) return mechanism.failure();
    made_.mechanism_ = *mechanism;
    const auto vector = [](const std::vector<double>& list) -> Eigen::VectorXd {
      return Eigen::Map<const Eigen::VectorXd>(list.data(), static_cast<int>(list.size()));
    };
    made_.start_ = vector(start_), made_.lower_ = vector(lower_);
    made_.upper_ = vector(upper_), made_.prior_ = vector(prior_);
    std::vector<std::string> names;
    Eigen::VectorXd s(made_.settings_.size()), typical(made_.settings_.size());
    for (std::size_t i = 0; i < made_.settings_.size(); ++i) {
      names.push_back(made_.settings_[i].name);
      s[i] = made_.settings_[i].start, typical[i] = made_.settings_[i].typical;
    }
    std::vector<int> flat;
    for (const ParameterGroup& group : made_.groups_) {
      if (!std::holds_alternative<FlatSolid>(group.shape)) continue;
      flat.push_back(group.setting);
      s[group.setting + 3] = FlatSolid::about_cog(s.segment<4>(group.setting));
      typical[group.setting + 3] = s[group.setting + 3];
    }
    Result<MachineNumbers> numbers = MachineNumbers::make(made_.model_, made_.mechanism_, names, s, typical, flat);
    if (!numbers) return numbers.failure();
    made_.numbers_ = std::make_shared<const MachineNumbers>(*std::move(numbers));
    return true;
  }

  void check_effects() {
    const MachineNumbers& numbers = *made_.numbers_;
    const Eigen::MatrixXd& slope = numbers.start_slope();
    for (const ParameterGroup& group : made_.groups_) {
      const auto columns = slope.middleCols(group.setting, group.settings);
      const bool moves =
          !columns.topRows(numbers.links()).isZero(0) || !columns.bottomRows(2 * numbers.channels()).isZero(0);
      if (!moves) error(moves_nothing(group.name));
    }
  }

  void find_touched_links() {
    const MachineNumbers& numbers = *made_.numbers_;
    const auto& places = made_.mechanism_->tree().links();
    const Robot& robot = made_.mechanism_->tree().robot();
    for (int i = 0; i < static_cast<int>(places.size()); ++i) {
      if (places[i].body < 0) continue;
      Parameters::TouchedLink touched{i};
      for (const ParameterGroup& group : made_.groups_) {
        if (group.solid()) continue;
        const auto rows = numbers.start_slope().block(numbers.links() + 10 * i, group.setting, 10, group.settings);
        touched.mass = touched.mass || !rows.row(0).isZero(0);
        touched.moments = touched.moments || !rows.bottomRows(6).isZero(0);
      }
      if (!touched.mass && !touched.moments) continue;
      made_.touched_.push_back(touched);
      check_start(touched, robot.links[i]);
    }
  }

  void check_start(const Parameters::TouchedLink& touched, const Link& link) {
    const Location where = link.inertia_where.line > 0 ? link.inertia_where : link.where;
    const Inertia& inertia = link.inertia;
    if (touched.mass && !(inertia.mass > 0)) {
      faults_.push_back({Severity::error, where,
                         fmt::format("{}.mass: must be above 0 to start with, is {:.6g}", link.name, inertia.mass)});
    } else if (touched.moments && model_.spatial() && !Solid::possible(inertia)) {
      faults_.push_back(
          {Severity::error, where,
           fmt::format("link {}: no solid body has its moments of inertia (the largest principal one must be below the "
                       "sum of the others), and the free ones cannot mend it; set others, or free {}.inertia",
                       quote(link.name), link.name)});
    } else if (touched.moments && !model_.spatial() && !(inertia.about_com(2, 2) > 0)) {
      faults_.push_back(
          {Severity::error, where,
           fmt::format("{0}.I0: must be above mass*|cog|^2 to start with; set it, or free {0}.inertia", link.name)});
    }
  }

  void error(std::string message) { faults_.push_back({Severity::error, {}, std::move(message)}); }
  Failure failure() { return {Failure::Kind::bad_input, std::move(faults_)}; }

  static constexpr const char* kMoments[3] = {".ixx", ".iyy", ".izz"};
  const Model& model_;
  const Robot& robot_;
  const MachineSize size_;
  Settings values_;
  std::map<std::string, std::string> owners_;  // of each setting: as the user named it
  std::vector<double> start_, lower_, upper_, prior_;
  bool adjusted_ = false;
  Parameters made_;
  std::vector<Diagnostic> faults_;
};

Result<Parameters> Parameters::make(const Model& model, const std::vector<FreeParameter>& free) {
  const Result<Robot> robot = robot_of(model, PlanarForces::kept);
  if (!robot) return robot.failure();
  return ParameterMaker(model, *robot).run(free);
}

}  // namespace kinegraph::identify
