#pragma once

#include <functional>
#include <sdf/Root.hh>

#include "kinegraph/io/findings.hpp"
#include "kinegraph/io/xml_tree.hpp"
#include "kinegraph/model/robot.hpp"

namespace kinegraph::io {

/// The element of the file that libsdformat's is made of.
using SdfElementOf = std::function<pugi::xml_node(const sdf::Element&)>;

/// The robot of what libsdformat has read. Links of several models, and of models in models, are named model::link.
Robot robot_of_sdf(const sdf::Root& root, const XmlTree& tree, const SdfElementOf& element_of, Findings& findings);

}  // namespace kinegraph::io
