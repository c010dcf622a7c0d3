#include "kinegraph/io/mesh_file.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <fstream>

namespace kinegraph {
namespace {

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

TEST(MeshFile, PackagesAreLookedForAboveTheModel) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(testing::TempDir()) / "kinegraph_mesh_test" / "arm";
  fs::create_directories(root / "urdf");
  fs::create_directories(root / "meshes");
  std::ofstream(root / "meshes" / "a.STL", std::ios::binary) << binary_stl(kTriangle);
  EXPECT_EQ(read_mesh("package://arm/meshes/a.STL", root / "urdf"), kTriangle);
  EXPECT_EQ(read_mesh("../meshes/a.STL", root / "urdf"), kTriangle);
  EXPECT_TRUE(read_mesh("package://arm/meshes/b.stl", root / "urdf").empty());
  EXPECT_TRUE(read_mesh("http://somewhere/a.stl", root / "urdf").empty());
  fs::remove_all(root.parent_path());
}

}  // namespace
}  // namespace kinegraph
