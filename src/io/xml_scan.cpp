#include "kinegraph/io/xml_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kinegraph/base/names.hpp"

namespace kinegraph::io {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
         (static_cast<unsigned char>(c) & 0x80);
}
bool continues_name(char c) { return starts_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

struct XmlRefusal {
  std::size_t offset;
  std::string message;
};

class Scanner {
 public:
  Scanner(std::string_view text, int deepest, int most) : text_(text), deepest_(deepest), most_(most) {
    result_.cleaned = text;
  }

  XmlScan run() {
    try {
      while (at_ < text_.size()) {
        if (text_[at_] == '<') {
          markup();
        } else {
          content();
        }
      }
      if (!open_.empty()) {
        refuse(open_.back().offset, fmt::format("element {} is not closed: the file ends before its </{}>",
                                                quote(open_.back().name), shown(open_.back().name)));
      }
      if (!rooted_) refuse(0, "no element: not an XML file");
    } catch (XmlRefusal& refusal) {
      result_.faults.push_back({refusal.offset, std::move(refusal.message)});
    }
    return std::move(result_);
  }

 private:
  struct Element {
    std::string_view name;
    std::size_t offset;
    std::size_t declared;  // prefixes declared before it
  };

  [[noreturn]] static void refuse(std::size_t offset, std::string message) {
    throw XmlRefusal{offset, std::move(message)};
  }
  static std::string shown(std::string_view name) {
    const std::string quoted = quote(name);
    return quoted.substr(1, quoted.size() - 2);
  }
  bool here(std::string_view token) const { return text_.substr(at_).starts_with(token); }

  void markup() {
    if (here("<!--")) {
      skip_to("-->", 4, "a comment");
    } else if (here("<![CDATA[")) {
      if (open_.empty()) refuse(at_, "text outside the outermost element");
      skip_to("]]>", 9, "a CDATA section");
    } else if (here("<!DOCTYPE")) {
      doctype();
    } else if (here("<?")) {
      instruction();
    } else if (here("</")) {
      end_tag();
    } else {
      start_tag();
    }
  }

  void skip_to(std::string_view end, std::size_t after, const char* what) {
    const std::size_t found = text_.find(end, at_ + after);
    if (found == std::string_view::npos) refuse(at_, fmt::format("{} is not closed: no '{}' follows", what, end));
    at_ = found + end.size();
  }

  /// Text between tags.
  void content() {
    for (; at_ < text_.size() && text_[at_] != '<'; ++at_) {
      if (open_.empty() && !is_space(text_[at_])) {
        refuse(at_, rooted_ ? "text after the outermost element" : "not an XML file: expected '<'");
      }
      if (text_[at_] == '&') entity(text_.size());
    }
  }

  void instruction() {
    const std::size_t start = at_;
    skip_to("?>", 2, "a declaration <?…");
    const std::string_view target = text_.substr(start + 2, 4);
    const bool declares = target.starts_with("xml") && target.size() == 4 && (is_space(target[3]) || target[3] == '?');
    if (declares && rooted_) refuse(start, "an <?xml … ?> declaration in the middle of the file");
    if (declares && declared_) refuse(start, "a second <?xml … ?> declaration");
    if (declares && start > 0) {
      warn(start,
           "the <?xml … ?> declaration is not at the start of the file; white space or comments before it are "
           "not allowed");
    }
    declared_ = declared_ || declares;
    blank(start);
  }

  /// <!DOCTYPE name … [ … ]>: skipped, unless it defines entities.
  void doctype() {
    const std::size_t start = at_;
    if (rooted_) refuse(start, "a DOCTYPE in the middle of the file");
    bool subset = false;
    for (at_ += 9; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (here("<!ENTITY")) refuse(at_, "the DOCTYPE defines an entity: entities are not expanded");
      if (here("<!--")) {
        skip_to("-->", 4, "a comment");
        --at_;
      } else if (c == '"' || c == '\'') {
        const std::size_t end = text_.find(c, at_ + 1);
        if (end == std::string_view::npos) break;
        at_ = end;
      } else if (c == '[') {
        subset = true;
      } else if (c == ']') {
        subset = false;
      } else if (c == '>' && !subset) {
        ++at_;
        return blank(start);
      }
    }
    refuse(start, "a DOCTYPE is not closed: no '>' follows");
  }

  void start_tag() {
    const std::size_t start = at_++;
    if (at_ >= text_.size()) refuse(start, "the file ends within a tag");
    if (!starts_name(text_[at_])) {
      refuse(start, fmt::format("'<' must be followed by a name, found {}; a '<' in a text is written &lt;",
                                quote(text_.substr(at_, 1))));
    }
    const Element element{name(), start, prefixes_.size()};
    if (open_.empty() && rooted_) {
      refuse(start, fmt::format("a second outermost element {}; a file holds one", quote(element.name)));
    }
    rooted_ = true;
    if (++elements_ > most_) refuse(start, fmt::format("more than {} elements in one file", most_));
    const bool closed = attributes(element);
    check_prefix(element.name, start);
    for (const auto& [attribute, offset] : attributes_) check_prefix(attribute, offset);
    if (closed) return forget_prefixes(element.declared);
    open_.push_back(element);
    if (static_cast<int>(open_.size()) > deepest_) {
      refuse(start, fmt::format("nested too deeply: more than {} levels", deepest_));
    }
  }

  /// The attributes up to '>'; whether the tag ends with '/>'.
  bool attributes(const Element& element) {
    attributes_.clear();
    attribute_names_.clear();
    while (true) {
      const std::size_t before = at_;
      spaces();
      if (at_ >= text_.size()) ends_within(element);
      if (text_[at_] == '>') return ++at_, false;
      if (here("/>")) return at_ += 2, true;
      if (text_[at_] == '/' && at_ + 1 >= text_.size()) ends_within(element);
      if (!starts_name(text_[at_])) {
        refuse(at_, fmt::format("element {}: expected an attribute, '>' or '/>', found {}", quote(element.name),
                                quote(text_.substr(at_, 1))));
      }
      if (before == at_) {
        refuse(at_, fmt::format("element {}: expected a blank before the next attribute", quote(element.name)));
      }
      attribute(element);
    }
  }

  void attribute(const Element& element) {
    const std::size_t start = at_;
    const std::string_view key = name();
    spaces();
    if (at_ >= text_.size()) ends_within(element);
    if (text_[at_] != '=') refuse(start, fmt::format("attribute {} has no value: expected '='", quote(key)));
    ++at_;
    spaces();
    if (at_ >= text_.size()) ends_within(element);
    const char mark = text_[at_];
    if (mark != '"' && mark != '\'') refuse(at_, fmt::format("the value of {} must be in quotes", quote(key)));
    const std::size_t first = ++at_, end = text_.find(mark, first);
    if (end == std::string_view::npos) ends_within(element);
    if (text_.substr(first, end - first).find('<') != std::string_view::npos) {
      refuse(first, fmt::format("the value of {} is not closed, or holds a '<', which is written &lt;", quote(key)));
    }
    for (; at_ < end; ++at_) {
      if (text_[at_] == '&') entity(end);
    }
    ++at_;
    if (key.starts_with("xmlns:")) {
      prefixes_.push_back(key.substr(6));
      known_prefixes_.insert(key.substr(6));
    }
    if (!attribute_names_.insert(key).second) refuse(start, fmt::format("attribute {} is given twice", quote(key)));
    attributes_.emplace_back(key, start);
  }

  void end_tag() {
    const std::size_t start = at_;
    at_ += 2;
    const std::string_view closed = name();
    spaces();
    if (at_ >= text_.size()) refuse(start, "the file ends within an end tag");
    if (text_[at_] != '>') refuse(at_, fmt::format("expected '>' after </{}", shown(closed)));
    ++at_;
    if (open_.empty()) refuse(start, fmt::format("</{}> closes nothing", shown(closed)));
    if (open_.back().name != closed) {
      refuse(start, fmt::format("</{}> does not match <{}> of line {}", shown(closed), shown(open_.back().name),
                                line(open_.back().offset)));
    }
    forget_prefixes(open_.back().declared);
    open_.pop_back();
  }

  /// & at `at_`: one of the five entities of XML, a character by number, or a bare '&'. Stays at the '&'.
  void entity(std::size_t end) {
    std::size_t after = at_ + 1;
    const bool number = after < end && text_[after] == '#';
    if (number) ++after;
    while (after < end && continues_name(text_[after])) ++after;
    const std::string_view found = text_.substr(at_ + 1, after - at_ - 1);
    if (after >= end || text_[after] != ';' || found.empty()) {
      return warn_once("&", at_, "a '&' that should be written &amp;");
    }
    for (const std::string_view known : {"lt", "gt", "amp", "quot", "apos"}) {
      if (found == known) return;
    }
    if (!number)
      refuse(at_,
             fmt::format("unknown entity {}; entities are not expanded", quote(text_.substr(at_, after + 1 - at_))));
    const bool hex = found.size() > 1 && found[1] == 'x';
    unsigned long value = 0;
    for (const char c : found.substr(hex ? 2 : 1)) {
      const bool digit = c >= '0' && c <= '9', letter = hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
      value = digit || letter ? value * (hex ? 16 : 10) + (digit ? c - '0' : (c | 0x20) - 'a' + 10) : 0x110000;
      if (value >= 0x110000) break;
    }
    const bool character = value == 9 || value == 10 || value == 13 || (value >= 0x20 && value < 0xD800) ||
                           (value >= 0xE000 && value < 0xFFFE) || (value > 0xFFFF && value < 0x110000);
    if (!character) refuse(at_, fmt::format("{} is not a character", quote(text_.substr(at_, after + 1 - at_))));
  }

  std::string_view name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  void spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  [[noreturn]] void ends_within(const Element& element) {
    refuse(element.offset,
           fmt::format("element {} is not complete: the file ends within its tag", quote(element.name)));
  }

  void forget_prefixes(std::size_t down_to) {
    for (; prefixes_.size() > down_to; prefixes_.pop_back()) {
      known_prefixes_.erase(known_prefixes_.find(prefixes_.back()));
    }
  }

  void check_prefix(std::string_view name, std::size_t offset) {
    const std::size_t colon = name.find(':');
    if (colon == std::string_view::npos || colon == 0) return;
    const std::string_view prefix = name.substr(0, colon);
    if (prefix == "xmlns" || prefix == "xml") return;
    if (known_prefixes_.contains(prefix)) return;
    warn_once(std::string(prefix) + ":", offset,
              fmt::format("the prefix of {} is not declared (xmlns:{})", quote(name), shown(prefix)));
  }

  void warn(std::size_t offset, std::string message) { result_.warnings.push_back({offset, std::move(message)}); }
  void warn_once(const std::string& kind, std::size_t offset, std::string message) {
    if (warned_.size() < kMostWarnings && warned_.insert(kind).second) warn(offset, std::move(message));
  }

  void blank(std::size_t start) {
    for (std::size_t i = start; i < at_; ++i) {
      if (!is_space(text_[i])) result_.cleaned[i] = ' ';
    }
  }
  long line(std::size_t offset) const { return 1 + std::count(text_.begin(), text_.begin() + offset, '\n'); }

  static constexpr std::size_t kMostWarnings = 5;

  const std::string_view text_;
  const int deepest_, most_;
  int elements_ = 0;
  std::size_t at_ = 0;
  bool rooted_ = false, declared_ = false;  // the outermost element, the <?xml … ?> declaration was seen
  std::vector<Element> open_;
  std::vector<std::string_view> prefixes_;                            // declared where we are, in their order
  std::multiset<std::string_view> known_prefixes_;                    // the same, to be found
  std::vector<std::pair<std::string_view, std::size_t>> attributes_;  // of the tag we are in, with their offsets
  std::set<std::string_view> attribute_names_;
  std::set<std::string> warned_;
  XmlScan result_;
};

}  // namespace

XmlScan scan_xml(std::string_view text, int deepest, int most_elements) {
  return Scanner(text, deepest, most_elements).run();
}

}  // namespace kinegraph::io
