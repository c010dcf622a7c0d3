#include "kinegraph/io/mesh_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <fstream>

namespace kinegraph::mesh_file_test {
namespace {

namespace fs = std::filesystem;

const std::vector<float> kTriangle{0, 0, 0, 1, 0, 0, 0, 2, 0};

std::string binary_stl(const std::vector<float>& corners) {
  std::string bytes(80, ' ');
  const auto word = [&](std::uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  };
  word(static_cast<std::uint32_t>(corners.size() / 9));
  for (std::size_t i = 0; i < corners.size(); i += 9) {
    for (int k = 0; k < 3; ++k) word(0);
    for (int k = 0; k < 9; ++k) word(std::bit_cast<std::uint32_t>(corners[i + k]));
    bytes += std::string(2, '\0');
  }
  return bytes;
}

TEST(MeshFile, StlBinaryAndText) {
  EXPECT_EQ(io::parse_stl(binary_stl(kTriangle)), kTriangle);
  EXPECT_EQ(io::parse_stl("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 2 0\n"
                          "endloop\nendfacet\nendsolid a\n"),
            kTriangle);
}

TEST(MeshFile, ObjFacesAreCutIntoTriangles) {
  const std::vector<float> square =
      io::parse_obj("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 4//1\n");
  EXPECT_EQ(square.size(), 18u);
  EXPECT_EQ(io::parse_obj("v 0 0 0\nv 1 0 0\nv 0 2 0\nf -3 -2 -1\n"), kTriangle);
}

TEST(MeshFile, DamagedFilesAreNotShown) {
  std::string cut = binary_stl(kTriangle);
  cut.pop_back();
  EXPECT_TRUE(io::parse_stl(cut).empty());
  EXPECT_TRUE(io::parse_stl("solid a\nvertex 0 0 x\n").empty());
  EXPECT_TRUE(io::parse_obj("v 0 0 0\nf 1 2 3\n").empty());
  EXPECT_TRUE(io::parse_obj("v 0 0 0\nf 0 0 0\n").empty());
}

/// arm/package.xml, arm/urdf/, arm/meshes/a.STL, beside it elsewhere/b.stl.
class MeshFiles : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root / "arm/urdf");
    fs::create_directories(root / "arm/meshes");
    fs::create_directories(root / "elsewhere");
    for (const char* file : {"arm/meshes/a.STL", "arm/urdf/own.stl", "elsewhere/b.stl"}) {
      std::ofstream(root / file, std::ios::binary) << binary_stl(kTriangle);
    }
  }
  void TearDown() override { fs::remove_all(root); }

  bool reads(const std::string& name, const std::vector<fs::path>& allowed = {}) const {
    return read_mesh(name, root / "arm/urdf", allowed) == kTriangle;
  }

  const fs::path root = fs::path(testing::TempDir()) / fmt::format("kinegraph_mesh_test_{}", getpid());
};

TEST_F(MeshFiles, APackageIsTheModelsFolder) {
  EXPECT_TRUE(reads("own.stl"));
  EXPECT_FALSE(reads("../meshes/a.STL")) << "nothing says that the folder above belongs to the model";
  EXPECT_FALSE(reads("package://arm/meshes/a.STL"));
  std::ofstream(root / "arm/package.xml") << "<package/>";
  EXPECT_TRUE(reads("package://arm/meshes/a.STL"));
  EXPECT_TRUE(reads("model://arm/meshes/a.STL"));
  EXPECT_TRUE(reads("../meshes/a.STL"));
  EXPECT_TRUE(reads((root / "arm/meshes/a.STL").string()));
  EXPECT_TRUE(reads("file://" + (root / "arm/meshes/a.STL").string()));
  EXPECT_FALSE(reads("package://arm/meshes/b.stl"));
  EXPECT_FALSE(reads("http://somewhere/a.stl"));
}

TEST_F(MeshFiles, WhatLiesElsewhereIsReadOnlyWhereTheUserSaysSo) {
  std::ofstream(root / "arm/package.xml") << "<package/>";
  const std::string outside = (root / "elsewhere/b.stl").string();
  fs::create_symlink(outside, root / "arm/urdf/link.stl");
  for (const std::string& name :
       {outside, "file://" + outside, std::string("../../elsewhere/b.stl"),
        std::string("package://../../elsewhere/b.stl"), std::string("package://arm/../elsewhere/b.stl"),
        std::string("package:///../elsewhere/b.stl"), std::string("link.stl")}) {
    EXPECT_FALSE(reads(name)) << name;
    EXPECT_TRUE(reads(name, {root}) || name.starts_with("package")) << name;
  }
  EXPECT_TRUE(reads("package://elsewhere/b.stl", {root}));
  EXPECT_FALSE(reads(std::string("own.stl\0", 8)));
  EXPECT_FALSE(reads("package://"));
  EXPECT_FALSE(reads(""));
}

}  // namespace
}  // namespace kinegraph::mesh_file_test
