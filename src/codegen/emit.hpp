#pragma once

#include <string>
#include <string_view>

#include "kinegraph/codegen/program.hpp"

namespace kinegraph::codegen {

struct EmitOptions {
  std::string name = "robot";  ///< of the function; made an identifier
  std::string model;           ///< for the comment on top
  std::string ordering;        ///< likewise
  bool single = false;         ///< float instead of double
  int lanes = 0;               ///< also a form that evaluates 4 or 8 states at once; 0: none
  int block = 1500;            ///< larger programs are cut into functions of so many statements
};

/// One header of C++17 that needs nothing else. Text of a model file appears in comments only, and there without
/// anything but letters, digits, blanks and . - _ : it can neither end the comment nor become code.
std::string emit_header(const Program& program, const EmitOptions& options);

/// Any text as an identifier that may name a function of a header: letters, digits and single underscores, no keyword,
/// nothing that the header or the standard library uses, not in capitals alone (macros) and without the endings _t
/// (types) and _batch (ours). What is one already stays as it is.
std::string identifier(std::string_view text);

/// Any text as it may stand in a comment; one of more than a hundred letters ends in dots.
std::string comment_text(std::string_view text);

}  // namespace kinegraph::codegen
