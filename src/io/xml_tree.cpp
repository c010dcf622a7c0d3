#include "kinegraph/io/xml_tree.hpp"

#include <fmt/format.h>

#include <cstring>

#include "kinegraph/io/xml_scan.hpp"

namespace kinegraph::io {

Result<XmlTree> XmlTree::parse(const std::string& text, const std::string& file_name) {
  if (text.size() > kLargestFile) {
    return Failure::bad_input({file_name, 1, 1}, fmt::format("the file is larger than {} bytes", kLargestFile));
  }
  XmlTree tree;
  tree.source_ = std::make_unique<SourceText>(std::string(without_byte_order_mark(text)), file_name);
  const SourceText& source = *tree.source_;
  if (const std::size_t bad = find_invalid(source.text()); bad != std::string::npos) {
    return Failure::bad_input(source.location(bad), "not a text in UTF-8");
  }
  XmlScan scan = scan_xml(source.text(), kDeepest, kMostElements);
  for (XmlScan::Finding& fault : scan.faults) {
    return Failure::bad_input(source.location(fault.offset), std::move(fault.message));
  }
  for (XmlScan::Finding& warning : scan.warnings) {
    tree.warnings_.push_back({Severity::warning, source.location(warning.offset), std::move(warning.message)});
  }
  const std::size_t size = scan.cleaned.size();
  tree.buffer_ = std::make_unique<char[]>(size + 1);
  std::memcpy(tree.buffer_.get(), scan.cleaned.data(), size);
  tree.document_ = std::make_unique<pugi::xml_document>();
  // Only escapes are replaced: line ends and white space stay, and with them the places within values.
  const pugi::xml_parse_result parsed = tree.document_->load_buffer_inplace(
      tree.buffer_.get(), size, pugi::parse_minimal | pugi::parse_escapes | pugi::parse_cdata, pugi::encoding_utf8);
  if (!parsed || !tree.root()) {
    return Failure::bad_input(source.location(parsed.offset), fmt::format("not XML: {}", parsed.description()));
  }
  return tree;
}

Location XmlTree::where_pointer(const char* in_buffer, std::size_t at) const {
  const char* begin = buffer_.get();
  const bool inside = !std::less<>()(in_buffer, begin) && !std::less<>()(begin + source_->text().size(), in_buffer);
  if (!inside) return {source_->file(), 0, 0};
  return source_->location(static_cast<std::size_t>(in_buffer - begin) + at);
}

Location XmlTree::where(pugi::xml_node node) const {
  if (!node) return {source_->file(), 0, 0};
  const bool text = node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata;
  return text ? where_pointer(node.value(), 0) : where_pointer(node.name() - 1, 0);
}

Location XmlTree::where(pugi::xml_attribute attribute) const { return where_pointer(attribute.name(), 0); }

Location XmlTree::where_value(pugi::xml_attribute attribute, std::size_t at) const {
  return where_pointer(attribute.value(), at);
}

Location XmlTree::where_text(pugi::xml_node element, std::size_t at) const {
  const pugi::xml_text text = element.text();
  return text ? where_pointer(text.get(), at) : where(element);
}

}  // namespace kinegraph::io
