#include <gtest/gtest.h>

#include "kinegraph/io/urdf.hpp"

namespace kinegraph::urdf_faults_test {
namespace {

/// What is told about a robot: errors, or else warnings. Its elements start at line 2.
std::string told(const std::string& elements, const ReadOptions& options = {}) {
  const Result<Model> model = parse_urdf("<robot name=\"r\">\n" + elements + "\n</robot>\n", "r.urdf", options);
  if (!model) return model.failure().to_string();
  std::string warnings;
  for (const Diagnostic& warning : model->warnings) warnings += (warnings.empty() ? "" : "\n") + to_string(warning);
  return warnings;
}

std::string inertial(const std::string& mass, const std::string& xx, const std::string& yy, const std::string& zz) {
  return "<inertial><mass value='" + mass + "'/><inertia ixx='" + xx + "' ixy='0' ixz='0' iyy='" + yy +
         "' iyz='0' izz='" + zz + "'/></inertial>";
}

/// The links base and tip in line 2, and a joint in line 3.
std::string with_joint(const std::string& joint) {
  const std::string body = inertial("1", "1", "1", "1");
  return told("<link name='base'>" + body + "</link><link name='tip'>" + body + "</link>\n" + joint);
}
std::string with_ends(const std::string& type, const std::string& rest) {
  return with_joint("<joint name='j' type='" + type + "'><parent link='base'/><child link='tip'/>\n" + rest +
                    "</joint>");
}

TEST(BadUrdf, UnknownElementsAndAttributesWithTheNearestName) {
  EXPECT_EQ(told("<link name='base'>\n <inertail/>\n</link>"),
            "r.urdf:3:2: warning: link 'base': unknown element 'inertail'; did you mean 'inertial'?");
  EXPECT_EQ(told("<link name='base'>\n <visual><geometry><box sise='1 1 1' size='1 1 1'/></geometry></visual></link>"),
            "r.urdf:3:25: warning: link 'base': unknown attribute 'sise' of 'box'; did you mean 'size'?");
  EXPECT_EQ(told("<lnk/>\n<link name='a'/>"),
            "r.urdf:2:1: warning: robot: unknown element 'lnk'; did you mean 'link'?");
  EXPECT_EQ(told("<link name='a'>heavy</link>"),
            "r.urdf:2:16: warning: link 'a': the text 'heavy' in 'link' is ignored");
  EXPECT_EQ(told("<gazebo><anything x='1'/></gazebo><link name='a'/>"), "");
  EXPECT_EQ(told("<link xmlns:e='x' e:note='1' name='a'><e:skin/><e:inertial/></link>"),
            "r.urdf:2:48: warning: link 'a': unknown element 'e:inertial'; did you mean 'inertial'?");
}

TEST(BadUrdf, WarningsDoNotDrown) {
  std::string links = "<link name='base'>\n";
  for (int i = 0; i < 12; ++i) links += " <inertail/>\n";
  EXPECT_EQ(
      told(links + "</link>"),
      "r.urdf:3:2: warning: link 'base': unknown element 'inertail'; did you mean 'inertial'? (and 11 more such)");
  EXPECT_EQ(told("<link name='a'><x1/><x2/><x3/><x4/><x5/><x6/><x7/><x8/></link>"),
            "r.urdf:2:16: warning: link 'a': unknown element 'x1' (and 7 more such: 'x2', 'x3', 'x4', 'x5', 'x6', …)");
}

TEST(BadUrdf, Physics) {
  EXPECT_EQ(told("<link name='a'>\n" + inertial("-1", "1", "1", "1") + "</link>"),
            "r.urdf:3:1: error: link 'a': the mass must be >= 0, is -1");
  EXPECT_EQ(told("<link name='a'>\n" + inertial("nan", "1", "1", "inf") + "</link>"),
            "r.urdf:3:24: error: link 'a': mass value: 'nan' is not a finite number\n"
            "r.urdf:3:84: error: link 'a': inertia izz: 'inf' is not a finite number");
  EXPECT_EQ(told("<link name='a'>\n" + inertial("1e60", "1", "1", "-1e999") + "</link>"),
            "r.urdf:3:24: error: link 'a': mass value: '1e60' is not a number from -1e+50 to 1e+50\n"
            "r.urdf:3:85: error: link 'a': inertia izz: '-1e999' is not a number from -1e+50 to 1e+50");
  EXPECT_EQ(told("<link name='a'>\n" + inertial("1", "1", "-.1", "1") + "</link>"),
            "r.urdf:3:1: error: link 'a': the inertia has a negative principal moment, -0.1");
}

TEST(BadUrdf, TheTriangleInequalityIsAnErrorOnlyIfStrict) {
  const std::string thin = "<link name='a'>\n" + inertial("1", "1", "1", "3") + "</link>";
  const std::string message =
      "link 'a': no body has the principal inertias 1, 1 and 3 (the largest is above the sum of the others)";
  EXPECT_EQ(told(thin), "r.urdf:3:1: warning: " + message);
  EXPECT_EQ(told(thin, {.strict = true}), "r.urdf:3:1: error: " + message);
}

TEST(BadUrdf, NumbersAndMissingParts) {
  EXPECT_EQ(with_ends("continuous", "<origin xyz='1 2' rpy='0 a 0'/>"),
            "r.urdf:4:14: error: joint 'j': origin xyz: expected 3 numbers, found '1 2'\n"
            "r.urdf:4:26: error: joint 'j': origin rpy: 'a' is not a number");
  EXPECT_EQ(with_ends("continuous", "<axis/>"), "r.urdf:4:1: error: joint 'j': 'axis' has no attribute 'xyz'");
  EXPECT_EQ(with_ends("continuous", "<axis xyz='0 0 0'/>"), "r.urdf:4:12: error: joint 'j': the axis is zero");
  EXPECT_EQ(with_ends("screw", ""), "r.urdf:3:1: error: joint 'j': 'joint' has no attribute 'pitch'");
  EXPECT_EQ(with_ends("universal", "<axis2 xyz='2 0 0'/>"),
            "r.urdf:4:1: error: joint 'j': the two axes of a universal joint must not be parallel");
  EXPECT_EQ(told("<link name='a'><inertial/></link>"),
            "r.urdf:2:16: error: link 'a': 'inertial' has no element 'mass'\n"
            "r.urdf:2:16: error: link 'a': 'inertial' has no element 'inertia'");
  EXPECT_EQ(
      told("<link/>\n<link name=''/>"),
      "r.urdf:2:1: error: link: 'link' has no attribute 'name'\nr.urdf:3:7: error: link: attribute 'name' is empty");
  EXPECT_EQ(told("<link name='a'><visual/></link>"),
            "r.urdf:2:16: error: link 'a': 'visual' has no element 'geometry'");
  EXPECT_EQ(told("<link name='a'><visual><geometry><sphere radius='-1'/></geometry></visual></link>"),
            "r.urdf:2:50: error: link 'a': radius: must be >= 0, is -1");
  EXPECT_EQ(told(""), "r.urdf:1:1: error: the robot has no links");
}

TEST(BadUrdf, NamesAndReferences) {
  EXPECT_EQ(told("<link name='a'/>\n<link name='a'/>"),
            "r.urdf:3:13: error: duplicate link 'a'; first given in line 2");
  EXPECT_EQ(with_joint("<joint name='j' type='fixed'><parent link='bse'/><child link='tip'/></joint>"),
            "r.urdf:3:44: error: joint 'j': unknown link 'bse'; did you mean 'base'?");
  EXPECT_EQ(with_joint("<joint name='j' type='fixed'><parent link='base'/></joint>"),
            "r.urdf:3:1: error: joint 'j' has no element 'child'");
  EXPECT_EQ(with_joint("<joint name='j' type='revolut'><parent link='base'/><child link='base'/></joint>"),
            "r.urdf:3:23: error: joint 'j': unknown type 'revolut'; did you mean 'revolute'?\n"
            "r.urdf:3:66: error: joint 'j': parent and child are the same link");
  EXPECT_EQ(
      with_ends("hinge", ""),
      "r.urdf:3:23: error: joint 'j': unknown type 'hinge'; expected one of fixed, revolute, continuous, prismatic, "
      "screw, universal, cylindrical, planar, ball, floating");
}

TEST(BadUrdf, Limits) {
  EXPECT_EQ(with_ends("revolute", "<limit lower='1' upper='-1' effort='1' velocity='1'/>"),
            "r.urdf:3:1: error: joint 'j': the lower limit 1 is above the upper limit -1");
  EXPECT_EQ(with_ends("revolute", "<limit lower='x' upper='-1'/>"),
            "r.urdf:4:15: error: joint 'j': limit lower: 'x' is not a number");
  EXPECT_EQ(with_ends("revolute", ""), "r.urdf:3:1: warning: joint 'j': revolute without 'limit': taken as unlimited");
  EXPECT_EQ(with_ends("prismatic", "<limit effort='1' velocity='1'/>"),
            "r.urdf:4:1: warning: joint 'j': 'limit' without lower and upper: taken as unlimited");
  EXPECT_EQ(with_ends("planar", "<limit effort='1'/><limit effort='1'/>"),
            "r.urdf:3:1: error: joint 'j': 2 elements 'limit' for 3 freedoms");
}

TEST(BadUrdf, Mimic) {
  EXPECT_EQ(with_ends("continuous", "<mimic joint='j'/>"), "r.urdf:4:15: error: joint 'j': mimics itself");
  EXPECT_EQ(with_ends("continuous", "<mimic joint='kk'/>"),
            "r.urdf:4:15: error: joint 'j': mimics the unknown joint 'kk'");
  const std::string links = "<link name='a'/><link name='b'/><link name='c'/><link name='d'/>\n";
  const auto joint = [](const std::string& name, const std::string& type, const std::string& parent,
                        const std::string& child, const std::string& leader) {
    return "<joint name='" + name + "' type='" + type + "'><parent link='" + parent + "'/><child link='" + child +
           "'/>\n<mimic joint='" + leader + "'/></joint>\n";
  };
  EXPECT_EQ(told(links + joint("j", "continuous", "a", "b", "k") + joint("k", "continuous", "b", "c", "l") +
                 joint("l", "continuous", "c", "d", "k")),
            "r.urdf:4:15: error: joint 'j': mimic joints form a cycle");
  EXPECT_EQ(told(links + joint("j", "ball", "a", "b", "k") + joint("k", "continuous", "b", "c", "j") +
                 "<joint name='l' type='fixed'><parent link='c'/><child link='d'/></joint>"),
            "r.urdf:4:1: error: joint 'j': a ball joint cannot mimic: it has 3 freedoms\n"
            "r.urdf:6:15: error: joint 'k': cannot mimic 'j': a ball joint has 3 freedoms");
}

TEST(BadUrdf, ACycleWithoutARoot) {
  const auto joint = [](const std::string& name, const std::string& parent, const std::string& child) {
    return "<joint name='" + name + "' type='continuous'><parent link='" + parent + "'/><child link='" + child +
           "'/></joint>\n";
  };
  EXPECT_EQ(
      told("<link name='a'/><link name='b'/><link name='c'/>\n" + joint("out", "b", "c") + joint("j", "a", "b") +
           joint("k", "b", "a")),
      "r.urdf:4:1: error: joint 'j' is part of a cycle without a root: each of its links is the child of another");
}

TEST(BadUrdf, SeveralRoots) {
  EXPECT_EQ(told("<link name='a'/>\n<link name='b'/>"),
            "r.urdf:3:1: warning: 2 links have no parent: 'a', 'b'; each stands in the world by itself");
}

TEST(BadUrdf, MasslessLinksThatMove) {
  const std::string links = "<link name='a'/>\n<link name='b'/><link name='c'/>\n<link name='d'>" +
                            inertial("1", "1", "1", "1") + "</link>\n";
  const auto joint = [](const std::string& name, const std::string& type, const std::string& parent,
                        const std::string& child) {
    return "<joint name='" + name + "' type='" + type + "'><parent link='" + parent + "'/><child link='" + child +
           "'/></joint>\n";
  };
  EXPECT_EQ(told(links + joint("j", "continuous", "a", "b") + joint("k", "continuous", "b", "c") +
                 joint("l", "fixed", "c", "d")),
            "r.urdf:3:1: warning: link 'b' has no mass but joint 'j' moves it");
}

TEST(BadUrdf, RootAndXml) {
  EXPECT_EQ(parse_urdf("<sdf/>", "r.urdf").failure().to_string(),
            "r.urdf:1:1: error: outermost element 'sdf': expected 'robot'");
  EXPECT_EQ(parse_urdf("<robot name='r'><link name='a'></robot>", "r.urdf").failure().to_string(),
            "r.urdf:1:32: error: </robot> does not match <link> of line 1");
}

TEST(BadUrdf, AllFaultsAtOnceInTheOrderOfTheFile) {
  EXPECT_EQ(
      told("<joint name='j' type='hing'><parent link='x'/><child link='a'/></joint>\n"
           "<link name='a'>" +
           inertial("-1", "1", "b", "1") + "</link>\n<link name='a'/>"),
      "r.urdf:2:23: error: joint 'j': unknown type 'hing'; expected one of fixed, revolute, continuous, prismatic, "
      "screw, universal, cylindrical, planar, ball, floating\n"
      "r.urdf:2:43: error: joint 'j': unknown link 'x'\n"
      "r.urdf:3:16: error: link 'a': the mass must be >= 0, is -1\n"
      "r.urdf:3:82: error: link 'a': inertia iyy: 'b' is not a number\n"
      "r.urdf:4:13: error: duplicate link 'a'; first given in line 3");
}

}  // namespace
}  // namespace kinegraph::urdf_faults_test
