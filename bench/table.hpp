#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace kinegraph::bench {

/// Fewer repetitions and smaller sizes are asked for (page.py --quick).
inline bool quick() { return std::getenv("KINEGRAPH_QUICK") != nullptr; }

/// A section of what a program prints: page.py finds it by the word before the colon.
inline void section(const std::string& title) { fmt::print("\n## {}\n\n", title); }

/// A table of markdown that is also to be read in a terminal, printed row by row. Names of columns come with their
/// width, blanks on the right: "name      ". All columns but the first `left` are to the right.
class MarkdownTable {
 public:
  explicit MarkdownTable(const std::vector<std::string>& columns, int left = 1) : left_(left) {
    for (const std::string& column : columns) width_.push_back(std::max<int>(3, length(column)));
    std::vector<std::string> names, rules;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      names.push_back(columns[i].substr(0, columns[i].find_last_not_of(' ') + 1));
      rules.push_back(std::string(width_[i] - 1, '-') + (static_cast<int>(i) < left_ ? "-" : ":"));
    }
    row(names);
    row(rules);
  }

  void row(const std::vector<std::string>& cells) const {
    std::string line = "|";
    for (std::size_t i = 0; i < width_.size(); ++i) {
      const std::string cell = i < cells.size() ? cells[i] : "";
      const std::string blanks(static_cast<std::size_t>(std::max(0, width_[i] - length(cell))), ' ');
      line += static_cast<int>(i) < left_ ? fmt::format(" {}{} |", cell, blanks) : fmt::format(" {}{} |", blanks, cell);
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

 private:
  static int length(const std::string& s) {  // of UTF-8: bytes that do not go on with a character
    return static_cast<int>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  }
  int left_;
  std::vector<int> width_;
};

/// A number with so many digits, or a dash for what is not known (zero).
inline std::string cell(double x, int digits = 3) { return x == 0 ? "-" : fmt::format("{:.{}g}", x, digits); }

}  // namespace kinegraph::bench
