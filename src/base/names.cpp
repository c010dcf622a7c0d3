#include "kinegraph/base/names.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph {
namespace {

constexpr std::size_t kLongestShown = 60;
constexpr std::size_t kLongestGuessed = 64;  // longer names are not typing errors, and would cost time

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string quote(std::string_view text) {
  std::string shown(text.substr(0, kLongestShown));
  if (text.size() > kLongestShown) {
    while (!shown.empty() && continues_character(text[shown.size()])) shown.pop_back();
    shown += "…";
  }
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return "'" + shown + "'";
}

std::string xml_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\t') out += c;
    }
  }
  return out;
}

int characters(std::string_view utf8) {
  return static_cast<int>(std::count_if(utf8.begin(), utf8.end(), [](char c) { return !continues_character(c); }));
}

int edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table d(i, j) of optimal string alignment: only the last three are needed.
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > kLongestGuessed) return "";
  // Near: at most a third of the name is wrong, or one character of a short one; something must be left in common.
  int nearest = std::min(std::max(1, static_cast<int>(name.size()) / 3), static_cast<int>(name.size()) - 1) + 1;
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    const int longer = static_cast<int>(candidate.size()) - static_cast<int>(name.size());
    if (candidate.size() > kLongestGuessed || std::abs(longer) >= nearest) continue;
    const int distance = edit_distance(name, candidate);
    if (distance >= nearest || distance >= static_cast<int>(candidate.size())) continue;
    nearest = distance;
    best = &candidate;
  }
  return best ? "; did you mean " + quote(*best) + "?" : "";
}

}  // namespace kinegraph
