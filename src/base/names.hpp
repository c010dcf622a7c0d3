#pragma once

#include <string>
#include <string_view>

namespace kinegraph {

/// A piece of input as messages show it: in quotes, control characters replaced, shortened if very long.
std::string quote(std::string_view text);

/// Text as it may stand in XML, in attributes too: & < > " written out, control characters (but tabs) left out.
std::string xml_escape(std::string_view text);

/// The number of characters: bytes of UTF-8 that do not continue one.
int characters(std::string_view utf8);

/// The least number of single-character insertions, deletions, replacements and swaps of neighbours from one name to
/// the other. A change of case alone costs nothing.
int edit_distance(std::string_view a, std::string_view b);

}  // namespace kinegraph
