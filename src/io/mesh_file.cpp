#include "kinegraph/io/mesh_file.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "kinegraph/io/text_file.hpp"

namespace kinegraph {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = 100'000'000, kMostTriangles = 500'000;

std::uint32_t word(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

bool finite(const std::vector<float>& corners) {
  for (const float c : corners) {
    if (!std::isfinite(c)) return false;
  }
  return true;
}

/// "facet normal … vertex x y z …": only the corners are read, three by three.
std::vector<float> parse_text_stl(const std::string& text) {
  std::vector<float> corners;
  std::istringstream stream(text);
  std::string key;
  while (stream >> key) {
    if (key != "vertex") continue;
    for (int k = 0; k < 3; ++k) {
      float value = 0;
      if (!(stream >> value)) return {};
      corners.push_back(value);
    }
    if (corners.size() > 9 * kMostTriangles) return {};
  }
  return corners.size() % 9 == 0 ? corners : std::vector<float>{};
}

/// The folder of a package: beside the model or above it.
fs::path find_in_packages(const fs::path& inside, const fs::path& folder) {
  fs::path rest;  // without the package's own name, for a model that stands in its package
  for (auto part = inside.begin(); part != inside.end(); ++part) {
    if (part != inside.begin()) rest /= *part;
  }
  std::error_code error;
  fs::path above = fs::absolute(folder.empty() ? fs::path(".") : folder, error);
  for (int level = 0; level < 6; ++level) {
    for (const fs::path& candidate : {above / inside, above / rest}) {
      if (fs::is_regular_file(candidate, error)) return candidate;
    }
    if (!above.has_relative_path()) break;
    above = above.parent_path();
  }
  return {};
}

fs::path locate(const std::string& name, const fs::path& folder) {
  for (const std::string scheme : {"package://", "model://"}) {
    if (name.starts_with(scheme)) return find_in_packages(name.substr(scheme.size()), folder);
  }
  if (name.find("://") != std::string::npos && !name.starts_with("file://")) return {};
  const fs::path path = name.starts_with("file://") ? name.substr(7) : name;
  return path.is_absolute() ? path : folder / path;
}

}  // namespace

std::vector<float> io::parse_stl(const std::string& bytes) {
  constexpr std::size_t kHead = 84, kTriangle = 50;
  const bool binary = bytes.size() >= kHead && bytes.size() == kHead + kTriangle * word(bytes.data() + 80);
  if (!binary) return bytes.starts_with("solid") ? parse_text_stl(bytes) : std::vector<float>{};
  const std::size_t count = word(bytes.data() + 80);
  if (count == 0 || count > kMostTriangles) return {};
  std::vector<float> corners;
  corners.reserve(9 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const char* numbers = bytes.data() + kHead + kTriangle * i + 12;  // behind the normal
    for (int k = 0; k < 9; ++k) corners.push_back(std::bit_cast<float>(word(numbers + 4 * k)));
  }
  return finite(corners) ? corners : std::vector<float>{};
}

std::vector<float> io::parse_obj(const std::string& text) {
  std::vector<float> points, corners;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "v") {
      float x = 0, y = 0, z = 0;
      if (!(words >> x >> y >> z)) return {};
      points.insert(points.end(), {x, y, z});
    } else if (key == "f") {
      std::vector<std::size_t> face;
      std::string corner;
      const auto known = static_cast<long>(points.size() / 3);
      while (words >> corner) {  // "3", "3/1", "3//2"; −1 is the last point so far
        const long given = std::strtol(corner.c_str(), nullptr, 10), index = given < 0 ? known + given : given - 1;
        if (index < 0 || index >= known) return {};
        face.push_back(static_cast<std::size_t>(index));
      }
      for (std::size_t k = 2; k < face.size(); ++k) {
        for (const std::size_t at : {face[0], face[k - 1], face[k]}) {
          corners.insert(corners.end(), {points[3 * at], points[3 * at + 1], points[3 * at + 2]});
        }
      }
      if (corners.size() > 9 * kMostTriangles) return {};
    }
  }
  return finite(corners) ? corners : std::vector<float>{};
}

std::vector<float> read_mesh(const std::string& name, const fs::path& folder) {
  const fs::path path = locate(name, folder);
  if (path.empty()) return {};
  std::string kind = path.extension().string();
  for (char& c : kind) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  if (kind != ".stl" && kind != ".obj") return {};
  const Result<std::string> bytes = io::read_text_file(path, kLargestFile);
  if (!bytes || bytes->size() > kLargestFile) return {};
  return kind == ".stl" ? io::parse_stl(*bytes) : io::parse_obj(*bytes);
}

}  // namespace kinegraph
