#include "kinegraph/io/urdf.hpp"

#include <fmt/format.h>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/link_tree.hpp"
#include "kinegraph/io/loops_file.hpp"
#include "kinegraph/io/urdf_reader.hpp"
#include "kinegraph/model/check.hpp"

namespace kinegraph {
namespace io {
namespace {

constexpr XmlSchema kSchema[] = {
    {"robot", "name version", "link* joint* material* transmission*",
     "gazebo sensor frame plugin group loop_joint collision_filter_group"},
    {"link", "name", "inertial visual* collision*", "contact self_collision_checking collision_checking gazebo"},
    {"inertial", "", "origin mass inertia", ""},
    {"origin", "xyz rpy", "", ""},
    {"mass", "value", "", ""},
    {"inertia", "ixx ixy ixz iyy iyz izz", "", ""},
    {"visual", "name", "origin geometry material", "gazebo"},
    {"collision", "name", "origin geometry", "material verbose gazebo contact_coefficients"},
    {"geometry", "", "box sphere cylinder capsule mesh", ""},
    {"box", "size", "", ""},
    {"sphere", "radius", "", ""},
    {"cylinder", "radius length", "", ""},
    {"capsule", "radius length", "", ""},
    {"mesh", "filename scale", "", "convex"},
    {"material", "name", "color texture", ""},
    {"color", "rgba", "", ""},
    {"texture", "filename", "", ""},
    {"joint", "name type pitch", "origin parent child axis axis2 screw limit* dynamics* mimic",
     "calibration safety_controller hardwareInterface gazebo"},
    {"parent", "link", "", ""},
    {"child", "link", "", ""},
    {"axis", "xyz", "", ""},
    {"axis2", "xyz", "", ""},
    {"screw", "pitch", "", ""},
    {"limit", "lower upper velocity effort acceleration deceleration jerk", "", ""},
    {"dynamics", "damping friction spring_stiffness spring_reference", "", ""},
    {"mimic", "joint multiplier offset", "", ""},
};

}  // namespace

Robot UrdfReader::read(pugi::xml_node root) {
  xml_.check_known(root, "robot", kSchema, "link joint");
  materials(root);
  for (const pugi::xml_node element : root.children("link")) link(element);
  for (const pugi::xml_node element : root.children("joint")) joint(element);
  mimics();
  for (const pugi::xml_node element : root.children("transmission")) transmission(element);
  if (robot_.links.empty()) findings_.error(tree_.where(root), "the robot has no links");
  return std::move(robot_);
}

std::string UrdfReader::fresh_name(pugi::xml_node element, std::map<std::string, int>& taken, int index) {
  const std::string kind = element.name(), name = xml_.text(element, "name", kind);
  if (name.empty()) return name;
  const auto [first, fresh] = taken.emplace(name, index);
  if (!fresh) {
    const Location& where = kind == "link" ? robot_.links[first->second].where : robot_.joints[first->second].where;
    findings_.error(tree_.where_value(element.attribute("name")),
                    fmt::format("duplicate {} {}; first given in line {}", kind, quote(name), where.line));
  }
  return name;
}

}  // namespace io

Result<Model> parse_urdf(const std::string& text, const std::string& file_name, const ReadOptions& options) {
  const Result<io::XmlTree> tree = io::XmlTree::parse(text, file_name);
  if (!tree) return tree.failure();
  const pugi::xml_node root = tree->root();
  if (std::string(root.name()) != "robot") {
    return Failure::bad_input(tree->where(root),
                              fmt::format("outermost element {}: expected 'robot'", quote(root.name())));
  }
  io::Findings findings(options.strict);
  for (const Diagnostic& warning : tree->warnings()) findings.warning(warning.message, warning.where, warning.message);
  Model model;
  model.file = file_name;
  model.name = root.attribute("name").value();
  if (model.name.empty()) {
    model.name = std::filesystem::path(file_name).stem().string();
    findings.warning("name", tree->where(root), "the robot has no name");
  }
  io::UrdfReader reader(*tree, findings);
  model.robot = reader.read(root);
  model.robot.base = options.base.value_or(Robot::Base::fixed);
  if (reader.sound_references()) {
    io::place_links(model.robot, findings);
    if (!options.loops.empty()) io::read_loops(options.loops, model.robot, findings);
    io::warn_of_massless(model.robot, findings);
  }
  for (const Diagnostic& found : check_robot(model.robot, options.strict)) {
    if (found.severity == Severity::error)
      findings.error(found.where, found.message);
    else
      findings.warning(found.message, found.where, found.message);
  }
  if (findings.failed()) return findings.failure();
  model.warnings = findings.warnings();
  return model;
}

}  // namespace kinegraph
