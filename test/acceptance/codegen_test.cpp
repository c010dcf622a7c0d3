// Generated code of robots from files: against numeric elimination, compiled with all warnings, and with names that try
// to become code.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/codegen/compiled.hpp"
#include "kinegraph/codegen/emit.hpp"
#include "kinegraph/codegen/generate.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/model/planar_robot.hpp"
#include "test/shared.hpp"

namespace kinegraph::codegen_test {
namespace {

namespace fs = std::filesystem;
using build::Given;
using codegen::Problem;
using Eigen::VectorXd;
using TreePointer = std::shared_ptr<const screw::Tree>;

constexpr int kStates = 1000;
constexpr double kEqual = 1e-11;    // of the largest result
constexpr double kRegular = 0.05;   // pivot above which that holds; below, digits are lost
constexpr double kSingular = 1e-6;  // pivot below which callers take numeric elimination
// An order of pivots that stays as it is can meet a zero where another order would not (Bennett's linkage): so seldom.
constexpr double kCauseless = 0.005;
// Singular values over the largest: below these a row depends on others, or nearly so.
constexpr double kSameRank = 1e-6, kNearlySingular = 0.02;

enum class Base { as_said, fixed, floating };

/// Joints named in `passive` lose their motors.
TreePointer read(const fs::path& path, Base base = Base::as_said, const std::set<std::string>& passive = {}) {
  ReadOptions options;
  if (base != Base::as_said) options.base = base == Base::fixed ? Robot::Base::fixed : Robot::Base::floating;
  const auto model = read_model(path, options);
  EXPECT_TRUE(model) << model.failure().to_string();
  auto robot = robot_of(*model);
  EXPECT_TRUE(robot) << robot.failure().to_string();
  for (Joint& joint : robot->joints) joint.passive = joint.passive || passive.contains(joint.name);
  return *screw::Tree::make(*robot);
}

VectorXd random(std::mt19937& generator, int size, double most) {
  std::uniform_real_distribution<double> uniform(-most, most);
  return VectorXd::NullaryExpr(size, [&] { return uniform(generator); });
}

/// q moved until the loops are closed, v projected to what they allow; false where this does not succeed.
bool close(const screw::Tree& tree, VectorXd& q, VectorXd& v) {
  if (tree.loops().empty()) return true;
  screw::Poses poses(tree.bodies().size());
  VectorXd open(6 * tree.loops().size());
  Eigen::MatrixXd J;
  for (int k = 0; k < 40; ++k) {
    screw::body_poses(tree, q.data(), poses);
    screw::closure(tree, q.data(), poses, open.data());
    screw::closure_jacobian(tree, q.data(), poses, J);
    const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition(J);
    if (open.norm() < 1e-13) {
      v -= decomposition.solve(J * v);
      return true;
    }
    const VectorXd step = -decomposition.solve(open);
    tree.retract(q.data(), step.data(), q.data());
  }
  return false;
}

/// Freedoms whose acceleration the loops have to find.
std::vector<int> unknown_accelerations(const screw::Tree& tree, const std::vector<Given>& given) {
  std::vector<int> list;
  for (std::size_t c = 0; c < given.size(); ++c) {
    const screw::Coordinate& coordinate = tree.coordinates()[c];
    for (int k = 0; given[c] == Given::torque && k < coordinate.freedoms; ++k) list.push_back(coordinate.v + k);
  }
  return list;
}

/// Singular values of these columns of the closures' Jacobian above `least` of the largest.
int rank_of(const screw::Tree& tree, const VectorXd& q, const std::vector<int>& columns, double least) {
  screw::Poses poses(tree.bodies().size());
  screw::body_poses(tree, q.data(), poses);
  Eigen::MatrixXd J;
  screw::closure_jacobian(tree, q.data(), poses, J);
  const VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(J(Eigen::all, columns)).singularValues();
  return static_cast<int>((values.array() > least * values[0]).count());
}

void expect_equal(const TreePointer& tree, Problem problem) {
  codegen::Request request;
  request.problem = problem;
  const bool inverse = problem == Problem::inverse;
  request.given = inverse ? build::given_inverse(*tree) : build::given_forward(*tree);
  request.ordering = inverse ? "rnea" : "aba";
  const auto generated = codegen::generate(tree, request);
  ASSERT_TRUE(generated) << generated.failure().to_string();
  build::Dynamics numeric(tree, request.given);
  screw::Surroundings surroundings;
  surroundings.gravity = tree->gravity();
  const int n = tree->freedoms();
  std::mt19937 generator(3);
  const bool loops = !tree->loops().empty();
  const std::vector<int> free = unknown_accelerations(*tree, request.given);
  const int rank = loops ? rank_of(*tree, tree->start_position(), free, kSameRank) : 0;
  double worst = 0, largest = 0;
  int regular = 0, tried = 0, causeless = 0;
  for (int s = 0; regular < kStates && s < 20 * kStates; ++s) {
    VectorXd q = tree->start_position(), v = random(generator, n, 1);
    // loops: half of the states near the drawing, half anywhere, singular positions among them
    const VectorXd away = random(generator, n, loops && s % 2 == 0 ? 0.3 : 3), known = random(generator, n, 1);
    tree->retract(q.data(), away.data(), q.data());
    if (!close(*tree, q, v)) continue;
    VectorXd a = known, tau = known;
    const auto answer = codegen::evaluate(generated->program, {q.data(), v.data(), known.data()});
    const double pivot = loops ? std::min(1.0, answer[1][0]) : 1;
    ++tried;
    if (pivot < kSingular) {  // what a caller may not trust: it has been told, and seldom without a cause
      causeless += rank_of(*tree, q, free, kNearlySingular) >= rank;
      continue;
    }
    ASSERT_TRUE(numeric.solve(q.data(), v.data(), a.data(), tau.data(), surroundings).ok);
    double off = 0, size = 0;
    for (std::size_t c = 0; c < tree->coordinates().size(); ++c) {
      const screw::Coordinate& coordinate = tree->coordinates()[c];
      for (int i = coordinate.v; i < coordinate.v + coordinate.freedoms; ++i) {
        const double exact = request.given[c] == Given::torque ? a[i] : tau[i];
        off = std::max(off, std::abs(answer[0][i] - exact));
        size = std::max(size, std::abs(exact));
      }
    }
    if (pivot >= kRegular) {
      ++regular;
      worst = std::max(worst, off);
      largest = std::max(largest, size);
    } else {  // digits are lost as the pivot, and no faster than its square, says
      EXPECT_LT(off, kEqual * std::max(1.0, size) / (pivot * pivot)) << "pivot " << pivot;
    }
  }
  EXPECT_EQ(regular, kStates);
  EXPECT_LE(causeless, kCauseless * tried);
  EXPECT_LT(worst, kEqual * largest);
  std::ostringstream figure;
  figure << worst / largest;
  testing::Test::RecordProperty(inverse ? "inverse" : "forward", figure.str());
}

/// The derivatives by q along the freedoms, by v and by what is given, against differences of the fourth order:
///
///     f′ = (8 (f(h) − f(−h)) − (f(2h) − f(−2h))) / 12h + O(h⁴)
void expect_slopes(const TreePointer& tree, Problem problem) {
  constexpr double h = 1e-3, kEqualSlopes = 1e-7;  // of the largest of a matrix
  codegen::Request request;
  request.problem = problem;
  const bool inverse = problem == Problem::inverse;
  request.given = inverse ? build::given_inverse(*tree) : build::given_forward(*tree);
  request.ordering = inverse ? "rnea" : "aba";
  request.options.derivatives = true;
  const auto generated = codegen::generate(tree, request);
  ASSERT_TRUE(generated) << generated.failure().to_string();
  const int n = tree->freedoms(), tried = n > 20 ? 1 : 5;
  std::mt19937 generator(5);
  int states = 0;
  for (int s = 0; s < tried; ++s) {
    VectorXd q = tree->start_position(), v = random(generator, n, 1);
    const VectorXd away = random(generator, n, tree->loops().empty() ? 3 : 0.3), known = random(generator, n, 1);
    tree->retract(q.data(), away.data(), q.data());
    if (!close(*tree, q, v)) continue;
    const auto answer = codegen::evaluate(generated->program, {q.data(), v.data(), known.data()});
    ASSERT_EQ(answer.size(), 5U);
    if (answer[4][0] < kRegular) continue;
    ++states;
    for (int what = 0; what < 3; ++what) {
      double worst = 0, largest = 0;
      for (int k = 0; k < n; ++k) {
        VectorXd slope = VectorXd::Zero(n);
        for (const auto& [steps, weight] : {std::pair{1, 8.0}, {-1, -8.0}, {2, -1.0}, {-2, 1.0}}) {
          VectorXd delta = VectorXd::Zero(n), x[3] = {q, v, known};
          delta[k] = steps * h;
          if (what == 0) {
            tree->retract(q.data(), delta.data(), x[0].data());
          } else {
            x[what] += delta;
          }
          const auto there = codegen::evaluate(generated->program, {x[0].data(), x[1].data(), x[2].data()});
          slope += weight / (12 * h) * Eigen::Map<const VectorXd>(there[0].data(), n);
        }
        for (int i = 0; i < n; ++i) {
          worst = std::max(worst, std::abs(slope[i] - answer[1 + what][i * n + k]));
          largest = std::max(largest, std::abs(slope[i]));
        }
      }
      EXPECT_LE(worst, kEqualSlopes * largest) << "by " << (what == 0 ? "q" : what == 1 ? "v" : "what is given");
    }
  }
  EXPECT_GT(states, tried / 2);
}

struct File {
  std::string name;
  bool shared;
  Base base = Base::as_said;
  std::set<std::string> passive = {};

