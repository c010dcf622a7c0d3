#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kinegraph/io/xml_tree.hpp"

namespace kinegraph::io {

/// Whether this reader uses the element in its parent: links, joints, frames and their numbers, but not sensors,
/// plugins, lights, …
bool sdf_element_is_used(std::string_view parent, std::string_view element);

/// A number of <limit>, which may be infinite.
bool sdf_is_limit(pugi::xml_node element);

/// What is used of an SDF file, for libsdformat to read: one element per line, so that a line of its messages is an
/// element of the file.
struct SdfCopy {
  std::string text;
  std::vector<pugi::xml_node> element_of_line;  ///< of line 1, 2, …
};

SdfCopy copy_for_libsdformat(const XmlTree& tree);

}  // namespace kinegraph::io
