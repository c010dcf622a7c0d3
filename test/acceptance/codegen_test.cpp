// Generated code of robots from files: against numeric elimination, compiled with all warnings, and with names that try
// to become code.
#include <gtest/gtest.h>
#include <unistd.h>

#include <Eigen/QR>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/codegen/compiled.hpp"
#include "kinegraph/codegen/emit.hpp"
#include "kinegraph/codegen/generate.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
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

TreePointer read(const fs::path& path, bool floating) {
  ReadOptions options;
  if (floating) options.base = Robot::Base::floating;
  const auto model = read_model(path, options);
  EXPECT_TRUE(model) << model.failure().to_string();
  return *screw::Tree::make(model->robot);
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
  double worst = 0, largest = 0;
  int states = 0;
  for (int s = 0; s < kStates; ++s) {
    VectorXd q = tree->start_position(), v = random(generator, n, 1);
    // loops: half of the states near the drawing, half anywhere, singular positions among them
    const VectorXd away = random(generator, n, loops && s % 2 == 0 ? 0.3 : 3), known = random(generator, n, 1);
    tree->retract(q.data(), away.data(), q.data());
    if (!close(*tree, q, v)) continue;
    VectorXd a = known, tau = known;
    const auto answer = codegen::evaluate(generated->program, {q.data(), v.data(), known.data()});
    const double pivot = loops ? std::min(1.0, answer[1][0]) : 1;
    ASSERT_GT(pivot, 0);
    if (pivot < kSingular) continue;  // what a caller may not trust: it has been told
    ASSERT_TRUE(numeric.solve(q.data(), v.data(), a.data(), tau.data(), surroundings).ok);
    ++states;
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
      worst = std::max(worst, off);
      largest = std::max(largest, size);
    } else {  // digits are lost as the pivot, and no faster than its square, says
      EXPECT_LT(off, kEqual * std::max(1.0, size) / (pivot * pivot)) << "pivot " << pivot;
    }
  }
  EXPECT_GT(states, kStates / 2);
  EXPECT_LT(worst, kEqual * largest);
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
  bool shared, floating;
};

class GeneratedOfFile : public testing::TestWithParam<File> {};

/// A loop with a motor at every joint: what each gives is a choice, not an equation.
bool chooses_torques(const screw::Tree& tree) {
  const auto& joints = tree.coordinates();
  return std::any_of(joints.begin(), joints.end(), [](const auto& c) { return c.in_loop; }) &&
         std::none_of(joints.begin(), joints.end(), [](const auto& c) { return c.in_loop && c.passive; });
}

TEST_P(GeneratedOfFile, EqualsNumericElimination) {
  const File& file = GetParam();
  const auto path = file.shared ? shared(file.name) : source_file(file.name);
  if (!path) GTEST_SKIP() << file.name << " is not here";
  const TreePointer tree = read(*path, file.floating);
  expect_equal(tree, Problem::forward);
  if (!chooses_torques(*tree)) expect_equal(tree, Problem::inverse);
}

TEST_P(GeneratedOfFile, DerivativesEqualDifferences) {
  const File& file = GetParam();
  const auto path = file.shared ? shared(file.name) : source_file(file.name);
  if (!path) GTEST_SKIP() << file.name << " is not here";
  const TreePointer tree = read(*path, file.floating);
  expect_slopes(tree, Problem::forward);
  if (!chooses_torques(*tree)) expect_slopes(tree, Problem::inverse);
}

INSTANTIATE_TEST_SUITE_P(Own, GeneratedOfFile,
                         testing::Values(File{"models/arm7.urdf", false, false},
                                         File{"models/three_r.urdf", false, false},
                                         File{"models/quadruped.urdf", false, true},
                                         File{"models/five_bar.sdf", false, false},
                                         File{"models/furuta.urdf", false, false}));
INSTANTIATE_TEST_SUITE_P(Shared, GeneratedOfFile,
                         testing::Values(File{"models/synthetic/puma560_corke.urdf", true, false},
                                         File{"models/arms/iiwa14_primitive_collision.urdf", true, false},
                                         File{"models/arms/panda.urdf", true, false},
                                         File{"models/arms/ur5.urdf", true, false},
                                         File{"models/legged/solo12.urdf", true, true},
                                         File{"models/legged/simple_humanoid.urdf", true, true},
                                         File{"models/synthetic/five_bar.sdf", true, false},
                                         File{"models/loops/drake_four_bar.sdf", true, false}));

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
    std::ofstream(folder_ / "main.cpp") << "#include \"generated.hpp\"\n#include <cstdio>\nint main() {\n"
                                        << main << "}\n";
    const std::string at = folder_.string();
    std::string said;
    for (const std::string compiler : {"clang++", "g++"}) {  // the last one's answers are looked at
      if (compiler != "g++" && std::system((compiler + " --version > /dev/null 2>&1").c_str()) != 0) continue;
      const std::string command = "cd " + at + " && " + compiler +
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
  const TreePointer tree = read(source_file("models/three_r.urdf"), false);
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
  const TreePointer tree = read(folder_ / "evil.urdf", false);
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
  const auto generated = codegen::generate(read(source_file("models/three_r.urdf"), false), request);
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

TEST(GeneratedHumanoid, IsMadeFastAndSmall) {
  const auto path = shared("models/legged/simple_humanoid.urdf");
  if (!path) GTEST_SKIP();
  const TreePointer tree = read(*path, true);
  codegen::Request request;
  request.problem = Problem::forward;
  request.ordering = "aba";
  request.options.derivatives = true;
  const auto generated = codegen::generate(tree, request);
  ASSERT_TRUE(generated);
  EXPECT_LT(codegen::emit_header(generated->program, {}).size(), 2'000'000U);
}

TEST(GeneratedGolden, APendulum) {
  const TreePointer tree = read(source_file("models/pendulum.urdf"), false);
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
