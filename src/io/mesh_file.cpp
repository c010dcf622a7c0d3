#include "kinegraph/io/mesh_file.hpp"

#include <algorithm>
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

constexpr std::size_t kLargestMesh = 100'000'000, kMostTriangles = 500'000;

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

constexpr int kMostLevels = 6;  ///< above the model, in search of its package

fs::path real_folder(const fs::path& folder) {
  std::error_code error;
  return fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, error);
}

/// The folder that a model may read: that of its package, if a folder above it says that it is one; else its own.
fs::path home_of(const fs::path& folder) {
  const fs::path own = real_folder(folder);
  std::error_code error;
  fs::path above = own;
  for (int level = 0; level < kMostLevels && above.has_relative_path(); ++level, above = above.parent_path()) {
    for (const char* mark : {"package.xml", "model.config"}) {
      if (fs::is_regular_file(above / mark, error)) return above;
    }
  }
  return own;
}

/// Whether the file, all links and ".." followed, is below the folder.
bool is_within(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return false;
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), real.begin(), real.end());
  return end == folder.end() || end->empty();
}

/// Where a file of a package may be: `inside` begins with the package's name.
std::vector<fs::path> places_in_packages(const fs::path& inside, const std::vector<fs::path>& folders) {
  fs::path rest;  // without the package's own name, for a model that stands in its package
  for (auto part = inside.begin(); part != inside.end(); ++part) {
    if (part != inside.begin()) rest /= *part;
  }
  std::vector<fs::path> places;
  for (fs::path above : folders) {
    for (int level = 0; level < kMostLevels; ++level) {
      places.push_back(above / inside);
      places.push_back(above / rest);
      if (!above.has_relative_path()) break;
      above = above.parent_path();
    }
  }
  return places;
}

/// The file of that name that may be read, or nothing.
fs::path locate(const std::string& name, const fs::path& folder, std::vector<fs::path> allowed) {
  for (fs::path& other : allowed) other = real_folder(other);
  std::vector<fs::path> from = allowed, places;
  from.insert(from.begin(), real_folder(folder));
  allowed.push_back(home_of(folder));
  const auto after = [&](std::string_view scheme) { return name.starts_with(scheme) ? scheme.size() : 0; };
  if (const std::size_t at = after("package://") + after("model://"); at > 0) {
    places = places_in_packages(fs::path(name.substr(at)).relative_path(), from);
  } else if (name.find("://") == std::string::npos || name.starts_with("file://")) {
    const fs::path path = name.substr(after("file://"));
    for (const fs::path& each : from) places.push_back(each / path);  // an absolute path stays what it is
  }
  std::error_code error;
  for (const fs::path& place : places) {
    if (!fs::is_regular_file(place, error)) continue;
    for (const fs::path& home : allowed) {
      if (is_within(place, home)) return place;
    }
  }
  return {};
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
      if (corners.size() + 9 * face.size() > 9 * (kMostTriangles + 2)) return {};
      for (std::size_t k = 2; k < face.size(); ++k) {
        for (const std::size_t at : {face[0], face[k - 1], face[k]}) {
          corners.insert(corners.end(), {points[3 * at], points[3 * at + 1], points[3 * at + 2]});
        }
      }
    }
  }
  return finite(corners) ? corners : std::vector<float>{};
}

std::vector<float> read_mesh(const std::string& name, const fs::path& folder, const std::vector<fs::path>& allowed) {
  if (name.find('\0') != std::string::npos) return {};
  const fs::path path = locate(name, folder, allowed);
  if (path.empty()) return {};
  std::string kind = path.extension().string();
  for (char& c : kind) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  if (kind != ".stl" && kind != ".obj") return {};
  const Result<std::string> bytes = io::read_text_file(path, kLargestMesh);
  if (!bytes || bytes->size() > kLargestMesh) return {};
  return kind == ".stl" ? io::parse_stl(*bytes) : io::parse_obj(*bytes);
}

}  // namespace kinegraph
