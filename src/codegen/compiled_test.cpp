#include "kinegraph/codegen/compiled.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kinegraph/codegen/generate.hpp"
#include "kinegraph/mechanics/screw/robots_test.hpp"

namespace kinegraph::codegen::compiled_test {
namespace {

namespace fs = std::filesystem;

/// A cache folder of the test's own, and the environment as it was at the end.
class CompiledCode : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kinegraph_compiled_test_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    unsetenv("KINEGRAPH_CXX");
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("KINEGRAPH_CXX");
    fs::remove_all(folder_);
  }
  std::shared_ptr<const screw::Tree> arm() {
    random_.grow({JointType::revolute, JointType::revolute, JointType::revolute}, true);
    return *screw::Tree::make(random_.robot);
  }
  fs::path folder_;
  screw::RandomRobot random_{4};
};

TEST_F(CompiledCode, GivesWhatTheProgramSaysAndIsKept) {
  const auto tree = arm();
  Request request;
  request.problem = Problem::forward;
  request.ordering = "aba";
  const auto generated = generate(tree, request);
  ASSERT_TRUE(generated);
  const auto first = Compiled::make(generated->program);
  if (!first && first.failure().to_string().find("no C++ compiler") != std::string::npos) GTEST_SKIP();
  ASSERT_TRUE(first) << first.failure().to_string();
  EXPECT_FALSE((*first)->was_cached());
  const auto second = Compiled::make(generated->program);
  ASSERT_TRUE(second);
  EXPECT_TRUE((*second)->was_cached());
  int files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ / "kinegraph")) ++files;
  EXPECT_EQ(files, 2);  // source and library, nothing temporary

  const Eigen::VectorXd q = random_.position(*tree), v = random_.velocity(*tree), tau = random_.velocity(*tree);
  double out[3] = {NAN, NAN, NAN};
  double* outputs[] = {out};
  const double* inputs[] = {q.data(), v.data(), tau.data()};
  const double pivot = (*second)->run(inputs, outputs);
  const auto expected = evaluate(generated->program, {q.data(), v.data(), tau.data()});
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(out[k], expected[0][k], 1e-12 * std::abs(expected[0][k]));
  EXPECT_NEAR(pivot, expected[1][0], 1e-12);
}

TEST_F(CompiledCode, ARelativeCacheFolderIsIgnored) {
  const auto here = fs::current_path();
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  fs::current_path(folder_);
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", (folder_ / "home").c_str(), 1);
  Request request;
  const auto generated = generate(arm(), request);
  const auto compiled = generated ? Compiled::make(generated->program) : generated.failure();
  setenv("HOME", home.c_str(), 1);
  fs::current_path(here);
  EXPECT_FALSE(fs::exists(folder_ / "relative"));
  if (!compiled && compiled.failure().to_string().find("no C++ compiler") != std::string::npos) GTEST_SKIP();
  ASSERT_TRUE(compiled) << compiled.failure().to_string();
  EXPECT_TRUE((*compiled)->file().starts_with((folder_ / "home/.cache/kinegraph").string())) << (*compiled)->file();
}

TEST_F(CompiledCode, NoCompilerIsSaid) {
  setenv("KINEGRAPH_CXX", "no-such-compiler", 1);
  Request request;
  const auto generated = generate(arm(), request);
  ASSERT_TRUE(generated);
  const auto compiled = Compiled::make(generated->program);
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.failure().to_string().find("no C++ compiler was found"), std::string::npos);
}

TEST_F(CompiledCode, ACompilerThatFailsLeavesNothing) {
  setenv("KINEGRAPH_CXX", "/bin/false", 1);
  Request request;
  const auto generated = generate(arm(), request);
  ASSERT_TRUE(generated);
  EXPECT_FALSE(Compiled::make(generated->program));
  EXPECT_TRUE(fs::is_empty(folder_ / "kinegraph"));
}

TEST_F(CompiledCode, WhatTheCompilerSaysIsTold) {
  const fs::path script = folder_ / "compiler";
  std::ofstream(script) << "#!/bin/sh\necho 'this machine compiles nothing' >&2\nexit 1\n";
  chmod(script.c_str(), 0700);
  setenv("KINEGRAPH_CXX", script.c_str(), 1);
  Request request;
  const auto generated = generate(arm(), request);
  ASSERT_TRUE(generated);
  const auto compiled = Compiled::make(generated->program);
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.failure().to_string().find("this machine compiles nothing"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_ / "kinegraph"));
}

TEST_F(CompiledCode, IsNoLongerMadeWhenInterrupted) {
  const fs::path script = folder_ / "compiler";
  std::ofstream(script) << "#!/bin/sh\nexec sleep 100\n";
  chmod(script.c_str(), 0700);
  setenv("KINEGRAPH_CXX", script.c_str(), 1);
  Request request;
  const auto generated = generate(arm(), request);
  ASSERT_TRUE(generated);
  int asked = 0;
  const auto compiled = Compiled::make(generated->program, 0, [&](double) { return ++asked < 3; });
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.failure().kind, Failure::Kind::interrupted);
  EXPECT_TRUE(fs::is_empty(folder_ / "kinegraph"));
}

TEST_F(CompiledCode, ADamagedLibraryIsMadeAnew) {
  Request request;
  const auto generated = generate(arm(), request);
  ASSERT_TRUE(generated);
  fs::path library;
  {
    const auto first = Compiled::make(generated->program);
    if (!first && first.failure().to_string().find("no C++ compiler") != std::string::npos) GTEST_SKIP();
    ASSERT_TRUE(first) << first.failure().to_string();
    library = (*first)->file();
  }
  fs::resize_file(library, fs::file_size(library) / 2);
  const auto second = Compiled::make(generated->program);
  ASSERT_TRUE(second) << second.failure().to_string();
  EXPECT_FALSE((*second)->was_cached());
  EXPECT_TRUE((*Compiled::make(generated->program))->was_cached());
}

TEST_F(CompiledCode, AFolderThatOthersMayWriteToIsNotUsed) {
  fs::create_directories(folder_ / "kinegraph");
  chmod((folder_ / "kinegraph").c_str(), 0777);
  Request request;
  const auto generated = generate(arm(), request);
  ASSERT_TRUE(generated);
  const auto compiled = Compiled::make(generated->program);
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.failure().to_string().find("can be written by others"), std::string::npos);
}

TEST_F(CompiledCode, AForeignFileUnderTheNameIsReplaced) {
  Request request;
  const auto generated = generate(arm(), request);
  ASSERT_TRUE(generated);
  const auto first = Compiled::make(generated->program);
  if (!first && first.failure().to_string().find("no C++ compiler") != std::string::npos) GTEST_SKIP();
  ASSERT_TRUE(first) << first.failure().to_string();
  const fs::path library = (*first)->file();
  std::ofstream(fs::path(library).replace_extension(".cpp")) << "something else";
  const auto second = Compiled::make(generated->program);
  ASSERT_TRUE(second);
  EXPECT_FALSE((*second)->was_cached());
}

}  // namespace
}  // namespace kinegraph::codegen::compiled_test
