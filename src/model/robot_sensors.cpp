#include "kinegraph/model/robot_sensors.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <charconv>
#include <map>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/check.hpp"
#include "kinegraph/model/loops.hpp"
#include "kinegraph/model/robot_settings.hpp"
#include "kinegraph/model/sensor_elements.hpp"

namespace kinegraph {
namespace {

/// Whether a freedom of a joint is along a line rather than about one.
bool is_sliding(JointType type, int freedom) {
  switch (type) {
    case JointType::prismatic:
      return true;
    case JointType::cylindrical:
      return freedom == 1;
    case JointType::planar:
      return freedom < 2;
    case JointType::floating:
      return freedom >= 3;
    default:
      return false;
  }
}

/// R = Rz(y) Ry(p) Rx(r)
Matrix3d rotation(const Vector3d& rpy) {
  using Eigen::AngleAxisd;
  return (AngleAxisd(rpy.z(), Vector3d::UnitZ()) * AngleAxisd(rpy.y(), Vector3d::UnitY()) *
          AngleAxisd(rpy.x(), Vector3d::UnitX()))
      .toRotationMatrix();
}

class RobotSensors {
 public:
  RobotSensors(Model model, std::shared_ptr<const ModelSource> source, std::vector<Diagnostic> found)
      : model_(std::move(model)), diagnostics_(std::move(found)) {
    model_.source = std::move(source);
    bases_ = floating_bases(model_.robot);
  }

  void declare() {
    model_.sensors.clear(), model_.disturbances.clear(), model_.unknowns.clear();
    sensors();
    disturbances();
    unknowns();
    frictions();
  }
  std::vector<std::string> names() const { return quantities_.settable_names(); }
  Settings values() const { return quantities_.settable_values(); }  ///< after run()

  Result<Model> run() {
    declare();
    quantities_.evaluate();
    for (std::size_t i = 0; i < turns_.size(); ++i) model_.sensors[i].R_BS = rotation(turns_[i]);
    elements_.finish(model_.sensors);
    finish_frictions();
    for (Diagnostic& fault : check_sensors(model_)) diagnostics_.push_back(std::move(fault));
    return conclude();
  }

 private:
  Robot& robot() { return model_.robot; }

  void sensors() {
    const auto& elements = model_.source->of(Section::sensors);
    model_.sensors.resize(elements.size());
    turns_.assign(elements.size(), Vector3d::Zero());
    elements_.expect(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      Sensor& sensor = model_.sensors[i];
      if (!elements_.start(sensor, elements[i], coordinate_name(elements[i]))) continue;
      place(static_cast<int>(i), elements[i]);
      const bool slides = sensor.coordinate >= 0 && is_sliding(robot().joints[sensor.coordinate].type, sensor.freedom);
      elements_.numbers(static_cast<int>(i), sensor, elements[i], slides);
    }
  }

  void place(int index, const ElementSource& element) {
    Sensor& sensor = model_.sensors[index];
    switch (sensor.type) {
      case SensorType::encoder:
      case SensorType::tachometer:
      case SensorType::torque:
        if (elements_.required(sensor, element, "joint")) on_joint(sensor, element);
        break;
      case SensorType::load_cell:
        if (const Text* name = elements_.required(sensor, element, "joint")) in_joint(sensor, *name);
        elements_.vector(sensor.name + ".rpy", element, "rpy", turns_[index].data(), 3);
        break;
      case SensorType::distance:
        ends(sensor, element);
        break;
      default:
        if (const Text* name = elements_.required(sensor, element, "link")) sensor.on.body = link(*name, false);
        elements_.vector(sensor.name + ".xyz", element, "xyz", sensor.on.at.data(), 3);
        if (sensor.type != SensorType::position) {
          elements_.vector(sensor.name + ".rpy", element, "rpy", turns_[index].data(), 3);
        }
    }
  }

  void on_joint(Sensor& sensor, const ElementSource& element) {
    const Text& name = *element.text("joint");
    sensor.coordinate = joint(name, sensor.type != SensorType::torque);
    if (sensor.coordinate < 0) return;
    sensor.freedom = freedom(element, sensor.coordinate);
    const Joint& j = robot().joints[sensor.coordinate];
    if (sensor.type == SensorType::encoder && (j.type == JointType::ball || j.type == JointType::floating)) {
      error(name.where, fmt::format("an encoder cannot read joint {}: it is {}", quote(j.name), to_string(j.type)));
    }
  }

  void in_joint(Sensor& sensor, const Text& name) {
    sensor.reaction = name.text;
    const int found = robot().find_joint(name.text);
    if (found < 0) return unknown("joint", name, joint_names());
    if (robot().joints[found].type == JointType::fixed && !robot().joints[found].closes_loop) {
      error(name.where, fmt::format("joint {} is fixed: forces inside a rigid body are not computed; name the joint "
                                    "that moves it",
                                    quote(name.text)));
    }
  }

