#include "kinegraph/identify/parameters.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <ctime>
#include <random>

#include "kinegraph/identify/machines_test.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::identify::parameters_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using maximal::BodyNumbers;
using maximal::FreedomNumbers;

Parameters made(const Model& model, const std::vector<FreeParameter>& free) {
  Result<Parameters> parameters = Parameters::make(model, free);
  if (!parameters) throw std::runtime_error(parameters.failure().to_string());
  return *parameters;
}

std::vector<FreeParameter> named(const std::vector<std::string>& names) {
  std::vector<FreeParameter> free;
  for (const std::string& name : names) free.emplace_back().name = name;
  return free;
}

std::string refused(const Model& model, const std::vector<FreeParameter>& free) {
  const Result<Parameters> parameters = Parameters::make(model, free);
  return parameters ? "accepted" : parameters.failure().to_string();
}

VectorXd generic(const VectorXd& about, double size, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> number(-size, size);
  VectorXd x = about;
  for (double& one : x) one += number(generator);
  return x;
}

/// Every slope of a machine, of its quantities and inequalities against differences of fourth order in x.
void check_slopes(const Parameters& parameters, const VectorXd& x, double tolerance) {
  const Result<MachinePoint> point = parameters.at(x);
  ASSERT_TRUE(point.ok()) << point.failure().to_string();
  const auto quantities = parameters.quantities(x);
  const auto inequalities = parameters.inequalities(x);
  const double step = 1e-3;
  for (int i = 0; i < parameters.size(); ++i) {
    const auto place = [&](int k) {
      VectorXd moved = x;
      moved[i] += k * step;
      return moved;
    };
    const auto slope = [&](const auto& f) -> MatrixXd {
      return (8 * (f(place(1)) - f(place(-1))) - (f(place(2)) - f(place(-2)))) / (12 * step);
    };
    const MatrixXd numbers = slope([&](const VectorXd& at) -> MatrixXd { return parameters.at(at, false)->numbers; });
    EXPECT_LT((point->directions.col(i) - numbers).norm(), tolerance * (1 + numbers.norm())) << parameters.names()[i];
    for (std::size_t k = 0; k < quantities.size(); ++k) {
      const double by_x = slope([&](const VectorXd& at) -> MatrixXd {
        return MatrixXd::Constant(1, 1, parameters.quantities(at)[k].value);
      })(0, 0);
      EXPECT_NEAR(quantities[k].slope[i], by_x, tolerance * (1 + std::abs(by_x))) << quantities[k].name;
    }
    for (std::size_t k = 0; k < inequalities.size(); ++k) {
      const MatrixXd by_x = slope([&](const VectorXd& at) { return parameters.inequalities(at)[k].value; });
      EXPECT_LT((inequalities[k].slope[i] - by_x).norm(), tolerance * (1 + by_x.norm())) << inequalities[k].what;
    }
  }
}

TEST(Parameters, SingleNumbersOfARobot) {
  const Parameters p = made(furuta(), named({"arm.izz", "pendulum.mass", "elbow.damping", "shoulder.dry"}));
  ASSERT_EQ(p.size(), 4);
  const MachinePoint at = *p.at(p.start());
  const auto& bodies = p.mechanism().bodies();
  const auto& freedoms = p.mechanism().freedoms();
  EXPECT_LT((at.numbers - p.mechanism().numbers()).cwiseAbs().maxCoeff(), 1e-15);
  const auto quantities = p.quantities(p.start());
  EXPECT_NEAR(quantities[0].value, 0.003, 1e-16);
  EXPECT_NEAR(quantities[1].value, 0.428, 1e-14);
  EXPECT_NEAR(quantities[2].value, 1e-4, 1e-17);
  EXPECT_EQ(quantities[3].value, 0);
  EXPECT_EQ(quantities[3].lower, 0);
  // Each moves one number of the equations, by as much as itself: to 1e-10.
  const int places[] = {-1, bodies[1].numbers + BodyNumbers::mass, freedoms[1].numbers + FreedomNumbers::damping,
                        freedoms[0].numbers + FreedomNumbers::friction};
  for (int i = 0; i < 4; ++i) {
    const VectorXd by_value = at.directions.col(i) / quantities[i].slope[i];
    EXPECT_EQ((by_value.array() != 0).count(), 1) << i;
    EXPECT_NEAR(places[i] >= 0 ? by_value[places[i]] : 1, 1, 1e-10) << i;
  }
  EXPECT_NEAR(at.directions.col(0).sum() / quantities[0].slope[0], 1, 1e-10);
  check_slopes(p, generic(p.start(), 0.1, 1).cwiseAbs(), 1e-9);
}

