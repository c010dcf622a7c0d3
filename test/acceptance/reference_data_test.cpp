// Where the papers' experiments look for the reference data.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "experiments/record.hpp"

namespace kinegraph::acceptance::reference_data_test {
namespace {

/// The environment as it was, at the end.
class Folder {
 public:
  explicit Folder(const std::string& path) {
    if (const char* before = std::getenv("KINEGRAPH_SHARED")) before_ = before;
    ::setenv("KINEGRAPH_SHARED", path.c_str(), 1);
  }
  ~Folder() { before_.empty() ? ::unsetenv("KINEGRAPH_SHARED") : ::setenv("KINEGRAPH_SHARED", before_.c_str(), 1); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

 private:
  std::string before_;
};

TEST(ReferenceData, IsLookedForInTheFolderThatIsNamed) {
  const std::string root = KINEGRAPH_SOURCE_DIR, named = root + "/models/tasks/../../../shared/studies";
  const Folder here(root + "/models");  // has studies/, which stand in for reference data
  EXPECT_EQ(experiments::shared_file("studies"), root + "/models/studies");
  EXPECT_EQ(experiments::named_file(named), root + "/models/studies");
  EXPECT_EQ(experiments::named_file(root + "/models/fourbar.yaml"), root + "/models/fourbar.yaml");
  const Folder nowhere("/nonexistent");
  EXPECT_EQ(experiments::named_file(named), "");
  EXPECT_EQ(experiments::named_file(root + "/models/nothing.yaml"), "");
}

}  // namespace
}  // namespace kinegraph::acceptance::reference_data_test
