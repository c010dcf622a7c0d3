#include "kinegraph/io/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/source_text.hpp"

namespace kinegraph::io {
namespace {

/// The file without byte order mark and with plain line ends.
std::string plain(std::string_view raw) {
  raw = without_byte_order_mark(raw);
  if (raw.find('\r') == std::string_view::npos) return std::string(raw);
  std::string text;
  text.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const bool return_of_pair = raw[i] == '\r' && i + 1 < raw.size() && raw[i + 1] == '\n';
    if (!return_of_pair) text += raw[i] == '\r' ? '\n' : raw[i];
  }
  return text;
}

/// The places that yaml-cpp marks: it counts lines from 0 and columns in bytes.
class MarkedText : public SourceText {
 public:
  MarkedText(const std::string& raw, const std::string& file) : SourceText(plain(raw), file) {}

  std::size_t offset(const YAML::Mark& mark) const {
    return std::min(start_of_line(mark) + static_cast<std::size_t>(std::max(mark.column, 0)), text().size());
  }
  Location place(const YAML::Mark& mark) const { return location(offset(mark), line_of(mark)); }

  /// The first tab in the indentation of a line, or npos.
  std::size_t indenting_tab(const YAML::Mark& mark) const {
    const std::size_t first = text().find_first_not_of(' ', start_of_line(mark));
    return first < text().size() && text()[first] == '\t' ? first : std::string::npos;
  }

 private:
  int line_of(const YAML::Mark& mark) const { return std::min(std::max(mark.line, 0), lines() - 1); }
  std::size_t start_of_line(const YAML::Mark& mark) const { return line_start(line_of(mark)); }
};

/// The offset at which more brackets are open than any model needs, or npos. Brackets in texts and comments count too:
/// yaml-cpp reads ahead to the bracket that closes, and this keeps it from filling the memory.
std::size_t find_too_many_brackets(std::string_view text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') ++open;
    if ((text[i] == ']' || text[i] == '}') && open > 0) --open;
    if (open > 16 * YamlTree::kDeepest) return i;
  }
  return std::string_view::npos;
}

std::string too_deep() { return fmt::format("nested too deeply: more than {} levels", YamlTree::kDeepest); }

struct Refusal {
  Location where;
  std::string message;
};

}  // namespace

