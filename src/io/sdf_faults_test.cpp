#include "kinegraph/io/sdf_texts_test.hpp"

namespace kinegraph::sdf_faults_test {
namespace {

using namespace sdf_texts;

TEST(SdfFaults, FaultsHaveTheirPlaces) {
  EXPECT_EQ(faults(in_model(R"(<link name="arm"><pose>1 2 3</pose><inertial><mass>abc</mass></inertial></link>
<link name="arm"><inertial><mass>nan</mass></inertial></link>
<link/>
<joint name="j" type="revolut"><parent>arn</parent><child>arm</child><axis><xyz>0 0</xyz></axis></joint>
<joint name="k" type="fixed"><parent>arm</parent></joint>
<joint name="l" type="fixed"><parent>arm</parent><child>world</child></joint>
<joint name="n" type="fixed"><parent>arm</parent><child>arm</child></joint>
<frame name="f"><pose relative_to="amr"/></frame>
)")),
            "m.sdf:3:24: error: <pose>: expected 6 numbers, found 3\n"
            "m.sdf:3:52: error: <mass>: 'abc' is not a number\n"
            "m.sdf:4:1: error: link 'arm' is defined twice; first in line 3\n"
            "m.sdf:4:34: error: <mass>: 'nan' is not a finite number\n"
            "m.sdf:5:1: error: <link>: missing attribute 'name'\n"
            "m.sdf:6:23: error: joint 'j': unknown type 'revolut'; did you mean 'revolute'?\n"
            "m.sdf:6:40: error: joint 'j': parent: unknown link or frame 'arn'; did you mean 'arm'?\n"
            "m.sdf:6:81: error: <xyz>: expected 3 numbers, found 2\n"
            "m.sdf:7:1: error: joint 'k': no <child>\n"
            "m.sdf:8:57: error: joint 'l': the child cannot be the world; make it the parent\n"
            "m.sdf:9:1: error: joint 'n': parent and child are both 'arm'\n"
            "m.sdf:10:36: error: <pose> relative_to: unknown link or frame 'amr'; did you mean 'arm'?");
}

TEST(SdfFaults, NumbersThatNoMachineHas) {
  EXPECT_EQ(
      faults(in_model("<link name='a'><pose>0 0 -1e60 0 0 0</pose><inertial><mass>1e999</mass></inertial></link>\n"
                      "<link name='b'><inertial/></link>\n"
                      "<joint name='j' type='revolute'><parent>a</parent><child>b</child>\n<axis><xyz>0 0 1</xyz>"
                      "<limit><lower>nan</lower><upper>none</upper></limit></axis></joint>\n")),
      "m.sdf:3:26: error: <pose>: '-1e60' is not a number from -1e+50 to 1e+50\n"
      "m.sdf:3:60: error: <mass>: '1e999' is not a number from -1e+50 to 1e+50\n"
      "m.sdf:6:37: error: <lower>: 'nan' is not a finite number\n"
      "m.sdf:6:55: error: <upper>: 'none' is not a number");
}

TEST(SdfFaults, FaultsThatLibsdformatFinds) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(faults(in_model("<link name='a'><pose relative_to='b'/></link>\n<link name='b'><pose "
                            "relative_to='a'/></link>\n")),
            "m.sdf:3:1: error: link 'a' is placed relative to itself: relative_to or attached_to form a cycle\n"
            "m.sdf:4:1: error: link 'b' is placed relative to itself: relative_to or attached_to form a cycle");
  EXPECT_EQ(faults(in_model(kTwoLinks + "<link name='__x__'/>\n")),
            "m.sdf:5:1: error: The supplied link name [__x__] is reserved");
  EXPECT_EQ(faults(in_model(kTwoLinks + "<joint name='j' type='revolute'><parent>a</parent><child>b</child>\n<axis>"
                                        "<xyz>0 0 0</xyz></axis></joint>\n")),
            "m.sdf:6:12: error: <xyz>: an axis cannot be zero");
  EXPECT_EQ(faults(in_model("<link name='a'><pose rotation_format='quat_xyzw'>1 2 3 0 0 0 0</pose></link>\n"
                            "<link name='b'><visual name='v'><pose rotation_format='quat_xyzw'>0 0 0  1e-9 0 0 0</pose>"
                            "<geometry><sphere><radius>1</radius></sphere></geometry></visual></link>\n")),
            "m.sdf:3:56: error: <pose>: a quaternion cannot be zero\n"
            "m.sdf:4:74: error: <pose>: a quaternion cannot be zero");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(SdfFaults, FaultsOfTheWholeFile) {
  EXPECT_EQ(faults("<robot name='r'/>"), "m.sdf:1:1: error: expected <sdf>, found 'robot'");
  EXPECT_EQ(faults("<sdf/>"), "m.sdf:1:1: error: <sdf>: missing attribute 'version'");
  EXPECT_EQ(faults("<sdf version='2.0'/>"), "m.sdf:1:15: error: unknown SDF version '2.0'; expected 1.2 to 1.12");
  EXPECT_EQ(faults("<sdf version='1.9'/>"), "m.sdf:1:1: error: the file has no link");
  EXPECT_EQ(faults("<sdf version='1.9'>\n<model name='m'/></sdf>"), "m.sdf:2:1: error: model 'm' has no link");
  EXPECT_EQ(faults(in_model("<include><uri>model://arm</uri></include>\n")),
            "m.sdf:3:1: error: <include> of 'model://arm': other files are not read; put the model into this file");
  EXPECT_EQ(faults("").substr(0, 6), "m.sdf:");
  EXPECT_EQ(faults("<sdf version='1.9'><model name='m'><link name='a'>").substr(0, 8), "m.sdf:1:");
  EXPECT_NE(faults("<!DOCTYPE sdf [<!ENTITY a \"b\">]><sdf version='1.9'>&a;</sdf>"), "accepted");
}

TEST(SdfFaults, PhysicalRules) {
  const auto link = [](double mass, double ixx, double iyy, double izz) {
    return in_model("<link name='a'>\n<inertial><mass>" + std::to_string(mass) + "</mass><inertia><ixx>" +
                    std::to_string(ixx) + "</ixx><iyy>" + std::to_string(iyy) + "</iyy><izz>" + std::to_string(izz) +
                    "</izz></inertia></inertial></link>\n");
  };
  EXPECT_EQ(faults(link(-1, 1, 1, 1)), "m.sdf:4:1: error: link 'a': the mass must be >= 0, is -1");
  EXPECT_EQ(faults(link(1, -1, 1, 1)), "m.sdf:4:1: error: link 'a': the inertia has a negative principal moment, -1");
  const std::string broken =
      "link 'a': no body has the principal inertias 1, 2 and 5 (the largest is above the sum of the others)";
  ReadOptions strict;
  strict.strict = true;
  EXPECT_EQ(warnings(parse(link(1, 5, 2, 1))), "m.sdf:4:1: warning: " + broken + "\n");
  EXPECT_EQ(faults(link(1, 5, 2, 1), strict), "m.sdf:4:1: error: " + broken);
  // libsdformat gives a whole world up for them; nested models too.
  const auto in_world = [&](const std::string& text) {
    return "<sdf version='1.9'><world name='w'>\n" +
           text.substr(text.find("<model"), text.rfind("</sdf>") - text.find("<model")) + "</world></sdf>\n";
  };
  EXPECT_EQ(faults(in_world(link(-1, 1, 1, 1))), "m.sdf:4:1: error: link 'a': the mass must be >= 0, is -1");
  EXPECT_EQ(warnings(parse(in_world(link(1, 5, 2, 1)))), "m.sdf:4:1: warning: " + broken + "\n");
  EXPECT_EQ(
      faults(in_model(kTwoLinks + "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 0 "
                                  "1</xyz><limit><lower>2</lower><upper>1</upper></limit></axis></joint>\n")),
      "m.sdf:5:1: error: joint 'j': the lower limit 2 is above the upper limit 1");
}

TEST(SdfFaults, TooLargeForLibsdformat) {
  std::string links;
  for (int i = 0; i < 1001; ++i) links += "<link name='l" + std::to_string(i) + "'/>\n";
  EXPECT_EQ(faults(in_model(links)),
            "m.sdf:1:1: error: 1001 links, joints and frames are too many for libsdformat (more "
            "than 1000); URDF has no such limit");
}

}  // namespace
}  // namespace kinegraph::sdf_faults_test
