#include "kinegraph/filter/screw_plant.hpp"

#include <tuple>
#include <utility>

#include "kinegraph/filter/screw_check_test.hpp"
#include "kinegraph/mechanics/screw/robots_test.hpp"
#include "kinegraph/step/lie_stepper.hpp"

namespace kinegraph::filter::screw_plant_test {
namespace {

using screw::RandomRobot;
using screw::Tree;
using test::PlantCheck;

PlantOptions options_of(const Tree& tree, ChartKind chart = ChartKind::independent, const char* method = "rk4") {
  PlantOptions options;
  options.integrator = *step::find_tableau(method);
  options.chart = chart;
  options.forces = {0, tree.tree_freedoms() - 1};
  options.noises = {{0, Disturbance::Kind::acceleration}, {tree.tree_freedoms() - 1, Disturbance::Kind::force}};
  return options;
}

ScrewPlant::Drive drive_of(const Tree& tree) {
  return [n = tree.freedoms()](double t, double* tau) {
    for (int i = 0; i < n; ++i) tau[i] += 0.3 * std::sin(3 * t + i);
  };
}

class Trees : public ::testing::TestWithParam<int> {};

/// Every type of joint, a floating base, in chains and branches, both charts.
TEST_P(Trees, MoveAndAreDifferentiated) {
  for (const ChartKind kind : {ChartKind::independent, ChartKind::manifold}) {
    RandomRobot r(GetParam());
    r.grow(screw::all_moving_types(), GetParam() % 2 == 0);
    r.robot.base = GetParam() % 3 == 0 ? Robot::Base::floating : Robot::Base::fixed;
    const auto tree = *Tree::make(r.robot);
    ScrewPlant plant(tree, tree->freedoms(), drive_of(*tree),
                     options_of(*tree, kind, GetParam() % 2 == 0 ? "rk4" : "dopri5"));
    Eigen::VectorXd x(plant.stored());
    x << r.position(*tree), r.velocity(*tree);
    PlantCheck(plant, x).all();
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, Trees, ::testing::Range(1, 5));

/// Joints that are met from their child, that follow others, that resist, that have springs.
TEST(ScrewPlant, ReversedMimickedAndDampedJoints) {
  for (const int seed : {11, 12, 13}) {
    RandomRobot r(seed);
    r.grow(screw::all_moving_types());
    for (Joint& joint : r.robot.joints) std::swap(joint.parent, joint.child);
    r.robot.base = Robot::Base::fixed;
    for (const auto& [type, follower] : {std::pair(JointType::revolute, JointType::prismatic),
                                         std::pair(JointType::continuous, JointType::revolute)}) {
      const int link = r.link("extra" + std::to_string(r.robot.links.size()));
      const int next = r.link("extra" + std::to_string(r.robot.links.size()));
      const int leader = static_cast<int>(r.robot.joints.size());
      r.joint(type, 3, link);
      r.joint(follower, link, next).mimic = Mimic{JointIndex(leader), -1.5, 0.3};
    }
    for (Joint& joint : r.robot.joints) {
      joint.dynamics.resize(freedoms(joint.type));
      for (JointDynamics& d : joint.dynamics) {
        d.damping = 0.2 + 0.1 * r.number();
        d.stiffness = 2 + r.number();
        d.rest = 0.2 * r.number();
        d.armature = 0.05 + 0.02 * r.number();
      }
    }
    const auto tree = *Tree::make(r.robot);
    ScrewPlant plant(tree, tree->freedoms(), drive_of(*tree), options_of(*tree));
    Eigen::VectorXd x(plant.stored());
    x << r.position(*tree), r.velocity(*tree);
    PlantCheck(plant, x).all();
  }
}

/// Chains whose last link is tied to the ground, or to the first link, by a joint of any type: closed where they are
/// drawn, which is at random.
struct ClosedChain {
  ClosedChain(int seed, const std::vector<JointType>& types, JointType closing, bool floating) : r(seed) {
    r.grow(types, true);
    r.robot.base = floating ? Robot::Base::floating : Robot::Base::fixed;
    const auto open = *Tree::make(r.robot);
    const Eigen::VectorXd start = r.position(*open);
    screw::Poses poses(open->bodies().size());
    screw::body_poses(*open, start.data(), poses);
    const int last = static_cast<int>(r.robot.links.size()) - 1;
    Joint& joint = r.joint(closing, 0, last);
    const auto pose = [&](int link) {
      const screw::Transform<double> X = screw::link_pose(*open, poses, link);
      return SE3(SO3(Eigen::Quaterniond(X.R)), X.p);
    };
    joint.X_PF = pose(0).inverse() * pose(last) * joint.X_CM;
    joint.closes_loop = true;
    tree = *Tree::make(r.robot);
    freedoms = tree->freedoms() - 6;
    q = tree->start_position();
    q.head(start.size()) = start;
  }
  RandomRobot r;
  std::shared_ptr<const Tree> tree;
  int freedoms = 0;
  Eigen::VectorXd q;
};

TEST(ScrewPlant, ClosedLoopsOfAnyJoints) {
  using T = JointType;
  const std::tuple<std::vector<T>, T, bool> cases[] = {
      {{T::revolute, T::revolute, T::revolute, T::revolute, T::revolute, T::revolute, T::revolute}, T::revolute, false},
      {{T::revolute, T::ball, T::prismatic, T::ball}, T::revolute, false},
      {{T::universal, T::prismatic, T::universal, T::planar}, T::cylindrical, true},
      {{T::revolute, T::universal, T::screw, T::revolute}, T::ball, true},
      {{T::ball, T::ball, T::revolute, T::continuous}, T::fixed, false},
      {{T::revolute, T::floating, T::prismatic}, T::universal, false},
  };
  int seed = 20;
  for (const auto& [types, closing, floating] : cases) {
    for (const ChartKind kind : {ChartKind::independent, ChartKind::manifold}) {
      SCOPED_TRACE(seed);
      ClosedChain chain(++seed, types, closing, floating);
      ScrewPlant plant(chain.tree, chain.freedoms, drive_of(*chain.tree), options_of(*chain.tree, kind));
      PlantCheck(plant, test::random_state(plant, chain.q, seed, 0.1)).all();
    }
  }
}

/// A four-bar of hinges in space: three of its equations are redundant.
Robot four_bar(bool floating) {
  Robot robot;
  robot.base = floating ? Robot::Base::floating : Robot::Base::fixed;
  const SE3 tilt(SO3::exp({0.4, -0.3, 0.2}), {0, 0, 0});
  const Vector3d corner[] = {{0, 0, 0}, {0.1, 1, 0}, {1.3, 1.4, 0}, {1, 0, 0}};
  for (const char* name : {"frame", "crank", "coupler", "rocker"}) {
    Link link;
    link.name = name;
    link.inertia = {1.5, {0.4, 0.5, 0.1}, Vector3d(0.01, 0.02, 0.1).asDiagonal()};
    robot.links.push_back(link);
    robot.X_WL.push_back(tilt);
  }
  const std::pair<int, int> ends[] = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  for (int i = 0; i < 4; ++i) {
    Joint joint;
    joint.name = std::string(1, static_cast<char>('a' + i));
    joint.type = JointType::revolute;
    joint.parent = LinkIndex(ends[i].first);
    joint.child = LinkIndex(ends[i].second);
    joint.X_PF = joint.X_CM = SE3(SO3(), corner[i]);
    joint.axis = Vector3d::UnitZ();
    joint.closes_loop = i == 3;
    robot.joints.push_back(joint);
  }
  return robot;
}

TEST(ScrewPlant, RedundantLoops) {
  for (const bool floating : {false, true}) {
    for (const ChartKind kind : {ChartKind::independent, ChartKind::manifold}) {
      const auto tree = *Tree::make(four_bar(floating));
      ScrewPlant plant(tree, floating ? 7 : 1, drive_of(*tree), options_of(*tree, kind));
      PlantCheck(plant, test::random_state(plant, tree->start_position(), 3)).all();
    }
  }
}

/// The motion that simulate integrates.
class SimulatedField final : public step::Field {
 public:
  SimulatedField(std::shared_ptr<const Tree> tree, int freedoms, ScrewPlant::Drive drive)
      : tree_(std::move(tree)),
        drive_(std::move(drive)),
        dynamics_(tree_, build::given_forward(*tree_)),
        loops_(tree_, tree_->tree_freedoms() - freedoms) {}
  bool rates(double t, const double* q, const double* v, double* a, double*) override {
    std::vector<double> tau(tree_->freedoms(), 0.0);
    screw::Surroundings surroundings;
    surroundings.gravity = tree_->gravity();
    drive_(t, tau.data());
    return dynamics_.solve(q, v, a, tau.data(), surroundings).ok;
  }
  void begin_step(const double* q) override {
    if (!tree_->loops().empty()) loops_.prepare(q);
  }
  bool project(double* q, double* v) override { return loops_.project(q, v); }

 private:
  std::shared_ptr<const Tree> tree_;
  ScrewPlant::Drive drive_;
  build::Dynamics dynamics_;
  step::LoopProjection loops_;
};

/// Largest difference after a time, in steps h.
double distance_from_simulation(const std::shared_ptr<const Tree>& tree, ScrewPlant& plant, Eigen::VectorXd x,
                                double h) {
  SimulatedField field(tree, plant.freedoms(), drive_of(*tree));
  step::LieStepper stepper(tree, field, *step::find_scheme("rk4"));
  EXPECT_TRUE(stepper.start(0, x.data(), x.data() + plant.positions()));
  Eigen::VectorXd next(x.size());
  for (int i = 0; i < std::lround(0.16 / h); ++i) {
    EXPECT_TRUE(stepper.advance(h));
    EXPECT_TRUE(plant.advance(i * h, h, x.data(), nullptr, next.data()));
    x = next;
  }
  return std::max(
      (x.head(plant.positions()) - Eigen::Map<const Eigen::VectorXd>(stepper.q().data(), plant.positions()))
          .lpNorm<Eigen::Infinity>(),
      (x.tail(plant.velocities()) - Eigen::Map<const Eigen::VectorXd>(stepper.v().data(), plant.velocities()))
          .lpNorm<Eigen::Infinity>());
}

TEST(ScrewPlant, TreesStepAsSimulateDoes) {
  RandomRobot r(6);
  r.grow(screw::all_moving_types());
  r.robot.base = Robot::Base::floating;
  const auto tree = *Tree::make(r.robot);
  ScrewPlant plant(tree, tree->freedoms(), drive_of(*tree), options_of(*tree));
  Eigen::VectorXd x(plant.stored());
  x << r.position(*tree), r.velocity(*tree);
  EXPECT_LT(distance_from_simulation(tree, plant, x, 0.01), 1e-12);
}

/// Loops are kept closed in another way than by simulate: the methods differ by their order.
TEST(ScrewPlant, LoopsApproachWhatSimulateDoes) {
  const auto tree = *Tree::make(four_bar(true));
  ScrewPlant plant(tree, 7, drive_of(*tree), options_of(*tree));
  const Eigen::VectorXd x = test::random_state(plant, tree->start_position(), 5);
  const double coarse = distance_from_simulation(tree, plant, x, 0.04);
  const double fine = distance_from_simulation(tree, plant, x, 0.01);
  EXPECT_LT(coarse, 1e-4);
  EXPECT_GT(coarse / fine, 100);
}

/// v̇ = −d v / I: explicit, in parts, and implicit.
TEST(ScrewPlant, StiffDampingStaysStable) {
  Robot robot;
  robot.base = Robot::Base::fixed;
  robot.gravity.setZero();
  Link link;
  link.name = "wheel";
  link.inertia = {1, Vector3d::Zero(), Vector3d::Constant(0.5).asDiagonal()};
  robot.links = {link};
  Joint joint;
  joint.name = "hinge";
  joint.type = JointType::revolute;
  joint.child = LinkIndex(0);
  joint.axis = Vector3d::UnitZ();
  joint.dynamics.resize(1);
  robot.joints = {joint};
  const double h = 0.01;
  for (const auto& [rate, parts] : {std::pair(50.0, 1), std::pair(450.0, 3), std::pair(1e5, 0)}) {
    robot.joints[0].dynamics[0].damping = 0.5 * rate;
    const auto tree = *Tree::make(robot);
    PlantOptions options;
    options.integrator = *step::find_tableau("rk4");
    ScrewPlant plant(tree, 1, {}, options);
    Eigen::Vector2d x(0.3, 1), next;
    EXPECT_EQ(plant.substeps(x.data(), h), parts) << rate;
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(plant.advance(0, h, x.data(), nullptr, next.data()));
      EXPECT_LT(std::abs(next[1]), std::abs(x[1]));
      x = next;
    }
    PlantCheck(plant, Eigen::Vector2d(0.3, 1), h).steps();
  }
}

TEST(ScrewPlant, NamesAndAngles) {
  RandomRobot r(3);
  const int a = r.link("a"), b = r.link("b"), c = r.link("c"), d = r.link("d");
  r.robot.base = Robot::Base::fixed;
  r.joint(JointType::revolute, a, b).name = "shoulder";
  r.joint(JointType::continuous, b, c).name = "wheel";
  r.joint(JointType::prismatic, c, d).name = "rail";
  r.joint(JointType::ball, d, r.link("e")).name = "wrist";
  r.joint(JointType::revolute, c, r.link("f")).mimic = Mimic{JointIndex(1), 0.5, 0};
  const auto tree = *Tree::make(r.robot);
  ScrewPlant plant(tree, tree->freedoms(), {}, options_of(*tree));
  const auto column = [&](const std::string& name) {
    for (int i = 0; i < plant.velocities(); ++i) {
      if (plant.column_name(i) == name) return i;
    }
    return -1;
  };
  ASSERT_GE(column("wrist.rx"), 0);
  EXPECT_TRUE(plant.circular(column("shoulder")));
  EXPECT_FALSE(plant.circular(column("wheel"))) << "another joint follows at half its angle";
  EXPECT_FALSE(plant.circular(column("rail")));
  Eigen::VectorXd x = Eigen::VectorXd::Zero(plant.stored()), delta(plant.tangent());
  x.head(plant.positions()) = tree->start_position();
  Eigen::VectorXd other = x;
  for (const auto& c : tree->coordinates()) {
    if (c.name == "shoulder") other[c.q] += 2 * M_PI + 0.1;
  }
  Chart chart;
  ASSERT_TRUE(plant.choose(0, x.data(), chart));
  plant.local(x.data(), chart, other.data(), delta.data());
  EXPECT_NEAR(delta.cwiseAbs().maxCoeff(), 0.1, 1e-12) << "angles are compared the shorter way round";
  EXPECT_FALSE(plant.circular(column("wrist.rx")));
}

TEST(ScrewPlant, PreferredFreedomsAreIndependentWhereTheyCanBe) {
  const auto tree = *Tree::make(four_bar(false));
  for (int column = 0; column < 4; ++column) {
    PlantOptions options = options_of(*tree);
    options.prefer = {column};
    ScrewPlant plant(tree, 1, {}, options);
    Chart chart;
    const Eigen::VectorXd x = test::random_state(plant, tree->start_position(), 2);
    ASSERT_TRUE(plant.choose(0, x.data(), chart));
    EXPECT_EQ(chart.columns, std::vector<int>{column});
    PlantCheck(plant, x).all();
  }
}

/// Far away, in one go, and back: the same branch.
TEST(ScrewPlant, RetractsFar) {
  const auto tree = *Tree::make(four_bar(false));
  PlantOptions options = options_of(*tree);
  options.prefer = {0};
  ScrewPlant plant(tree, 1, {}, options);
  const Eigen::VectorXd x = test::random_state(plant, tree->start_position(), 2, 0);
  Chart chart;
  ASSERT_TRUE(plant.choose(0, x.data(), chart));
  for (const double far : {-0.8, 0.6}) {
    const double way[] = {far, 0}, home[] = {-far, 0};
    Eigen::VectorXd there(x.size()), back(x.size());
    ASSERT_TRUE(plant.retract(0, x.data(), chart, way, there.data())) << far;
    EXPECT_LT(test::opening(*tree, there), 1e-10);
    ASSERT_TRUE(plant.retract(0, there.data(), chart, home, back.data())) << far;
    EXPECT_LT((back - x).head(4).norm(), 1e-9) << far;
  }
}

TEST(ScrewPlant, RefusesWhatIsNotFinite) {
  const auto tree = *Tree::make(four_bar(false));
  ScrewPlant plant(tree, 1, {}, options_of(*tree));
  Eigen::VectorXd x = test::random_state(plant, tree->start_position(), 2), next(x);
  x[1] = NAN;
  Chart chart;
  const double force[] = {0, 0};
  EXPECT_FALSE(plant.advance(0, 0.01, x.data(), force, next.data()));
  EXPECT_FALSE(plant.choose(0, x.data(), chart));
  EXPECT_FALSE(plant.shift(0, x.data(), nullptr, nullptr));
}

}  // namespace
}  // namespace kinegraph::filter::screw_plant_test
