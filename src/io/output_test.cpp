#include "kinegraph/io/output.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace kinegraph::output_test {
namespace {

namespace fs = std::filesystem;

class Output : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kinegraph_output_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t entries() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }
  static std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string why(const std::string& path) {
    return OutputFile::create(path).failure().diagnostics.at(0).message;
  }

  fs::path folder_;
};

TEST_F(Output, AppearsOnlyWhenFinished) {
  const std::string name = path("a.csv");
  ASSERT_TRUE(write_file(name, "old\n"));
  {
    Result<OutputFile> file = OutputFile::create(name);
    ASSERT_TRUE(file);
    file->write(std::string(1 << 20, 'x'));
    EXPECT_EQ(content(name), "old\n");
    EXPECT_EQ(entries(), 2u);
    ASSERT_TRUE(file->finish());
  }
  EXPECT_EQ(content(name), std::string(1 << 20, 'x'));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Output, UnfinishedLeavesNothing) {
  {
    Result<OutputFile> file = OutputFile::create(path("a.csv"));
    ASSERT_TRUE(file);
    file->write("half");
    const OutputFile moved = std::move(*file);
    EXPECT_EQ(entries(), 1u);
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Output, RemovesUnfinishedFilesFromASignalHandler) {
  Result<OutputFile> a = OutputFile::create(path("a.csv"));
  Result<OutputFile> b = OutputFile::create(path("b.csv"));
  EXPECT_EQ(entries(), 2u);
  remove_unfinished_outputs();
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Output, KeepsModeAndFollowsLinks) {
  ASSERT_TRUE(write_file(path("real.csv"), "1"));
  chmod(path("real.csv").c_str(), 0640);
  fs::create_symlink("real.csv", path("link.csv"));
  ASSERT_TRUE(write_file(path("link.csv"), "2"));
  EXPECT_TRUE(fs::is_symlink(path("link.csv")));
  EXPECT_EQ(content(path("real.csv")), "2");
  struct stat info;
  ASSERT_EQ(stat(path("real.csv").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
}

TEST_F(Output, SaysWhyAPlaceCannotBeWritten) {
  fs::create_directory(folder_ / "sub");
  EXPECT_EQ(why(path("sub")), "cannot write '" + path("sub") + "': it is a folder");
  EXPECT_EQ(why(path("no/a.csv")), "cannot write '" + path("no/a.csv") + "': there is no folder '" + path("no") + "'");
  EXPECT_EQ(why(""), "cannot write '': the file name is empty");
  ASSERT_TRUE(write_file(path("plain"), "1"));
  EXPECT_EQ(why(path("plain/a.csv")), "cannot write '" + path("plain/a.csv") + "': not a directory");
}

TEST_F(Output, DevicesAreWrittenDirectlyAndErrorsTold) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto result = write_file("/dev/full", "text");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().diagnostics.at(0).message, "cannot write '/dev/full': no space left on device");
  EXPECT_EQ(result.failure().kind, Failure::Kind::bad_input);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace kinegraph::output_test