  TreePointer tree() const {
    const auto path = shared ? kinegraph::shared(name) : source_file(name);
    return path ? read(*path, base, passive) : nullptr;
  }
};

class GeneratedOfFile : public testing::TestWithParam<File> {};

/// A loop with a motor at every joint: what each gives is a choice, not an equation.
bool chooses_torques(const screw::Tree& tree) {
  const auto& joints = tree.coordinates();
  return std::any_of(joints.begin(), joints.end(), [](const auto& c) { return c.in_loop; }) &&
         std::none_of(joints.begin(), joints.end(), [](const auto& c) { return c.in_loop && c.passive; });
}

TEST_P(GeneratedOfFile, EqualsNumericElimination) {
  const TreePointer tree = GetParam().tree();
  if (!tree) GTEST_SKIP() << GetParam().name << " is not here";
  expect_equal(tree, Problem::forward);
  if (!chooses_torques(*tree)) expect_equal(tree, Problem::inverse);
}

TEST_P(GeneratedOfFile, DerivativesEqualDifferences) {
  const TreePointer tree = GetParam().tree();
  if (!tree) GTEST_SKIP() << GetParam().name << " is not here";
  expect_slopes(tree, Problem::forward);
  if (!chooses_torques(*tree)) expect_slopes(tree, Problem::inverse);
}

const File kFiveBar{"models/synthetic/five_bar.sdf", true, Base::as_said, {"j2", "j3", "j4"}};
const File kFourBar{"models/loops/gtd_four_bar_linkage_pure.sdf", true, Base::fixed, {"j2", "j3", "j4"}};

TEST(GeneratedOfFile, LoopsHaveAnInverse) {
  for (const File& file : {kFiveBar, kFourBar}) {
    const TreePointer tree = file.tree();
    if (!tree) GTEST_SKIP();
    EXPECT_FALSE(tree->loops().empty());
    EXPECT_FALSE(chooses_torques(*tree));
  }
}

INSTANTIATE_TEST_SUITE_P(Own, GeneratedOfFile,
                         testing::Values(File{"models/arm7.urdf", false}, File{"models/three_r.urdf", false},
                                         File{"models/quadruped.urdf", false, Base::floating},
                                         File{"models/five_bar.sdf", false}, File{"models/fourbar.yaml", false},
                                         File{"models/parallelogram.yaml", false},
                                         File{"models/parallelogram_redundant.yaml", false},
                                         File{"models/bennett.sdf", false}, File{"models/furuta.urdf", false}));
INSTANTIATE_TEST_SUITE_P(Shared, GeneratedOfFile,
                         testing::Values(File{"models/synthetic/puma560_corke.urdf", true},
                                         File{"models/arms/iiwa14_primitive_collision.urdf", true},
                                         File{"models/arms/panda.urdf", true}, File{"models/arms/ur5.urdf", true},
                                         File{"models/legged/solo12.urdf", true, Base::floating},
                                         File{"models/legged/simple_humanoid.urdf", true, Base::floating}, kFiveBar,
                                         kFourBar));

/// States of a robot: numbers of q (loops closed), of v and of what is given.
struct States {
  std::vector<VectorXd> input[3];

