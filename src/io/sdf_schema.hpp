#pragma once

#include <memory>

#include "kinegraph/io/findings.hpp"
#include "kinegraph/io/xml_tree.hpp"

namespace kinegraph::io {

/// What the elements of an SDF file may hold, as libsdformat's own description of the format says.
class SdfSchema {
 public:
  SdfSchema();
  ~SdfSchema();
  SdfSchema(const SdfSchema&) = delete;
  SdfSchema& operator=(const SdfSchema&) = delete;

  /// Errors: values that are not of their type, required attributes that are missing. Warnings: elements and attributes
  /// that SDF does not have, with the nearest that it has.
  void check(const XmlTree& tree, Findings& findings) const;

 private:
  struct Description;
  std::unique_ptr<Description> description_;
};

}  // namespace kinegraph::io