/// Receives the events of yaml-cpp's parser. Not its Node tree: that hides duplicate keys, follows aliases and recurses
/// without a limit of our own.
class YamlTreeBuilder final : public YAML::EventHandler {
 public:
  YamlTreeBuilder(YamlTree& tree, const MarkedText& source) : tree_(tree), source_(source) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(YamlNode::Kind::nothing, mark, anchor); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Refusal{place(mark), "unknown alias"};
    const Anchor& named = found->second;
    if (named.values == 0) throw Refusal{place(mark), "an alias within what it names"};
    count(named.values, mark, ": aliases multiply them");
    attach(named.node);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode& node = add(YamlNode::Kind::text, mark, anchor);
    node.text = value;
    const bool quoted = tag == "!";
    const std::string_view rest = std::string_view(source_.text()).substr(source_.offset(mark));
    node.verbatim = rest.substr(quoted && !rest.empty() ? 1 : 0).starts_with(value);
    if (quoted && node.verbatim) ++node.where.column;
    if (!quoted && (value == "~" || value == "null")) node.kind = YamlNode::Kind::nothing;
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(add(YamlNode::Kind::list, mark, anchor), anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(add(YamlNode::Kind::map, mark, anchor), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode* node;
    const YamlNode* key;  // of a map, waiting for its value
    YAML::anchor_t anchor;
    int before;  // values counted up to it
  };
  struct Anchor {
    const YamlNode* node = nullptr;
    int values = 0;  // in it, those of its own aliases as often as they stand there; 0: not complete yet
  };

  Location place(const YAML::Mark& mark) const { return source_.place(mark); }

  YamlNode& add(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    count(1, mark);
    YamlNode& node = tree_.nodes_.emplace_back();
    node.kind = kind;
    node.where = place(mark);
    const bool complete = kind == YamlNode::Kind::text || kind == YamlNode::Kind::nothing;
    if (anchor != 0) anchors_[anchor] = {&node, complete ? 1 : 0};
    attach(&node);
    return node;
  }

  /// Aliases multiply what they name: readers go through it again at each of them.
  void count(int more, const YAML::Mark& mark, const char* why = " in one file") {
    values_ += more;
    if (values_ <= YamlTree::kMostValues) return;
    throw Refusal{place(mark), fmt::format("more than {} values{}", YamlTree::kMostValues, why)};
  }

  void attach(const YamlNode* node) {
    if (open_.empty()) {
      tree_.root_ = node;
    } else if (Open& parent = open_.back(); parent.node->kind == YamlNode::Kind::list) {
      parent.node->items.push_back(node);
    } else if (!parent.key) {
      parent.key = node;
    } else {
      parent.node->keys.emplace_back(parent.key, node);
      parent.key = nullptr;
    }
  }

  void close() {
    const Open& done = open_.back();
    if (done.anchor != 0) anchors_[done.anchor].values = values_ - done.before;
    open_.pop_back();
  }

  void open(YamlNode& node, YAML::anchor_t anchor) {
    open_.push_back({&node, nullptr, anchor, values_ - 1});
    if (open_.size() > YamlTree::kDeepest) {
      throw Refusal{node.where, too_deep()};
    }
  }

  YamlTree& tree_;
  const MarkedText& source_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchor> anchors_;
  int values_ = 0;
};

Result<YamlTree> YamlTree::parse(const std::string& text, const std::string& file_name) {
  if (text.size() > kLargestFile) {
    return Failure::bad_input({file_name, 1, 1}, fmt::format("the file is larger than {} bytes", kLargestFile));
  }
  const MarkedText source(text, file_name);
  if (const std::size_t bad = find_invalid(source.text()); bad < std::string::npos) {
    return Failure::bad_input(source.location(bad), "not a text in UTF-8");
  }
  if (const std::size_t deep = find_too_many_brackets(source.text()); deep < std::string::npos) {
    return Failure::bad_input(source.location(deep), too_deep());
  }
  // yaml-cpp keeps what it has read of a line until it knows whether that is a key.
  for (int line = 1; line <= source.lines(); ++line) {
    const std::size_t start = source.line_start(line - 1);
    const std::size_t end = line < source.lines() ? source.line_start(line) : source.text().size();
    if (end - start > kLongestLine) {
      return Failure::bad_input({file_name, line, 1}, fmt::format("the line is longer than {} bytes", kLongestLine));
    }
  }
  YamlTree tree;
  try {
    std::istringstream stream(source.text());
    YAML::Parser parser(stream);
    YamlTreeBuilder builder(tree, source);
    const bool found = parser.HandleNextDocument(builder);
    if (!found || !tree.root_) return Failure::bad_input({file_name, 1, 1}, "the file is empty");
    const Location first = tree.root_->where;
    YamlTree second;
    YamlTreeBuilder rest(second, source);
    if (parser.HandleNextDocument(rest)) {
      return Failure::bad_input(second.root_ ? second.root_->where : first,
                                "a second document; a model file holds one");
    }
  } catch (const Refusal& refusal) {
    return Failure::bad_input(refusal.where, refusal.message);
  } catch (const YAML::Exception& fault) {
    if (const std::size_t tab = source.indenting_tab(fault.mark); tab != std::string::npos) {
      return Failure::bad_input(source.location(tab), "not YAML: a tab in the indentation; expected spaces");
    }
    std::string why = fault.msg;  // may quote a character of the file
    std::replace_if(
        why.begin(), why.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
    return Failure::bad_input(source.place(fault.mark), "not YAML: " + why);
  }
  return tree;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::nothing:
      return "nothing";
    case YamlNode::Kind::text:
      return quote(node.text);
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
  }
  return "";
}

std::string shown(const std::string& key) {
  const std::string quoted = quote(key);
  return quoted.substr(1, quoted.size() - 2);
}

std::string written(const YamlNode& node) { return node.text.size() > 40 ? quote(node.text) : shown(node.text); }

}  // namespace kinegraph::io
