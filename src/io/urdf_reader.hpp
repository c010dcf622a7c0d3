#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "kinegraph/io/findings.hpp"
#include "kinegraph/io/xml_reader.hpp"
#include "kinegraph/model/robot.hpp"

namespace kinegraph::io {

/// From the elements of a URDF to a Robot. Links first, then joints, then what refers to joints; urdf.cpp says it all.
class UrdfReader {
 public:
  UrdfReader(const XmlTree& tree, Findings& findings) : tree_(tree), findings_(findings), xml_(tree, findings) {}

  Robot read(pugi::xml_node root);
  bool sound_references() const { return sound_references_; }  ///< every joint knows its links

 private:
  // urdf_link.cpp
  void materials(pugi::xml_node root);
  void link(pugi::xml_node element);
  void inertial(pugi::xml_node element, Link& link, const std::string& owner);
  Shape shape(pugi::xml_node element, const std::string& owner);
  void geometry(pugi::xml_node element, Shape& shape, const std::string& owner);
  void color(pugi::xml_node material, Shape& shape, const std::string& owner);
  SE3 origin(pugi::xml_node element, const std::string& owner);

  // urdf_joint.cpp
  void joint(pugi::xml_node element);
  JointType type(pugi::xml_node element, const std::string& owner);
  LinkIndex end(pugi::xml_node element, const char* which, const std::string& owner);
  void axes(pugi::xml_node element, Joint& joint, const std::string& owner);
  Vector3d direction(pugi::xml_node element, const std::string& owner, const Vector3d& fallback);
  void limits(pugi::xml_node element, Joint& joint, const std::string& owner);
  void dynamics(pugi::xml_node element, Joint& joint, const std::string& owner);
  void mimics();
  void resolve_mimics();
  void transmission(pugi::xml_node element);

  /// The name of an element that no other of its kind has; else "" and a fault.
  std::string fresh_name(pugi::xml_node element, std::map<std::string, int>& taken, int index);

  struct Follower {
    int joint;
    pugi::xml_node element;  // <mimic>
  };

  const XmlTree& tree_;
  Findings& findings_;
  XmlReader xml_;
  Robot robot_;
  std::map<std::string, int> links_, joints_;         // by name
  std::map<std::string, Eigen::Vector4d> materials_;  // colours that have a name
  std::vector<Follower> followers_;
  bool sound_references_ = true;
};

inline constexpr std::array kJointTypes = {
    JointType::fixed,     JointType::revolute,    JointType::continuous, JointType::prismatic, JointType::screw,
    JointType::universal, JointType::cylindrical, JointType::planar,     JointType::ball,      JointType::floating};

/// X = (Rz(y) Ry(p) Rx(r), xyz): roll, pitch and yaw about fixed axes.
SE3 pose(const Vector3d& xyz, const Vector3d& rpy);

}  // namespace kinegraph::io
