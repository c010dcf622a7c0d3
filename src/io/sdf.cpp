#include "kinegraph/io/sdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <sdf/sdf.hh>
#include <set>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/findings.hpp"
#include "kinegraph/io/sdf_copy.hpp"
#include "kinegraph/io/sdf_names.hpp"
#include "kinegraph/io/sdf_robot.hpp"
#include "kinegraph/io/sdf_schema.hpp"
#include "kinegraph/model/check.hpp"

namespace kinegraph {
namespace {

using io::Findings, io::SdfCopy, io::XmlTree;

/// libsdformat keeps global state: one reader at a time. Quiet, and without the log that it would write to the user's
/// home: it looks for that folder once, when first used.
std::unique_lock<std::mutex> use_libsdformat() {
  static std::mutex mutex;
  std::unique_lock lock(mutex);
  static const bool quiet = [] {
    const char* home = std::getenv("HOME");
    const std::string before = home ? home : "";
    setenv("HOME", "/dev/null", 1);
    sdf::Console::Instance()->SetQuiet(true);
    home ? setenv("HOME", before.c_str(), 1) : unsetenv("HOME");
    return true;
  }();
  static_cast<void>(quiet);
  return lock;
}

/// The outermost element and its version.
void check_outermost(const XmlTree& tree, Findings& findings) {
  const pugi::xml_node root = tree.root();
  if (std::string_view(root.name()) != "sdf") {
    return findings.error(tree.where(root), fmt::format("expected <sdf>, found {}", quote(root.name())));
  }
  const pugi::xml_attribute version = root.attribute("version");
  const std::string text = version.value();
  const bool known = text.size() >= 3 && text.size() <= 4 && text.starts_with("1.") &&
                     text.find_first_not_of("0123456789", 2) == std::string::npos && text != "1.1";
  if (version && !known) {
    findings.error(tree.where_value(version), fmt::format("unknown SDF version {}; expected 1.2 to 1.12", quote(text)));
  }
  pugi::xml_node first;
  for (const char* name : {"world", "model"}) {
    for (const pugi::xml_node child : root.children(name)) {
      if (!first) {
        first = child;
      } else {
        findings.warning("several", tree.where(child),
                         fmt::format("the file has several worlds or models: only {} is read",
                                     quote(first.attribute("name").value())));
      }
    }
  }
}

/// What libsdformat finds wrong, where it stands in the file.
class Places {
 public:
  Places(const XmlTree& tree, const SdfCopy& copy) : tree_(tree), copy_(copy) {}

  pugi::xml_node element(const sdf::Element& element) const { return of_line(element.LineNumber().value_or(0)); }

  void report(const sdf::Errors& errors, Findings& findings) const {
    std::set<std::pair<int, int>> seen;  // places: more about one of them is a consequence
    for (const bool consequences : {false, true}) {
      if (consequences && findings.failed()) return;
      for (const sdf::Error& error : errors) {
        if (is_consequence(error) != consequences) continue;
        const Location where = tree_.where(find(error));
        if (seen.emplace(where.line, where.column).second) findings.error(where, message(error));
      }
    }
  }

 private:
  static bool is_consequence(const sdf::Error& error) {
    switch (error.Code()) {
      case sdf::ErrorCode::FRAME_ATTACHED_TO_GRAPH_ERROR:
      case sdf::ErrorCode::POSE_RELATIVE_TO_GRAPH_ERROR:
      case sdf::ErrorCode::STRING_READ:
        return true;
      default:
        return false;
    }
  }

  pugi::xml_node of_line(int line) const {
    const bool known = line >= 1 && line <= static_cast<int>(copy_.element_of_line.size());
    return known ? copy_.element_of_line[line - 1] : tree_.root();
  }

