/// What once broke a reader is read again, by the ordinary build: fuzz/regressions/<target>/*, and the seeds of every
/// target as they are, cut off anywhere, and with bytes changed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "fuzz/targets.hpp"

namespace kinegraph::fuzz {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Fuzz, RegressionsStayMended) {
  const fs::path folder = fs::path(KINEGRAPH_SOURCE_DIR) / "fuzz/regressions";
  int read = 0;
  for (const fs::path& file : files_below(folder)) {
    const std::string name = file.parent_path().filename();
    const auto all = targets();
    const auto target = std::find_if(all.begin(), all.end(), [&](const Target& t) { return t.name == name; });
    ASSERT_NE(target, all.end()) << file << " stands in no target's folder";
    SCOPED_TRACE(file);
    target->read(bytes_of(file));
    ++read;
  }
  EXPECT_GT(read, 0);
}

/// Every model of ours, damaged in ways that do not need a fuzzer, by every reader.
TEST(Fuzz, DamagedModelsAreReadOrRefused) {
  std::mt19937 random(10);
  for (const fs::path& file : files_below(fs::path(KINEGRAPH_SOURCE_DIR) / "models")) {
    const std::string text = bytes_of(file).substr(0, 3000);
    for (const Target& target : targets()) {
      SCOPED_TRACE(std::string(target.name) + " of " + file.string());
      target.read(text);
      std::string damaged = text.substr(0, random() % (text.size() + 1));
      for (int k = 0; k < 3 && !damaged.empty(); ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
      target.read(damaged);
    }
  }
}

}  // namespace
}  // namespace kinegraph::fuzz
