#include <fstream>
#include <sstream>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/io/sdf_texts_test.hpp"
#include "test/shared.hpp"

namespace kinegraph::sdf_test {
namespace {

using namespace sdf_texts;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

const Joint& joint(const Model& model, const std::string& name) {
  const int index = model.robot.find_joint(name);
  EXPECT_GE(index, 0) << name;
  return model.robot.joints.at(index);
}

/// The frames of every joint coincide as drawn, and everything is as large as it should be.
void expect_drawn_consistently(const Robot& robot) {
  ASSERT_EQ(robot.X_WL.size(), robot.links.size());
  for (const Joint& j : robot.joints) {
    const SE3 X_WF = j.parent.valid() ? robot.X_WL[j.parent.value] * j.X_PF : j.X_PF;
    const SE3 X_WM = robot.X_WL[j.child.value] * j.X_CM;
    EXPECT_LT((X_WF.matrix() - X_WM.matrix()).cwiseAbs().maxCoeff(), 1e-12) << j.name;
    EXPECT_NEAR(j.axis.norm(), 1, 1e-12) << j.name;
    EXPECT_EQ(static_cast<int>(j.limits.size()), j.type == JointType::ball ? 0 : freedoms(j.type)) << j.name;
  }
}

TEST(Sdf, AllReferenceModelsLoad) {
  const auto folder = shared("models");
  if (!folder) GTEST_SKIP() << "no reference models";
  int files = 0;
  testing::internal::CaptureStderr();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
    if (entry.path().extension() != ".sdf") continue;
    ++files;
    const Result<Model> model = parse_sdf(text_of(entry.path()), entry.path().filename().string());
    ASSERT_TRUE(model.ok()) << model.failure().to_string();
    expect_drawn_consistently(model->robot);
    EXPECT_LE(model->warnings.size(), 2u) << warnings(*model);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_GE(files, 12);
}

TEST(Sdf, LoopsOfReferenceModels) {
  const std::vector<std::pair<std::string, std::string>> closing = {{"synthetic/five_bar.sdf", "j5"},
                                                                    {"loops/gtd_four_bar_linkage_pure.sdf", "j4"},
                                                                    {"paper/jumping_robot.sdf", "j5"},
                                                                    {"loops/pinocchio_parallel.sdf", ""}};
  for (const auto& [file, name] : closing) {
    const auto path = shared("models/" + file);
    if (!path) GTEST_SKIP() << "no reference models";
    const Model model = parse(text_of(*path));
    std::string closes;
    for (const Joint& j : model.robot.joints) closes += j.closes_loop ? j.name : "";
    EXPECT_EQ(closes, name) << file;
  }
}

TEST(Sdf, FiveBar) {
  const Model model = parse(text_of(source_file("models/five_bar.sdf")));
  const Robot& robot = model.robot;
  EXPECT_EQ(model.name, "five_bar");
  EXPECT_EQ(warnings(model), "");
  expect_drawn_consistently(robot);
  ASSERT_EQ(robot.links.size(), 5u);
  ASSERT_EQ(robot.joints.size(), 6u);
  EXPECT_EQ(robot.gravity, Vector3d(0, 0, -9.81));
  const Joint& tip = joint(model, "tip");
  EXPECT_TRUE(tip.closes_loop);
  for (const Joint& j : robot.joints) EXPECT_EQ(j.closes_loop, &j == &tip) << j.name;
  EXPECT_FALSE(joint(model, "ground").parent.valid());
  EXPECT_FALSE(joint(model, "left_motor").passive);
  EXPECT_TRUE(joint(model, "left_elbow").passive);
  // The bars are as long as the file's comment says, and the tip is in the middle.
  EXPECT_LT((joint(model, "left_elbow").X_PF.position() - Vector3d(0.25, 0, 0)).norm(), 1e-12);
  EXPECT_LT((tip.X_CM.position() - Vector3d(0.35, 0, 0)).norm(), 1e-12);
  EXPECT_NEAR((robot.X_WL[tip.child.value] * tip.X_CM).position().x(), 0, 1e-12);
  EXPECT_EQ(joint(model, "tip").dynamics.at(0).damping, 0.01);
}

TEST(Sdf, BennettLinkage) {
  const Model model = parse(text_of(source_file("models/bennett.sdf")));
  EXPECT_EQ(warnings(model), "");
  expect_drawn_consistently(model.robot);
  EXPECT_TRUE(joint(model, "closure").closes_loop);
  // From hinge to hinge along x by a or b, turned about x by alpha or beta: sin(alpha)/a = sin(beta)/b.
  const auto bar = [&](const SE3& X_from, const SE3& X_to) {
    const SE3 X = X_from.inverse() * X_to;
    const Vector3d z = X.rotation() * Vector3d::UnitZ();
    EXPECT_LT(X.position().tail<2>().norm(), 1e-12);
    return std::pair(std::abs(X.position().x()), std::atan2(-z.y(), z.z()));
  };
  const auto [a, alpha] = bar(joint(model, "drive").X_CM, joint(model, "elbow").X_PF);
  const auto [b, beta] = bar(joint(model, "elbow").X_CM, joint(model, "wrist").X_PF);
  const auto [a2, alpha2] = bar(joint(model, "wrist").X_CM, joint(model, "closure").X_PF);
  EXPECT_NEAR(a, 0.3, 1e-12);
  EXPECT_NEAR(alpha, 40 * kPi / 180, 1e-12);
  EXPECT_NEAR(beta, 70 * kPi / 180, 1e-12);
  EXPECT_NEAR(a2, a, 1e-12);
  EXPECT_NEAR(alpha2, alpha, 1e-12);
  EXPECT_NEAR(std::sin(alpha) / a, std::sin(beta) / b, 1e-12);
  const SE3 base = joint(model, "closure").X_CM;  // of the fourth bar, in the frame of the first hinge
  EXPECT_NEAR(base.position().norm(), b, 1e-12);
  EXPECT_NEAR((base.rotation() * Vector3d::UnitZ()).z(), std::cos(beta), 1e-12);
}

TEST(Sdf, PosesAreResolvedThroughFrames) {
  const Model model = parse(in_model(R"(<pose>1 0 0 0 0 1.5707963267948966</pose>
<link name="a"><pose>0 2 0 0 0 0</pose><inertial/></link>
<link name="b"><pose relative_to="f">0 0 1 0 0 0</pose><inertial/></link>
<frame name="f" attached_to="a"><pose>0 0 3 0 0 0</pose></frame>
<frame name="hand" attached_to="b"><pose>0.5 0 0 0 0 0</pose></frame>
<joint name="j" type="revolute"><parent>f</parent><child>hand</child><pose relative_to="a">0 0 0.25 0 0 0</pose>
<axis><xyz expressed_in="__model__">1 0 0</xyz></axis></joint>
<joint name="k" type="prismatic"><parent>world</parent><child>a</child>
<pose>0 0 0 1.5707963267948966 0 0</pose><axis><xyz>0 0 2</xyz></axis></joint>
)"));
  const Robot& robot = model.robot;
  expect_drawn_consistently(robot);
  // The model is turned by 90 degrees about z: its (0, 2, 0) is the world's (−2, 0, 0), then 1 along x.
  EXPECT_LT((robot.X_WL[0].position() - Vector3d(-1, 0, 0)).norm(), 1e-12);
  EXPECT_LT((robot.X_WL[1].position() - Vector3d(-1, 0, 4)).norm(), 1e-12);
  const Joint& j = joint(model, "j");
  EXPECT_EQ(j.parent, LinkIndex(0));
  EXPECT_EQ(j.child, LinkIndex(1));
  EXPECT_LT((j.X_PF.position() - Vector3d(0, 0, 0.25)).norm(), 1e-12);
  EXPECT_LT((j.X_CM.position() - Vector3d(0, 0, -3.75)).norm(), 1e-12);
  EXPECT_LT((j.axis - Vector3d(1, 0, 0)).norm(), 1e-12);
  const Joint& k = joint(model, "k");
  EXPECT_FALSE(k.parent.valid());
  EXPECT_EQ(k.type, JointType::prismatic);
  // Along z of the joint's frame, which is turned about x: −y of the model, x of the world.
  EXPECT_LT((k.X_PF.rotation() * k.axis - Vector3d(1, 0, 0)).norm(), 1e-12);
}

TEST(Sdf, OldVersionsMeanWhatTheyMeant) {
  const Model model =
      parse(in_model(R"(<link name="a"><pose frame=''>0 0 0 0 0 1.5707963267948966</pose><inertial/></link>
<link name="b"><pose frame="a">1 0 0 0 0 0</pose><inertial/></link>
<joint name="j" type="revolute"><parent>world</parent><child>a</child>
<axis><xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis></joint>
)",
                     "1.6"));
  EXPECT_EQ(warnings(model), "");
  EXPECT_LT((model.robot.X_WL[1].position() - Vector3d(0, 1, 0)).norm(), 1e-12);
  EXPECT_LT((joint(model, "j").axis - Vector3d(0, -1, 0)).norm(), 1e-12);
}

TEST(Sdf, LimitsAndDynamics) {
  const Model model = parse(in_model(kTwoLinks + R"(
<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz>
<limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>4</velocity></limit>
<dynamics><damping>0.1</damping><friction>0.2</friction><spring_reference>0.3</spring_reference>
<spring_stiffness>5</spring_stiffness></dynamics></axis></joint>
<joint name="k" type="continuous"><parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz>
<limit><lower>-1e16</lower><upper>1e16</upper></limit></axis></joint>
)"));
  const Joint &j = joint(model, "j"), &k = joint(model, "k");
  EXPECT_EQ(j.limits.at(0).lower, -1);
  EXPECT_EQ(j.limits.at(0).upper, 2);
  EXPECT_EQ(j.limits.at(0).effort, 30);
  EXPECT_EQ(j.limits.at(0).velocity, 4);
  EXPECT_EQ(j.dynamics.at(0).damping, 0.1);
  EXPECT_EQ(j.dynamics.at(0).friction, 0.2);
  EXPECT_EQ(j.dynamics.at(0).rest, 0.3);
  EXPECT_EQ(j.dynamics.at(0).stiffness, 5);
  EXPECT_EQ(k.type, JointType::continuous);
  for (const double limit :
       {-k.limits.at(0).lower, k.limits.at(0).upper, k.limits.at(0).velocity, k.limits.at(0).effort}) {
    EXPECT_EQ(limit, std::numeric_limits<double>::infinity());
  }
}

/// What Gazebo and others write for "no limit".
TEST(Sdf, LimitsThatAreNone) {
  const std::pair<std::string, std::string> kNone[] = {{"-1.79769e+308", "1.79769e+308"},
                                                       {"-1e+16", "1e+16"},
                                                       {"-inf", "inf"},
                                                       {"-INF", " Infinity\n"},
                                                       {"-1e400", "1e400"}};
  for (const auto& [lower, upper] : kNone) {
    for (const std::string& least : {std::string("-1"), upper}) {
      if (least == "1e+16") continue;  // an effort of 1e16 is one
      const Model model = parse(in_model(kTwoLinks + "<joint name='j' type='prismatic'><parent>a</parent><child>b</child><axis>"
                                         "<xyz>0 0 1</xyz>\n<limit><lower>" + lower + "</lower><upper>" + upper +
                                         "</upper><effort>" + least + "</effort><velocity>" + least +
                                         "</velocity></limit></axis></joint>\n"));
      const JointLimits& limits = joint(model, "j").limits.at(0);
      for (const double limit : {-limits.lower, limits.upper, limits.velocity, limits.effort}) {
        EXPECT_EQ(limit, std::numeric_limits<double>::infinity()) << upper << ' ' << least;
      }
      EXPECT_FALSE(joint(model, "j").passive);
      EXPECT_EQ(warnings(model), "");
    }
  }
}

TEST(Sdf, ScrewPitchesAreMetresPerRadian) {
  const auto screw = [](const std::string& pitch, const std::string& version) {
    return joint(parse(in_model(kTwoLinks + "<joint name='j' type='screw'><parent>a</parent><child>b</child>" + pitch +
                                    "<axis><xyz>0 0 1</xyz></axis></joint>\n",
                                version)),
                 "j");
  };
  // 1000 rad along one metre is 1 mm per radian; positive is left-handed: it goes backwards.
  EXPECT_DOUBLE_EQ(screw("<thread_pitch>1000</thread_pitch>", "1.6").pitch, -0.001);
  EXPECT_DOUBLE_EQ(screw("<thread_pitch>-1000</thread_pitch>", "1.9").pitch, 0.001);
  // An M6 thread: 1 mm per revolution, right-handed.
  EXPECT_DOUBLE_EQ(screw("<screw_thread_pitch>0.001</screw_thread_pitch>", "1.10").pitch, 0.001 / (2 * kPi));
  EXPECT_EQ(screw("<thread_pitch>2</thread_pitch>", "1.6").type, JointType::screw);
  EXPECT_EQ(faults(in_model(kTwoLinks + "<joint name='j' type='screw'><parent>a</parent><child>b</child>"
                                        "<thread_pitch>0</thread_pitch></joint>\n")),
            "m.sdf:5:78: error: joint 'j': <thread_pitch> is in rad/m and cannot be 0");
}

TEST(Sdf, JointsOfSeveralFreedoms) {
  const Model model = parse(in_model(R"(<link name="a"><inertial/></link>
<link name="b"><inertial/></link>
<link name="c"><inertial/></link>
<joint name="u" type="universal"><parent>world</parent><child>a</child><axis><xyz>1 0 0</xyz><limit/></axis>
<axis2><xyz>0 1 0</xyz><limit><lower>-0.5</lower><upper>0.5</upper></limit></axis2></joint>
<joint name="r" type="revolute2"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis><axis2><xyz>1 0 0</xyz></axis2></joint>
<joint name="s" type="ball"><parent>b</parent><child>c</child></joint>
)"));
  EXPECT_EQ(joint(model, "u").type, JointType::universal);
  EXPECT_EQ(joint(model, "u").axis2, Vector3d(0, 1, 0));
  EXPECT_EQ(joint(model, "u").limits.at(1).upper, 0.5);
  EXPECT_EQ(joint(model, "r").type, JointType::universal);
  EXPECT_EQ(joint(model, "r").axis2, Vector3d(1, 0, 0));
  EXPECT_EQ(joint(model, "s").type, JointType::ball);
}

const std::string kGears = R"(<link name="frame"><inertial/></link>
<link name="a"><pose>0 0 0 0 0 0</pose><inertial/></link>
<link name="b"><pose>1 0 0 0 0 0</pose><inertial/></link>
<joint name="ja" type="revolute"><parent>frame</parent><child>a</child><axis><xyz>0 0 1</xyz></axis></joint>
<joint name="jb" type="revolute"><parent>frame</parent><child>b</child><axis><xyz>0 0 -1</xyz></axis></joint>
)";

TEST(Sdf, GearboxIsAMimic) {
  const Model model = parse(in_model(kGears + R"(<joint name="g" type="gearbox"><parent>a</parent><child>b</child>
<gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>frame</gearbox_reference_body>
<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>
)"));
  ASSERT_EQ(model.robot.joints.size(), 2u);
  const Joint& jb = joint(model, "jb");
  ASSERT_TRUE(jb.mimic);
  EXPECT_EQ(jb.mimic->joint, JointIndex(0));
  // θ_b = −3 θ_a about z, and jb turns about −z.
  EXPECT_DOUBLE_EQ(jb.mimic->multiplier, 3);
  EXPECT_EQ(faults(in_model(kGears + R"(<joint name="g" type="gearbox"><parent>a</parent><child>b</child>
<gearbox_reference_body>b</gearbox_reference_body></joint>
)")),
            "m.sdf:8:1: error: gearbox 'g': parent and child must each be hinged to its <gearbox_reference_body> 'b', "
            "about the gearbox's axes");
}

TEST(Sdf, MimicOfNewerVersions) {
  const std::string mimic = R"(<joint name="k" type="prismatic"><parent>b</parent><child>c</child><axis><xyz>1 0 0</xyz>
<mimic joint="%"><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic></axis></joint>
<link name="c"><inertial/></link>
)";
  const auto with = [&](const std::string& leader) {
    std::string text = mimic;
    return text.replace(text.find('%'), 1, leader);
  };
  const Model model = parse(in_model(kGears + with("jb"), "1.11"));
  ASSERT_TRUE(joint(model, "k").mimic);
  EXPECT_EQ(joint(model, "k").mimic->joint.value, model.robot.find_joint("jb"));
  EXPECT_DOUBLE_EQ(joint(model, "k").mimic->offset, 0.5 - 2 * 0.1);
  EXPECT_EQ(faults(in_model(kGears + with("jd"), "1.11")),
            "m.sdf:9:15: error: joint 'k': mimics unknown joint 'jd'; did you mean 'ja'?");
}

TEST(Sdf, InertiaIsTurnedIntoTheLinksAxes) {
  const Model model =
      parse(in_model(R"(<link name="a"><inertial><pose>0.1 0.2 0.3 0 0 1.5707963267948966</pose><mass>2</mass>
<inertia><ixx>1</ixx><iyy>2</iyy><izz>2.5</izz><ixy>0.1</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial></link>
)"));
  const Inertia& inertia = model.robot.links[0].inertia;
  EXPECT_TRUE(model.robot.links[0].has_inertia);
  EXPECT_EQ(inertia.mass, 2);
  EXPECT_LT((inertia.com - Vector3d(0.1, 0.2, 0.3)).norm(), 1e-15);
  Matrix3d expected;
  expected << 2, -0.1, 0, -0.1, 1, 0, 0, 0, 2.5;
  EXPECT_LT((inertia.about_com - expected).norm(), 1e-12);
}

TEST(Sdf, WorldsModelsAndTheBase) {
  const std::string link = "<link name='l'><inertial/></link>";
  EXPECT_EQ(parse(in_model(link)).robot.base, Robot::Base::floating);
  EXPECT_EQ(parse(in_model("<static>true</static>" + link)).robot.base, Robot::Base::fixed);
  ReadOptions options;
  options.base = Robot::Base::fixed;
  EXPECT_EQ(parse(in_model(link), options).robot.base, Robot::Base::fixed);
  const Model world = parse(R"(<sdf version="1.7"><world name="w"><gravity>0 0 -1.62</gravity>
<include><uri>model://sun</uri></include>
<model name="ground"><static>true</static><link name="l"><inertial/></link></model>
<model name="robot"><pose>1 2 3 0 0 0</pose><link name="l"><inertial/></link><model name="arm"><pose>0 0 1 0 0 0</pose>
<link name="l"><inertial/></link></model>
<joint name="j" type="fixed"><parent>l</parent><child>arm::l</child></joint></model></world></sdf>)");
  EXPECT_EQ(world.name, "w");
  EXPECT_EQ(warnings(world), "m.sdf:2:1: warning: <include> of 'model://sun': other files are not read\n");
  EXPECT_EQ(world.robot.gravity, Vector3d(0, 0, -1.62));
  EXPECT_EQ(world.robot.base, Robot::Base::floating);
  ASSERT_EQ(world.robot.links.size(), 3u);
  EXPECT_EQ(world.robot.links[2].name, "robot::arm::l");
  EXPECT_LT((world.robot.X_WL[2].position() - Vector3d(1, 2, 4)).norm(), 1e-12);
  EXPECT_FALSE(joint(world, "ground::static").parent.valid());
  EXPECT_EQ(joint(world, "robot::j").child, LinkIndex(2));
  const std::string nameless = "<sdf version='1.9'><world name='w'><model name='m'>" + link + "</model></world></sdf>";
  EXPECT_EQ(parse(nameless).robot.gravity, Vector3d(0, 0, -9.81));
  EXPECT_EQ(parse(nameless).robot.links[0].name, "l");
}

TEST(Sdf, WhatLibsdformatIgnores) {
  const Model model = parse(in_model(R"(<link name="a"><inertail/><inertial><mas>3</mas></inertial></link>
<link name="b" tpye="x"><mess/><inertial/></link>
<link name="c"/>
<link name="d"/>
<plugin name="p" filename="f"><anything goes="here"/></plugin>
)"));
  EXPECT_EQ(
      warnings(model),
      "m.sdf:3:16: warning: unknown element 'inertail' in <link>, ignored; did you mean 'inertial'? (and 2 more "
      "such: 'mas', 'mess')\n"
      "m.sdf:4:16: warning: unknown attribute 'tpye' of <link>, ignored\n"
      "m.sdf:5:1: warning: link 'c' has no <inertial>: SDF's default is taken, 1 kg and 1 kg m^2 (and 1 more such: "
      "'d')\n");
}

TEST(Sdf, ShapesAndColours) {
  const Model model = parse(in_model(R"(<link name="a"><inertial/>
<visual name="v"><pose>0 0 1 0 0 0</pose><geometry><cylinder><radius>0.1</radius><length>2</length></cylinder></geometry>
<material><diffuse>1 0.5 0.25 1</diffuse></material></visual>
<visual name="w"><geometry><heightmap><uri>x</uri></heightmap></geometry></visual>
<collision name="c"><geometry><mesh><uri>model://m.stl</uri><scale>1 2 3</scale></mesh></geometry></collision></link>
)"));
  const Link& link = model.robot.links[0];
  ASSERT_EQ(link.visuals.size(), 1u);
  EXPECT_EQ(link.visuals[0].type, Shape::Type::cylinder);
  EXPECT_EQ(link.visuals[0].size, Vector3d(0.1, 2, 0));
  EXPECT_EQ(link.visuals[0].X_LG.position(), Vector3d(0, 0, 1));
  EXPECT_TRUE(link.visuals[0].colored);
  EXPECT_EQ(link.visuals[0].color[1], 0.5);
  ASSERT_EQ(link.collisions.size(), 1u);
  EXPECT_EQ(link.collisions[0].mesh, "model://m.stl");
  EXPECT_EQ(link.collisions[0].size, Vector3d(1, 2, 3));
}

TEST(Sdf, Surfaces) {
  const auto surface = [](const std::string& content) {
    return parse(in_model("<link name='a'><inertial/><collision name='c'><geometry><sphere><radius>1</radius></sphere>"
                          "</geometry>" +
                          content + "</collision></link>\n"))
        .robot.links[0]
        .collisions.at(0);
  };
  const Shape given = surface(
      "<surface><bounce><restitution_coefficient>0.25</restitution_coefficient></bounce>"
      "<friction><ode><mu>0.8</mu><mu2>0.1</mu2></ode></friction><contact><ode><kp>5</kp></ode></contact></surface>");
  EXPECT_EQ(given.friction, 0.8);
  EXPECT_EQ(given.restitution, 0.25);
  const Shape nothing = surface("<surface><friction><ode/></friction></surface>");
  EXPECT_EQ(nothing.friction, Shape().friction);
  EXPECT_EQ(nothing.restitution, 0);
  EXPECT_EQ(surface("<surface><friction><ode><mu>-1</mu></ode></friction></surface>").friction, 1e6);
  EXPECT_EQ(surface("<surface><friction><ode><mu> inf </mu></ode></friction></surface>").friction, 1e6);
  EXPECT_EQ(
      faults(in_model("<link name='a'><inertial/>\n<collision name='c'><geometry><sphere><radius>1</radius></sphere>"
                      "</geometry>\n<surface><friction><ode><mu>much</mu></ode></friction></surface></collision>"
                      "</link>\n")),
      "m.sdf:5:29: error: <mu>: expected a number, found 'much'");
  EXPECT_EQ(surface("<surface><friction><ode><mu>1e60</mu></ode></friction></surface>").friction, 1e6);
}

}  // namespace
}  // namespace kinegraph::sdf_test
