#pragma once

#include <memory>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/io/source_text.hpp"

namespace kinegraph::io {

/// An XML file as pugixml reads it, and the place of all that stands in it. Owns the nodes.
///
/// Before pugixml sees the file it is checked to be well-formed, with plain words and the place where it is not.
/// Accepted with a warning, because there is no doubt what is meant: namespace prefixes that nobody declares, white
/// space or comments before the <?xml … ?> declaration. Entities are never expanded but for the five of XML and
/// characters by number (&#65;); a DOCTYPE that defines some is refused. Nothing but the given text is read.
class XmlTree {
 public:
  static constexpr std::size_t kLargestFile = 10'000'000;  ///< bytes
  static constexpr int kDeepest = 100;                     ///< elements within each other
  static constexpr int kMostElements = 200'000;

  static Result<XmlTree> parse(const std::string& text, const std::string& file_name);

  pugi::xml_node root() const { return document_->document_element(); }  ///< the outermost element

  Location where(pugi::xml_node element) const;         ///< its '<'; of a text, its first character
  Location where(pugi::xml_attribute attribute) const;  ///< its name

  /// The character number `at` (from 0, bytes) of an attribute's value. Exact if no entity stands before it.
  Location where_value(pugi::xml_attribute attribute, std::size_t at = 0) const;

  /// The character number `at` of the first text within an element, such as the 2 of <mass>2</mass>; of an element
  /// without text, its '<'. White space at the start counts: `at` indexes element.text().get().
  Location where_text(pugi::xml_node element, std::size_t at = 0) const;

  const std::string& file() const { return source_->file(); }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }  ///< in the order of the file

 private:
  XmlTree() = default;
  Location where_pointer(const char* in_buffer, std::size_t at) const;

  std::unique_ptr<SourceText> source_;
  std::unique_ptr<char[]> buffer_;  // pugixml reads in place: its names and values point into it
  std::unique_ptr<pugi::xml_document> document_;
  std::vector<Diagnostic> warnings_;
};

}  // namespace kinegraph::io
