#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <regex>
#include <sstream>

#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/urdf.hpp"
#include "test/shared.hpp"

namespace kinegraph::urdf_models_test {
namespace {

Model load(const std::filesystem::path& path, const ReadOptions& options = {}) {
  const Result<Model> model = read_model(path, options);
  EXPECT_TRUE(model.ok()) << (model ? "" : model.failure().to_string());
  return model ? *model : Model();
}

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// An empty folder for one test.
std::filesystem::path empty_folder(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

int moving(const Robot& robot) {
  return static_cast<int>(std::count_if(robot.joints.begin(), robot.joints.end(),
                                        [](const Joint& j) { return j.type != JointType::fixed; }));
}

/// How far the two frames of a loop joint are apart as drawn, without the joint's own freedom about y.
double gap(const Robot& robot, const Joint& joint) {
  const SE3 X_FM = (robot.X_WL[joint.parent.value] * joint.X_PF).inverse() * robot.X_WL[joint.child.value] * joint.X_CM;
  const SE3::Tangent x = X_FM.log();
  return std::abs(x[0]) + std::abs(x[2]) + X_FM.position().norm();
}

TEST(UrdfModels, OwnRobotsLoadWithoutWarningEvenIfStrict) {
  const std::map<std::string, int> freedoms = {{"three_r", 3}, {"arm7", 7}, {"quadruped", 12}, {"five_bar", 5}};
  for (const auto& [name, count] : freedoms) {
    SCOPED_TRACE(name);
    const Model model = load(source_file("models/" + name + ".urdf"), {.strict = true});
    EXPECT_TRUE(model.warnings.empty()) << to_string(model.warnings.front());
    EXPECT_EQ(model.name, name);
    EXPECT_EQ(moving(model.robot), count);
  }
}

TEST(UrdfModels, OwnRobotsAreAsDrawn) {
  const Robot three = load(source_file("models/three_r.urdf")).robot;
  EXPECT_TRUE(three.X_WL[three.find_link("tool")].position().isApprox(Vector3d(1.2, 0, 0), 1e-15));
  EXPECT_EQ(three.joints[three.find_joint("joint2")].axis, Vector3d::UnitY());
  // A bar of square cross-section w and length L: m (L² + w²)/12 across
  EXPECT_NEAR(three.links[1].inertia.about_com(1, 1), 3 * (0.5 * 0.5 + 0.06 * 0.06) / 12, 1e-12);
  const Robot dog = load(source_file("models/quadruped.urdf"), {.base = Robot::Base::floating}).robot;
  EXPECT_EQ(dog.base, Robot::Base::floating);
  EXPECT_TRUE(dog.X_WL[dog.find_link("fr_foot")].position().isApprox(Vector3d(0.21, -0.15, -0.44), 1e-14));
}

TEST(UrdfModels, TheSidecarBesideTheFileClosesTheLoop) {
  const Robot robot = load(source_file("models/five_bar.urdf")).robot;
  const Joint& tip = robot.joints[robot.find_joint("tip")];
  EXPECT_TRUE(tip.closes_loop);
  EXPECT_TRUE(tip.passive);
  EXPECT_LT(gap(robot, tip), 1e-15);
}

TEST(UrdfModels, ASidecarByOptionAndItsFaults) {
  const auto folder = empty_folder("sidecar");
  const std::string urdf = content(source_file("models/five_bar.urdf"));
  write(folder / "a.urdf", urdf);
  EXPECT_EQ(load(folder / "a.urdf").robot.joints.size(), 4u);
  ReadOptions options;
  options.loops = source_file("models/five_bar.loops.yaml");
  EXPECT_EQ(load(folder / "a.urdf", options).robot.joints.size(), 5u);
  options.loops = folder / "none.yaml";
  EXPECT_EQ(read_model(folder / "a.urdf", options).failure().to_string(),
            (folder / "none.yaml").string() + ": error: cannot read the file: no such file");
  write(folder / "a.loops.yaml", "- {parent: left_lowr, child: right_lower, type: revolute}");
  EXPECT_EQ(read_model(folder / "a.urdf").failure().to_string(),
            (folder / "a.loops.yaml").string() + ":1:12: error: unknown link 'left_lowr'; did you mean 'left_lower'?");
}

TEST(UrdfModels, XmlFilesByTheirOutermostElement) {
  const auto folder = empty_folder("xml");
  write(folder / "a.xml", "<robot name='r'><link name='a'/></robot>");
  EXPECT_EQ(load(folder / "a.xml").robot.links.size(), 1u);
  write(folder / "b.xml", "\n<mujoco/>");
  EXPECT_EQ(read_model(folder / "b.xml").failure().to_string(),
            (folder / "b.xml").string() + ":2:1: error: outermost element 'mujoco': expected 'robot' (URDF) or 'sdf'");
}

/// Where a file is cut, it is refused with its line and column, unless only white space is lost.
TEST(UrdfModels, CutAnywhere) {
  const std::string text = content(source_file("models/five_bar.urdf"));
  const std::size_t end = text.rfind('>') + 1;
  for (std::size_t n = 0; n < end; ++n) {
    const Result<Model> model = parse_urdf(text.substr(0, n), "r.urdf");
    ASSERT_FALSE(model.ok()) << n;
    ASSERT_EQ(model.failure().exit_status(), 2) << n;
    ASSERT_GT(model.failure().diagnostics.front().where.column, 0) << n;
  }
  EXPECT_TRUE(parse_urdf(text.substr(0, end), "r.urdf").ok());
}

/// Bytes that changed: a model with finite numbers, or a refusal with words.
TEST(UrdfModels, ChangedBytes) {
  const std::string text = content(source_file("models/five_bar.urdf"));
  std::mt19937 random(1);
  const std::string likely = "<>/\"'&=- 0e.\n\xC3";
  int refused = 0;
  for (int k = 0; k < 3000; ++k) {
    std::string changed = text;
    for (int changes = 1 + random() % 3; changes > 0; --changes) {
      changed[random() % changed.size()] = k % 2 ? static_cast<char>(random()) : likely[random() % likely.size()];
    }
    const Result<Model> model = parse_urdf(changed, "r.urdf");
    if (!model) {
      ++refused;
      ASSERT_FALSE(model.failure().to_string().empty());
      ASSERT_EQ(model.failure().exit_status(), 2);
      continue;
    }
    for (const SE3& X : model->robot.X_WL) ASSERT_TRUE(X.position().allFinite());
  }
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 3000);
}

TEST(UrdfModels, AWorstCaseDoesNotHang) {
  // Joints from leaf to root, each link with a second parent in a cycle, and a long chain of mimics.
  std::string text = "<robot name='r'><link name='l0'/>";
  const int n = 4000;
  for (int i = n; i >= 1; --i) {
    const std::string a = std::to_string(i - 1), b = std::to_string(i), c = std::to_string(i % n + 1);
    text += "<link name='l" + b + "'/><joint name='back" + b + "' type='continuous'><parent link='l" + c +
            "'/><child link='l" + b + "'/></joint><joint name='j" + b + "' type='continuous'><parent link='l" + a +
            "'/><child link='l" + b + "'/>" + (i > 1 ? "<mimic joint='j" + a + "'/>" : "") + "</joint>";
  }
  const Result<Model> model = parse_urdf(text + "</robot>", "r.urdf");
  ASSERT_TRUE(model.ok()) << model.failure().to_string();
  EXPECT_EQ(std::count_if(model->robot.joints.begin(), model->robot.joints.end(),
                          [](const Joint& j) { return j.closes_loop; }),
            n);
}

TEST(UrdfModels, ReferenceRobotsLoadAndBadOnesAreRefused) {
  const auto folder = shared("models");
  if (!folder) GTEST_SKIP() << "no reference data";
  int good = 0, bad = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
    const auto& path = entry.path();
    if (path.extension() != ".urdf") continue;
    SCOPED_TRACE(path.filename().string());
    const Result<Model> model = read_model(path);
    if (path.filename().string().starts_with("err_")) {
      ++bad;
      ASSERT_FALSE(model.ok());
      EXPECT_EQ(model.failure().exit_status(), 2);
      EXPECT_TRUE(std::regex_search(model.failure().to_string(), std::regex("\\.urdf:\\d+:\\d+: error: ")));
    } else {
      ++good;
      ASSERT_TRUE(model.ok()) << model.failure().to_string();
      EXPECT_LE(model->warnings.size(), 5u) << "warnings drown";
    }
  }
  EXPECT_GE(good, 25);
  EXPECT_GE(bad, 7);
}

TEST(UrdfModels, ReferenceLoops) {
  const auto square = shared("models/loops/gtd_four_bar_linkage.urdf"),
             jumper = shared("models/paper/jumping_robot.urdf");
  const auto five_bar = shared("models/synthetic/five_bar_open.urdf"),
             epr = shared("models/loops/epr_5bar_linkage.urdf");
  if (!square || !jumper || !five_bar || !epr) GTEST_SKIP() << "no reference data";
  // The square closes as drawn: the loop joint is at the origin of its child, as URDF means it.
  const Robot closed = load(*square).robot;
  const Joint& j4 = closed.joints[closed.find_joint("j4")];
  EXPECT_TRUE(j4.closes_loop);
  EXPECT_LT(j4.X_CM.log().norm(), 1e-10);
  // The jumping robot's last joint is at the far end of its link, 0.55 m from the origin.
  const Robot jumping = load(*jumper).robot;
  const Joint& j5 = jumping.joints[jumping.find_joint("j5")];
  EXPECT_TRUE(j5.closes_loop);
  EXPECT_TRUE(j5.X_CM.position().isApprox(Vector3d(0, 0, 0.55), 1e-12));
  ReadOptions options;
  options.loops = five_bar->parent_path() / "five_bar.loops.yaml";
  const Robot five = load(*five_bar, options).robot;
  const Joint& closing = five.joints[five.find_joint("j5")];
  EXPECT_LT((five.X_WL[4] * closing.X_PF.position() - five.X_WL[0] * closing.X_CM.position()).norm(), 1e-12);
  options.loops = epr->parent_path() / "epr_5bar_linkage.yaml";
  const Robot welded = load(*epr, options).robot;
  EXPECT_EQ(welded.joints.back().type, JointType::fixed);
  EXPECT_FALSE(welded.joints[welded.find_joint("mot1")].passive);
  EXPECT_TRUE(welded.joints[welded.find_joint("free1")].passive);
}

}  // namespace
}  // namespace kinegraph::urdf_models_test
