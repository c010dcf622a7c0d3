#include "kinegraph/io/urdf.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/io/link_tree.hpp"

namespace kinegraph::urdf_test {
namespace {

Model read(const std::string& elements, const ReadOptions& options = {}) {
  const Result<Model> model = parse_urdf("<robot name=\"r\">\n" + elements + "</robot>\n", "r.urdf", options);
  EXPECT_TRUE(model.ok()) << (model ? "" : model.failure().to_string());
  return model ? *model : Model();
}

std::string told(const Model& model) {
  std::string told;
  for (const Diagnostic& warning : model.warnings) told += to_string(warning) + "\n";
  return told;
}

std::string link(const std::string& name) {
  return "<link name=\"" + name +
         "\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" "
         "izz=\"1\"/></inertial></link>\n";
}

std::string joint(const std::string& name, const std::string& type, const std::string& parent, const std::string& child,
                  const std::string& rest = "") {
  return "<joint name=\"" + name + "\" type=\"" + type + "\"><parent link=\"" + parent + "\"/><child link=\"" + child +
         "\"/>" + rest + "</joint>\n";
}

TEST(Urdf, LinksAndTheirOrder) {
  const Model model = read(link("b") + joint("j", "continuous", "a", "b") + link("a"));
  EXPECT_EQ(model.name, "r");
  EXPECT_EQ(model.file, "r.urdf");
  ASSERT_EQ(model.robot.links.size(), 2u);
  EXPECT_EQ(model.robot.links[0].name, "b");
  EXPECT_EQ(to_string(model.robot.links[0].where), "r.urdf:2:1");
  EXPECT_EQ(model.robot.joints[0].parent, LinkIndex(1));
  EXPECT_EQ(model.robot.joints[0].child, LinkIndex(0));
  EXPECT_EQ(model.robot.joints[0].axis, Vector3d::UnitX());
  EXPECT_EQ(model.robot.base, Robot::Base::fixed);
  EXPECT_TRUE(model.spatial());
  EXPECT_EQ(told(model), "");
  EXPECT_EQ(read(link("a"), {.base = Robot::Base::floating}).robot.base, Robot::Base::floating);
}

TEST(Urdf, InertiaOfARotatedFrame) {
  const Model model = read(
      "<link name='a'><inertial><origin xyz='.1 .2 .3' rpy='.4 .5 .6'/><mass value='2'/>"
      "<inertia ixx='1' ixy='.1' ixz='.2' iyy='2' iyz='.3' izz='2.5'/></inertial></link>\n"
      "<link name='bare'/>" +
      joint("j", "fixed", "a", "bare"));
  const Link& a = model.robot.links[0];
  EXPECT_TRUE(a.has_inertia);
  EXPECT_EQ(a.inertia.mass, 2);
  EXPECT_EQ(a.inertia.com, Vector3d(.1, .2, .3));
  // R = Rz(yaw) Ry(pitch) Rx(roll), written out.
  const double cr = std::cos(.4), sr = std::sin(.4), cp = std::cos(.5), sp = std::sin(.5), cy = std::cos(.6),
               sy = std::sin(.6);
  Matrix3d R, I;
  R << cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr,  //
      sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr,   //
      -sp, cp * sr, cp * cr;
  I << 1, .1, .2, .1, 2, .3, .2, .3, 2.5;
  EXPECT_TRUE(a.inertia.about_com.isApprox(R * I * R.transpose(), 1e-14));
  EXPECT_FALSE(model.robot.links[1].has_inertia);
  EXPECT_EQ(model.robot.links[1].inertia.mass, 0);
}

TEST(Urdf, ShapesAndMaterials) {
  const Model model = read(
      "<material name='red'><color rgba='1 0 0 .5'/></material>\n"
      "<link name='a'>\n"
      "<visual><origin xyz='1 2 3'/><geometry><box size='1 2 3'/></geometry><material name='red'/></visual>\n"
      "<visual><geometry><mesh filename='package://no/such.stl' scale='2 2 3'/></geometry>"
      "<material name='own'><color rgba='0 1 0 1'/></material></visual>\n"
      "<visual><geometry><mesh filename='such.stl' scale='0.001'/></geometry><material name='own'/></visual>\n"
      "<collision><geometry><sphere radius='.5'/></geometry></collision>\n"
      "<collision><geometry><cylinder radius='.5' length='2'/></geometry></collision>\n"
      "<collision><geometry><capsule radius='.25' length='1'/></geometry></collision>\n"
      "</link>");
  const Link& a = model.robot.links[0];
  ASSERT_EQ(a.visuals.size(), 3u);
  ASSERT_EQ(a.collisions.size(), 3u);
  EXPECT_EQ(a.visuals[0].size, Vector3d(1, 2, 3));
  EXPECT_EQ(a.visuals[0].X_LG.position(), Vector3d(1, 2, 3));
  EXPECT_EQ(a.visuals[0].color, Eigen::Vector4d(1, 0, 0, .5));
  EXPECT_TRUE(a.visuals[0].colored);
  EXPECT_EQ(a.visuals[1].type, Shape::Type::mesh);
  EXPECT_EQ(a.visuals[1].mesh, "package://no/such.stl");
  EXPECT_EQ(a.visuals[1].size, Vector3d(2, 2, 3));
  EXPECT_EQ(a.visuals[2].size, Vector3d::Constant(0.001));
  EXPECT_EQ(a.visuals[2].color, Eigen::Vector4d(0, 1, 0, 1));
  EXPECT_EQ(a.collisions[0].type, Shape::Type::sphere);
  EXPECT_EQ(a.collisions[0].size[0], .5);
  EXPECT_FALSE(a.collisions[0].colored);
  EXPECT_EQ(a.collisions[1].type, Shape::Type::cylinder);
  EXPECT_EQ(a.collisions[2].type, Shape::Type::capsule);
  EXPECT_EQ(a.collisions[2].size[1], 1);
  EXPECT_EQ(told(model), "");
}

TEST(Urdf, JointTypes) {
  const Model model =
      read(link("a") + link("b") + link("c") + link("d") + link("e") + link("f") + link("g") + link("h") + link("i") +
           joint("screw", "screw", "a", "b", "<axis xyz='0 0 2'/><screw pitch='.01'/>") +
           joint("universal", "universal", "b", "c", "<axis xyz='1 0 0'/><axis2 xyz='0 3 0'/>") +
           joint("ball", "spherical", "c", "d") + joint("cylinder", "cylindrical", "d", "e", "<axis xyz='0 1 0'/>") +
           joint("plane", "planar", "e", "f", "<axis xyz='0 0 1'/>") + joint("free", "floating", "f", "g") +
           joint("weld", "fixed", "g", "h", "<axis xyz='0 0 0'/>") +
           "<joint name='screw2' type='screw' pitch='-.02'><parent link='h'/><child link='i'/></joint>");
  const std::vector<Joint>& joints = model.robot.joints;
  ASSERT_EQ(joints.size(), 8u);
  EXPECT_EQ(joints[0].type, JointType::screw);
  EXPECT_EQ(joints[0].pitch, .01);
  EXPECT_EQ(joints[0].axis, Vector3d::UnitZ());
  EXPECT_EQ(joints[1].type, JointType::universal);
  EXPECT_EQ(joints[1].axis2, Vector3d::UnitY());
  EXPECT_EQ(joints[2].type, JointType::ball);
  EXPECT_EQ(joints[3].type, JointType::cylindrical);
  EXPECT_EQ(joints[4].type, JointType::planar);
  EXPECT_EQ(joints[5].type, JointType::floating);
  EXPECT_EQ(joints[6].type, JointType::fixed);
  EXPECT_EQ(joints[7].pitch, -.02);
  EXPECT_EQ(told(model), "");
}

TEST(Urdf, LimitsAndDynamics) {
  const Model model = read(link("a") + link("b") + link("c") + link("d") +
                           joint("j", "revolute", "a", "b",
                                 "<limit lower='-1' upper='2' velocity='3' effort='inf'/>"
                                 "<dynamics damping='.1' friction='.2' spring_stiffness='5' spring_reference='.5'/>") +
                           joint("k", "continuous", "b", "c", "<limit lower='-1' upper='1' velocity='3' effort='4'/>") +
                           joint("l", "cylindrical", "c", "d",
                                 "<limit lower='-1' upper='1'/><limit lower='0' upper='.5'/><dynamics damping='2'/>"));
  const std::vector<Joint>& joints = model.robot.joints;
  ASSERT_EQ(joints[0].limits.size(), 1u);
  EXPECT_EQ(joints[0].limits[0].lower, -1);
  EXPECT_EQ(joints[0].limits[0].upper, 2);
  EXPECT_EQ(joints[0].limits[0].velocity, 3);
  EXPECT_TRUE(std::isinf(joints[0].limits[0].effort));
  EXPECT_EQ(joints[0].dynamics[0].damping, .1);
  EXPECT_EQ(joints[0].dynamics[0].friction, .2);
  EXPECT_EQ(joints[0].dynamics[0].stiffness, 5);
  EXPECT_EQ(joints[0].dynamics[0].rest, .5);
  EXPECT_TRUE(std::isinf(joints[1].limits[0].upper)) << "a continuous joint has no bounds";
  EXPECT_EQ(joints[1].limits[0].effort, 4);
  ASSERT_EQ(joints[2].limits.size(), 2u);
  EXPECT_EQ(joints[2].limits[1].upper, .5);
  ASSERT_EQ(joints[2].dynamics.size(), 2u);
  EXPECT_EQ(joints[2].dynamics[1].damping, 2);

  const Model free = read(link("a") + link("b") +
                          joint("j", "prismatic", "a", "b",
                                "<limit lower='-1.79769e+308' upper='1.79769e+308' velocity='1e60' effort='1e999'/>"));
  const JointLimits& none = free.robot.joints[0].limits.at(0);
  for (const double limit : {-none.lower, none.upper, none.velocity, none.effort}) {
    EXPECT_EQ(limit, std::numeric_limits<double>::infinity());
  }
}

TEST(Urdf, ArmatureOfATransmission) {
  const std::string robot = link("a") + link("b") + joint("j", "continuous", "a", "b");
  const Model geared = read(robot +
                            "<transmission name='t'><type>x</type><joint name='j'/><actuator name='m'>"
                            "<rotor_inertia value='1e-4'/><mechanicalReduction> 50 </mechanicalReduction>"
                            "</actuator></transmission>");
  ASSERT_EQ(geared.robot.joints[0].dynamics.size(), 1u);
  EXPECT_NEAR(geared.robot.joints[0].dynamics[0].armature, 0.25, 1e-15);
  const Model plain = read(robot +
                           "<transmission name='t'><joint name='j'/><actuator name='m'>"
                           "<mechanicalReduction>50</mechanicalReduction></actuator></transmission>");
  EXPECT_TRUE(plain.robot.joints[0].dynamics.empty()) << "without the rotor's inertia there is nothing to know";
  EXPECT_EQ(told(geared) + told(plain), "");
}

TEST(Urdf, MimicJointsAndTheirChains) {
  const Model model =
      read(link("a") + link("b") + link("c") + link("d") +
           joint("l", "prismatic", "c", "d", "<mimic joint='k' multiplier='3'/><limit lower='0' upper='1'/>") +
           joint("j", "continuous", "a", "b") +
           joint("k", "continuous", "b", "c", "<mimic joint='j' multiplier='-.5' offset='.1'/>"));
  const std::vector<Joint>& joints = model.robot.joints;
  ASSERT_TRUE(joints[2].mimic);
  EXPECT_EQ(joints[2].mimic->joint, JointIndex(1));
  EXPECT_EQ(joints[2].mimic->multiplier, -.5);
  EXPECT_EQ(joints[2].mimic->offset, .1);
  ASSERT_TRUE(joints[0].mimic);  // 3 (−½ q + 0.1)
  EXPECT_EQ(joints[0].mimic->joint, JointIndex(1));
  EXPECT_NEAR(joints[0].mimic->multiplier, -1.5, 1e-15);
  EXPECT_NEAR(joints[0].mimic->offset, .3, 1e-15);
  EXPECT_FALSE(joints[1].mimic);
}

TEST(Urdf, PosesAsDrawn) {
  const Model model =
      read(link("a") + link("b") + link("c") + joint("k", "continuous", "b", "c", "<origin xyz='1 0 0'/>") +
           joint("j", "continuous", "a", "b", "<origin xyz='0 0 1' rpy='0 0 1.5707963267948966'/>"));
  ASSERT_EQ(model.robot.X_WL.size(), 3u);
  EXPECT_TRUE(model.robot.X_WL[2].position().isApprox(Vector3d(0, 1, 1), 1e-15));
  EXPECT_TRUE((model.robot.X_WL[2] * Vector3d(1, 0, 0)).isApprox(Vector3d(0, 2, 1), 1e-15));
}

/// Four bars of length 2 that form a square: the second joint of `first` closes it. Joints in any order of the file.
TEST(Urdf, ASecondParentClosesALoop) {
  const std::string corner = "<origin xyz='0 0 2' rpy='1.5707963267948966 0 0'/>";
  const std::string links = link("ground") + link("first") + link("second") + link("third") + link("fourth");
  const std::string root = joint("j0", "continuous", "ground", "first");
  const std::string chain = joint("j1", "continuous", "first", "second", corner) +
                            joint("j2", "continuous", "second", "third", corner) +
                            joint("j3", "continuous", "third", "fourth", corner);
  const std::string closing = joint("j4", "continuous", "fourth", "first", corner);
  for (const std::string& joints : {root + chain + closing, closing + chain + root, chain + closing + root}) {
    const Robot robot = read(links + joints).robot;
    for (const Joint& j : robot.joints) {
      EXPECT_EQ(j.closes_loop, j.name == "j4");
      EXPECT_LT(j.X_CM.log().norm(), 1e-14);
    }
    EXPECT_TRUE(robot.X_WL[4].position().isApprox(Vector3d(0, -2, 0), 1e-14));
  }
}

/// Where a loop joint is not at the origin of its child, the pose as drawn says where it is.
TEST(Urdf, ALoopJointIsWhereItIsDrawn) {
  const Robot robot =
      read(link("ground") + link("left") + link("right") + joint("a", "continuous", "ground", "left") +
           joint("b", "continuous", "left", "right", "<origin xyz='0 0 1' rpy='0 3.14159265358979323846 0'/>") +
           joint("c", "continuous", "ground", "right", "<axis xyz='0 1 0'/>"))
          .robot;
  const Joint& loop = robot.joints[2];
  EXPECT_TRUE(loop.closes_loop);
  EXPECT_TRUE(loop.X_CM.position().isApprox(Vector3d(0, 0, 1), 1e-14));
  const SE3 X_FM = (robot.X_WL[0] * loop.X_PF).inverse() * robot.X_WL[2] * loop.X_CM;
  EXPECT_LT(X_FM.log().norm(), 1e-14);
  EXPECT_NEAR(loop.X_CM.rotation().log().norm(), kPi, 1e-12);
}

TEST(Urdf, TheWorldAsParent) {
  const Model model = read(link("a") + joint("j", "continuous", "world", "a", "<origin xyz='0 0 3'/>"));
  EXPECT_FALSE(model.robot.joints[0].parent.valid());
  EXPECT_EQ(model.robot.X_WL[0].position(), Vector3d(0, 0, 3));
}

}  // namespace
}  // namespace kinegraph::urdf_test