TEST(Parameters, AnInertiaIsAPossibleSolidAnywhere) {
  const Parameters p = made(furuta(), named({"arm.inertia", "pendulum.inertia"}));
  ASSERT_EQ(p.size(), 20);
  EXPECT_TRUE(p.start().isZero());
  EXPECT_TRUE(p.inequalities(p.start()).empty());
  EXPECT_LT((p.at(p.start())->numbers - p.mechanism().numbers()).norm(), 1e-14);
  for (unsigned seed = 0; seed < 200; ++seed) {
    const MachinePoint at = *p.at(generic(p.start(), 4, seed), false);
    for (const Link& link : at.model.robot.links) {
      const Vector3d moments = Eigen::SelfAdjointEigenSolver<Matrix3d>(link.inertia.about_com).eigenvalues();
      EXPECT_GT(link.inertia.mass, 0);
      EXPECT_GT(moments[0], 0);
      EXPECT_GE(moments[0] + moments[1] - moments[2], -1e-14 * moments[2]);
    }
  }
  check_slopes(p, generic(p.start(), 0.5, 7), 1e-9);
}

TEST(Parameters, AnImpossibleLinkStartsFromTheNearestSolid) {
  Model model = furuta();
  model.robot.links[0].inertia.about_com = Vector3d(0, 0.003, 0.003).asDiagonal();  // a line
  model.robot.links[1].inertia = {};                                                // nothing
  const Parameters p = made(model, named({"arm.inertia", "pendulum.inertia"}));
  ASSERT_EQ(p.warnings().size(), 2u);
  EXPECT_EQ(p.warnings()[0].message,
            "link 'arm': no solid body has its mass and inertia; the search starts from the nearest that one can have");
  const Inertia& arm = p.model().robot.links[0].inertia;
  EXPECT_NEAR(arm.about_com(0, 0), 0, 1e-6);
  EXPECT_NEAR(arm.about_com(2, 2), 0.003, 1e-6);
  EXPECT_TRUE(Solid::possible(arm));
  EXPECT_TRUE(Solid::possible(p.model().robot.links[1].inertia));
  EXPECT_FALSE(p.mechanism().bodies()[1].weightless);
  EXPECT_LT((p.at(p.start())->numbers - p.mechanism().numbers()).norm(), 1e-14);
}

TEST(Parameters, GravityTurnsAndKeepsItsStrength) {
  const Parameters p = made(furuta(), named({"gravity.direction"}));
  ASSERT_EQ(p.size(), 2);
  const VectorXd x = generic(p.start(), 0.7, 3);
  const Vector3d g = p.at(x)->numbers.head<3>();
  EXPECT_NEAR(g.norm(), 9.82, 1e-12);
  EXPECT_NEAR(std::acos(-g.z() / 9.82), x.norm(), 1e-12);
  const MachinePoint start = *p.at(p.start());
  EXPECT_LT((start.directions.topRows(3) - 9.82 * MatrixXd::Identity(3, 2)).norm(), 1e-8);
  check_slopes(p, x, 1e-9);
  const Parameters flat = made(pendulum(), named({"gravity.direction"}));
  ASSERT_EQ(flat.size(), 1);
  const VectorXd turned = VectorXd::Constant(1, 0.3);
  EXPECT_LT((flat.at(turned)->numbers.head<3>() - 9.81 * Vector3d(std::sin(0.3), -std::cos(0.3), 0)).norm(), 1e-12);
}

TEST(Parameters, AFilesParameterMovesAllThatDependsOnIt) {
  const Parameters p = made(pendulum(), named({"L", "m", "A.dry", "motor.gain", "encoder.bias", "encoder.scale"}));
  const VectorXd x = generic(p.start(), 0.2, 5).cwiseAbs();
  const MachinePoint at = *p.at(x);
  const Settings settings = p.settings(x);
  const double L = settings.at("L"), m = settings.at("m");
  const int body = p.mechanism().bodies()[0].numbers;
  const auto by = [&](int k, int i) { return at.directions(k, i) / p.quantities(x)[i].slope[i]; };
  EXPECT_NEAR(at.numbers[body + BodyNumbers::mass], m, 1e-12);
  // a slender rod: I = m L²/12 about its middle
  EXPECT_NEAR(by(body + BodyNumbers::inertia + 2, 0), m * L / 6, 1e-10);
  EXPECT_NEAR(by(body + BodyNumbers::inertia + 2, 1), L * L / 12, 1e-10);
  const int freedom = p.mechanism().freedoms()[0].numbers;
  EXPECT_NEAR(by(freedom + FreedomNumbers::friction, 2), 1, 1e-10);
  EXPECT_NEAR(by(freedom + FreedomNumbers::gain, 3), 1, 1e-10);
  EXPECT_TRUE(at.directions.rightCols(2).isZero(0));
  EXPECT_NEAR(at.bias(0, 4) / p.quantities(x)[4].slope[4], 1, 1e-10);
  EXPECT_NEAR(at.scale(0, 5) / p.quantities(x)[5].slope[5], 1, 1e-10);
  EXPECT_EQ(at.sensors[0].channels[0].bias, settings.at("encoder.bias"));
  check_slopes(p, x, 1e-8);
}

