#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kinegraph::io {

/// Whether a text is well-formed XML.
struct XmlScan {
  struct Finding {
    std::size_t offset = 0;
    std::string message;
  };

  std::vector<Finding> faults;    ///< at most one: what follows a fault cannot be judged
  std::vector<Finding> warnings;  ///< not quite well-formed, but there is no doubt what is meant
  std::string cleaned;            ///< the text with blanks for declaration, DOCTYPE and processing instructions
};

XmlScan scan_xml(std::string_view text, int deepest, int most_elements);

}  // namespace kinegraph::io
