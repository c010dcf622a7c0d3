#include "hdf5_table.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace kinegraph::cli::hdf5_table_test {
namespace {

namespace fs = std::filesystem;
using ensemble::Column;
using ensemble::Field;
using enum Column::Kind;

constexpr std::uint64_t kRows = 10000;  // more than two chunks, and not a whole number of them
const std::vector<Column> kColumns = {{"case", whole}, {"a/b", number}, {"a_b", number}, {"error", text}};

class Hdf5TableTest : public testing::Test {
 protected:
  Hdf5TableTest() {
    std::string name = (fs::temp_directory_path() / "kinegraph_hdf5_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Hdf5TableTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& name) const {
    const std::string path = folder_ / name;
    Result<OutputFile> file = OutputFile::create(path);
    const auto table = hdf5_table(*file, kColumns);
    EXPECT_TRUE(table);
    for (std::uint64_t k = 0; k < kRows; ++k) {
      (*table)->add({k, k % 3 == 0 ? Field() : Field(std::sin(static_cast<double>(k))), std::to_string(k) + "e-3",
                     k % 2 ? Field("it’s off, \"P1\"") : Field()});
    }
    const auto done = (*table)->finish();
    EXPECT_TRUE(done) << done.failure().to_string();
    return path;
  }

  fs::path folder_;
};

template <class T>
std::vector<T> read(hid_t file, const char* name, hid_t type) {
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  hsize_t size = 0;
  H5Sget_simple_extent_dims(space, &size, nullptr);
  std::vector<T> values(size);
  EXPECT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
  H5Sclose(space), H5Dclose(set);
  return values;
}

TEST_F(Hdf5TableTest, HasEveryRowByColumn) {
  const hid_t file = H5Fopen(write("t.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const auto cases = read<std::uint64_t>(file, "case", H5T_NATIVE_UINT64);
  const auto slashed = read<double>(file, "a_b", H5T_NATIVE_DOUBLE),
             other = read<double>(file, "a_b_2", H5T_NATIVE_DOUBLE);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE), H5Tset_cset(type, H5T_CSET_UTF8);
  const auto errors = read<const char*>(file, "error", type);
  ASSERT_EQ(cases.size(), kRows);
  ASSERT_EQ(slashed.size(), kRows);
  ASSERT_EQ(errors.size(), kRows);
  for (std::uint64_t k = 0; k < kRows; ++k) {
    EXPECT_EQ(cases[k], k);
    if (k % 3 == 0) {
      EXPECT_TRUE(std::isnan(slashed[k]));
    } else {
      EXPECT_EQ(slashed[k], std::sin(static_cast<double>(k)));
    }
    EXPECT_EQ(other[k], std::stod(std::to_string(k) + "e-3"));
    EXPECT_STREQ(errors[k], k % 2 ? "it’s off, \"P1\"" : "");
  }
  H5Fclose(file);
}

TEST_F(Hdf5TableTest, SameRowsSameBytes) {
  const auto bytes = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string one = bytes(write("one.h5"));
  ::sleep(1);  // times in the file would be of seconds
  EXPECT_TRUE(one == bytes(write("two.h5")));
}

TEST_F(Hdf5TableTest, WithoutFinishNothingIsLeft) {
  {
    Result<OutputFile> file = OutputFile::create(folder_ / "t.h5");
    const auto table = hdf5_table(*file, kColumns);
    (*table)->add({std::uint64_t{0}, 1.0, 2.0, Field()});
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST(Hdf5Table, PipesAndDevicesAreRefused) {
  Result<OutputFile> file = OutputFile::create("/dev/full");
  const auto table = hdf5_table(*file, kColumns);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.failure().to_string(), "error: cannot write '/dev/full': HDF5 needs a file, not a pipe or device");
}

}  // namespace
}  // namespace kinegraph::cli::hdf5_table_test