TEST(Parameters, PlanarSolids) {
  const Parameters p = made(pendulum(), named({"rod.inertia"}));
  ASSERT_EQ(p.size(), 4);
  for (unsigned seed = 0; seed < 100; ++seed) {
    const MachinePoint at = *p.at(generic(p.start(), 3, seed), false);
    const PlanarBody& rod = at.model.bodies[0];
    EXPECT_GT(rod.mass, 0);
    EXPECT_GT(rod.inertia, rod.mass * rod.cog.squaredNorm());
  }
  check_slopes(p, generic(p.start(), 0.5, 2), 1e-9);
  const VectorXd x = generic(p.start(), 0.5, 3);
  EXPECT_NEAR(p.settings(x).at("rod.I0"), p.at(x)->model.bodies[0].inertia, 1e-15);
  EXPECT_EQ(p.quantities(x)[3].name, "rod.I0");
  EXPECT_EQ(p.quantities(x)[3].value, p.settings(x).at("rod.I0"));
  // A point mass may have a moment of its own, but not less than none.
  const Model point = *pendulum().with({{"rod.cog_x", 0.5}, {"rod.I0", 0.3 * 0.25}});
  const Parameters lifted = made(point, named({"rod.I0"}));
  ASSERT_EQ(lifted.warnings().size(), 1u);
  ASSERT_EQ(lifted.inequalities(lifted.start()).size(), 1u);
  EXPECT_GT(lifted.inequalities(lifted.start())[0].value(0, 0), 0);
  EXPECT_EQ(refused(point, named({"rod.mass"})),
            "machine.yaml:3:1: error: rod.I0: must be above mass*|cog|^2 to start with; set it, or free rod.inertia");
}

TEST(Parameters, SingleMomentsAreBoundedByWhatASolidCanHave) {
  const Parameters p = made(furuta(), named({"arm.ixx", "arm.izz", "pendulum.mass"}));
  const auto bounds = p.inequalities(p.start());
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_EQ(bounds[0].what, "inertia of arm");
  EXPECT_EQ(bounds[1].what, "mass of pendulum");
  EXPECT_LT((bounds[0].value - MatrixXd(Vector3d(0.00295, 5e-5, 5e-5).asDiagonal())).norm(), 1e-12);
  const MatrixXd by_izz = bounds[0].slope[1] / p.quantities(p.start())[1].slope[1];
  EXPECT_LT((by_izz - MatrixXd(Vector3d(0.5, 0.5, -0.5).asDiagonal())).norm(), 1e-9);
  EXPECT_TRUE(bounds[0].slope[2].isZero(0));
  Model line = furuta();
  line.robot.links[0].inertia.about_com(0, 0) = 0;
  EXPECT_EQ(refused(line, named({"arm.izz"})),
            "error: link 'arm': no solid body has its moments of inertia (the largest principal one must be below the "
            "sum of the others), and the free ones cannot mend it; set others, or free arm.inertia");
}

/// A slender rod's moments leave its third one little room: the search starts at the end of that.
TEST(Parameters, SingleMomentsStartFromTheNearestSolid) {
  Model thick = furuta();
  thick.robot.links[1].inertia.about_com(1, 1) = 0.01;
  const Parameters p = made(thick, named({"pendulum.iyy"}));
  ASSERT_EQ(p.warnings().size(), 1u);
  const double start = p.quantities(p.start())[0].value;
  EXPECT_LT(start, 0.0041);
  EXPECT_GT(start, 0.00408);
  Matrix3d I = Vector3d(1e-4, 0.01, 0.004).asDiagonal();
  EXPECT_FALSE(Solid::mended(I, {false, false, false}));
  const auto by_last = Solid::mended(I, {false, false, true});
  ASSERT_TRUE(by_last);
  EXPECT_EQ((*by_last)(1, 1), 0.01);
  EXPECT_GT((*by_last)(2, 2), 0.0099);
  EXPECT_LT((*by_last)(2, 2), 0.0101);
}

