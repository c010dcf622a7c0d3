#include <fmt/format.h>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/urdf_reader.hpp"

namespace kinegraph::io {

SE3 pose(const Vector3d& xyz, const Vector3d& rpy) {
  const SO3 x = SO3::exp(rpy[0] * Vector3d::UnitX()), y = SO3::exp(rpy[1] * Vector3d::UnitY()),
            z = SO3::exp(rpy[2] * Vector3d::UnitZ());
  return SE3(z * y * x, xyz);
}

SE3 UrdfReader::origin(pugi::xml_node element, const std::string& owner) {
  const pugi::xml_node origin = element.child("origin");
  if (!origin) return SE3();
  const Vector3d zero = Vector3d::Zero();
  return pose(xml_.vector(origin, "xyz", owner, zero), xml_.vector(origin, "rpy", owner, zero));
}

/// The materials beside the links: shapes refer to them by name. A material with a colour within a shape counts too.
void UrdfReader::materials(pugi::xml_node root) {
  for (const pugi::xml_node material : root.children("material")) {
    const std::string name = xml_.text(material, "name", "material");
    Shape shape;
    color(material, shape, "material " + quote(name));
    if (!name.empty() && shape.colored) materials_.emplace(name, shape.color);
  }
}

void UrdfReader::link(pugi::xml_node element) {
  Link link;
  link.where = tree_.where(element);
  link.name = fresh_name(element, links_, static_cast<int>(robot_.links.size()));
  const std::string owner = "link " + quote(link.name);
  if (const pugi::xml_node inertia = element.child("inertial")) inertial(inertia, link, owner);
  for (const pugi::xml_node visual : element.children("visual")) link.visuals.push_back(shape(visual, owner));
  for (const pugi::xml_node collision : element.children("collision"))
    link.collisions.push_back(shape(collision, owner));
  robot_.links.push_back(std::move(link));
}

void UrdfReader::inertial(pugi::xml_node element, Link& link, const std::string& owner) {
  link.has_inertia = true;
  link.inertia_where = tree_.where(element);
  const SE3 X_LI = origin(element, owner);
  link.inertia.com = X_LI.position();
  if (const pugi::xml_node mass = element.child("mass")) {
    link.inertia.mass = xml_.number(mass, "value", owner);
  } else {
    findings_.error(link.inertia_where, owner + ": 'inertial' has no element 'mass'");
  }
  const pugi::xml_node inertia = element.child("inertia");
  if (!inertia) return findings_.error(link.inertia_where, owner + ": 'inertial' has no element 'inertia'");
  bool sound = true;
  const auto moment = [&](const char* name) {
    double value = 0;
    sound = xml_.numbers(inertia, name, owner, {&value, 1}, true) && sound;
    return value;
  };
  const double xx = moment("ixx"), xy = moment("ixy"), xz = moment("ixz");
  const double yy = moment("iyy"), yz = moment("iyz"), zz = moment("izz");
  if (!sound) return;
  Matrix3d I;
  I << xx, xy, xz, xy, yy, yz, xz, yz, zz;
  // I_L = R I Rᵀ; rounding must not leave it unsymmetric
  const Matrix3d R = X_LI.rotation().matrix(), turned = R * I * R.transpose();
  link.inertia.about_com = R.isIdentity(0) ? I : Matrix3d(0.5 * (turned + turned.transpose()));
}

Shape UrdfReader::shape(pugi::xml_node element, const std::string& owner) {
  Shape shape;
  shape.X_LG = origin(element, owner);
  geometry(element, shape, owner);
  if (const pugi::xml_node material = element.child("material")) {
    color(material, shape, owner);
    const std::string name = material.attribute("name").value();
    if (shape.colored) {
      materials_.emplace(name, shape.color);
    } else if (const auto known = materials_.find(name); known != materials_.end()) {
      shape.color = known->second;
      shape.colored = true;
    }
  }
  return shape;
}

void UrdfReader::geometry(pugi::xml_node element, Shape& shape, const std::string& owner) {
  const pugi::xml_node geometry = element.child("geometry");
  if (!geometry) {
    return findings_.error(tree_.where(element),
                           fmt::format("{}: '{}' has no element 'geometry'", owner, element.name()));
  }
  const auto positive = [&](pugi::xml_node form, const char* attribute) {
    const double value = xml_.number(form, attribute, owner);
    if (value < 0) {
      findings_.error(tree_.where_value(form.attribute(attribute)),
                      fmt::format("{}: {}: must be >= 0, is {}", owner, attribute, value));
    }
    return value;
  };
  for (const pugi::xml_node form : geometry.children()) {
    const std::string name = form.name();
    if (name == "box") {
      shape.type = Shape::Type::box;
      shape.size = xml_.vector(form, "size", owner);
      if (shape.size.minCoeff() < 0) {
        findings_.error(tree_.where_value(form.attribute("size")), owner + ": size: must be >= 0");
      }
    } else if (name == "sphere") {
      shape.type = Shape::Type::sphere;
      shape.size[0] = positive(form, "radius");
    } else if (name == "cylinder" || name == "capsule") {
      shape.type = name == "capsule" ? Shape::Type::capsule : Shape::Type::cylinder;
      shape.size[0] = positive(form, "radius");
      shape.size[1] = positive(form, "length");
    } else if (name == "mesh") {
      shape.type = Shape::Type::mesh;
      shape.mesh = xml_.text(form, "filename", owner);
      shape.size = Vector3d::Ones();
      const std::string scale = form.attribute("scale").value();
      const bool uniform = scale.find_first_of(" \t\r\n") == std::string::npos && !scale.empty();
      if (uniform) {
        shape.size *= xml_.number(form, "scale", owner);
      } else {
        shape.size = xml_.vector(form, "scale", owner, shape.size);
      }
    } else {
      continue;
    }
    return;
  }
  findings_.error(tree_.where(geometry),
                  owner + ": 'geometry' has no form: expected box, sphere, cylinder, capsule or mesh");
}

void UrdfReader::color(pugi::xml_node material, Shape& shape, const std::string& owner) {
  const pugi::xml_node color = material.child("color");
  if (!color) return;
  shape.colored = xml_.numbers(color, "rgba", owner, {shape.color.data(), 4}, true);
}

}  // namespace kinegraph::io