  States(const screw::Tree& tree, int count) {
    std::mt19937 generator(7);
    while (static_cast<int>(input[0].size()) < count) {
      VectorXd q = tree.start_position(), v = random(generator, tree.freedoms(), 1);
      const VectorXd away = random(generator, tree.freedoms(), tree.loops().empty() ? 3 : 0.3);
      tree.retract(q.data(), away.data(), q.data());
      if (!close(tree, q, v)) continue;
      input[0].push_back(q);
      input[1].push_back(v);
      input[2].push_back(random(generator, tree.freedoms(), 1));
    }
  }
  std::vector<std::vector<double>> evaluated(const codegen::Program& program, int s) const {
    return codegen::evaluate(program, {input[0][s].data(), input[1][s].data(), input[2][s].data()});
  }
};

/// Each array of outputs against what the program says, relative to the largest number of the array.
void expect_near(const std::vector<double>& got, const std::vector<double>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 0, worst = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    largest = std::max(largest, std::abs(expected[k]));
    worst = std::max(worst, std::isfinite(got[k]) ? std::abs(got[k] - expected[k]) : INFINITY);
  }
  EXPECT_LE(worst, tolerance * std::max(1e-9, largest)) << what;
}

class CompiledOfFile : public testing::TestWithParam<File> {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kinegraph_compiled_of_file_" + std::to_string(getpid()));
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    fs::remove_all(folder_);
  }
  fs::path folder_;
};