TEST(Parameters, WeldedLinksAreOneBodyAndTwoSolids) {
  Model model = furuta();
  Link tip = model.robot.links[1];
  tip.name = "tip";
  tip.inertia = {0.05, {0, 0.01, 0}, Vector3d(1e-4, 1e-4, 1e-4).asDiagonal()};
  model.robot.links.push_back(tip);
  model.robot.X_WL.push_back(SE3());
  Joint weld;
  weld.name = "weld";
  weld.parent = LinkIndex(1), weld.child = LinkIndex(2);
  weld.X_PF = SE3(SO3(), {0, 0, 0.2});
  model.robot.joints.push_back(weld);
  const Parameters p = made(model, named({"tip.mass", "tip.com_x", "tip.izz", "weld.z"}));
  EXPECT_EQ(p.inequalities(p.start()).size(), 2u);  // of the tip alone
  check_slopes(p, generic(p.start(), 0.1, 4), 1e-8);
}

TEST(Parameters, SensorsOfTheTableAreNotLost) {
  Model model = pendulum();
  Sensor added;
  added.name = "theta";
  added.type = SensorType::encoder;
  added.coordinate = 0;
  added.channels = {{"theta.q", "rad", true, 1e-3}};
  model.sensors.push_back(added);
  const Parameters p = made(model, named({"theta.bias", "m"}));
  const MachinePoint at = *p.at(p.start() + VectorXd::Constant(2, 1.0));
  ASSERT_EQ(at.sensors.size(), 2u);
  EXPECT_EQ(at.sensors[1].name, "theta");
  EXPECT_NEAR(at.sensors[1].channels[0].bias, 0.01, 1e-15);
  EXPECT_NEAR(at.bias(1, 0), 0.01, 1e-12);
}

TEST(Parameters, BoundsAndPriors) {
  std::vector<FreeParameter> free = named({"arm.izz", "elbow.gain", "elbow.damping"});
  free[0].lower = 0.001, free[0].upper = 0.009, free[0].prior = 0.0006;
  const Parameters p = made(furuta(), free);
  EXPECT_NEAR(p.lower()[0], 1.0 / 3, 1e-12);
  EXPECT_NEAR(p.upper()[0], 3, 1e-12);
  EXPECT_NEAR(p.prior()[0], 0.2, 1e-12);
  EXPECT_EQ(p.lower()[1], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(p.lower()[2], 0);
  EXPECT_EQ(p.prior()[2], std::numeric_limits<double>::infinity());
}

TEST(Parameters, FaultsAreToldAtOnce) {
  std::vector<FreeParameter> free =
      named({"arm.mas", "arm.izz", "arm.izz", "arm.inertia", "elbow.dry", "elbow.friction", "shoulder.damping"});
  free.back().upper = 1e-4;
  EXPECT_EQ(refused(furuta(), free),
            "error: no such parameter: 'arm.mas'; did you mean 'arm.mass'?\n"
            "error: 'arm.izz' is given twice\n"
            "error: 'arm.izz' and 'arm.inertia' are the same number\n"
            "error: 'elbow.dry' and 'elbow.friction' are the same number\n"
            "error: shoulder.damping: the model's value 0.001 is not between 0 and 0.0001");
  EXPECT_EQ(refused(pendulum(), named({"theta.q"})),
            "error: 'theta.q': it moves nothing in the equations of motion, and is no offset or scale of a sensor");
  EXPECT_EQ(refused(furuta(), named({"elbow.upper", "elbow.q"})),
            "error: 'elbow.upper': it moves nothing in the equations of motion, and is no offset or scale of a sensor");
}

/// Seconds of the processor for one evaluation, of 200: the machine may be busy.
double cost_of(const Parameters& p) {
  const std::clock_t start = std::clock();
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(p.at(p.start()).ok());
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / 200;
}

TEST(Parameters, ManyCostNoMoreThanAsManyTimesOne) {
  const Parameters p = made(furuta(), named({"arm.ixx", "arm.iyy", "arm.izz", "pendulum.ixx", "pendulum.iyy",
                                             "pendulum.izz", "pendulum.com_z", "shoulder.damping", "elbow.damping",
                                             "shoulder.gain", "elbow.x", "gravity.direction"}));
  ASSERT_EQ(p.size(), 13);
  const double one = cost_of(made(furuta(), named({"arm.ixx"}))), all = cost_of(p);
  RecordProperty("seconds_each", std::to_string(all));
  EXPECT_LT(all, 2 * 13 * one);
}

}  // namespace
}  // namespace kinegraph::identify::parameters_test
