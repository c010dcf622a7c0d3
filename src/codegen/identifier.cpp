#include <algorithm>
#include <array>

#include "kinegraph/codegen/emit.hpp"

namespace kinegraph::codegen {
namespace {

constexpr std::size_t kLongest = 100;  // of a name in a comment

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::array kKeywords = {"alignas",   "alignof",      "and",           "and_eq",
                                  "asm",       "auto",         "bitand",        "bitor",
                                  "bool",      "break",        "case",          "catch",
                                  "char",      "char8_t",      "char16_t",      "char32_t",
                                  "class",     "co_await",     "co_return",     "co_yield",
                                  "compl",     "concept",      "const",         "const_cast",
                                  "consteval", "constexpr",    "constinit",     "continue",
                                  "decltype",  "default",      "delete",        "do",
                                  "double",    "dynamic_cast", "else",          "enum",
                                  "explicit",  "export",       "extern",        "false",
                                  "float",     "for",          "friend",        "goto",
                                  "if",        "inline",       "int",           "long",
                                  "main",      "mutable",      "namespace",     "new",
                                  "noexcept",  "not",          "not_eq",        "nullptr",
                                  "operator",  "or",           "or_eq",         "private",
                                  "protected", "public",       "register",      "reinterpret_cast",
                                  "requires",  "return",       "short",         "signed",
                                  "sizeof",    "static",       "static_assert", "static_cast",
                                  "std",       "struct",       "switch",        "template",
                                  "this",      "thread_local", "throw",         "true",
                                  "try",       "typedef",      "typeid",        "typename",
                                  "union",     "unsigned",     "using",         "virtual",
                                  "void",      "volatile",     "wchar_t",       "while",
                                  "xor",       "xor_eq",       "linux",         "unix"};

}  // namespace

std::string identifier(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool fine = is_letter(c) || is_digit(c);
    if (!fine && (name.empty() || name.back() == '_')) continue;
    name += fine ? c : '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty()) return "robot";
  const bool keyword = std::find(kKeywords.begin(), kKeywords.end(), name) != kKeywords.end();
  if (is_digit(name[0]) || keyword) name = "robot_" + name;
  return name;
}

std::string comment_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    safe += is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_' || c == ' ' ? c : '_';
    if (safe.size() == kLongest) return safe + "...";
  }
  return safe;
}

}  // namespace kinegraph::codegen