/// What --compiled runs: one state and eight, answers and derivatives.
TEST_P(CompiledOfFile, SaysWhatTheProgramSays) {
  const TreePointer tree = GetParam().tree();
  if (!tree) GTEST_SKIP() << GetParam().name << " is not here";
  constexpr int kLanes = 8;
  const States states(*tree, 10 * kLanes);
  for (const Problem problem : {Problem::inverse, Problem::forward}) {
    if (problem == Problem::inverse && chooses_torques(*tree)) continue;
    codegen::Request request;
    request.problem = problem;
    request.ordering = problem == Problem::inverse ? "rnea" : "aba";
    request.options.derivatives = true;
    const auto generated = codegen::generate(tree, request);
    ASSERT_TRUE(generated) << generated.failure().to_string();
    const codegen::Program& program = generated->program;
    const auto code = codegen::Compiled::make(program, kLanes);
    if (!code && code.failure().to_string().find("no C++ compiler") != std::string::npos) GTEST_SKIP();
    ASSERT_TRUE(code) << code.failure().to_string();
    std::vector<std::vector<double>> one, packed_out, packed(3);
    std::vector<double*> one_at, packed_at;
    for (const codegen::Array& array : program.outputs) {
      one.emplace_back(array.values.size(), NAN);
      packed_out.emplace_back(array.values.size() * kLanes, NAN);
    }
    for (std::size_t k = 0; k < one.size(); ++k) {
      one_at.push_back(one[k].data());
      packed_at.push_back(packed_out[k].data());
    }
    for (int first = 0; first < 10 * kLanes; first += kLanes) {
      for (int a = 0; a < 3; ++a) {
        packed[a].resize(states.input[a][0].size() * kLanes);
        for (std::size_t k = 0; k < packed[a].size(); ++k) {
          packed[a][k] = states.input[a][first + static_cast<int>(k % kLanes)][static_cast<long>(k / kLanes)];
        }
      }
      const double* packed_in[] = {packed[0].data(), packed[1].data(), packed[2].data()};
      const double least = (*code)->run_batch(packed_in, packed_at.data());
      double smallest = INFINITY;
      for (int lane = 0; lane < kLanes; ++lane) {
        const int s = first + lane;
        const double* in[] = {states.input[0][s].data(), states.input[1][s].data(), states.input[2][s].data()};
        const auto expected = states.evaluated(program, s);
        const double pivot = (*code)->run(in, one_at.data());
        EXPECT_NEAR(pivot, expected.back()[0], 1e-12);
        smallest = std::min(smallest, pivot);
        for (std::size_t k = 0; k < one.size(); ++k) {
          const double tolerance = kEqual / std::min(1.0, pivot * pivot);
          expect_near(one[k], expected[k], tolerance, program.outputs[k].name);
          std::vector<double> in_lane;
          for (std::size_t i = 0; i < one[k].size(); ++i) in_lane.push_back(packed_out[k][kLanes * i + lane]);
          expect_near(in_lane, expected[k], tolerance, program.outputs[k].name + " of a lane");
        }
      }
      EXPECT_NEAR(least, smallest, 1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, CompiledOfFile,
                         testing::Values(File{"models/three_r.urdf", false}, File{"models/furuta.urdf", false},
                                         File{"models/fourbar.yaml", false},
                                         File{"models/parallelogram_redundant.yaml", false}, kFourBar));

/// Compiles a file with all warnings as errors; false if the compiler complains. Nothing if there is no compiler.
class Header : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kinegraph_codegen_test_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  static bool has_compiler() { return std::system("g++ --version > /dev/null 2>&1") == 0; }
  /// Compiles and runs; what it prints.
  std::string run(const std::string& header, const std::string& main) {
    std::ofstream(folder_ / "generated.hpp") << header;
    std::ofstream(folder_ / "alone.cpp") << "#include \"generated.hpp\"\n";
    std::ofstream(folder_ / "main.cpp") << "#include \"generated.hpp\"\n#include <cstdio>\nint main() {\n"
                                        << main << "}\n";
    const std::string at = folder_.string();
    std::string said;
    for (const std::string compiler : {"clang++", "g++"}) {  // the last one's answers are looked at
      if (compiler != "g++" && std::system((compiler + " --version > /dev/null 2>&1").c_str()) != 0) continue;
      const std::string command = "cd " + at + " && " + compiler +
                                  " -std=c++17 -fsyntax-only -Wall -Wextra -Wconversion -Wshadow -Werror -pedantic "
                                  "alone.cpp > log 2>&1 && " +
                                  compiler +
                                  " -std=c++17 -O1 -Wall -Wextra -Werror -pedantic main.cpp -o program > log 2>&1 && "
                                  "./program > out";
      const int status = std::system(command.c_str());
      std::ostringstream text;
      text << std::ifstream(folder_ / (status == 0 ? "out" : "log")).rdbuf();
      EXPECT_EQ(status, 0) << compiler << ": " << text.str();
      said = text.str();
    }
    return said;
  }
  fs::path folder_;
};

TEST_F(Header, CompilesWithoutWarningsAndSaysTheSame) {
  if (!has_compiler()) GTEST_SKIP() << "no g++";
  const TreePointer tree = read(source_file("models/three_r.urdf"));
  const double q[3] = {0.3, -0.5, 1.1}, v[3] = {0.2, 0.4, -0.6}, a[3] = {1, -2, 0.5};
  for (const bool single : {false, true}) {
    codegen::Request request;
    request.options.derivatives = true;
    const auto generated = codegen::generate(tree, request);
    ASSERT_TRUE(generated);
    codegen::EmitOptions options;
    options.name = "three_r";
    options.single = single;
    options.lanes = 8;
    const std::string real = single ? "float" : "double";
    std::string main =
        real + " q[3] = {0.3, -0.5, 1.1}, v[3] = {0.2, 0.4, -0.6}, a[3] = {1, -2, 0.5}, t[3], d[9], e[9], f[9];\n" +
        real +
        " Q[24], V[24], A[24], T[24], D[72], E[72], F[72];\n"
        "for (int k = 0; k < 24; ++k) Q[k] = q[k / 8], V[k] = v[k / 8], A[k] = a[k / 8];\n"
        "const double pivot = three_r(q, v, a, t, d, e, f);\n"
        "const double batch = three_r_batch(Q, V, A, T, D, E, F);\n"
        "for (int k = 0; k < 3; ++k) std::printf(\"%.17g %.17g \", double(t[k]), double(T[8 * k + 5]));\n"
        "std::printf(\"%.17g %.17g\", pivot, batch);\n";
    if (single)
      main.replace(main.find("{0.3"), 16, "{0.3f, -0.5f, 1.1f}"),
          main.replace(main.find("{0.2"), 16, "{0.2f, 0.4f, -0.6f}");
    if (single) main.replace(main.find("{1, -2"), 12, "{1.f, -2.f, 0.5f}");
    std::istringstream printed(run(codegen::emit_header(generated->program, options), main));
    const auto expected = codegen::evaluate(generated->program, {q, v, a});
    const double tolerance = single ? 2e-6 : 1e-13;
    for (int k = 0; k < 3; ++k) {
      double one = 0, lane = 0;
      printed >> one >> lane;
      EXPECT_NEAR(one, expected[0][k], tolerance * 10);
      EXPECT_NEAR(lane, expected[0][k], tolerance * 10);
    }
    double pivot = 0, batch = 0;
    printed >> pivot >> batch;
    EXPECT_EQ(pivot, 1);
    EXPECT_EQ(batch, 1);
  }
}

/// Calls of a generated function, at some states or at all lanes of a batch at once, printed as numbers.
std::string calls_of(const codegen::Program& program, const codegen::EmitOptions& options, const States& states,
                     bool batch) {
  const int lanes = batch ? options.lanes : 1;
  const std::string real = options.single ? "float" : "double";
  std::string text, arguments;
  const auto argument = [&](const std::string& name) { arguments += (arguments.empty() ? "" : ", ") + name; };
  for (std::size_t a = 0; a < program.inputs.size(); ++a) {
    const std::string name = "in" + std::to_string(a);
    argument(name + " + k * sizeof " + name + " / sizeof *" + name + " / " + std::to_string(options.lanes / lanes));
    text += "const " + real + " " + name + "[] = {";
    for (int group = 0; group < options.lanes; group += lanes) {
      for (Eigen::Index i = 0; i < states.input[a][0].size(); ++i) {
        for (int s = 0; s < lanes; ++s) {
          std::ostringstream number;
          number.precision(17);
          number << states.input[a][group + s][i];
          text += real + "(" + number.str() + "), ";
        }
      }
    }
    text += "};\n";
  }
  std::string print;
  for (std::size_t a = 0; a < program.outputs.size(); ++a) {
    const std::string name = "out" + std::to_string(a), size = std::to_string(lanes * program.outputs[a].values.size());
    argument(name);
    text += real + " " + name + "[" + size + "];\n";
    print += "  for (int i = 0; i < " + size + "; ++i) std::printf(\"%.17g \", double(" + name + "[i]));\n";
  }
  return text + "for (int k = 0; k < " + std::to_string(options.lanes / lanes) +
         "; ++k) {\n  const double pivot = " + options.name + (batch ? "_batch(" : "(") + arguments +
         ");\n  std::printf(\"%.17g \", pivot);\n" + print + "}\n";
}

/// The emitted header, all arrays of it, against the program.
TEST_F(Header, EveryFormSaysWhatTheProgramSays) {
  if (!has_compiler()) GTEST_SKIP() << "no g++";
  struct Form {
    const char* model;
    Problem problem;
    bool derivatives, single;
    int lanes, block;
  };
  const Form forms[] = {{"models/three_r.urdf", Problem::hybrid, true, false, 4, 12},
                        {"models/three_r.urdf", Problem::forward, true, true, 4, 1500},
                        {"models/three_r.urdf", Problem::mass_matrix, false, false, 8, 1500},
                        {"models/three_r.urdf", Problem::kinematics, false, true, 8, 5},
                        {"models/five_bar.sdf", Problem::forward, false, false, 8, 12}};
  for (const Form& form : forms) {
    const TreePointer tree = read(source_file(form.model));
    codegen::Request request;
    request.problem = form.problem;
    request.options.derivatives = form.derivatives;
    request.ordering = form.problem == Problem::mass_matrix ? "crba" : "aba";
    if (form.problem == Problem::hybrid) request.given = {Given::acceleration, Given::torque, Given::torque};
    const auto generated = codegen::generate(tree, request);
    ASSERT_TRUE(generated) << generated.failure().to_string();
    const codegen::Program& program = generated->program;
    codegen::EmitOptions options;
    options.name = "form";
    options.single = form.single;
    options.lanes = form.lanes;
    options.block = form.block;
    const States states(*tree, form.lanes);
    const std::string header = codegen::emit_header(program, options);
    EXPECT_EQ(header.find("form_block1") != std::string::npos, form.block < 100);
    const std::string alone = calls_of(program, options, states, false);
    std::istringstream printed(
        run(header, "{\n" + alone + "}\n{\n" + calls_of(program, options, states, true) + "}\n"));
    const double tolerance = form.single ? 1e-4 : kEqual;
    std::vector<std::vector<std::vector<double>>> expected;
    const auto read_array = [&](std::size_t size) {
      std::vector<double> numbers(size, NAN);
      for (double& x : numbers) printed >> x;
      return numbers;
    };
    double least = INFINITY;
    for (int s = 0; s < form.lanes; ++s) {
      expected.push_back(states.evaluated(program, s));
      const double pivot = read_array(1)[0];
      EXPECT_NEAR(pivot, expected[s].back()[0], tolerance);
      least = std::min(least, pivot);
      for (std::size_t k = 0; k < program.outputs.size(); ++k) {
        expect_near(read_array(expected[s][k].size()), expected[s][k], tolerance, program.outputs[k].name);
      }
    }
    EXPECT_NEAR(read_array(1)[0], least, tolerance);
    for (std::size_t k = 0; k < program.outputs.size(); ++k) {
      const std::vector<double> lanes = read_array(expected[0][k].size() * form.lanes);
      for (int s = 0; s < form.lanes; ++s) {
        std::vector<double> lane;
        for (std::size_t i = 0; i < expected[s][k].size(); ++i) lane.push_back(lanes[form.lanes * i + s]);
        expect_near(lane, expected[s][k], tolerance, program.outputs[k].name + " of a lane");
      }
    }
  }
}

/// y = 1 / a, with pivots a and b.
codegen::Program with_two_pivots() {
  codegen::Program p;
  p.graph = std::make_shared<codegen::ExpressionGraph>();
  const codegen::Signed a = p.graph->input(), b = p.graph->input();
  p.inputs = {{"x", "", {}, {a, b}}};
  p.outputs = {{"y", "", {}, {p.graph->divide(p.graph->one(), a)}}};
  p.pivot = p.graph->minimum(p.graph->absolute(a), p.graph->absolute(b));
  return p;
}

/// Nothing that is not a number is a healthy pivot, in whatever place it stands.
TEST_F(Header, APivotThatIsNoNumberIsZero) {
  const codegen::Program p = with_two_pivots();
  for (const auto& [a, b, least] : {std::tuple(NAN, 0.5, 0.0), {0.5, NAN, 0.0}, {NAN, NAN, 0.0}, {0.5, -0.25, 0.25}}) {
    const double x[] = {a, b};
    EXPECT_EQ(codegen::evaluate(p, {x}).back()[0], least);
  }
  if (!has_compiler()) GTEST_SKIP() << "no g++";
  codegen::EmitOptions options;
  options.name = "two";
  options.lanes = 4;
  EXPECT_EQ(run(codegen::emit_header(p, options),
                "const double none = std::nan(\"\"), a[] = {none, 0.5}, b[] = {0.5, none}, c[] = {0.5, 0.25};\n"
                "double y[4];\n"
                "std::printf(\"%g %g %g\", two(a, y), two(b, y), two(c, y));\n"
                "for (int s = 0; s < 8; ++s) {\n"
                "  double x[8];\n"
                "  for (int k = 0; k < 8; ++k) x[k] = k == s ? none : 0.5;\n"
                "  std::printf(\" %g\", two_batch(x, y));\n"
                "}\n"),
            "0 0 0.25 0 0 0 0 0 0 0 0");
}

TEST_F(Header, ARobotWithoutJointsCompiles) {
  if (!has_compiler()) GTEST_SKIP() << "no g++";
  const std::string mass =
      "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" "
      "iyz=\"0\"/></inertial>";
  std::ofstream(folder_ / "none.urdf") << "<robot name=\"none\"><link name=\"a\">" << mass << "</link></robot>";
  const auto model = read_model(folder_ / "none.urdf");
  ASSERT_TRUE(model);
  const auto tree = screw::Tree::make(model->robot);
  if (!tree) GTEST_SKIP() << tree.failure().to_string();
  const auto generated = codegen::generate(*tree, {});
  ASSERT_TRUE(generated) << generated.failure().to_string();
  EXPECT_EQ(run(codegen::emit_header(generated->program, {}), ""), "");
}

/// Sums that may be reordered are refused where the compiler tells; clang++ does not, and there they are fenced.
TEST_F(Header, ReorderedSumsGiveNoWrongNumbers) {
  if (!has_compiler()) GTEST_SKIP() << "no g++";
  codegen::Request request;
  const auto generated = codegen::generate(read(source_file("models/three_r.urdf")), request);
  ASSERT_TRUE(generated);
  codegen::EmitOptions options;
  options.name = "arm";
  options.lanes = 8;
  std::ofstream(folder_ / "generated.hpp") << codegen::emit_header(generated->program, options);
  std::ofstream(folder_ / "main.cpp")
      << "#include \"generated.hpp\"\n#include <cstdio>\nint main() {\n  double q[24], v[24], a[24], t[24], u[3];\n"
         "  for (int k = 0; k < 24; ++k) q[k] = 700.0 * (k / 8 + 1), v[k] = 0, a[k] = 1;\n"
         "  const double p[] = {q[0], q[8], q[16]};\n"
         "  arm_batch(q, v, a, t);\n  arm(p, v, a, u);\n"
         "  for (int k = 0; k < 3; ++k) std::printf(\"%.11g %.11g \", t[8 * k + 3], u[k]);\n}\n";
  for (const std::string compiler : {"g++", "clang++"}) {
    const std::string at = "cd " + folder_.string() + " && " + compiler + " -std=c++17 -O2 ";
    if (std::system((at + "main.cpp -o program 2> log && ./program > plain").c_str()) != 0) continue;
    for (const char* flags : {"-funsafe-math-optimizations", "-ffinite-math-only"}) {
      const int status = std::system((at + flags + " main.cpp -o program 2> log && ./program > out").c_str());
      if (status != 0) {
        EXPECT_EQ(std::system(("grep -q 'generated code rounds by adding' " + folder_.string() + "/log").c_str()), 0);
      } else {
        EXPECT_EQ(compiler, "clang++") << flags;
        std::ostringstream text, expected;
        text << std::ifstream(folder_ / "out").rdbuf();
        expected << std::ifstream(folder_ / "plain").rdbuf();
        EXPECT_EQ(text.str(), expected.str()) << compiler << " " << flags;
      }
    }
  }
}

TEST_F(Header, SinesAreRightUpToTheLargestAngle) {
  if (!has_compiler()) GTEST_SKIP() << "no g++";
  codegen::Program p;
  p.graph = std::make_shared<codegen::ExpressionGraph>();
  const codegen::Signed x = p.graph->input();
  p.inputs = {{"x", "", {}, {x}}};
  p.outputs = {{"y", "", {}, {p.graph->sine(x), p.graph->cosine(x)}}};
  p.pivot = p.graph->one();
  codegen::EmitOptions options;
  options.name = "pair";
  std::istringstream printed(
      run(codegen::emit_header(p, options),
          "double worst = 0, y[2];\n"
          "for (int k = -200000; k <= 200000; ++k) {\n"
          "  const double x = k * 8.199;\n"
          "  pair(&x, y);\n"
          "  worst = std::fmax(worst, std::fmax(std::fabs(y[0] - std::sin(x)), std::fabs(y[1] - std::cos(x))));\n"
          "}\n"
          "const double far = 1.7e6, none = std::nan(\"\");\n"
          "std::printf(\"%.3g %g %g\", worst, pair(&far, y), pair(&none, y));\n"));
  double worst = 1, far = 1, none = 1;
  printed >> worst >> far >> none;
  EXPECT_LT(worst, 2.3e-16);  // one unit in the last place of 1
  EXPECT_EQ(far, 0);          // no longer to be trusted
  EXPECT_EQ(none, 0);
}

TEST_F(Header, HostileNamesStayText) {
  if (!has_compiler()) GTEST_SKIP() << "no g++";
  const std::string evil = "&quot;); system(&quot;x */ #error \\";
  std::ofstream(folder_ / "evil.urdf")
      << "<robot name=\"" << evil << "\"><link name=\"base\"/><link name=\"" << evil
      << "\"><inertial><mass value=\"1\"/><origin xyz=\"0.1 0 0\"/><inertia ixx=\"0.1\" iyy=\"0.1\" izz=\"0.1\" "
         "ixy=\"0\" ixz=\"0\" "
         "iyz=\"0\"/></inertial></link><joint name=\"??/ \\ */ int main(){}\" type=\"revolute\"><parent "
         "link=\"base\"/><child link=\""
      << evil
      << "\"/><axis xyz=\"0 1 0\"/><limit effort=\"1\" velocity=\"1\" lower=\"-1\" upper=\"1\"/></joint></robot>";
  const TreePointer tree = read(folder_ / "evil.urdf");
  for (const Problem problem : {Problem::inverse, Problem::forward, Problem::mass_matrix, Problem::kinematics}) {
    codegen::Request request;
    request.problem = problem;
    const auto generated = codegen::generate(tree, request);
    ASSERT_TRUE(generated);
    codegen::EmitOptions options;
    options.name = "\"); system(\"x";
    options.model = "*/ \\\n#error \n";
    const std::string header = codegen::emit_header(generated->program, options);
    EXPECT_EQ(header.find("system("), std::string::npos);
    EXPECT_EQ(header.find("*/"), std::string::npos);
    EXPECT_EQ(run(header, ""), "");
  }
}

/// Names that a compiler reads in a source, those of macros and all words of what the preprocessor makes of it.
std::set<std::string> words_of(const fs::path& folder, const std::string& compiler, const std::string& source) {
  const std::string make = "cd " + folder.string() + " && " + compiler + " -std=c++17 -E ";
  EXPECT_EQ(std::system((make + "-dM " + source + " > words && " + make + "-P " + source + " >> words").c_str()), 0);
  std::ostringstream text;
  text << std::ifstream(folder / "words").rdbuf();
  std::set<std::string> words;
  std::string word;
  for (const char c : text.str() + " ") {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (letter) word += c;
    if (!letter && !word.empty()) words.insert(std::exchange(word, ""));
  }
  return words;
}

/// Every word of the header itself and of the whole standard library is made a name that the header can bear.
TEST_F(Header, NoNameHidesWhatTheHeaderNeeds) {
  if (!has_compiler()) GTEST_SKIP() << "no g++";
  for (const std::string name : {"size_t", "NAN", "kinegraph_generated", "KINEGRAPH_GENERATED_MATH", "errno", "uint",
                                 "M_PIl", "arm_batch", "double_t", "stdin"}) {
    EXPECT_NE(codegen::identifier(name), name);
    EXPECT_EQ(codegen::identifier(codegen::identifier(name)), codegen::identifier(name));
  }
  codegen::Request request;
  request.options.derivatives = true;
  const auto generated = codegen::generate(read(source_file("models/three_r.urdf")), request);
  ASSERT_TRUE(generated);
  codegen::EmitOptions options;
  options.name = "three_r";
  options.lanes = 8;
  std::ofstream(folder_ / "generated.hpp") << codegen::emit_header(generated->program, options);
  const std::string includes =
      "#if __has_include(<bits/stdc++.h>)\n#include <bits/stdc++.h>\n#endif\n"
      "#include \"generated.hpp\"\n";
  std::ofstream(folder_ / "words.cpp") << includes;
  for (const std::string compiler : {"g++", "clang++"}) {
    if (std::system((compiler + " --version > /dev/null 2>&1").c_str()) != 0) continue;
    std::ofstream all(folder_ / "all.cpp");
    all << includes;
    int names = 0;
    for (const std::string& word : words_of(folder_, compiler, "words.cpp")) {
      if (codegen::identifier(word) != word || word == "three_r") continue;
      all << "inline double " << word << "(const double* q, const double* v, const double* a, double* tau) { return "
          << "*q + *v + *a + *tau; }\n";
      ++names;
    }
    all.close();
    EXPECT_GT(names, 1000);
    const std::string command = "cd " + folder_.string() + " && " + compiler +
                                " -std=c++17 -fsyntax-only -Wall -Wextra -Werror all.cpp > log 2>&1";
    const int status = std::system(command.c_str());
    std::ostringstream text;
    text << std::ifstream(folder_ / "log").rdbuf();
    EXPECT_EQ(status, 0) << compiler << ": " << text.str().substr(0, 4000);
  }
}

/// A floating body with two arms, two legs and a neck, 30 hinges in all.
TreePointer humanoid() {
  Robot robot;
  robot.base = Robot::Base::floating;
  const auto add = [&](int parent, const Vector3d& at, const Vector3d& axis) {
    Link link;
    link.name = "l" + std::to_string(robot.links.size());
    link.has_inertia = true;
    link.inertia = {2, Vector3d(0.01, 0.02, -0.1), Vector3d(0.02, 0.03, 0.01).asDiagonal()};
    robot.links.push_back(link);
    const int child = static_cast<int>(robot.links.size()) - 1;
    if (parent < 0) return child;
    Joint joint;
    joint.name = "j" + std::to_string(child);
    joint.type = JointType::revolute;
    joint.parent = LinkIndex(parent);
    joint.child = LinkIndex(child);
    joint.X_PF = SE3(SO3(), at);
    joint.axis = axis;
    robot.joints.push_back(joint);
    return child;
  };
  const int trunk = add(-1, {}, {});
  const Vector3d axes[] = {Vector3d::UnitZ(), Vector3d::UnitX(), Vector3d::UnitY()};
  const auto limb = [&](const Vector3d& at, int joints) {
    int link = trunk;
    for (int k = 0; k < joints; ++k) link = add(link, k == 0 ? at : Vector3d(0, 0, k % 3 ? 0 : -0.3), axes[k % 3]);
  };
  for (const double side : {-0.2, 0.2}) limb({0, side, 0.4}, 7), limb({0, side / 2, 0}, 7);
  limb({0, 0, 0.5}, 2);
  return *screw::Tree::make(robot);
}

double processor_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    sum += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  }
  return sum;
}

