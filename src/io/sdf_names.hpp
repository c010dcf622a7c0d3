#pragma once

#include "kinegraph/io/findings.hpp"
#include "kinegraph/io/xml_tree.hpp"

namespace kinegraph::io {

/// What an SDF file refers to by name: errors for links and frames that do not exist, with the nearest that does, for
/// names given twice, for joints without ends and of unknown types.
void check_sdf_names(const XmlTree& tree, Findings& findings);

}  // namespace kinegraph::io