  void ends(Sensor& sensor, const ElementSource& element) {
    bool sound = true;
    for (const auto& [key, mount] : {std::pair("from", &sensor.on), std::pair("to", &sensor.other)}) {
      const std::string prefix = std::string(key) + ".";
      const auto given = element.fields.find(key);
      if (given == element.fields.end()) elements_.required(sensor, element, key);
      const Text* name = element.text(prefix + "link");
      if (given != element.fields.end() && !given->second.faulty && !element.fields.contains(prefix + "link")) {
        error(given->second.where, fmt::format("missing key 'link' of {}", key));
      }
      if (name) mount->body = link(*name, true);
      sound = sound && name && (mount->body >= 0 || name->text == "world");
      elements_.vector(fmt::format("{}.{}", sensor.name, key), element, prefix + "xyz", mount->at.data(), 3);
    }
    if (!sound || sensor.on.body != sensor.other.body) return;
    error(element.where, fmt::format("distance {}: both ends are {}", quote(sensor.name),
                                     sensor.on.body < 0 ? "fixed" : "on the same link"));
  }

  void disturbances() {
    const auto& elements = model_.source->of(Section::disturbances);
    model_.disturbances.resize(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      Disturbance& disturbance = model_.disturbances[i];
      disturbance.where = elements[i].where;
      disturbance.name = force_place(elements[i], disturbance.place);
      elements_.numbers(disturbance, elements[i]);
    }
  }

  void unknowns() {
    const auto& elements = model_.source->of(Section::unknowns);
    model_.unknowns.resize(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      UnknownForce& force = model_.unknowns[i];
      force.where = elements[i].where;
      force.name = elements_.unknown_name(elements[i], i);
      force_place(elements[i], force.place);
      elements_.numbers(force, elements[i]);
    }
  }

  // ---- friction that the robot's file cannot say ----------------------------------------------------------------

  struct FrictionNumber {
    int joint, freedom;
    std::string key, name;  // as the file and as settings call it
    Location where;
    double value = 0;
  };

  static double* place_of(JointDynamics& d, const std::string& key) {
    if (key == "armature") return &d.armature;
    if (key == "gain") return &d.gain;
    return friction_numbers(d)[std::find(kFrictionKeys.begin(), kFrictionKeys.end(), key) - kFrictionKeys.begin()];
  }

  void frictions() {
    const auto& elements = model_.source->of(Section::joint_friction);
    std::map<std::pair<int, int>, int> first;  // lines
    friction_.clear();
    friction_.reserve(elements.size() * (kFrictionKeys.size() + 2));  // quantities know where their values go
    for (const ElementSource& element : elements) {
      const Text* name = element.text("joint");
      const int j = name ? joint(*name, false) : -1;
      if (j < 0) continue;
      const int which = freedom(element, j);
      if (const auto [line, fresh] = first.emplace(std::pair(j, which), name->where.line); !fresh) {
        error(name->where, fmt::format("joint {} has two frictions; the first is in line {}",
                                       quote(coordinate_name(element)), line->second));
        continue;
      }
      const std::string number = freedoms(robot().joints[j].type) > 1 ? std::to_string(which + 1) : "";
      for (const auto& [key, field] : element.fields) {
        if (key == "joint" || key == "freedom") continue;
        const std::string setting = setting_name(fmt::format("{}.{}{}", name->text, key, number));
        friction_.push_back({j, which, key, setting, field.where});
        elements_.number(setting, element, key, &friction_.back().value);
      }
    }
  }

  void finish_frictions() {
    for (const FrictionNumber& f : friction_) {
      const bool speed = f.key == "stribeck_speed";
      if (f.key != "gain" && (speed ? f.value <= 0 : f.value < 0)) {
        const bool set = model_.settings.contains(f.name);  // by the user: then the file is not to blame
        error(set ? Location{} : f.where, fmt::format("{}.{}: must be {} 0, is {}", robot().joints[f.joint].name, f.key,
                                                      speed ? ">" : ">=", f.value));
      }
      Joint& joint = robot().joints[f.joint];
      joint.dynamics.resize(freedoms(joint.type));
      *place_of(joint.dynamics[f.freedom], f.key) = f.value;
    }
  }

  std::string force_place(const ElementSource& element, ForcePlace& place) {
    if (const Text* name = element.text("joint")) {
      place.index = joint(*name, false);
      if (place.index >= 0) place.freedom = freedom(element, place.index);
    }
    return coordinate_name(element);
  }

  /// "elbow", or of a joint with several freedoms "hip_2".
  std::string coordinate_name(const ElementSource& element) const {
    const Text* name = element.text("joint");
    if (!name) return "";
    const Text* freedom = element.text("freedom");
    const int found = model_.robot.find_joint(name->text);
    const bool several = found >= 0 ? freedoms(model_.robot.joints[found].type) > 1 : base(name->text) >= 0;
    return several ? fmt::format("{}_{}", name->text, freedom ? freedom->text : "1") : name->text;
  }

