#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kinegraph {

/// The triangles of a mesh, three corners of three numbers each, from STL (binary or text) or OBJ. Empty: the file is
/// not there, is of another kind, is damaged, or has no triangle or more than half a million. For pictures only: a mesh
/// that cannot be shown is no fault of a model.
///
/// `name` is as a robot's file has it: a path from `folder`, or a URI. Of "package://arm/meshes/a.stl" and
/// "model://arm/a.stl" the folder `arm` is looked for beside the model and above it, and in the `allowed` folders.
///
/// A file may come from a stranger: what it names is read only if it lies, all links followed, in the model's folder
/// (of a package, a folder above with package.xml or model.config: in that) or in one of the `allowed` ones, which are
/// the user's word.
std::vector<float> read_mesh(const std::string& name, const std::filesystem::path& folder,
                             const std::vector<std::filesystem::path>& allowed = {});

namespace io {
std::vector<float> parse_stl(const std::string& bytes);
std::vector<float> parse_obj(const std::string& text);
}  // namespace io

}  // namespace kinegraph