TEST_F(Header, AHumanoidIsMadeFastAndSmall) {
  const TreePointer tree = humanoid();
  ASSERT_EQ(tree->freedoms(), 36);
  codegen::Request request;
  request.problem = Problem::forward;
  request.options.derivatives = true;
  const double begin = processor_seconds();
  const auto generated = codegen::generate(tree, request);
  ASSERT_TRUE(generated) << generated.failure().to_string();
  const std::string header = codegen::emit_header(generated->program, {});
  const double made = processor_seconds();
  EXPECT_LT(made - begin, 10);
  EXPECT_LT(header.size(), 2'000'000U);
  if (!has_compiler()) GTEST_SKIP() << "no g++";
  std::ofstream(folder_ / "generated.hpp") << header;
  std::ofstream(folder_ / "main.cpp")
      << "#include \"generated.hpp\"\ndouble (*use())(const double*, const double*, const "
         "double*, double*, double*, double*, double*) { return robot; }\n";
  EXPECT_EQ(std::system(("cd " + folder_.string() + " && g++ -std=c++17 -O2 -c main.cpp").c_str()), 0);
  EXPECT_LT(processor_seconds() - made, 60);
}

TEST(GeneratedHumanoid, IsMadeFastAndSmall) {
  const auto path = shared("models/legged/simple_humanoid.urdf");
  if (!path) GTEST_SKIP();
  const TreePointer tree = read(*path, Base::floating);
  codegen::Request request;
  request.problem = Problem::forward;
  request.ordering = "aba";
  request.options.derivatives = true;
  const double begin = processor_seconds();
  const auto generated = codegen::generate(tree, request);
  ASSERT_TRUE(generated);
  EXPECT_LT(codegen::emit_header(generated->program, {}).size(), 2'000'000U);
  EXPECT_LT(processor_seconds() - begin, 10);
}