  /// By its line, else by the first [name] in its text that an element has.
  pugi::xml_node find(const sdf::Error& error) const {
    if (error.LineNumber()) return of_line(*error.LineNumber());
    const std::string text = error.Message();
    for (std::size_t open = text.find('['); open != std::string::npos; open = text.find('[', open + 1)) {
      std::string name = text.substr(open + 1, text.find(']', open) - open - 1);
      if (const std::size_t colons = name.rfind("::"); colons != std::string::npos) name.erase(0, colons + 2);
      for (const pugi::xml_node node : copy_.element_of_line) {
        if (name == node.attribute("name").value()) return node;
      }
    }
    return tree_.root();
  }

  std::string message(const sdf::Error& error) const {
    const bool cycle = error.Code() == sdf::ErrorCode::FRAME_ATTACHED_TO_CYCLE ||
                       error.Code() == sdf::ErrorCode::POSE_RELATIVE_TO_CYCLE;
    if (cycle) {
      const pugi::xml_node node = find(error);
      return fmt::format("{} {} is placed relative to itself: relative_to or attached_to form a cycle", node.name(),
                         quote(node.attribute("name").value()));
    }
    std::string text = error.Message();
    while (!text.empty() && std::string_view(" \n.").find(text.back()) != std::string_view::npos) text.pop_back();
    return text;
  }

  const XmlTree& tree_;
  const SdfCopy& copy_;
};

Robot read_robot(const XmlTree& tree, Findings& findings) {
  const SdfCopy copy = io::copy_for_libsdformat(tree);
  const Places places(tree, copy);
  sdf::ParserConfig config;
  config.SetFindCallback([](const std::string&) { return std::string(); });
  config.SetWarningsPolicy(sdf::EnforcementPolicy::LOG);
  config.SetUnrecognizedElementsPolicy(sdf::EnforcementPolicy::LOG);
  config.SetDeprecatedElementsPolicy(sdf::EnforcementPolicy::LOG);
  try {
    sdf::Root root;
    places.report(root.LoadSdfString(copy.text, config), findings);
    if (findings.failed()) return {};
    return io::robot_of_sdf(
        root, tree, [&](const sdf::Element& element) { return places.element(element); }, findings);
  } catch (const std::exception& fault) {
    findings.error(tree.where(tree.root()), fmt::format("libsdformat cannot read the file: {}", fault.what()));
  } catch (const sdf::Exception& fault) {
    findings.error(tree.where(tree.root()), fmt::format("libsdformat cannot read the file: {}", fault.GetErrorStr()));
  }
  return {};
}

std::string name_of(const XmlTree& tree) {
  const pugi::xml_node root = tree.root();
  const pugi::xml_node world = root.child("world"), model = (world ? world : root).child("model");
  const bool several = bool(model.next_sibling("model"));
  const std::string name = (world && (several || !model) ? world : model).attribute("name").value();
  return name.empty() ? std::filesystem::path(tree.file()).stem().string() : name;
}

}  // namespace

Result<Model> parse_sdf(const std::string& text, const std::string& file_name, const ReadOptions& options) {
  Result<XmlTree> tree = XmlTree::parse(text, file_name);
  if (!tree) return std::move(tree).failure();
  Findings findings(options.strict);
  const std::unique_lock lock = use_libsdformat();
  static const io::SdfSchema schema;
  check_outermost(*tree, findings);
  if (findings.failed()) return findings.failure();
  schema.check(*tree, findings);
  io::check_sdf_names(*tree, findings);
  if (findings.failed()) return findings.failure();
  Model model;
  model.name = name_of(*tree);
  model.file = file_name;
  model.robot = read_robot(*tree, findings);
  if (options.base) model.robot.base = *options.base;
  if (model.robot.links.empty() && !findings.failed())
    findings.error(tree->where(tree->root()), "the file has no link");
  model.warnings = tree->warnings();
  for (Diagnostic& found : check_robot(model.robot, options.strict)) {
    if (found.severity == Severity::error) {
      findings.error(found.where, found.message);
    } else {
      model.warnings.push_back(std::move(found));
    }
  }
  if (findings.failed()) return findings.failure();
  for (Diagnostic& warning : findings.warnings()) model.warnings.push_back(std::move(warning));
  std::stable_sort(model.warnings.begin(), model.warnings.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
  });
  return model;
}

}  // namespace kinegraph