  int base(const std::string& name) const {
    const auto found = std::find_if(bases_.begin(), bases_.end(), [&](const Joint& j) { return j.name == name; });
    return found == bases_.end() ? -1 : static_cast<int>(found - bases_.begin());
  }

  /// A joint that moves. A floating base becomes one.
  int joint(const Text& name, bool may_mimic) {
    int found = robot().find_joint(name.text);
    if (const int floating = base(name.text); found < 0 && floating >= 0) {
      found = static_cast<int>(robot().joints.size());
      robot().joints.push_back(bases_[floating]);
    }
    if (found < 0) return unknown("joint", name, joint_names()), -1;
    const Joint& j = robot().joints[found];
    if (j.mimic && !may_mimic) {
      const std::string leader = j.mimic->joint.valid() ? robot().joints[j.mimic->joint.value].name : "";
      error(name.where,
            fmt::format("joint {} mimics {}, which has the force; name that one", quote(j.name), quote(leader)));
      return -1;
    }
    if (freedoms(j.type) > 0) return found;
    error(name.where, fmt::format("joint {} is fixed", quote(j.name)));
    return -1;
  }

  /// Counted from 1 in the file, as names of numbers do (`hip.damping2`).
  int freedom(const ElementSource& element, int joint) {
    const Text* text = element.text("freedom");
    if (!text) return 0;
    const int most = freedoms(robot().joints[joint].type);
    int value = 0;
    const char* const end = text->text.data() + text->text.size();
    const auto [stop, fault] = std::from_chars(text->text.data(), end, value);
    if (fault == std::errc() && stop == end && value >= 1 && value <= most) return value - 1;
    error(text->where, fmt::format("freedom: expected {} of joint {}, found {}",
                                   most == 1 ? "1" : fmt::format("a number from 1 to {}", most),
                                   quote(robot().joints[joint].name), quote(text->text)));
    return 0;
  }

  int link(const Text& name, bool or_world) {
    const int found = robot().find_link(name.text);
    if (found >= 0 || (or_world && name.text == "world")) return found;
    std::vector<std::string> names;
    for (const Link& l : robot().links) names.push_back(l.name);
    unknown("link", name, names);
    return -1;
  }

  std::vector<std::string> joint_names() {
    std::vector<std::string> names;
    for (const Joint& j : robot().joints) names.push_back(j.name);
    for (const Joint& j : bases_) names.push_back(j.name);
    return names;
  }

  void unknown(const char* kind, const Text& name, const std::vector<std::string>& known) {
    const bool suggest = diagnostics_.size() < kMostFaults;
    error(name.where,
          fmt::format("unknown {} {}{}", kind, quote(name.text), suggest ? did_you_mean(name.text, known) : ""));
  }

  void error(const Location& where, std::string message) {
    diagnostics_.push_back({Severity::error, where, std::move(message)});
  }

  Result<Model> conclude() {
    std::stable_sort(diagnostics_.begin(), diagnostics_.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
    });
    Failure failure{Failure::Kind::bad_input, {}};
    for (Diagnostic& found : diagnostics_) {
      if (found.severity == Severity::error) failure.diagnostics.push_back(found);
    }
    if (failure.diagnostics.size() > kMostFaults) {
      const std::size_t more = failure.diagnostics.size() - kMostFaults;
      failure.diagnostics.resize(kMostFaults);
      failure.diagnostics.push_back(
          {Severity::error, {model_.source->file, 0, 0}, fmt::format("… and {} more faults", more)});
    }
    if (!failure.diagnostics.empty()) return failure;
    for (Diagnostic& warning : diagnostics_) {
      // A model that is evaluated again has them already.
      const auto same = [&](const Diagnostic& d) { return to_string(d) == to_string(warning); };
      if (std::none_of(model_.warnings.begin(), model_.warnings.end(), same)) model_.warnings.push_back(warning);
    }
    return std::move(model_);
  }

  Model model_;
  std::vector<Diagnostic> diagnostics_;
  Quantities quantities_{model_.settings, diagnostics_};
  SensorElements elements_{quantities_, diagnostics_, true};
  std::vector<Joint> bases_;
  std::vector<Vector3d> turns_;  // roll, pitch and yaw per sensor
  std::vector<FrictionNumber> friction_;
};

}  // namespace

Result<Model> with_sensors(Model model, std::shared_ptr<const ModelSource> source, std::vector<Diagnostic> found) {
  return RobotSensors(std::move(model), std::move(source), std::move(found)).run();
}

std::vector<std::string> sensor_setting_names(const Model& model) {
  if (!model.source) return {};
  RobotSensors sensors(model, model.source, {});
  sensors.declare();
  return sensors.names();
}

Settings sensor_setting_values(const Model& model) {
  if (!model.source) return {};
  RobotSensors sensors(model, model.source, {});
  return sensors.run() ? sensors.values() : Settings{};
}

}  // namespace kinegraph
