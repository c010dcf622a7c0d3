#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kinegraph/codegen/emit.hpp"

namespace kinegraph::codegen {
namespace {

constexpr std::size_t kLongest = 100;  // of a name in a comment

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Words between blanks.
constexpr std::string_view kKeywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char class co_await co_return "
    "co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do "
    "double dynamic_cast else enum explicit export extern false float for friend goto if inline int linux long "
    "main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast std struct switch "
    "template this thread_local throw true try typedef typeid typename union unix unsigned using virtual void "
    "volatile while xor xor_eq ";

/// What else may not name a function where the header and the standard library are included: names that they define as
/// macros, types, variables or namespaces. Functions of theirs may be named again, for no other takes such arguments.
/// A test asks compilers about all names of the standard headers.
constexpr std::string_view kTaken =
    " alloca assert assert_perror be16toh be32toh be64toh daylight environ errno fd_mask fd_set getdate_err "
    "htobe16 htobe32 htobe64 htole16 htole32 htole64 issubnormal jmp_buf kinegraph_generated L_ctermid L_cuserid "
    "L_tmpnam le16toh le32toh le64toh math_errhandling offsetof optarg opterr optind optopt P_tmpdir "
    "program_invocation_name program_invocation_short_name sched_priority setjmp sigjmp_buf sigmask signgam "
    "sigsetjmp stderr stdin stdout strdupa strndupa timezone tzname u_char u_int u_long u_short uint ulong "
    "ushort ";

/// Families of such names.
constexpr std::array kTakenBeginnings = {"M_", "PRI", "SCN", "pthread_", "sa_", "si_", "sigev_", "va_"};

bool is_taken(std::string_view name) {
  const auto begins = [&](const char* word) { return name.starts_with(word); };
  const std::string word = fmt::format(" {} ", name);
  const bool macro = std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  return macro || kKeywords.find(word) != std::string_view::npos || kTaken.find(word) != std::string_view::npos ||
         std::any_of(kTakenBeginnings.begin(), kTakenBeginnings.end(), begins);
}

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
  if (is_digit(name[0]) || is_taken(name)) name = "robot_" + name;
  // endings that stay taken: types are called so, and so is the form for several states of another function
  if (name.ends_with("_t") || name.ends_with("_batch")) name += "_robot";
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