/// --problem forward --derivatives --single --batch 4.
TEST(GeneratedGolden, AForwardPendulumWithAllOptions) {
  codegen::Request request;
  request.problem = Problem::forward;
  request.options.derivatives = true;
  const auto generated = codegen::generate(read(source_file("models/pendulum.urdf")), request);
  ASSERT_TRUE(generated);
  codegen::EmitOptions options;
  options.name = "pendulum_forward";
  options.model = "pendulum";
  options.ordering = generated->ordering;
  options.single = true;
  options.lanes = 4;
  std::ostringstream golden;
  golden << std::ifstream(source_file("test/golden/pendulum_forward.golden")).rdbuf();
  EXPECT_EQ(codegen::emit_header(generated->program, options), golden.str());
}

TEST(GeneratedGolden, APendulum) {
  const TreePointer tree = read(source_file("models/pendulum.urdf"));
  codegen::Request request;
  request.options.joint_forces = false;
  const auto generated = codegen::generate(tree, request);
  ASSERT_TRUE(generated);
  codegen::EmitOptions options;
  options.name = "pendulum_inverse";
  options.model = "pendulum";
  std::ostringstream golden;
  golden << std::ifstream(source_file("test/golden/pendulum_inverse.golden")).rdbuf();
  EXPECT_EQ(codegen::emit_header(generated->program, options), golden.str());
}

}  // namespace
}  // namespace kinegraph::codegen_test
